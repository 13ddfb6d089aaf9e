"""The model of ASCI Q has the shape that paper 003 prints: where it degrades, by how much, and that the clean-up mends it."""

from __future__ import annotations

import itertools

import pytest

from shakedown.twin.models.asci_q import AsciQ, rehearse_asci_q


@pytest.fixture(scope="module", params=[0, 1])
def rehearsal(request: pytest.FixtureRequest) -> AsciQ:
    return rehearse_asci_q(request.param)


def test_at_full_scale_a_cycle_takes_about_seventy_per_cent_longer(rehearsal: AsciQ) -> None:
    full = rehearsal.full
    assert (full.processes, full.nodes, full.per_node) == (8192, 2048, 4)
    assert full.model_s == pytest.approx(0.70, abs=0.005)
    assert full.before_s / full.model_s == pytest.approx(1.70, abs=0.06)


def test_with_a_processor_left_idle_a_cycle_is_nearly_undisturbed(rehearsal: AsciQ) -> None:
    for per_node in (1, 2, 3):
        points = rehearsal.at(per_node)
        assert points[-1].processes == 2048 * per_node
        assert all(point.before_s / point.model_s < 1.01 for point in points)


def test_with_all_four_it_grows_with_the_processes(rehearsal: AsciQ) -> None:
    ratios = [point.before_s / point.model_s for point in rehearsal.at(4)]
    assert all(larger > smaller for smaller, larger in itertools.pairwise(ratios))
    assert max(ratios[:3]) < 1.03 < 1.10 < ratios[-3] < ratios[-2] < ratios[-1]


def test_after_the_clean_up_it_is_on_the_model(rehearsal: AsciQ) -> None:
    assert all(1.0 <= point.after_s / point.model_s < 1.03 for point in rehearsal.points)


def test_of_a_thousand_cycles_the_shortest_is_close_to_the_model(rehearsal: AsciQ) -> None:
    cycles = sorted(rehearsal.cycles_s)
    assert len(cycles) == 1000
    assert cycles[0] == pytest.approx(0.75, abs=0.01)
    assert 5 <= sum(cycle < 0.76 for cycle in cycles) <= 150  # some cycles are not affected, most are
    assert cycles[500] > 1.0 and cycles[-1] > 2.0


def test_the_sources_on_one_node_in_32_cost_most(rehearsal: AsciQ) -> None:
    assert rehearsal.shares[0].source == "first-of-32"
    assert rehearsal.shares[0].without < 1.25
    kernel = next(share for share in rehearsal.shares if share.source == "kernel")
    assert kernel.takes_s * 10 < 0.001
