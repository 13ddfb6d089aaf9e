"""Issues that are open at the end of a log and restrict by their severity, by rule P7 of judging alone.

It shares no code with the package, on purpose, so that a mistake there is not made here again.
"""

from __future__ import annotations

from typing import Any

from recompute_log import Campaign

ENDS = {"queue_held": "queue_released", "node_left_out": "node_let_in", "disk_full": "disk_has_room", "halted": "goes_on",
        "paused": "continued", "case_stopped": "continued", "observed_silent": "observed"}  # fmt: skip
SEVERITY = {"queue_held": "major", "disk_full": "note", "halted": "minor", "case_stopped": "minor", "node_left_out": "minor",
            "excluded": "minor", "observed_silent": "note"}  # fmt: skip


def restricting(campaign: Campaign, severities: list[str]) -> list[int]:
    """The events of the open issues of these severities, which nobody accepted."""
    if not severities:
        return []
    accepted = {(said["value"]["name"], said["seq"]) for said in campaign.told
                if said["event"] == "waived" and said["value"]["what"] == "issue"}  # fmt: skip
    found = {**_incidents(campaign.told), **_exclusions(campaign.told), **_rulings(campaign)}
    return [seq for seq, (severity, grew) in found.items()
            if severity in severities and not any(name == str(seq) and at > grew for name, at in accepted)]  # fmt: skip


def _incidents(told: list[dict[str, Any]]) -> dict[int, tuple[str, int]]:
    """The event that opened each -> its severity, and the last event that added to it."""
    open_: dict[tuple[str, str], tuple[int, str]] = {}
    for said in told:
        value = said.get("value", {})
        word = value.get("kind", "") if said["event"] == "finding" else said["event"]
        for begin, end in ENDS.items():
            if word == end and (word != "observed" or value.get("number") is not None):
                open_.pop((begin, _about(said, begin)), None)
        if word in ("included", "queue_held"):  # holding a queue names the nodes that it takes back in
            for node in value.get("nodes", ()):
                open_.pop(("node_left_out", node), None)
        if word in ENDS and (word != "paused" or value.get("cause") in ("maintenance", "machine", "vendor", "site")):
            severity = SEVERITY.get(word) or ("note" if value["cause"] == "maintenance" else "major")
            open_.setdefault((word, _about(said, word)), (said["seq"], severity))
    return {seq: (severity, seq) for seq, severity in open_.values()}


def _about(said: dict[str, Any], word: str) -> str:
    value = said.get("value", {})
    if word in ("halted", "case_stopped"):
        return said.get("run") or said.get("case") or ""
    if word == "node_left_out":
        return str((value.get("nodes") or [""])[0])
    return str(
        value.get({"queue_held": "pool", "paused": "component", "observed_silent": "budget"}.get(word, ""), "") or ""
    )


def _exclusions(told: list[dict[str, Any]]) -> dict[int, tuple[str, int]]:
    left: dict[int, set[str]] = {}
    for said in told:
        if said["event"] == "excluded":
            left[said["seq"]] = set(said["value"]["nodes"])
        if said["event"] == "included":
            left = {seq: nodes - set(said["value"]["nodes"]) for seq, nodes in left.items()}
            left = {seq: nodes for seq, nodes in left.items() if nodes}
    return {seq: ("minor", seq) for seq in left}


def _rulings(campaign: Campaign) -> dict[int, tuple[str, int]]:
    """One for each party, person and reason: open while the ruling stands and one of its cases has not passed again."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for said in campaign.told:
        if said["event"] == "ruled" and said["value"]["as"] != "none" and said["run"] in campaign.runs:
            groups.setdefault((said["value"]["as"], said["value"]["by"], said.get("reason", "")), []).append(said)
    found = {}
    for (party, _, _), mine in groups.items():
        runs = [campaign.runs[name] for name in dict.fromkeys(said["run"] for said in mine)]
        stands = any(run.ruling == party for run in runs)
        if stands and not all(_passed_again(campaign, run.case, run.ended) for run in runs):
            found[mine[0]["seq"]] = ("minor" if party in ("vendor", "site") else "note", mine[-1]["seq"])
    return found


def _passed_again(campaign: Campaign, case: str, after: float | None) -> bool:
    spans = [run.span for run in campaign.judged if run.case == case and run.verdict == "passed"]
    return any(span is not None and span[0] >= (after or 0.0) for span in spans)
