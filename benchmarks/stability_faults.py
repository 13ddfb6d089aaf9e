"""What goes wrong in a stability campaign on purpose, when, and the driver that it goes wrong with."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from slurm_cluster import Cluster

PATIENCE_S = 1200.0  # after its time until the campaign must have ended
AWAY_S, ACCOUNTING_S, DOWN_S, HUNG_S, FROZEN_S, FULL_S = 180.0, 60.0, 60.0, 60.0, 40.0, 20.0
CRON_S = 10.0  # how often it is resumed where it left by itself
SLACK_S = 30.0  # after a fault that shows in how soon things are done


class Driver:
    """The conductor as a process, which may be killed."""

    SHAKEDOWN = str(Path(sys.executable).parent / "shakedown")

    def __init__(self, site: Path) -> None:
        self.site = site
        self.process: subprocess.Popen[bytes] | None = None
        self.resumed = 0.0

    def start(self, *words: str) -> None:
        with (self.site / "said").open("ab") as said:
            self.process = subprocess.Popen(
                [self.SHAKEDOWN, *words, "--quiet"], cwd=self.site, stdout=said, stderr=said
            )

    def kill(self) -> None:
        """``kill -9``."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def resume(self) -> None:
        self.resumed = time.monotonic()
        self.start("resume", "stability-1", "--if-needed")

    def run(self, duration_s: float, faults: FaultPlan | None) -> None:
        """To the end, with what goes wrong meanwhile."""
        self.start("run", "stability")
        end = time.monotonic() + duration_s + PATIENCE_S
        try:
            while not self._is_over(faults):
                if time.monotonic() > end:
                    raise RuntimeError(f"the campaign goes on and on: {(self.site / 'said').read_text()[-2000:]}")
                if faults is not None:
                    faults.do_what_is_due()
                time.sleep(0.2)
        finally:
            self.kill()

    def _is_over(self, faults: FaultPlan | None) -> bool:
        """It ended by itself: not because it was killed, and is to be resumed."""
        status = self.process.poll() if self.process is not None else None
        if status is None or faults is None:
            return status is not None
        if self._has_ended():
            return True
        if status != -9 and time.monotonic() - self.resumed > CRON_S:
            self.resume()  # it left by itself, as on a full disk, and is resumed as by cron
        return False

    def _has_ended(self) -> bool:
        """The record says so: a conductor that was not needed ends well, too."""
        parts = self.site.glob("campaigns/stability-1/log/*.jsonl")
        return any(b'"event":"campaign_end"' in part.read_bytes()[-8192:] for part in parts)


class Small:
    """File systems of their own below a folder: one target's, that can be frozen, and the site's, that can be filled."""

    def __init__(self, folder: Path) -> None:
        self.target, self.site = folder / "lustre/mdt3", folder / "site"
        self.folder = folder
        self.mounted: list[Path] = []

    def __enter__(self) -> Self:
        for place in (self.target, self.site):
            image = self.folder / f"{place.name}.image"
            with image.open("wb") as file:
                file.truncate(512 << 20)
            subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(image)], check=True)
            place.mkdir(parents=True)
            subprocess.run(["mount", "-o", "loop", str(image), str(place)], check=True)
            self.mounted.append(place)
            (place / "lost+found").rmdir()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for place in self.mounted:
            subprocess.run(["fsfreeze", "-u", str(place)], check=False, capture_output=True)
            subprocess.run(["umount", "-l", str(place)], check=False)

    def freeze(self) -> None:
        subprocess.run(["fsfreeze", "-f", str(self.target)], check=True)

    def thaw(self) -> None:
        subprocess.run(["fsfreeze", "-u", str(self.target)], check=True)

    def fill(self) -> None:
        """All but nothing is left; what is written from now on fails."""
        with (self.site / "filler").open("wb", buffering=0) as file:
            for size in (1 << 20, 4096, 1):
                while _writes(file.fileno(), size):
                    pass

    def empty(self) -> None:
        (self.site / "filler").unlink()

    def free(self) -> int:
        return shutil.disk_usage(self.site).free


def _writes(descriptor: int, size: int) -> bool:
    try:
        return os.write(descriptor, b"x" * size) > 0
    except OSError:
        return False


Act = tuple[float, str, Callable[[], object]]


class FaultPlan:
    """The faults in their order. ``done`` tells what was done when; ``blind``: times in which nobody could order anything."""

    def __init__(self, cluster: Cluster, driver: Driver, places: Small, duration_s: float) -> None:
        self.cluster, self.driver, self.places = cluster, driver, places
        self.done: list[str] = []
        self.blind: list[tuple[float, float]] = []
        self.began, self.duration_s = time.monotonic(), duration_s
        self.left = sorted(self._plan(), key=lambda act: act[0])

    def _plan(self) -> list[Act]:
        """(second, words, act). When: of twenty minutes, and sooner in less; how long each lasts is the same."""
        places = self.places
        plan = [
            *self._pair(150, DOWN_S, "n003 dies", ("power-off", "n003"), ("power-on", "n003")),
            *self._pair(270, HUNG_S, "n007 hangs", ("freeze", "n007"), ("thaw", "n007")),
            *self._pair(380, 5.0, "slurmctld restarted", ("stop-slurmctld",), ("start-slurmctld",)),
            *self._pair(470, ACCOUNTING_S, "accounting killed", ("kill-slurmdbd",), ("start-slurmdbd",)),
            *self._pair(560, DOWN_S, "n011 dies", ("power-off", "n011"), ("power-on", "n011")),
            *self._acts(650, FROZEN_S, "file system of mdt3 hangs", places.freeze, places.thaw),
            *self._acts(730, FULL_S, "disk full", places.fill, places.empty),
            *self._acts(800, AWAY_S, "conductor killed, away for three minutes", self.driver.kill, self.driver.resume),
        ]
        for second in (230, 430, 1040):
            plan += self._acts(second, 0.0, "conductor killed", self.driver.kill, self.driver.resume)
        return plan

    def _pair(
        self, second: float, lasts_s: float, words: str, begin: tuple[str, ...], end: tuple[str, ...]
    ) -> list[Act]:
        fault = self.cluster.fault
        return self._acts(second, lasts_s, words, lambda: fault(*begin), lambda: fault(*end))

    def _acts(
        self, second: float, lasts_s: float, words: str, begin: Callable[[], object], end: Callable[[], object]
    ) -> list[Act]:
        at, since = second * self.duration_s / 1200.0, [0.0]

        def first() -> None:
            since[0] = time.time()
            begin()

        def last() -> None:
            end()
            if words.startswith(("conductor", "slurmctld", "disk")):
                self.blind.append((since[0], time.time() + SLACK_S))

        return [(at, words, first), (at + lasts_s, f"{words}: over", last)]

    def do_what_is_due(self) -> None:
        while self.left and time.monotonic() - self.began >= self.left[0][0]:
            _, words, act = self.left.pop(0)
            act()
            self.done.append(f"{time.monotonic() - self.began:6.0f} s  {words}")
