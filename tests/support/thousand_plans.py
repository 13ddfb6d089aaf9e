"""Small and nasty plans, drawn from a seed: what a thousand campaigns are played with."""

from __future__ import annotations

import random
from typing import Any

import msgspec
from stage import moded_document, small_document

from shakedown.model.filling import ClockTerms, Fill, Pack, Phase, Sweep, Window, Yield
from shakedown.model.nouns import (
    Build,
    Case,
    Check,
    Cluster,
    Component,
    Document,
    FigureSpec,
    FileSystem,
    Limits,
    Loads,
    Mode,
    Need,
    NodeType,
    Partition,
    Procedure,
    Retry,
    Shape,
    System,
    Test,
)

KINDS = ("plain", "modes", "fill", "bundles", "everything", "local")
BEGAN_S = 6 * 86400 + 44_800.0  # the virtual clock begins on a Sunday, 12:26:40 UTC: seconds since Monday 00:00
MDTS = ("mdt0", "mdt1")
NAMES = ("t0", "t1", "t2", "t3")


# What a switch needs to matter: a held job that is released, a node that is looked for, others to make room for, a build.
NEEDS = {"idle_untrue": "sweep", "pending": "yield", "build_failed": "build", "deaths": "sweep"}
NEEDS |= dict.fromkeys(("release_s", "release_unheard", "release_lost"), "held")


def plan_of(seed: int, kind: str, about: str, needing: float = 0.3) -> Document:
    """Purpose: the plan of one campaign; at most some fifty runs, of which the machine takes a handful at once.

    ``needing``: the share of plans in which tests need others.
    """
    draw, needs = random.Random(f"plan:{seed}"), NEEDS.get(about, "")
    if kind == "local":
        return _local(seed, draw)
    system, budget = _machine(draw, needs)
    cases = _cases(draw, system, budget, needs)
    makers = {"plain": _plain, "modes": _modes, "fill": _fill, "bundles": _bundles, "everything": _everything}
    components = _needed(draw, budget, needs) if needs else makers[kind](draw, budget)
    limits = Limits(
        copies=draw.choice(((), (("t1", 2),), (("t0", 1), ("t2", 2)))),
        queued=draw.choice((0, 0, 3, 6)),
        builds=1,
        stagger_s=draw.choice((0.0, 0.0, 0.0, 5.0)),
        exclude_after=draw.choice((0, 0, 3)),
    )
    tests = tuple(_test(case.test) for case in cases)
    builds = (Build("b" * 64, "tool", "", "make"),)
    plan = Document("nasty", system, tuple(components), cases, tests, builds=builds, limits=limits, seed=seed)
    plan = _in_units(plan, random.Random(f"units:{seed}").choice((1.0, 3.0)))
    return with_needs(plan, random.Random(f"needs:{seed}"), needing)


def with_needs(plan: Document, draw: random.Random, share: float) -> Document:
    """Purpose: the plan, of a share of them with tests that need others, where every component has what its tests need."""
    if draw.random() >= share:
        return plan
    chains = ({"t1": ("t0",), "t3": ("t1",)}, {"t0": ("t1",), "t2": ("t1",)}, {"t3": ("t0", "t2")}, {"t2": ("t1",)})
    wanted = draw.choice(chains)
    for number, component in enumerate(plan.components):
        for needed in {one for case in (*component.cases, *component.fillers) for one in wanted.get(case, ())}:
            homes = [one for one in plan.components[: number + 1] if needed in one.cases]
            if not homes or homes[-1].duration_s or homes[-1].sweep or component.name in homes[-1].after:
                return plan
    replace = msgspec.structs.replace
    files = draw.choice(((), ("mesh.txt", "part-*")))
    needs = {case: tuple(Need(one, files, into=one) for one in needed) for case, needed in wanted.items()}
    cases = tuple(replace(case, needs=needs.get(case.id, ())) for case in plan.cases)
    return replace(plan, cases=cases)


def _in_units(plan: Document, unit: float) -> Document:
    """The same plan where each run loads so many: what counts runs instead of amounts orders too many, or too few."""

    def each(loads: Loads) -> Loads:
        return tuple((name, amount * unit) for name, amount in loads)

    def limits(old: Limits) -> Limits:
        return msgspec.structs.replace(old, budgets=each(old.budgets))

    clusters = tuple(msgspec.structs.replace(one, licences=each(one.licences)) for one in plan.system.clusters)
    system = msgspec.structs.replace(plan.system, clusters=clusters, budgets=each(plan.system.budgets))
    cases = tuple(msgspec.structs.replace(case, loads=each(case.loads)) for case in plan.cases)
    components = tuple(msgspec.structs.replace(one, limits=limits(one.limits)) for one in plan.components)
    return msgspec.structs.replace(plan, system=system, cases=cases, components=components, limits=limits(plan.limits))


def _local(seed: int, draw: random.Random) -> Document:
    """On the machine one stands on, where runs die with the conductor."""
    if draw.random() < 0.5:
        return moded_document(seed, local=True)
    plan = small_document(local=True, repeats=draw.randint(1, 3), retry=_retries(draw), seed=seed)
    return msgspec.structs.replace(
        plan, components=(*plan.components[:1], msgspec.structs.replace(plan.components[1], after=()))
    )


# ---- the machine -----------------------------------------------------------------------------------------------------------


def _machine(draw: random.Random, needs: str) -> tuple[System, str]:
    """A cluster of a few nodes, and the budget that its tests load: none, one for all, with targets, or a licence."""
    nodes, how = draw.randint(3, 5), draw.choice(("none", "one", "one", "targets", "targets", "licence"))
    how = draw.choice(("one", "targets")) if needs == "held" else how
    places = [Partition("batch", "c", f"n[1-{nodes}]", nodes, "rome")]
    if draw.random() < 0.4:
        places.append(Partition("side", "c", "s[1-2]", 2, "rome"))
    budget = "" if how == "none" else "f2/mdt"
    cluster = Cluster(
        "c",
        "slurm",
        tuple(places),
        licences=((budget, 2.0),) if how == "licence" else (),
        most_jobs=draw.choice((0, 0, 0, 8)),
    )
    targets = ((budget, MDTS),) if how == "targets" else ()
    files = (FileSystem("f2", "lustre", "/lustre/f2/{mdt}/acceptance", (("mdt", MDTS),)),) if targets else ()
    amount = draw.choice((1.0, 2.0)) if targets else 2.0
    budgets = ((budget, amount),) if budget else ()
    types = (NodeType("rome", cores=4),)
    return System("toy", (cluster,), types, filesystems=files, budgets=budgets, targeted=targets), budget


def _cases(draw: random.Random, system: System, budget: str, needs: str) -> tuple[Case, ...]:
    """Four tests: a narrow one that loads, one that is built, a wide one, one that may be next door; and one that is not here."""
    pools = [f"c:{place.name}" for place in system.partitions()]
    wide = draw.choice((2, 2, 3))
    limit = draw.choice((90.0, 120.0))
    targeted = bool(system.targeted)
    more: dict[str, Any] = {"work": "/lustre/f2/{mdt}/acceptance", "targets": (("mdt", budget),)} if targeted else {}
    load: Loads = ((budget, 1.0),) if budget else ()
    narrow, wider = (Shape(nodes=n, units=n, exclusive=True, time_limit_s=limit, requeue=True) for n in (1, wide))
    return (
        Case("t0", "t0", "c:batch", shape=narrow, loads=load, **(more if load else {})),
        Case("t1", "t1", "c:batch", shape=narrow, build="b" * 64 if needs == "build" or draw.random() < 0.4 else ""),
        Case("t2", "t2", "c:batch", shape=wider, loads=load, **(more if load else {})),
        Case("t3", "t3", draw.choice(pools), shape=narrow),
        Case("filler", "filler", "c:batch", shape=msgspec.structs.replace(narrow, requeue=False)),
        Case("missing", "missing", "c:batch", unavailable="program xyz is not here; apt-get install xyz"),
    )


def _test(name: str) -> Test:
    check = Check("contains", "output", "ok", 'output contains "ok"')
    return Test(name, checks=(check,), figures=(FigureSpec("rate"),))


# ---- components ------------------------------------------------------------------------------------------------------------


def _needed(draw: random.Random, budget: str, needs: str) -> list[Component]:
    """A component in which a switch matters, and another beside it or after it."""
    beside = _results(draw, "beside")
    if needs == "held":
        fill = draw.choice((Fill(queue_ahead_s=90.0), Fill(queue_ahead_s=120.0, ramp_s=30.0)))
        found = msgspec.structs.replace(_rolling(draw, budget), fill=fill, clock=ClockTerms(), windows=(), yields=())
    elif needs == "yield":
        yields = (
            Yield(("elsewhere",), 10, 2, copies=(("t0", 1), ("t1", 1))),
            Yield(("elsewhere",), 20, 5, closed=True),
        )
        found = msgspec.structs.replace(_rolling(draw, budget), yields=yields, clock=ClockTerms())
    else:
        found = _sweep(draw) if needs == "sweep" else _results(draw, "built")
    if draw.random() < 0.5:
        return [found, beside]
    return [found, msgspec.structs.replace(beside, after=(found.name,))]


def _plain(draw: random.Random, budget: str) -> list[Component]:
    first = Component("first", "functionality", NAMES[:1], 1, procedures=_procedures(draw, 0.3))
    rest = _results(draw, "rest", after=draw.choice(((), ("first",))), gate=draw.choice(("over", "over", "met")))
    last = Component("last", "site", NAMES[1:2], after=("rest",), retry=_retries(draw))
    return [first, rest, *([last] if draw.random() < 0.5 else [])]


def _modes(draw: random.Random, budget: str) -> list[Component]:
    isolated = Mode("isolated", draw.randint(1, 2), draw.randint(0, 1))
    fill = Mode("fill", 1, draw.randint(0, 1), draw.choice((0, 2, 9)))
    modes = draw.choice(((isolated,), (fill,), (isolated, fill)))
    cases = draw.choice((("t0", "t1"), ("t0", "t2", "missing"), ("t1", "t3")))
    modal = Component("modal", "performance", cases, modes=modes, retry=_retries(draw))
    beside = _results(draw, "beside", after=draw.choice(((), ("modal",))), gate=draw.choice(("over", "met")))
    first = msgspec.structs.replace(beside, after=())
    return draw.choice(([modal, beside], [first, msgspec.structs.replace(modal, after=("beside",))], [modal]))


def _fill(draw: random.Random, budget: str) -> list[Component]:
    before = Component("before", "functionality", NAMES[:2])
    rolling = _rolling(draw, budget, after=draw.choice(((), ("before",))))
    return [before, rolling] if rolling.after or draw.random() < 0.5 else [rolling]


def _bundles(draw: random.Random, budget: str) -> list[Component]:
    found = draw.choice((["sweep"], ["pack"], ["pack"], ["sweep", "pack"]))
    components = [_sweep(draw) if name == "sweep" else _pack(draw) for name in found]
    if draw.random() < 0.4:
        components.append(_results(draw, "beside", after=draw.choice(((), (found[0],)))))
    return components


def _everything(draw: random.Random, budget: str) -> list[Component]:
    """Some of each kind in one plan, at once or one after the other."""
    kinds = draw.sample(("results", "rolling", "pack", "sweep"), 2)
    each = {"results": lambda: _results(draw, "results"), "rolling": lambda: _rolling(draw, budget)}
    each |= {"pack": lambda: _pack(draw), "sweep": lambda: _sweep(draw)}
    found: list[Component] = [each[kind]() for kind in kinds]
    if draw.random() < 0.3:
        after = draw.choice(((), (found[0].name,)))
        found.append(Component("inspected", "vendor", (), after=after, procedures=_procedures(draw, 1.0)))
    if draw.random() < 0.5:
        found[1] = msgspec.structs.replace(found[1], after=(found[0].name,), gate=draw.choice(("over", "met")))
    return found


def _results(draw: random.Random, name: str, **more: Any) -> Component:
    """So many results of each case, again where they fail."""
    cases = draw.choice((NAMES, NAMES[:3], (*NAMES[1:], "missing")))
    limits = Limits(copies=(("t1", 1),)) if draw.random() < 0.2 else Limits()
    return Component(
        name, "performance", cases, draw.randint(1, 3), retry=_retries(draw), limits=limits,
        stop_after=draw.choice((0, 0, 0, 2)), windows=_windows(draw, 0.15), **more,
    )  # fmt: skip


def _rolling(draw: random.Random, budget: str, **more: Any) -> Component:
    """A mix for some minutes, kept full, with whatever narrows it."""
    length = draw.choice((150.0, 240.0))
    fills = (
        Fill(),
        Fill(queue_ahead_s=90.0),
        Fill(survive_s=120.0),
        Fill(queue_ahead_s=60.0, ramp_s=60.0),
        Fill(survive_s=90.0, drain=False),
    )
    fill = draw.choice(fills)
    phases = (Phase("one", length / 2), Phase("two", length / 2)) if draw.random() < 0.2 else ()
    clock = ClockTerms(draw.choice(("first order", "first order", "first order", "declared")))
    limits = Limits(budgets=((budget, 1.0),)) if budget and draw.random() < 0.2 else Limits()
    yields = (Yield(("elsewhere",), 10, 2, copies=(("t0", 1),)), Yield(("elsewhere",), 20, 5, closed=True))
    return Component(
        "rolling", "stability", NAMES, duration_s=length, fill=fill, limits=limits, phases=phases, clock=clock,
        mix=draw.choice(((), (("t0", 0.4), ("t1", 0.3), ("t2", 0.2), ("t3", 0.1)))), windows=_windows(draw, 0.3),
        fillers=("filler",) if draw.random() < 0.3 else (), yields=yields[: draw.choice((0, 0, 1, 2))],
        stop_after=draw.choice((0, 0, 3)), retry=_retries(draw), **more,
    )  # fmt: skip


def _sweep(draw: random.Random) -> Component:
    """Some tests on every node, in one job each; a node that fails is seen again when it is back."""
    again = tuple(Retry(verdict, 6, 5.0) for verdict in ("node_fail", "failed", "lost", "timeout"))
    cases = draw.choice((("t0", "t1"), ("t1",)))
    return Component(
        "sweep",
        "functionality",
        cases,
        sweep=Sweep(draw.randint(1, 3), draw.choice((1, 1, 2)), wait_s=3600.0),
        retry=again,
    )


def _pack(draw: random.Random) -> Component:
    pack = Pack(draw.choice((3, 5)), draw.choice((0, 1, 2)), draw.choice((0, 1, 2)))
    return Component(
        "pack", "functionality", draw.choice((("t0",), ("t0", "t1"), ("t1",))), draw.randint(3, 7), pack=pack
    )


def _retries(draw: random.Random) -> tuple[Retry, ...]:
    back = draw.choice((0.0, 10.0, 30.0))
    return draw.choice(((), (), (Retry("failed", draw.randint(1, 3), back), Retry("timeout", 1, back))))


def _procedures(draw: random.Random, share: float) -> tuple[Procedure, ...]:
    return (Procedure("check cables"), Procedure("pull a plug"))[: draw.randint(1, 2)] if draw.random() < share else ()


def _windows(draw: random.Random, share: float) -> tuple[Window, ...]:
    """A time of the week that begins and ends while the campaign goes on."""
    if draw.random() >= share:
        return ()
    since = BEGAN_S + draw.choice((-100.0, 50.0, 100.0))
    until = since + draw.choice((130.0, 180.0))
    narrow = {"copies": (("t0", 1), ("t1", 1))} if draw.random() < 0.5 else {"closed": True}
    return (Window("so it is", since, until, **narrow),)
