"""A settlement in words: what an act took away, what is disputed and what is unknown, for readers who did not take part."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from shakedown.metrics.judging.consent import Agreement
from shakedown.metrics.judging.in_turn import Turn, Turns, beside_words, chain_words
from shakedown.metrics.judging.people import Act
from shakedown.metrics.judging.scorecard import NOT_KNOWN, ActScore, Scorecard
from shakedown.metrics.words import plural, some

AGREED, ONE_SIDED, NO_EFFECT, WITHDRAWN = "agreed", "one-sided", "no effect", "withdrawn"
_MOST_DIFFERENCES, _MOST_EVENTS, _MOST_NAMED = 6, 6, 3
_NOUNS = {
    "amend": "amendment", "change": "declared change", "rule": "ruling", "waive": "waiver", "attest": "attestation",
    "drill": "word on the drill",
    "exclude": "exclusion of nodes", "include": "return of excluded nodes", "cap": "cap", "budget": "budget", "pause": "pause",
    "resume": "going on", "drain": "drain", "clock": "word on the clock", "cancel": "cancellation", "stop": "stop",
    "rejudge": "judging again", "withdraw": "withdrawal", "again": "running again",
}  # fmt: skip


# Another outcome -> groups of acts; the outcome results if one of these groups does not count.
Others = Mapping[str, Sequence[Sequence[int]]]


class Named(Struct, frozen=True):
    """The names of acts in sentences. ``names``: act -> "the waiver by Ada (event 7)"; ``missing``: act -> who has not agreed."""

    names: Mapping[int, str]
    missing: Mapping[int, Sequence[str]]

    def all(self, numbers: Sequence[int]) -> str:
        """The names of the acts; after the first few, only how many more there are."""
        told = [self.names[number] for number in numbers]
        if len(told) > _MOST_NAMED:
            return f"{', '.join(told[:_MOST_NAMED])} and {len(told) - _MOST_NAMED} more"
        return " and ".join(filter(None, (", ".join(told[:-1]), told[-1])))

    def not_agreed(self, numbers: Sequence[int]) -> str:
        """The missing agreements: "vendor has not agreed to event 7, site has not agreed to events 8, 9"."""
        lacking: dict[str, list[int]] = {}
        for number in numbers:
            for party in self.missing.get(number, ()):
                lacking.setdefault(party, []).append(number)
        if all(mine == list(numbers) for mine in lacking.values()):
            have = "have" if len(lacking) > 1 else "has"
            return f"{' and '.join(lacking)} {have} not agreed to {_them(numbers)}"
        return ", ".join(f"{party} has not agreed to {_events(mine)}" for party, mine in lacking.items())


def named(acts: Iterable[Act], missing: Mapping[int, Sequence[str]]) -> Named:
    """Purpose: the names of these acts in sentences."""
    return Named({act.number: name_of(act.kind, act.by, act.number) for act in acts}, missing)


def name_of(kind: str, by: str, number: int) -> str:
    """Purpose: the name of an act: "the waiver by Ada (event 7)"."""
    return f"the {_NOUNS.get(kind, kind)} by {by or 'somebody'} (event {number})"


def disputed_words(
    outcome: str,
    agreed: str,
    others: Others,
    unagreed: Sequence[int],
    known: Collection[int],
    acts: Named,
    lost: Mapping[int, Collection[str]] | None = None,
    turns: Turns | None = None,
) -> str:
    """Purpose: why an outcome is disputed. ``unagreed``: acts that lack a required consent and cannot be undone;
    ``agreed``: the outcome if every party agreed to them; ``known``: those of them without which the outcome is known;
    ``lost``: acts whose effect only kept outputs would show that can no longer be read -> the runs of these; ``turns``: group of
    ``others`` -> the contrary acts on which the outcome without that group depends.
    """
    turns = turns or {}
    numbers = sorted({number for groups in others.values() for group in groups for number in group})
    rest = [number for number in unagreed if number not in numbers]
    unread = [number for number in lost or () if number not in rest]
    parts = []
    if len(numbers) == 1:
        (word,) = others
        parts = [f"{outcome} if {acts.all(numbers)} counts, {_chain(turns, word, numbers, acts)}"]
    elif numbers:
        parts = [f"{outcome} if {acts.all(numbers)} count, {', '.join(_otherwise(others, numbers, turns, acts))}"]
    if rest:
        until = (
            f", {outcome} where {'it has' if len(rest) == 1 else 'they have'} no effect" if agreed != outcome else ""
        )
        demand = f"{agreed} if every party agrees to {acts.all(rest)}, as the plan demands{until}"
        demand = f"the plan demands that every party agrees to {acts.all(rest)}" if parts else demand
        unknown = [number for number in rest if number not in known]
        without = _them(rest) if unknown == rest else _events(unknown)
        told = f"nobody can tell how it would have come out without {without}" if unknown else ""
        parts += [(", and " if parts else " ").join(filter(None, (demand + (";" if told and not parts else ""), told)))]
    if unread and lost:
        counts, does = ("counts", "it does") if len(unread) == 1 else ("count", "they do")
        runs = {run for number in unread for run in lost[number]}
        start = f"{outcome} if {acts.all(unread)} {counts}, and" if not parts else f"without {acts.all(unread)}"
        end = f" if {does} not" if not parts else ""
        parts += [f"{start} nobody can tell how it comes out{end}, since {_lost_outputs(runs)}"]
    contrary = set[int]().union(*(turn.acts for turn in turns.values()))
    return "disputed: " + "; ".join([*parts, acts.not_agreed(sorted({*numbers, *rest, *unread, *contrary}))])


def _chain(turns: Turns, word: str, group: Sequence[int], acts: Named) -> str:
    """The outcome without a group of acts, and the acts on which that outcome depends."""
    return chain_words(turns.get(tuple(group), Turn()), word, len(group), acts.all)


def _otherwise(others: Others, numbers: Sequence[int], turns: Turns, acts: Named) -> list[str]:
    """Every other outcome, with the further acts on which some of them depend."""
    if list(others.values()) == [[[*numbers]]] and turns.get(tuple(numbers), Turn()).steps:
        return [_chain(turns, word, numbers, acts) for word in others]
    said = [f"{word} if {_do_not(groups, numbers)}" for word, groups in others.items()]
    beside = [line for group, turn in turns.items() for line in beside_words(turn, _events(group), acts.all)]
    return [*said, *beside]


def unread_words(acts: Iterable[ActScore], lost: Mapping[int, Collection[str]]) -> list[str]:
    """Purpose: a sentence for each act without which the outcome is unknown, because kept outputs can no longer be read."""
    return [
        f"event {act.number}: {act.by or 'somebody'} {act.what}; nobody can tell how it comes out without that, since"
        f" {_lost_outputs(lost[act.number])}"
        for act in acts
        if act.number in lost
    ]


def _lost_outputs(runs: Collection[str]) -> str:
    """The lost outputs in words: "the kept outputs of 2 runs (r000002, r000003) are gone, changed or not readable"."""
    one = len(runs) == 1
    return (
        f"the kept {'output' if one else 'outputs'} of {plural(len(runs), 'run')} ({some(sorted(runs))})"
        f" {'is' if one else 'are'} gone, changed or not readable"
    )


def _do_not(groups: Sequence[Sequence[int]], numbers: Sequence[int]) -> str:
    """The acts that must not count, in words: "one of them does not", "event 7 or 9 does not", "none of events 7, 9 does"."""
    alone = sorted(group[0] for group in groups if len(group) == 1)
    together = [group for group in groups if len(group) > 1]
    if alone == list(numbers) and not together:
        return "one of them does not"
    said = [f"event {' or '.join(some([str(n) for n in alone], _MOST_EVENTS).split(', '))} does not"] if alone else []
    whole = len(together) == 1 and list(together[0]) == list(numbers)
    said += ["none of them does"] if whole else [f"none of {_events(group)} does" for group in together]
    return " or ".join(said)


def unsure_words(numbers: Sequence[int], acts: Named) -> str:
    """Purpose: the addition to the outcome about acts whose effect nobody can compute."""
    if not numbers:
        return ""
    told = f"nobody can tell how it would have come out without {acts.all(numbers)}"
    return f"; {told}, and {acts.not_agreed(numbers)}"


def late_words(what: str, one: bool, seal: int) -> str:
    """Purpose: the addition to the outcome about what came after a seal that every party agreed to. ``what``: that, in words, ""
    for nothing; ``one``: it is one thing only.
    """
    if not what:
        return ""
    has = "has" if one else "have"
    return (
        f"; {what} came after the seal (event {seal}) that every party agreed to, and {has} no effect until all agree"
    )


def late_acts_words(acts: Collection[int], seal: int) -> str:
    """Purpose: the same of acts alone, in a record that was opened again."""
    return late_words(plural(len(acts), "act") + " of people" if acts else "", len(acts) == 1, seal)


def reopened_words(acts: Sequence[int], seal: int) -> str:
    """Purpose: a sentence on a campaign that was closed by a seal, and opened again by acts to which every party agreed; "" if by
    none.
    """
    if not acts:
        return ""
    return (
        f"every party agreed to the seal (event {seal}), and later to {_events(acts)}: the whole record is judged again, with what"
        " ran and was found after that seal"
    )


def _events(numbers: Sequence[int]) -> str:
    return f"event{'s' if len(numbers) > 1 else ''} {some([str(number) for number in numbers], _MOST_EVENTS)}"


def _them(numbers: Sequence[int]) -> str:
    return "it" if len(numbers) == 1 else "them"


def hangs_words(acts: Sequence[ActScore], together: Collection[int] = (), without: str = "") -> str:
    """Purpose: the acts without each of which, or without all of which, a rejected campaign would not be rejected: its rejection is
    not only about the machine. ``without``: the outcome without all acts of ``together``.
    """
    if together:
        names = [name_of(act.kind, act.by, act.number) for act in acts if act.number in together]
        return f"; without {some(names)} together it is {without}"
    said = [
        f"{name_of(act.kind, act.by, act.number)} it is {act.without}"
        for act in acts
        if act.differs and act.kind != "agree"
    ]
    return f"; without {some(said)}" if said else ""


def restricted_summary(judged: Scorecard, outcome: str, restricting: Collection[int]) -> str:
    """The summary, which begins with the outcome and mentions acts that take something away."""
    if not restricting or not outcome.startswith("accepted"):
        return judged.summary
    acts = f"{plural(len(restricting), 'act')} of people took something away"
    if judged.outcome == "accepted":
        rest = judged.summary.removeprefix("accepted").lstrip(": ")
        return f"accepted with restrictions ({acts}): {rest}"
    return f"{judged.summary}; {acts}"


def restriction_words(act: ActScore) -> str:
    """The sentence on an act; what it takes away comes first, because a page may have to cut the rest."""
    back = f", as of {_moment(act.as_of)}" if act.backdated and act.as_of is not None else ""
    return (
        f"{name_of(act.kind, act.by, act.number)} takes away {act.takes_words}: {act.by or 'somebody'} {act.what}{back},"
        f" because {act.because or 'nothing is said'}"
    )


def without_all_words(outcome: str, known: int, acts: int) -> str:
    """Purpose: the outcome without all acts, in words. If the effect of one act is unknown, so is that of all; the effect of the
    others is added. ``outcome``: without the ``known`` ones, out of ``acts``.
    """
    if known == acts:
        return outcome
    if not known:
        return NOT_KNOWN
    return (
        f"{NOT_KNOWN} ({outcome} without {'the one' if known == 1 else f'those {known}'} of them that can be computed)"
    )


def void_words(acts: Iterable[ActScore], driven_by: Collection[int]) -> list[str]:
    came = "; but results that count were ordered or judged by it"
    return [
        f"event {act.number}: {act.by or 'somebody'} {act.what}; it has no effect until {' and '.join(act.missing)}"
        f" {'have' if len(act.missing) > 1 else 'has'} agreed to it"
        f"{came if act.number in driven_by else ''}"
        for act in acts
        if act.standing == NO_EFFECT
    ]


def differences(judged: Scorecard, without: Scorecard) -> list[str]:
    """The criteria and contract rows whose outcome changes without an act."""
    lines = _of_criteria(judged, without)
    if judged.contract and without.contract:
        before = {score.row.name: score.outcome_words for score in judged.contract.rows}
        lines += [
            f"contract row {score.row.name}: {score.outcome_words} instead of {before[score.row.name]}"
            for score in without.contract.rows
            if before.get(score.row.name, score.outcome_words) != score.outcome_words
        ]
    more = len(lines) - _MOST_DIFFERENCES
    return lines[:_MOST_DIFFERENCES] + ([f"and {more} more"] if more > 0 else [])


def _of_criteria(judged: Scorecard, without: Scorecard) -> list[str]:
    now = {(part.name, item.name): item.outcome_words for part in judged.components for item in part.criteria}
    then = {(part.name, item.name): item.outcome_words for part in without.components for item in part.criteria}
    lines = []
    for (component, name), word in then.items():
        was = now.get((component, name))
        if was != word:
            lines.append(f"{name} of {component} is {word}" + (f" instead of {was}" if was else ""))
    return lines + [
        f"{name} of {component} is not asked for" for component, name in now if (component, name) not in then
    ]


def agreement_words(said: Agreement) -> str:
    key = f", with the key {said.fingerprint}" if said.fingerprint else ", by name"
    return f"{said.party}: {said.by}, {_moment(said.time)}{key}"


def _moment(time: float | None) -> str:
    return "" if time is None else f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M} UTC"
