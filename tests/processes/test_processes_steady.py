"""Time that goes on evenly while the calendar leaps."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from shakedown.processes.steady import SteadyTime

DAY = 86400.0


@dataclass
class Clocks:
    """A machine's two clocks. ``calendar`` can be set; ``steady`` goes on."""

    calendar: float = 1_000_000.0
    steady: float = 50.0

    def time(self) -> SteadyTime:
        return SteadyTime(lambda: self.calendar, lambda: self.steady)

    def pass_by(self, seconds: float) -> None:
        self.calendar += seconds
        self.steady += seconds


def test_it_is_the_calendars_time_while_nobody_sets_that() -> None:
    clocks = Clocks()
    time = clocks.time()
    clocks.pass_by(12.5)

    assert time.now() == clocks.calendar
    assert time.behind_s() == 0


@pytest.mark.parametrize("step", [DAY, -DAY, 30.0, -30.0])
def test_a_step_of_the_calendar_is_no_step_of_ours_and_is_made_up_slowly(step: float) -> None:
    clocks = Clocks()
    time = clocks.time()
    before = time.now()
    clocks.calendar += step

    assert time.now() == before
    assert time.behind_s() == step
    clocks.pass_by(100.0)
    assert time.now() - before == pytest.approx(105.0 if step > 0 else 95.0)
    while abs(time.behind_s()) > 1e-6:
        now = time.now()
        clocks.pass_by(10.0)
        assert 9.4 <= time.now() - now <= 10.6
    assert time.now() == pytest.approx(clocks.calendar)


def test_a_record_that_is_ahead_of_the_calendar_goes_on_from_its_last_time() -> None:
    """It was kept under a clock that was wrong by a day: deadlines and retries pass all the same."""
    clocks = Clocks()
    time = clocks.time()
    time.not_before(clocks.calendar + DAY)
    before = time.now()
    clocks.pass_by(60.0)

    assert before == 1_000_000.0 + DAY
    assert time.now() - before == pytest.approx(57.0)
    time.not_before(5.0)
    assert time.now() - before == pytest.approx(57.0)
