"""Two frozen plans side by side: what the later one asks less of, and whose results come easier by it.

Part of ``recompute_acts.py``. It shares no code with the package, on purpose, so that a mistake there is not made here again.
"""

from __future__ import annotations

from typing import Any

from recompute_numbers import unfolded

Json = dict[str, Any]
STEERS = (
    "set_up",
    "clean_up",
    "drills",
    "limits",
    "fill",
    "fillers",
    "windows",
    "yields",
    "phases",
    "mix",
    "stop_after",
    "sweep",
    "pack",
    "ladder",
)
SIZE = ("nodes", "tasks_per_node", "cpus_per_task", "units", "exclusive")
PROGRAM = (
    "script",
    "build",
    "environment",
    "files",
    "partition",
    "toolchain",
    "parameters",
    "work",
    "targets",
    "stage",
    "container",
)
OF_NODES = ("sockets", "cores", "threads_per_core", "numa", "memory_bytes", "features", "gpus")
MEASURED = ("measure", "of", "test", "statistic", "leave_out", "epochs", "since", "inputs")
SUBJECT = ("test", "figure", "basis", "where", "statistic", "mode", "unit", "inputs")
ASKED = ("contract", "test", "figure", "must", "basis", "where", "statistic", "mode", "inputs")


def asks_less(old: Json, new: Json) -> set[Any]:
    """What a plan asks less of than the one before it, each with how it is now: parts, cases, time, criteria, rows."""
    parts, found = _parts(new), set[Any]()
    for part in old["components"]:
        name, now = part["name"], parts.get(part["name"])
        if now is None:
            found.add(("component", name))
            continue
        found |= {(key, name, now[key]) for key in ("duration_s", "repeats") if now[key] < part[key]}
        found |= {("no results", name)} if now["duration_s"] and not part["duration_s"] else set()
        found |= {("case", name, case) for case in set(part["cases"]) - set(now["cases"])}
        fewer = len(part["procedures"]) - len(now["procedures"])
        found |= {("procedures", name, fewer)} if fewer > 0 else set()
        late = any(item["measure"] == "late" for item in part["criteria"])
        if late and (now["deadline"] is None or now["deadline"] > part["deadline"]):
            found.add(("deadline", name, now["deadline"]))
        found |= _criteria_ask_less(part, now)
    for part in (part for part in old["components"] if part["name"] in parts):
        later = {mode["name"]: mode for mode in parts[part["name"]]["modes"]}
        cases = {case["id"]: case for case in new["cases"]}
        for mode in (mode for mode in part["modes"] if mode["name"] in later):
            for case in (case for case in old["cases"] if case["id"] in part["cases"] and case["id"] in cases):
                many = copies(new, later[mode["name"]], cases[case["id"]])
                if many < copies(old, mode, case):
                    found.add(("copies", part["name"], mode["name"], case["id"], many))
    loosened = {("row", name) for name in _loosened(old, new)}
    reckoned = {test["name"]: test.get("scaling") for test in new["tests"]}
    for test in (test for test in old["tests"] if test.get("scaling") and test["name"] in reckoned):
        found |= {("scaling", test["name"])} if reckoned[test["name"]] != test["scaling"] else set()
    commands = dict(map(tuple, new["system"]["fingerprint"]))
    found |= {("fingerprint", name) for name, said in old["system"]["fingerprint"] if commands.get(name) != said}
    found |= {("variable", name) for name in old["record_environment"] if name not in new["record_environment"]}
    found |= {("issues", word) for word in old.get("issues", []) if word not in new.get("issues", [])}
    return found | _machine_is_smaller(old, new) | loosened | easier(old, new)


def _criteria_ask_less(part: Json, now: Json) -> set[Any]:
    items, found = {item["name"]: item for item in now["criteria"]}, set[Any]()
    for item in part["criteria"]:
        mine = items.get(item["name"])
        if mine is None:
            found.add((part["name"], item["name"]))
            continue
        less = mine["enough"] != item["enough"] or mine["unit"] != item["unit"] or _lets_more_pass(item, mine)
        if less or any(
            mine[key] != item[key]
            for key in ("measure", "of", "test", "statistic", "leave_out", "epochs", "since", "inputs")
        ):
            found.add((part["name"], item["name"], repr(mine)))
    return found


def _lets_more_pass(item: Json, mine: Json) -> bool:
    """Some number that the measure can be is well with the later bound and not with the earlier one."""
    bounds = (item["bound"], mine["bound"])
    tried = [number + step for number in (*bounds, sum(bounds) / 2, 0.0, 1.0) for step in (-1e-3, 0.0, 1e-3)]
    share = item["measure"] in ("passed / attempts", "passed / wanted", "correct / completed", "rows met", "attested")
    possible = [number for number in tried if not share or 0 <= number <= 1]
    return any(_is_well(mine, number) and not _is_well(item, number) for number in possible)


def _is_well(item: Json, number: float) -> bool:
    apart = number - item["bound"]
    if abs(apart) < 1e-9:
        return "=" in item["comparison"]
    return bool(item["comparison"] != "=" and (apart > 0) == (item["comparison"][0] == ">"))


def easier(old: Json, new: Json) -> set[Any]:
    """What results come easier by, each with how it is now."""
    parts, cases, rows = eases(old, new)
    tests = {test["name"]: (test["checks"], test["figures"]) for test in new["tests"]}
    keys = (*PROGRAM, "shape", "expect", "rows", "sides", "needs")
    there = {place: repr(found) for place, found in places(new).items()}
    now = {
        case["id"]: repr([case.get(key) for key in keys] + [tests.get(case["test"]), there.get(case["partition"])])
        for case in new["cases"]
    }
    running = ("retry", "modes", "gate", "after", "clock", "mix", "procedures", "sweep")
    found = {
        (part["name"], repr([part[key] for key in running])) for part in new["components"] if part["name"] in parts
    }
    return found | {(case, now[case]) for case in cases} | {("row", name) for name in rows}


def eases(old: Json, new: Json) -> tuple[set[str], set[str], set[str]]:
    """Whose results come easier by the later plan, whatever is asked for after it: components, cases, and rows that judge runs."""
    now = _parts(new)
    parts = {
        part["name"] for part in old["components"] if part["name"] in now and _runs_otherwise(part, now[part["name"]])
    }
    rows = {name for name in _loosened(old, new) if _rows(old)[name]["verdict"]}
    cases = _easier_cases(old, new) | _less_bounded(old, new) | _elsewhere(old, new)
    return parts, cases | {case["id"] for case in old["cases"] if rows & set(case["rows"])}, rows


def known_without(old: Json, new: Json) -> bool:
    """No verdict hangs on what is easier but by attempts and time limits, and nothing that exceeds a limit is attempted again."""
    again = {retry["verdict"] for part in old["components"] for retry in part["retry"]}
    if "timeout" in again:
        return False
    judging = any(row["verdict"] for plan in (old, new) for row in _rows(plan).values())
    now, cases = _parts(new), {case["id"]: case for case in new["cases"]}
    for part in old["components"]:
        mine = now.get(part["name"], part)
        if (part["gate"] == "met" and mine["gate"] != "met") or set(part["after"]) - set(mine["after"]):
            return False
    tests = _easier_cases(
        old,
        new | {"cases": [_as_limited(case, cases[case["id"]], again) for case in old["cases"] if case["id"] in cases]},
    )
    return not tests and not _elsewhere(old, new) and not (judging and (eases(old, new)[2] or _less_bounded(old, new)))


def _as_limited(old: Json, new: Json, again: set[str]) -> Json:
    """The later case with the time limit of the earlier one, and its expected verdict unless that is attempted again."""
    shape = new["shape"] | {"time_limit_s": old["shape"]["time_limit_s"]}
    return new | {"shape": shape, "expect": new["expect"] if new["expect"] in again else old["expect"]}


def harder_for(old: Json, new: Json, run: Any) -> str:
    """How a verdict that was given by the later plan might be another by the earlier one: ``open``, to what nobody knows;
    ``passed`` as it was; ``again``, with an attempt after it. "" where it is the same.
    """
    parts = [_parts(plan).get(run.component, {}) for plan in (old, new)]
    cases: list[Json] = [next((case for case in plan["cases"] if case["id"] == run.case), {}) for plan in (old, new)]
    if all(cases) and _is_open(old, parts, cases, run):
        return "open"
    if all(cases) and _passed_perhaps(old, new, cases, run):
        return "passed"
    times = [{one["verdict"]: one["times"] for one in part.get("retry", [])}.get(run.verdict, 0) for part in parts]
    return "again" if all(parts) and times[1] < times[0] and not run.retried else ""


def _is_open(old: Json, parts: list[Json], cases: list[Json], run: Any) -> bool:
    """It was cut off, or came in the place of one that would have warmed up."""
    if all(parts) and run.case in parts[0]["cases"]:
        left = {mode["name"]: mode["warm_up"] for mode in parts[1]["modes"]}
        for mode in parts[0]["modes"]:
            fewer = mode["warm_up"] - left.get(mode["name"], mode["warm_up"])
            if run.mode == mode["name"] and run.result[4] <= fewer * copies(old, mode, cases[0]):
                return True
    limits = [case["shape"]["time_limit_s"] or float("inf") for case in cases]
    return run.verdict == "timeout" and bool(limits[1] < limits[0])


def _passed_perhaps(old: Json, new: Json, cases: list[Json], run: Any) -> bool:
    """It did not by a check, a figure or a row that the later plan alone has."""
    if run.verdict == "incorrect":
        its: list[Json] = [
            next((one for one in plan["tests"] if one["name"] == cases[0]["test"]), {}) for plan in (old, new)
        ]
        return all(its) and any(one not in its[0][key] for key in ("checks", "figures") for one in its[1][key])
    judged = []
    for rows, case in zip((_rows(old), _rows(new)), cases, strict=True):
        sides, names = dict(map(tuple, case["sides"])), [name for name in case["rows"] if rows[name]["verdict"]]
        judged.append({(repr(_asked(rows[name])), sides.get(name)) for name in names})
    return run.verdict == "performance" and bool(judged[1] - judged[0])


def is_harder(old: Json, new: Json) -> bool:
    """Whether there may be such a verdict at all."""
    now, cases = _parts(new), {case["id"]: case for case in new["cases"]}
    for part in old["components"]:
        mine = now.get(part["name"], part)
        times = {one["verdict"]: one["times"] for one in mine["retry"]}
        warm = {mode["name"]: mode["warm_up"] for mode in mine["modes"]}
        if any(times.get(one["verdict"], 0) < one["times"] for one in part["retry"]):
            return True
        if any(warm.get(one["name"], one["warm_up"]) < one["warm_up"] for one in part["modes"]):
            return True
    for case in old["cases"]:
        kinds = [_Run(case["id"], verdict) for verdict in ("timeout", "incorrect", "performance")]
        if case["id"] in cases and any(harder_for(old, new, kind) for kind in kinds):
            return True
    return False


class _Run:
    """A run of a case that is in no component."""

    def __init__(self, case: str, verdict: str) -> None:
        self.case, self.verdict, self.component, self.mode, self.retried = case, verdict, "", "", True
        self.result = ("", "", "", case, 1)


def copies(plan: Json, mode: Json, case: Json) -> int:
    """How many copies a mode runs at once: one, as many as it says, or as many as the partition has room for."""
    if mode["name"] == "isolated":
        return 1
    if mode["copies"]:
        return int(mode["copies"])
    cores = {kind["name"]: kind["cores"] for kind in plan["system"]["node_types"]}
    for cluster in plan["system"]["clusters"]:
        for part in cluster["partitions"]:
            if f"{cluster['name']}:{part['name']}" == case["partition"]:
                units = part["count"] * (cores[part["type"]] if cluster["scheduler"] == "local" else 1)
                return max(1, int(units) // max(1, int(case["shape"]["units"])))
    return 1


def steers(old: Json, new: Json) -> bool:
    """Whether other runs come about: by limits, windows, the mix and its filling, or when a case is given up."""
    now, cases = _parts(new), {case["id"]: case for case in old["cases"]}
    pairs = [(part, now[part["name"]]) for part in old["components"] if part["name"] in now]
    if old["limits"] != new["limits"] or old["seed"] != new["seed"]:
        return True
    if any(one[key] != two[key] for one, two in pairs for key in STEERS):
        return True
    waits = [{one["verdict"]: one["backoff_s"] for one in part["retry"]} for pair in pairs for part in pair]
    if any(
        then.get(word, wait) != wait
        for first, then in zip(waits[::2], waits[1::2], strict=True)
        for word, wait in first.items()
    ):
        return True
    if any(old["system"].get(key) != new["system"].get(key) for key in ("budgets", "targeted", "licence_names")):
        return True
    both = [(cases[case["id"]], case) for case in new["cases"] if case["id"] in cases]
    if any(one["loads"] != two["loads"] or any(need not in one["needs"] for need in two["needs"]) for one, two in both):
        return True
    builds = {build["key"]: build for build in old["builds"]}
    made = [(builds[build["key"]], build) for build in new["builds"] if build["key"] in builds]
    if any(one[key] != two[key] for one, two in made for key in ("time_limit_s", "where", "partition", "cpus")):
        return True
    after = places(new)
    for place, (cluster, part, _) in places(old).items():
        if place in after:
            other, its, _ = after[place]
            if any(cluster[key] != other[key] for key in ("licences", "most_jobs", "patience")):
                return True
            if any(part[key] != its[key] for key in ("time_limit_s", "most_nodes")):
                return True
    return False


def places(plan: Json) -> dict[str, tuple[Json, Json, Json]]:
    """Partition -> its cluster, itself, the kind of its nodes."""
    kinds = {kind["name"]: kind for kind in plan["system"]["node_types"]}
    return {
        f"{cluster['name']}:{part['name']}": (cluster, part, kinds[part["type"]])
        for cluster in plan["system"]["clusters"]
        for part in cluster["partitions"]
    }


def _elsewhere(old: Json, new: Json) -> set[str]:
    """Cases whose partition has lost nodes by name, has nodes of another kind, or says something else with each submission."""
    after, other = places(new), set()
    for place, (cluster, part, kind) in places(old).items():
        if place not in after:
            continue
        then, its, now = after[place]
        lost = set(unfolded(part["nodes"])) - set(unfolded(its["nodes"])) if part["nodes"] != its["nodes"] else set()
        said = any(cluster[key] != then[key] for key in ("scheduler", "options")) or part["options"] != its["options"]
        if lost or said or part["type"] != its["type"] or any(kind.get(key) != now.get(key) for key in OF_NODES):
            other.add(place)
    return {case["id"] for case in old["cases"] if case["partition"] in other}


# ---- how runs come about -------------------------------------------------------------------------------------------------


def _parts(plan: Json) -> Json:
    return {part["name"]: part for part in plan["components"]}


def _runs_otherwise(part: Json, now: Json) -> bool:
    """More attempts or warm-ups, an open gate, another clock, smaller shares, fewer rounds, less evidence."""
    times = {retry["verdict"]: retry["times"] for retry in part["retry"]}
    evidence = {item["name"]: item["evidence"] for item in now["procedures"]}
    shares = dict(map(tuple, now["mix"]))
    warm = {mode["name"]: mode["warm_up"] for mode in part["modes"]}
    return (
        any(retry["times"] > times.get(retry["verdict"], 0) for retry in now["retry"])
        or any(mode["warm_up"] > warm.get(mode["name"], mode["warm_up"]) for mode in now["modes"])
        or (part["gate"] == "met" and now["gate"] != "met")
        or bool(set(part["after"]) - set(now["after"]))
        or part["clock"] != now["clock"]
        or any(shares.get(test, 0.0) < share - 1e-9 for test, share in part["mix"])
        or any(evidence.get(item["name"], item["evidence"]) < item["evidence"] for item in part["procedures"])
        or bool(part["sweep"] and (not now["sweep"] or now["sweep"]["rounds"] < part["sweep"]["rounds"]))
    )


def _easier_cases(old: Json, new: Json) -> set[str]:
    """Cases of the same name with an expected verdict, a longer time limit, another program or size, checks or figures gone."""
    found, after = set(), {case["id"]: case for case in new["cases"]}
    tests = [{test["name"]: test for test in plan["tests"]} for plan in (old, new)]
    for case in old["cases"]:
        now = after.get(case["id"])
        if now is None:
            continue
        longer = now["shape"]["time_limit_s"] > case["shape"]["time_limit_s"]
        other = any(now.get(key) != case.get(key) for key in PROGRAM) or any(
            one not in now["needs"] for one in case["needs"]
        )
        other = other or any(now["shape"][key] != case["shape"][key] for key in SIZE)
        other = other or now["shape"].get("resources") != case["shape"].get("resources")
        other = other or now["shape"]["requeue"] > case["shape"]["requeue"]
        its = [each.get(case["test"], {"checks": [], "figures": []}) for each in tests]
        gone = any(one not in its[1][key] for key in ("checks", "figures") for one in its[0][key])
        if now["expect"] not in ("", case["expect"]) or longer or other or gone:
            found.add(case["id"])
    return found


def _machine_is_smaller(old: Json, new: Json) -> set[Any]:
    used, counts = {case["partition"] for case in old["cases"]}, []
    for plan in (old, new):
        parts = [(cluster["name"], part) for cluster in plan["system"]["clusters"] for part in cluster["partitions"]]
        counts.append({f"{cluster}:{part['name']}": part["count"] for cluster, part in parts})
    less = {place: count - counts[1].get(place, 0) for place, count in counts[0].items() if place in used}
    return {("nodes", place, count) for place, count in less.items() if count > 0}


# ---- contract rows -------------------------------------------------------------------------------------------------------


def _rows(plan: Json) -> Json:
    return {row["name"]: row for contract in plan["contracts"] for row in contract["rows"]}


def _asked(row: Json) -> list[Any]:
    return [row[key] for key in ASKED]


def _loosened(old: Json, new: Json) -> set[str]:
    """Rows that are gone, ask for less, or judge no run any more."""
    now = _rows(new).values()
    asked, judging = [_asked(row) for row in now], [_asked(row) for row in now if row["verdict"]]
    found = set()
    for name, row in _rows(old).items():
        if _asked(row) in asked:
            if row["verdict"] and _asked(row) not in judging:
                found.add(name)
        elif not any(_is_as_tight(mine, row) for mine in now):
            found.add(name)
    return found


def _is_as_tight(mine: Json, row: Json) -> bool:
    if any(mine[key] != row[key] for key in SUBJECT):
        return False
    if row["strict"] and not mine["strict"] and (mine["low"], mine["high"]) == (row["low"], row["high"]):
        return False
    low = row["low"] is None or (mine["low"] is not None and mine["low"] >= row["low"])
    return low and (row["high"] is None or (mine["high"] is not None and mine["high"] <= row["high"]))


def _less_bounded(old: Json, new: Json) -> set[str]:
    """Cases that a more specific row bounds less than the rows did that are still there."""
    now, found = _rows(new), set()
    asked = [_asked(row) for row in now.values()]
    kept = {name: row for name, row in _rows(old).items() if _asked(row) in asked}
    after = {case["id"]: case for case in new["cases"]}
    for case in old["cases"]:
        if case["id"] not in after:
            continue
        held = _bounds(now, after[case["id"]])
        for subject, (low, high) in _bounds(kept, case).items():
            lowest, highest = held.get(subject, (float("-inf"), float("inf")))
            if lowest < low or highest > high:
                found.add(case["id"])
    return found


def _bounds(rows: Json, case: Json) -> dict[Any, tuple[float, float]]:
    """What is asked of a case: contract, figure, basis, statistic, mode and unit -> the tightest bounds in force."""
    found: dict[Any, tuple[float, float]] = {}
    sides = dict(map(tuple, case["sides"]))
    for row in (rows[name] for name in case["rows"] if name in rows):
        subject = tuple(row[key] for key in ("contract", "figure", "basis", "statistic", "mode", "unit"))
        low, high = found.get(subject, (float("-inf"), float("inf")))
        if row["low"] is not None and sides.get(row["name"]) != "high":
            low = max(low, row["low"])
        if row["high"] is not None and sides.get(row["name"]) != "low":
            high = min(high, row["high"])
        found[subject] = low, high
    return found
