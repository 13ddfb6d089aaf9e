"""Axes of models on logarithmic scales: ranks, bytes and seconds, in common units."""

from __future__ import annotations

from typing import Any

from shakedown.report.figures.style import short_number

_TIMES = ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s"))
_BYTES = ((1, "B"), (2**10, "KiB"), (2**20, "MiB"), (2**30, "GiB"), (2**40, "TiB"))


def ranks_axis(axes: Any) -> None:
    """Purpose: label the horizontal axis with ranks, as powers of two far enough apart to be readable."""
    axes.set_xscale("log", base=2)
    _powers(axes, short_count)
    axes.set_xlabel("ranks")


def bytes_axis(axes: Any, name: str) -> None:
    """Purpose: label the horizontal axis with bytes, in binary units."""
    axes.set_xscale("log", base=2)
    _powers(axes, short_bytes)
    axes.set_xlabel(name)


def seconds_axis(axes: Any, name: str) -> None:
    """Purpose: label the vertical axis with times, each decade with its unit."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(short_seconds))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel(name)


def short_count(count: float, _: int | None = None) -> str:
    """A number of ranks: 64, 4,096, 65,536, 1.05 M."""
    return f"{count:,.0f}" if count < 1e6 else short_number(count)


def short_seconds(seconds: float, _: int | None = None) -> str:
    """A time on an axis or a bar: 100 ns, 1.6 us, 4.81 ms, 20 s."""
    size, unit = next(((size, unit) for size, unit in reversed(_TIMES) if seconds >= 0.9995 * size), _TIMES[0])
    return f"{short_number(seconds / size)} {unit}"


def short_bytes(size: float, _: int | None = None) -> str:
    """A size on an axis: 8 B, 64 KiB, 1 MiB."""
    factor, unit = next(((factor, unit) for factor, unit in reversed(_BYTES) if size >= factor), _BYTES[0])
    return f"{short_number(size / factor)} {unit}"


def _powers(axes: Any, shown: Any) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.xaxis.set_major_locator(LogLocator(base=2, numticks=7))
    axes.xaxis.set_major_formatter(FuncFormatter(shown))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_tick_params(which="minor", length=0)
