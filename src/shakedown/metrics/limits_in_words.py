"""Each cause of idle or lost nodes in words: the plan's key, its effect, and what to change; ``IN_WORDS`` by kind of cause."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec import Struct

from shakedown.metrics.words import plural, show_number
from shakedown.model.nouns import Component, Document
from shakedown.model.settings_in_words import THE_SYSTEM, setting
from shakedown.model.units import show_duration


class Words(Struct, frozen=True):
    """The data for the sentences on a cause. ``about``: the part after the cause's colon; ``more``: by which factor to raise a
    limit.
    """

    document: Document
    component: Component
    about: str
    idle: float
    nodes: float
    more: float

    @property
    def kept(self) -> str:
        return f"kept {show_number(self.idle, 3)} of {show_number(self.nodes)} nodes idle on average"


def _budget(words: Words) -> tuple[str, str, str]:
    """A budget that is used up, set by the component, the plan or the system."""
    name = words.about
    own, where = _amount(words, name)
    system = words.document.system
    key = "the system's budgets" if where == THE_SYSTEM else f"{where}.limits.budgets" if where else "limits.budgets"
    keys = ("budgets", name) if where == THE_SYSTEM else ("limits", "budgets", name)
    raised = system.amount(name, _raised(own, words.more))
    says = f"{key} {name}: {system.amount(name, own)} {words.kept}"
    change = f"with {raised} they could work, if what is behind it bears that: {setting(where, keys, raised)}"
    return key, says, change


def _observed(words: Words) -> tuple[str, str, str]:
    """A budget that others use: no setting of the plan changes that."""
    says = f"limits.observe {words.about}: what others took of it, or that nobody said it, {words.kept}"
    return "limits.observe", says, "runs that load less of it, or a time at which others take less"


def _amount(words: Words, name: str) -> tuple[float, str]:
    """A budget's amount, and who sets it: a component (its name), the plan ("") or the system."""
    said = [(dict(words.component.limits.budgets), words.component.name)]
    said += [(dict(words.document.limits.budgets), "")]
    said += [(dict(words.document.system.budgets), THE_SYSTEM)]
    known = [(found[name], where) for found, where in said if name in found]
    return min(known, key=lambda pair: pair[0], default=(0.0, ""))


def _raised(amount: float, more: float) -> float:
    wanted = amount * more
    return float(max(amount + 1, math.ceil(wanted))) if wanted >= 1 else wanted


def _copies(words: Words) -> tuple[str, str, str]:
    test = words.about
    own = dict(words.component.limits.copies).get(test)
    name = words.component.name if own is not None else ""
    where = f"{name}.limits.copies" if name else "limits.copies"
    most = own if own is not None else dict(words.document.limits.copies).get(test, 1)
    raised = max(most + 1, math.ceil(most * words.more))
    says = f"{where} {test}: {plural(most, 'copy').replace('copys', 'copies')} at once {words.kept}"
    return where, says, f"with {raised} they could work: {setting(name, ('limits', 'copies', test), f'{raised}')}"


def _build(words: Words) -> tuple[str, str, str]:
    most = words.document.limits.builds
    if words.about == "slots":
        says = f"limits.builds: {plural(most, 'build')} at once {words.kept}: what waits for its build may not start"
        more = setting("", ("limits", "builds"), f"{most * 2}")
        return "limits.builds", says, f"let more of them go on side by side: {more}"
    says = f"builds {words.kept}: their runs wait while they take their time"
    change = (
        "build before the machine is yours (a component of its own that comes first), or share builds between tests"
    )
    return "builds", says, change


def _stagger(words: Words) -> tuple[str, str, str]:
    own = max(words.document.limits.stagger_s, words.component.limits.stagger_s)
    where = "limits.stagger" if words.document.limits.stagger_s >= own else f"{words.component.name}.limits.stagger"
    says = f"{where}: {_time(own)} between two starts of a test {words.kept}"
    name = "" if where == "limits.stagger" else words.component.name
    sooner = setting(name, ("limits", "stagger"), _time(own / max(2.0, words.more)))
    return where, says, f"let them follow each other sooner: {sooner}"


def _ahead(words: Words) -> tuple[str, str, str]:
    own = words.component.fill.queue_ahead_s
    says = f"fill.queue_ahead: {_time(own)} {words.kept}: nothing waited at the scheduler when nodes fell idle"
    ahead = min(max(2 * own, 600.0), words.component.duration_s or math.inf)
    more = setting(words.component.name, ("fill", "queue_ahead"), _time(ahead))
    if not words.component.duration_s or words.component.sweep is not None:
        more = "more nodes and more results at once leave less idle (fill has no meaning here)"
    return "fill.queue_ahead", says, f"keep more at the scheduler: {more}"


def _away(words: Words) -> tuple[str, str, str]:
    own = words.component.fill.survive_s
    says = f"fill.survive: {_time(own)}: nobody drove the campaign for longer than that; it {words.kept}"
    change = "keep enough queued for the time the conductor may be away (fill.survive), or have cron resume it (resume --if-needed)"
    return "fill.survive", says, change


def _wide(words: Words) -> tuple[str, str, str]:
    units = {case.id: (case.shape.units, case.test) for case in words.document.cases}
    wide, test = max((units[name] for name in words.component.cases if name in units), default=(0, ""))
    says = f"mix: what waits is wider than what is idle (the widest, {test}, takes {plural(wide, 'node')}); it {words.kept}"
    return "mix", says, "add a test of few nodes to the mix, which takes what wide jobs leave"


def _share(words: Words) -> tuple[str, str, str]:
    says = f"mix: {words.about} is ahead of its share, and what is behind cannot start; that {words.kept}"
    return "mix", says, "give tests that can start a larger share, or loosen what holds the others back"


def _walltime(words: Words) -> tuple[str, str, str]:
    mine = [case.shape.time_limit_s for case in words.document.cases if case.id in words.component.cases]
    asked = f"jobs that ask for up to {_time(max(mine, default=0.0))}"
    says = f"time_limit: {asked} do not fit before nodes are taken away or kept for others; that {words.kept}"
    return "time_limit", says, "ask for less time in the tests (run.time_limit)"


def _ramp(words: Words) -> tuple[str, str, str]:
    says = f"fill.ramp: {_time(words.component.fill.ramp_s)} in which the machine is filled {words.kept}"
    name = words.component.name
    apart = setting(name, ("clock", "ramp"), "does not count")
    return "fill.ramp", says, f"leave fill.ramp out of {name}, or make it shorter; or do not count it: {apart}"


def _drain(words: Words) -> tuple[str, str, str]:
    says = (
        f"fill.drain: what would not be over before the end of {words.component.name} is not ordered; that {words.kept}"
    )
    name = words.component.name
    on, apart = setting(name, ("fill", "drain"), "no"), setting(name, ("clock", "drain"), "does not count")
    change = f"let runs go on past the end: {on}; or do not count it: {apart}; or end with shorter tests"
    return "fill.drain", says, change


def _tail(words: Words) -> tuple[str, str, str]:
    says = f"{words.component.name} has nothing left to order while its last runs go on; that {words.kept}"
    return "repeats", says, "begin the longest tests first, or let the next component begin (after)"


def _queued(words: Words) -> tuple[str, str, str]:
    most = words.document.limits.queued
    says = f"limits.queued: {most or 'what the engine chooses as the most'} jobs at the scheduler {words.kept}"
    more = setting("", ("limits", "queued"), f"{max(2 * most, 200)}")
    return "limits.queued", says, f"let more of them wait there: {more}"


def _verdict(words: Words) -> tuple[str, str, str]:
    says = f"runs that ended {words.about} took what {show_number(words.idle, 3)} of {show_number(words.nodes)} nodes can do"
    return "runs", says, "find out why they do: shakedown failures; retries and shorter runs lose less"


def _slowed(words: Words) -> tuple[str, str, str]:
    nodes = f"{show_number(words.idle, 3)} of {show_number(words.nodes)} nodes"
    says = f"runs took longer than on a healthy machine, by the work of {nodes} (part of what worked): slow nodes, busy storage"
    change = "let fewer copies load the same file system or target at once (limits.budgets, limits.copies)"
    return "limits.budgets", says, change


def _down(words: Words) -> tuple[str, str, str]:
    says = f"{show_number(words.idle, 3)} of {show_number(words.nodes)} nodes were down on average"
    return "", says, "nothing of the plan: the machine's own failures, or maintenance"


def _says(words: Words) -> tuple[str, str, str]:
    says = f"jobs were held in front of the queue ({words.about}); that {words.kept}"
    built = "build once for all jobs (build_first of harness in the scenario), and let the conductor submit"
    return (
        "harness",
        says,
        built if words.about == "HarnessBuild" else "let the conductor submit: harness in the scenario",
    )


def _gate(words: Words) -> tuple[str, str, str]:
    says = f"after: {words.component.name} waits for {words.about.partition(':')[0]}; that {words.kept}"
    return "after", says, "let it begin sooner (after, gate), or make what comes first shorter"


def _turn(words: Words) -> tuple[str, str, str]:
    says = (
        f"modes: one case has {words.about} to itself at a time, while {words.component.name} waits; that {words.kept}"
    )
    return "modes", says, "it is what the plan asks for: fewer repeats, or fewer isolated cases, take less time"


def _licence(words: Words) -> tuple[str, str, str]:
    name, where = words.about, "the system's licences"
    own = next((dict(one.licences)[name] for one in words.document.system.clusters if name in dict(one.licences)), 0.0)
    raised = f"{_raised(own, words.more):g}"
    cluster = next((one.name for one in words.document.system.clusters if name in dict(one.licences)), "")
    says = f"{where} {name}: {own:g} {words.kept}: what waits at the scheduler waits for them"
    more = setting(THE_SYSTEM, ("clusters", cluster, "licences", name), raised)
    return where, says, f"with {raised} they could work, if they can be had: {more}"


def _window(words: Words) -> tuple[str, str, str]:
    where = f"{words.component.name}.windows"
    says = f"{where}: what they leave to {words.component.name} {words.kept}"
    return where, says, "let the windows allow more, or make them shorter"


def _yield(words: Words) -> tuple[str, str, str]:
    where = f"{words.component.name}.yield_to"
    says = f"{where}: what is left to others {words.kept}"
    return where, says, "leave room only where more jobs of others wait (pending), or leave less of it"


def _held(words: Words) -> tuple[str, str, str]:
    says = f"the queue was held, since job after job did not come to run; that {words.kept}"
    return "", says, "shakedown log shows what was said of these jobs, and when the queue was let go"


def _nodes_out(words: Words) -> tuple[str, str, str]:
    says = f"{show_number(words.idle, 3)} of {show_number(words.nodes)} nodes were excluded, or left out as they launched nothing"
    return "", says, "shakedown nodes says what stands out of them; shakedown include gives them work again"


def _sweep(words: Words) -> tuple[str, str, str]:
    says = f"sweep: {words.component.name} sees each node by itself, and waited for nodes that were busy, out or being looked up"
    return (
        "sweep",
        f"{says}; that {words.kept}",
        "let another component run beside it, or give back the nodes that are out",
    )


def _shut(words: Words) -> tuple[str, str, str]:
    says = f"the scheduler of {words.about} took no job for a time; that {words.kept}"
    return "", says, "shakedown log --event submit_deferred shows its words; ask the site for the limit that they name"


def _reserved(words: Words) -> tuple[str, str, str]:
    says = f"nodes of {words.about} were kept for a wide job that others had overtaken too often; that {words.kept}"
    return "mix", says, "add a filler of short runs of few nodes: it may run beside a wide job that waits"


def _before(words: Words) -> tuple[str, str, str]:
    says = f"runs of {words.component.name} waited for others that come before them; that {words.kept}"
    return "needs", says, "it is what the plan asks for: let other tests run meanwhile"


def _stopping(words: Words) -> tuple[str, str, str]:
    says = f"nothing new was submitted: the conductor was told to stop, or its disk had no room; that {words.kept}"
    return "", says, "shakedown resume goes on; shakedown log shows who stopped it, and why"


def _live(words: Words) -> tuple[str, str, str]:
    says = (
        f"runs that are not judged yet have {show_number(words.idle, 3)} of {show_number(words.nodes)} nodes on average"
    )
    return "", says, "nothing: they go on"


def _over(words: Words) -> tuple[str, str, str]:
    return "", f"the campaign had ended, and was taken up again later; that {words.kept}", "nothing of the plan"


def _unknown(words: Words) -> tuple[str, str, str]:
    return "", f"the record does not say what {words.kept}", "nothing of the plan"


def of_people(words: Words) -> tuple[str, str, str]:
    says = f"{words.about or words.component.name} was held back by a standing order, a window or a person; that {words.kept}"
    return "windows", says, "shakedown log shows who, when and why (windows, yield_to, pauses)"


IN_WORDS: dict[str, Callable[[Words], tuple[str, str, str]]] = {
    "budget": _budget,
    "observed": _observed,
    "copies": _copies,
    "build": _build,
    "builds": _build,
    "stagger": _stagger,
    "licence": _licence,
    "window": _window,
    "yield": _yield,
    "ahead": _ahead,
    "away": _away,
    "wide": _wide,
    "share": _share,
    "walltime": _walltime,
    "ramp": _ramp,
    "drain": _drain,
    "tail": _tail,
    "queued": _queued,
    "verdict": _verdict,
    "slowed": _slowed,
    "down": _down,
    "held": _held,
    "idle": _sweep,
    "busy": _sweep,
    "out": _sweep,
    "allocations": _sweep,
    "shut": _shut,
    "reserved": _reserved,
    "need": _before,
    "drill": _before,
    "clean-up": _before,
    "stopping": _stopping,
    "no_room": _stopping,
    "left_out": _nodes_out,
    "excluded": _nodes_out,
    "live": _live,
    "over": _over,
    "unknown": _unknown,
    "says": _says,
    "gate": _gate,
    "turn": _turn,
    "alone": _turn,
    "warm-up": _turn,
}


def _time(seconds: float) -> str:
    return show_duration(seconds) if seconds else "0 s"
