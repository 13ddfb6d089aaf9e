"""Faults that a rehearsal adds to its scenario: ``--fault WORD[=VALUE]``. The table ``FAULTS`` has one entry for each word.

A fault sets the same fields that the engine's own tests use: the fates of runs and nodes, misleading answers of the scheduler,
and the death and return of the conductor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from msgspec.structs import replace as changed

from shakedown.model.errors import UsageError, did_you_mean
from shakedown.model.near_names import near_node
from shakedown.model.nouns import System
from shakedown.model.scenario import Hang, Scenario
from shakedown.model.shared_nodes import nodes_of
from shakedown.model.units import parse_duration
from shakedown.twin.machine.outcomes import Lies

FOR_EVER_S = 10 * 365 * 86400.0
AWAY_S, HANGS_S = 600.0, 4 * 3600.0  # defaults: how long a conductor is away, and how long a target hangs
DIRECTORY_S = 15.0  # default: how long the campaign's directory is away


@dataclass(frozen=True, slots=True)
class Troubles:
    """The scenario and settings that result. ``crashes``: (seconds after the start, seconds without a conductor), by time."""

    scenario: Scenario
    lies: Lies = field(default_factory=Lies)
    crashes: tuple[tuple[float, float], ...] = ()
    words: tuple[str, ...] = ()


Apply = Callable[[Troubles, str, System], Troubles]


@dataclass(frozen=True, slots=True)
class Fault:
    """One word of ``--fault``. ``value``: the form of its value, for the help; ``usual``: the default value."""

    about: str
    value: str
    usual: str
    apply: Apply


def troubles(scenario: Scenario, asked: Sequence[str], system: System) -> Troubles:
    """Purpose: apply the faults ``asked`` to a scenario. Errors: UsageError for an unknown word or an invalid value."""
    found = Troubles(scenario)
    for text in asked:
        word, _, value = text.partition("=")
        word = word.strip().replace("-", "_")
        if word not in FAULTS:
            near = did_you_mean(word, FAULTS) or f"there are: {', '.join(FAULTS)}"
            raise UsageError(f"--fault {text}: there is no fault '{word}'", near)
        fault = FAULTS[word]
        try:
            found = fault.apply(found, value.strip() or fault.usual, system)
        except ValueError as error:
            raise UsageError(
                f"--fault {text}: {error}", hint=f"{word}={fault.value}: {fault.about}; such as {word}={fault.usual}"
            ) from error
    words = tuple(sorted(text.strip() for text in asked))
    return replace(found, crashes=tuple(sorted(found.crashes)), words=words)


# ---- values ----------------------------------------------------------------------------------------------------------


def _share(text: str) -> float:
    try:
        share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        share = math.nan
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"'{text}' is not a share; a share lies between 0% and 100%")
    return share


def _seconds(text: str) -> float:
    try:
        seconds = parse_duration(text)
    except (ValueError, UsageError):
        seconds = math.nan
    if not 0.0 <= seconds <= FOR_EVER_S:
        raise ValueError(f"'{text}' is no time, such as 90 s, 20 min, 8h or 3d")
    return seconds


def _when(text: str, usual_s: float) -> tuple[float, float]:
    """Parse ``3d`` or ``3d/8h``: (seconds after the start, duration in seconds)."""
    after, _, lasts = text.partition("/")
    return _seconds(after), _seconds(lasts) if lasts else usual_s


def _node(text: str, system: System) -> tuple[str, float, float]:
    """Parse ``NODE``, ``NODE@3d`` or ``NODE@3d/8h``: (node, seconds after the start, duration in seconds). Default: first node."""
    name, _, when = text.partition("@")
    places = [place for cluster in system.clusters for place in cluster.partitions]
    names = [node for place in places for node in nodes_of(place)]
    if not name:
        name = names[0] if names else ""
    if name not in names:
        raise ValueError(f"system {system.name} has no node '{name}'; {near_node(name, dict.fromkeys(names))}")
    after, lasts = _when(when or "0 s", FOR_EVER_S)
    return name, after, lasts


# ---- what they do ----------------------------------------------------------------------------------------------------


def _run(name: str) -> Apply:
    """A fault that sets the share of runs that end as ``name`` says."""

    def apply(found: Troubles, value: str, system: System) -> Troubles:
        faults = changed(found.scenario.faults, **{name: _share(value)})
        return replace(found, scenario=changed(found.scenario, faults=faults))

    return apply


def _lie(name: str) -> Apply:
    def apply(found: Troubles, value: str, system: System) -> Troubles:
        amount = _seconds(value) if name.endswith("_s") else _share(value)
        return replace(found, lies=replace(found.lies, **{name: amount}))  # type: ignore[arg-type]

    return apply


def _build_failed(found: Troubles, value: str, system: System) -> Troubles:
    builds = changed(found.scenario.builds, failing=_share(value))
    return replace(found, scenario=changed(found.scenario, builds=builds))


def _dead_node(found: Troubles, value: str, system: System) -> Troubles:
    nodes = found.scenario.nodes
    nodes = changed(nodes, deaths=(*nodes.deaths, _node(value, system)))
    return replace(found, scenario=changed(found.scenario, nodes=nodes))


def _hang(found: Troubles, value: str, system: System) -> Troubles:
    after, lasts = _when(value, HANGS_S)
    if not found.scenario.metadata:
        raise ValueError("the scenario describes no metadata target that could hang (storage: metadata)")
    first, *others = found.scenario.metadata
    target = dict(system.targeted).get(first.budget, ("",))[0]
    first = changed(first, hangs=(*first.hangs, Hang(target, after, lasts)))
    return replace(found, scenario=changed(found.scenario, metadata=(first, *others)))


def _crash(found: Troubles, value: str, system: System) -> Troubles:
    after, away = _when(value, AWAY_S)
    if not after:
        raise ValueError("the conductor cannot die before it has begun")
    return replace(found, crashes=(*found.crashes, (after, away)))


def _away(found: Troubles, value: str, system: System) -> Troubles:
    return replace(found, lies=replace(found.lies, away=(*found.lies.away, _when(value, DIRECTORY_S))))


def _signalled(found: Troubles, value: str, system: System) -> Troubles:
    return replace(found, lies=replace(found.lies, signalled=(*found.lies.signalled, _when(value, 0.0)[0])))


def _launches_nothing(found: Troubles, value: str, system: System) -> Troubles:
    name, after, lasts = _node(value, system)
    return replace(
        found, lies=replace(found.lies, launches_nothing=(*found.lies.launches_nothing, (name, after, after + lasts)))
    )


_SHARE, _TIME = "SHARE", "TIME"
FAULTS: dict[str, Fault] = {
    # what becomes of runs, builds and nodes
    "failed": Fault("this share of the runs fails", _SHARE, "5%", _run("failed")),
    "incorrect": Fault("this share of the runs ends with a wrong answer", _SHARE, "2%", _run("incorrect")),
    "timeout": Fault("this share of the runs hangs until its walltime is over", _SHARE, "2%", _run("timeout")),
    "node_fail": Fault("this share of the runs loses a node", _SHARE, "2%", _run("node_fail")),
    "requeued": Fault("this share of the jobs is put back into the queue once", _SHARE, "2%", _run("requeued")),
    "build_failed": Fault("this share of the builds fails", _SHARE, "20%", _build_failed),
    "dead_node": Fault(
        "a node is down from TIME on, for good or so long; without a name the first",
        "NODE[@TIME[/TIME]]",
        "@0 s",
        _dead_node,
    ),
    "hang": Fault(
        "the first metadata target answers nobody from then on, for 4 h or so long", "TIME[/TIME]", "1d", _hang
    ),
    # the conductor
    "crash": Fault(
        "the conductor dies then; somebody resumes the campaign 10 min, or so long, later", "TIME[/TIME]", "1d", _crash
    ),
    # how the scheduler misleads
    "refused": Fault("this share of the submissions is refused for now", _SHARE, "5%", _lie("refused")),
    "timed_out": Fault("this share times out although it was accepted", _SHARE, "5%", _lie("timed_out")),
    "lost_submit": Fault("this share times out and was not accepted", _SHARE, "5%", _lie("lost_submit")),
    "late_submit": Fault("this share times out and is accepted only later", _SHARE, "5%", _lie("late_submit")),
    "late": Fault("how much later that is", _TIME, "90 s", _lie("late_s")),
    "stale": Fault("the queue shows what was true so long ago", _TIME, "30 s", _lie("stale_s")),
    "accounting_late": Fault("accounting learns of an end so much later", _TIME, "60 s", _lie("accounting_late_s")),
    "accounting_missing": Fault(
        "accounting never learns of this share of the jobs", _SHARE, "5%", _lie("accounting_missing")
    ),
    "runaway": Fault("accounting calls this share of the jobs running for ever", _SHARE, "5%", _lie("runaway")),
    "purge": Fault("the queue forgets an ended job after so long", _TIME, "60 s", _lie("purge_s")),
    "alive_after_node_fail": Fault(
        "processes of this share of the jobs go on after NODE_FAIL", _SHARE, "50%", _lie("alive_after_node_fail")
    ),
    "marks_late": Fault("what jobs write becomes visible so much later", _TIME, "20 s", _lie("marks_late_s")),
    "marks_lost": Fault("this share of the jobs never writes that it ended", _SHARE, "5%", _lie("marks_lost")),
    "unstartable": Fault(
        "this share of the jobs is taken and then cannot be started", _SHARE, "3%", _lie("unstartable")
    ),
    "away": Fault(
        "the campaign's directory is away from then on, for 15 s or so long: what starts then ends before its claim",
        "TIME[/TIME]",
        "1h",
        _away,
    ),
    "signalled": Fault("all that runs then is ended by a signal that nobody explains", _TIME, "1h", _signalled),
    "launch_failure": Fault(
        "this share of the jobs is given its nodes, and one of them cannot launch it",
        _SHARE,
        "3%",
        _lie("launch_failure"),
    ),
    "launches_nothing": Fault(
        "a node launches no job from TIME on, for good or so long; without a name the first",
        "NODE[@TIME[/TIME]]",
        "@1h",
        _launches_nothing,
    ),
    "outage": Fault("in this share of the minutes no source answers", _SHARE, "5%", _lie("outage")),
    "release_slow": Fault("a held job is let go so much later", _TIME, "30 s", _lie("release_s")),
    "release_unheard": Fault(
        "this share of the releases times out although it is done", _SHARE, "5%", _lie("release_unheard")
    ),
    "release_lost": Fault("this share of the releases times out and is not done", _SHARE, "5%", _lie("release_lost")),
    "idle_untrue": Fault(
        "this share of the nodes in use is called idle, minute by minute", _SHARE, "2%", _lie("idle_untrue")
    ),
}


def fault_lines() -> list[str]:
    """Purpose: a help line for each fault, with its default in brackets: "failed=SHARE  this share of the runs fails (5%)"."""
    named = [(f"{word}[={fault.value}]", fault) for word, fault in FAULTS.items()]
    width = max(len(name) for name, _ in named)
    return [f"{name:<{width}}  {fault.about} ({fault.usual.lstrip('@')})" for name, fault in named]
