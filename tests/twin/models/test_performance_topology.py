"""Shapes of networks against graphs built link by link: distances by walking, cuts by trying all, loads by routing every pair."""

from __future__ import annotations

import itertools
import math
from collections import Counter, deque
from collections.abc import Iterable

import pytest

from shakedown.model.errors import UsageError
from shakedown.twin.models.shapes import NAMED, topology_named
from shakedown.twin.models.topology import Dragonfly, FatTree, Torus

Links = list[tuple[int, int]]
TORI = [(2,), (5,), (4, 2), (3, 4), (4, 4), (2, 2, 4), (3, 3, 2), (1, 6), (4, 3, 2)]


def distances(links: Links, start: int) -> dict[int, int]:
    beside: dict[int, list[int]] = {}
    for a, b in links:
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    found, ahead = {start: 0}, deque([start])
    while ahead:
        here = ahead.popleft()
        for there in beside.get(here, []):
            if there not in found:
                found[there] = found[here] + 1
                ahead.append(there)
    return found


def mean_over_nodes(links: Links, switch_of: list[int]) -> float:
    """Over all pairs of different nodes."""
    far = {switch: distances(links, switch) for switch in set(switch_of)}
    pairs = list(itertools.permutations(range(len(switch_of)), 2))
    return sum(far[switch_of[a]][switch_of[b]] for a, b in pairs) / len(pairs)


def torus_links(lengths: tuple[int, ...]) -> Links:
    """One link from each router to the next one of each dimension, around."""
    places = list(itertools.product(*map(range, lengths)))
    links = []
    for place in places:
        for axis, length in enumerate(lengths):
            if length > 1:
                after = tuple((x + 1) % length if d == axis else x for d, x in enumerate(place))
                links.append((places.index(place), places.index(after)))
    return links


@pytest.mark.parametrize("lengths", TORI)
@pytest.mark.parametrize("per_router", [1, 2])
def test_a_torus_is_as_far_across_as_a_walk_through_it(lengths: tuple[int, ...], per_router: int) -> None:
    torus = Torus(lengths, per_router)
    switch_of = [node // per_router for node in range(torus.nodes)]
    assert torus.mean_hops == pytest.approx(mean_over_nodes(torus_links(lengths), switch_of))


@pytest.mark.parametrize("lengths", [(2,), (6,), (2, 2), (4, 2), (4, 3), (4, 4), (2, 2, 4), (1, 6)])
def test_no_halves_of_a_torus_are_joined_by_fewer_links_than_its_bisection(lengths: tuple[int, ...]) -> None:
    links, routers = torus_links(lengths), math.prod(lengths)
    halves = itertools.combinations(range(1, routers), routers // 2)
    fewest = min(sum((a in half) != (b in half) for a, b in links) for half in map(set, halves))
    assert Torus(lengths).bisection(3.0) == pytest.approx(3.0 * fewest)


def torus_loads(lengths: tuple[int, ...]) -> Counter[tuple[tuple[int, ...], int, int]]:
    """Messages on each link (router, dimension, direction): one from each router to each other, x first, shortest, ties split."""
    loads: Counter[tuple[tuple[int, ...], int, int]] = Counter()
    places = list(itertools.product(*map(range, lengths)))
    for source, target in itertools.product(places, places):
        here = list(source)
        for axis, length in enumerate(lengths):
            ahead = (target[axis] - here[axis]) % length
            ways = [(1, ahead)] if 2 * ahead < length else [(-1, length - ahead)]
            ways = [(1, ahead), (-1, ahead)] if 2 * ahead == length else ways
            for direction, steps in ways:
                at = list(here)
                for _ in range(steps):
                    loads[tuple(at), axis, direction] += 1.0 / len(ways)  # type: ignore[assignment]
                    at[axis] = (at[axis] + direction) % length
            here[axis] = target[axis]
    return loads


@pytest.mark.parametrize("lengths", TORI)
def test_what_is_left_of_a_node_s_rate_in_a_torus_is_set_by_its_most_loaded_link(lengths: tuple[int, ...]) -> None:
    torus = Torus(lengths, per_router=2)
    busiest = max(torus_loads(lengths).values()) * 2 * 2  # of two nodes on each side
    each_sends = torus.nodes - 1
    assert torus.alltoall_ceiling(math.inf, 5.0) == pytest.approx(5.0 * each_sends / busiest)
    assert torus.alltoall_ceiling(0.001, 5.0) == 0.001


@pytest.mark.parametrize("widths", [(3.0, 1.0), (1.0, 5.0), (2.0, 1.0)])
def test_of_an_anisotropic_torus_the_link_that_is_busiest_for_its_width_sets_the_rate(
    widths: tuple[float, ...],
) -> None:
    torus = Torus((8, 4), widths=widths)
    busiest = max(load / widths[axis] for (_, axis, _), load in torus_loads((8, 4)).items())
    assert torus.alltoall_ceiling(math.inf, 5.0) == pytest.approx(5.0 * (torus.nodes - 1) / busiest)


def test_wider_links_move_the_thinnest_cut_of_an_anisotropic_torus() -> None:
    """8x4: cut across the length of 8 crosses 2 x 4 links; three links side by side there make it 24, and the other cut 2 x 8."""
    assert Torus((8, 4)).cut_links() == 8
    assert Torus((8, 4), widths=(3.0, 1.0)).cut_links() == 16


def tree(arities: tuple[int, ...]) -> tuple[Links, list[int]]:
    """Switches numbered level by level from the bottom; which one each node is on."""
    count = math.prod(arities)
    numbers: dict[tuple[int, int], int] = {}
    links: Links = []
    width = 1
    for level, arity in enumerate(arities, 1):
        width *= arity
        for number in range(count // width):
            numbers[level, number] = len(numbers)
        if level > 1:
            for number in range(count // width * arity):
                links.append((numbers[level - 1, number], numbers[level, number // arity]))
    return links, [numbers[1, node // arities[0]] for node in range(count)]


@pytest.mark.parametrize("arities", [(4,), (2, 2), (4, 4, 2), (3, 2, 5), (2, 3, 1, 2)])
def test_a_fat_tree_is_as_far_across_as_a_walk_through_it(arities: tuple[int, ...]) -> None:
    links, switch_of = tree(arities)
    assert FatTree(arities).mean_hops == pytest.approx(mean_over_nodes(links, switch_of) if len(switch_of) > 1 else 0)


@pytest.mark.parametrize(("arities", "taper"), [((4, 4, 2), 0.25), ((2, 2, 4), 0.5), ((4, 3), 1.0), ((2, 2), 0.9)])
def test_the_top_of_a_tapered_tree_sets_the_rate_of_all_to_all(arities: tuple[int, ...], taper: float) -> None:
    """By counting, over each link of the tree, the pairs whose paths use it, against the nodes below it times its taper."""
    count = math.prod(arities)
    rates, below = [2.0], 1
    for level, arity in enumerate(arities):
        share = taper if level == len(arities) - 1 else 1.0
        crossing = sum((a < below) != (b < below) for a, b in itertools.permutations(range(count), 2)) / 2
        rates.append(2.0 * below * share * (count - 1) / crossing)
        below *= arity
    assert FatTree(arities, taper).alltoall_ceiling(2.0, 2.0) == pytest.approx(min(rates))
    assert FatTree(arities, taper).bisection(2.0) == pytest.approx(
        2.0 * taper * (count // arities[-1]) * (arities[-1] // 2)
    )


def global_links(fly: Dragonfly) -> dict[tuple[int, int], Links]:
    """Between each pair of groups the links, as pairs of routers: on other routers as long as there are some, no two parallel."""
    each = fly.routers * fly.global_links // (fly.groups - 1)
    found = {}
    for a, b in itertools.combinations(range(fly.groups), 2):
        ahead, back = b - a, a + fly.groups - b
        links = [((ahead - 1) * each + n, (back - 1) * each + n + n // fly.routers) for n in range(each)]
        found[a, b] = [(a * fly.routers + x % fly.routers, b * fly.routers + y % fly.routers) for x, y in links]
    return found


def local_links(fly: Dragonfly, groups: Iterable[int]) -> Links:
    return [
        (group * fly.routers + a, group * fly.routers + b)
        for group in groups
        for a, b in itertools.combinations(range(fly.routers), 2)
    ]


FLIES = [
    Dragonfly(5, 4, 2, 1),
    Dragonfly(9, 4, 2, 2),
    Dragonfly(3, 4, 1, 1),
    Dragonfly(3, 4, 2, 3),
    Dragonfly(2, 3, 2, 1),
]


@pytest.mark.parametrize("fly", FLIES, ids=Dragonfly.words)
def test_a_dragonfly_s_shortest_ways_between_two_groups_are_as_a_walk_finds_them(fly: Dragonfly) -> None:
    """Walks stay in the two groups: the network routes no shortest way through a third."""
    total = sum(
        sum(distances(local_links(fly, [group]), group * fly.routers).values()) * fly.routers
        for group in range(fly.groups)
    )
    for (a, b), links in global_links(fly).items():
        both = local_links(fly, [a, b]) + links
        routers = [[group * fly.routers + n for n in range(fly.routers)] for group in (a, b)]
        total += 2 * sum(distances(both, source)[target] for source in routers[0] for target in routers[1])
    pairs = fly.nodes * (fly.nodes - 1)
    assert fly.mean_hops == pytest.approx(total * fly.per_router**2 / pairs)


@pytest.mark.parametrize("fly", FLIES, ids=Dragonfly.words)
def test_no_halves_of_whole_groups_are_joined_by_fewer_links_than_the_bisection(fly: Dragonfly) -> None:
    halves = itertools.combinations(range(fly.groups), fly.groups // 2)
    cuts = [
        sum(len(links) for (a, b), links in global_links(fly).items() if (a in half) != (b in half)) for half in halves
    ]
    assert fly.bisection(7.0) == pytest.approx(7.0 * min(cuts))


@pytest.mark.parametrize("fly", [Dragonfly(5, 4, 2, 1), Dragonfly(9, 4, 2, 2)], ids=Dragonfly.words)
def test_a_full_dragonfly_s_rate_of_all_to_all_and_its_detours_by_routing_every_pair(fly: Dragonfly) -> None:
    gates = {}
    for (a, b), [(x, y)] in global_links(fly).items():
        gates[a, b], gates[b, a] = (x, y), (y, x)
    loads: Counter[tuple[int, int]] = Counter()
    detours = []
    for source, target in itertools.permutations(range(fly.groups * fly.routers), 2):
        a, b = source // fly.routers, target // fly.routers
        way = [source, target] if a == b else [source, *gates[a, b], target]
        loads.update(link for link in itertools.pairwise(way) if link[0] != link[1])
        for third in set(range(fly.groups)) - {a, b} if a != b else ():
            way = [source, *gates[a, third], *gates[third, b], target]
            detours.append(sum(x != y for x, y in itertools.pairwise(way)))
    busiest = max(loads.values()) * fly.per_router**2
    assert fly.alltoall_ceiling(math.inf, 3.0) == pytest.approx(3.0 * (fly.nodes - 1) / busiest)
    assert fly.valiant_hops == pytest.approx(sum(detours) / len(detours))
    assert max(detours) == 5
    crossing = fly.per_router**2 * fly.routers**2  # messages of one pair of groups, over its one link
    assert fly.valiant_ceiling(math.inf, 3.0) == pytest.approx(3.0 * (fly.nodes - 1) / (2 * crossing))


def test_the_papers_machines() -> None:
    """Paper 001: Gemini 18x12x24, cut across the 24: 2 x 18 x 12 = 432 links. Paper 003: 25 % between the halves of ASCI Q."""
    cielo, q = NAMED["cielo"][0], NAMED["asci-q"][0]
    assert isinstance(cielo, Torus)
    assert cielo.cut_links() == 432
    assert cielo.routers == 5184
    assert cielo.mean_hops == pytest.approx(13.5 * 10368 / 10367)  # 18/4 + 12/4 + 24/4
    assert cielo.nodes >= 8944
    assert q.nodes == 2048
    assert q.bisection(250e6) == pytest.approx(0.25 * 1024 * 250e6)
    assert q.alltoall_ceiling(250e6, 250e6) == pytest.approx(250e6 * 0.25 * 2047 / 1024)


def test_topologies_as_people_type_them() -> None:
    assert topology_named("torus:18x12x24:2") == Torus((18, 12, 24), 2)
    assert topology_named("fat-tree:4x4x2:25%") == FatTree((4, 4, 2), 0.25)
    assert topology_named("dragonfly:5x16x16x8") == Dragonfly(5, 16, 16, 8)
    assert topology_named("asci-q") is NAMED["asci-q"][0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ring",
        "torus",
        "torus:",
        "torus:0x3",
        "torus:4x-1",
        "torus:4x4:0",
        "torus:4:z",
        "torus:99999x99999",
        "toru:4x4",
        "fat-tree:4x4:0%",
        "fat-tree:4x4:200%",
        "fat-tree:4x4:x",
        "dragonfly:4x4",
        "dragonfly:99x2x2x1",
        "dragonfly:3x0x1x1",
        "dragonfly:3x2x2x0",
        "torus:4x4:\u0662",
        "torus:\u0663x3",
        "nan",
    ],
)
def test_what_is_no_topology_is_refused_with_a_way_out(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        topology_named(text)
    assert caught.value.hint


@pytest.mark.parametrize(
    "text", ["torus:1", "torus:1x1:2", "fat-tree:1", "fat-tree:4", "dragonfly:1x1x1x0", "dragonfly:1x4x2x0"]
)
def test_machines_of_one_switch_have_no_middle_to_cut(text: str) -> None:
    topology = topology_named(text)
    assert topology.alltoall_ceiling(2.0, 2.0) == 2.0 or topology.nodes > 4
    assert topology.mean_hops >= 0
    assert topology.bisection(2.0) > 0
