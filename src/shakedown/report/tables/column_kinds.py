"""The kinds of the columns in the report's tables, by heading: fixed, whether or not a campaign has values for a column.

``kind_of`` is the main function. A column in none of the lists is text.
"""

from __future__ import annotations

from typing import Literal

Kind = Literal["flag", "whole", "number", "text"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FLAGS = _words(
    """
    attested backdated changed counted counts end_known excluded filler given good in_force maintenance met outlier over points
    restricts retried scheduled settled strict waived
    """
)
_WHOLE = _words(
    """
    all_nodes as_expected attempt attempts attempts_after baseline_nodes baseline_tasks baseline_threads compared copies_at_once
    copies_required cores_per_rank count count_after day elsewhere_count elsewhere_hits enough epoch event evidence_required
    examined exit failed failed_after failed_before failures files fill_n given_up hits interrupts isolated_n jobs judged kept
    lost measured_n missing n n_after n_before n_without node_fail node_microseconds nodes not_counted not_judged
    open_at_its_end outside passed ranks repeat replaced result right runs runs_of_unknown_times superseded_by supersedes
    system_interrupts tasks threads timed to_come unavailable undetermined values wanted warm_ups
    """
)
_NUMBERS = _words(
    """
    after after_high_95 after_low_95 as_of asked at at_s availability back_s baseline_n baseline_value before before_high_95
    before_low_95 begin begun bound chance clock_h clock_hours closed congested congested_p99 contractual corrected delivered
    down_hours efficiency elapsed_s end ended failure_rate falls_at falls_at_about falls_below faster_by fill_better_than_vendor
    fill_high_95 fill_low_95 fill_mean fill_sd fill_worst first high high_95 hole_before_s hole_begin hole_end hole_s hours
    ideal if_faster impact impact_p99 interval_high interval_low isolated isolated_better_than_vendor isolated_high_95
    isolated_low_95 isolated_mean isolated_p99 isolated_sd last late_of_first_s late_s level limit load low low_95
    lower_quartile lowest maintenance_hours margin margin_to_lower margin_to_upper max mean mean_h mean_high_95 mean_high_95_h
    mean_low_95 mean_low_95_h mean_s mean_without_outliers mean_without_s measured measured_better_than_vendor measured_before
    measured_mean median median_absolute_deviation median_high_95 median_low_95 min needs_factor node_hours of_clock of_hours
    of_node_hours opened ours ours_of_clock p part_value per_1000_after per_1000_high_95 per_1000_low_95 per_1000_node_hours
    planned over_proposed points_off proposed ratio reference right_node_hours robust_deviations said score_proposed sd
    sd_percent sd_percent_without sd_s sd_without_outliers sd_without_s serial serial_fitted settle_s share share_after
    share_high_95 share_low_95 size slowness smallest speedup started system_high_95_h system_low_95_h system_mean_h
    system_nodes tflop time times until upper_quartile value vendor vendor_of_fill within worse worse_by worst_copy_worse
    """
)
# table: heading: where a word means something else there
_OWN: dict[str, dict[str, Kind]] = {
    "acts": {"missing": "text"},
    "cases": {"unavailable": "text"},
    "clocks": {"event": "text"},
    "deadlines": {"kept": "number"},
    "failures-by-class": {"nodes": "text"},
    "idle-while-pending": {"nodes": "number"},
    "interrupts": {"runs": "text"},
    "issues-by-month": {"opened": "whole", "closed": "whole"},
    "node-findings": {"nodes": "text", "runs": "text"},
    "node-runs": {"counted": "whole", "left_out": "flag"},
    "nodes-out": {"failed": "flag"},
    "requirements": {"measured": "text"},
    "runs": {"nodes": "text"},
    "scores": {"mean": "text", "missing": "text", "n": "number", "result": "number"},
    "toolchains": {"as_expected": "flag", "identical": "flag"},
    "verdicts-by-test": {"good": "whole"},
}


def kind_of(table: str, heading: str) -> Kind:
    """Purpose: the kind of a column. ``table``: its name without the suffix."""
    own = _OWN.get(table, {}).get(heading)
    if own is not None:
        return own
    if heading in _FLAGS:
        return "flag"
    return "whole" if heading in _WHOLE else "number" if heading in _NUMBERS else "text"
