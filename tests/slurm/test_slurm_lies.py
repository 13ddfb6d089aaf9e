"""sbatch, squeue and sacct time out, hang, print junk or refuse: a campaign goes on, and every run is executed once."""

from __future__ import annotations

from pathlib import Path

import pytest
from slurm_campaigns import SCRIPT_KILLED, Payload
from slurm_cluster import Cluster
from slurm_disturbed import GATE, Disturbed, wait_until

pytestmark = pytest.mark.slurm
NAP = Payload("nap", "batch", "sleep 1")
PASSED = ("passed", "exit status 0")
# By the number of the call: accepted or not, and what is said of it.
LYING_SBATCH = """\
case $number in
1) $REAL "$@" >/dev/null; sleep 1000; exit 1 ;;
2) $REAL "$@" >/dev/null; echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1 ;;
3) sleep 1000; exit 1 ;;
4) $REAL "$@" >/dev/null; echo 'sbatch: welcome to our cluster'; exit 0 ;;
5) $REAL "$@" >/dev/null; kill -9 $$ ;;
6) echo 'Unable to contact slurm controller (connect failure)' >&2; exit 1 ;;
7) printf 'Have a nice day\\n'; $REAL "$@"; exit ;;
esac
"""


def test_sbatch_that_lies(plain_cluster: Cluster, tmp_path: Path) -> None:
    """Whether a submission was accepted is found out by its name: nothing is lost and nothing runs twice."""
    with Disturbed(plain_cluster, tmp_path / "site", [NAP], repeats=9) as campaign:
        campaign.wrap("sbatch", LYING_SBATCH)
        campaign.start()
        campaign.end()
        assert len(campaign.events("submit_unknown")) >= 4
        campaign.assert_all_passed_once(9)


HANGS, JUNK = "sleep 1000", "seq 200; exit 0"


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (HANGS, "squeue: squeue gave no answer for 20 s"),
        (JUNK, "squeue: it printed what nobody can read: 1"),
    ],
)
def test_a_queue_that_does_not_answer_is_no_verdict(
    plain_cluster: Cluster, tmp_path: Path, how: str, words: str
) -> None:
    """Marks tell without it; who leaves none is in the list of finished jobs; who runs is not known, and that is all."""
    long = Payload("long", "batch", "until [ -e {campaign}/../../end ]; do sleep 0.2; done", limit="5min")
    payloads = [Payload("nap", "batch", GATE), Payload("dies", "batch", f'{GATE}; kill -9 "$PPID"'), long]
    with Disturbed(plain_cluster, tmp_path / "site", payloads) as campaign:
        campaign.wrap("squeue", f"[ ! -e $SITE/ill ] || {{ {how}; }}")
        campaign.start()
        campaign.wait_running()
        campaign.wait_until(lambda: campaign.reports("long", "running"), "seen running")
        (campaign.site / "ill").touch()
        campaign.let_go()
        campaign.wait_verdict("nap")
        campaign.wait_verdict("dies")
        campaign.wait_until(lambda: campaign.reports("long", "no_answer"), "nobody answers for it")
        assert campaign.reports("long", "absent") == []
        (campaign.site / "ill").unlink()
        campaign.wait_until(lambda: len(campaign.reports("long", "running")) == 2, "it is seen again")
        (campaign.site / "end").touch()
        campaign.end()
        assert campaign.reports("long", "no_answer")[0] == words
        assert campaign.verdicts() == {"nap": [PASSED], "long": [PASSED], "dies": [SCRIPT_KILLED]}


def test_accounting_that_does_not_answer_is_no_verdict(forgetful_cluster: Cluster, tmp_path: Path) -> None:
    """A job that left no mark and is forgotten by the queue is known to accounting alone: that is waited for."""
    payloads = [Payload("nap", "batch", GATE), Payload("dies", "batch", f'{GATE}; kill -9 "$PPID"')]
    with Disturbed(forgetful_cluster, tmp_path / "site", payloads) as campaign:
        campaign.wrap("sacct", f"[ ! -e $SITE/ill ] || {{ {JUNK}; }}")
        campaign.start()
        campaign.wait_running()
        (campaign.site / "ill").touch()
        campaign.kill()
        campaign.let_go()
        wait_until(lambda: not forgetful_cluster.squeue("-t", "all"), "the queue has forgotten both")
        campaign.start("resume", "p-1")
        campaign.wait_verdict("nap")
        campaign.wait_until(lambda: campaign.reports("dies", "no_answer"), "nobody answers for it")
        assert campaign.reports("dies", "no_answer")[0] == "sacct: it printed what nobody can read: 1"
        assert campaign.reports("dies", "absent") == []
        (campaign.site / "ill").unlink()
        campaign.end()
        assert campaign.verdicts() == {"nap": [PASSED], "dies": [SCRIPT_KILLED]}


# ---- refusals ----


def test_a_limit_on_submissions_spends_no_attempt(limited_cluster: Cluster, tmp_path: Path) -> None:
    with Disturbed(limited_cluster, tmp_path / "site", [NAP], repeats=40) as campaign:
        campaign.wrap("sbatch", '$REAL "$@"; status=$?; squeue -h -o %i | wc -l >>$SITE/queued; exit $status')
        campaign.start()
        campaign.end()
        deferred = {event.reason for event in campaign.events("submit_deferred")}
        assert deferred
        assert all("limit" in reason.lower() for reason in deferred), deferred
        assert max(map(int, (campaign.site / "queued").read_text().split())) <= 20
        campaign.assert_all_passed_once(40)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--partition=nowhere", "invalid partition specified: nowhere"),
        ("--bogus", "unrecognized option '--bogus'"),
        ("--account=nobody", "Invalid account or account/partition combination specified"),
    ],
)
def test_what_is_refused_for_good_is_told_in_slurms_words(
    limited_cluster: Cluster, tmp_path: Path, option: str, words: str
) -> None:
    with Disturbed(limited_cluster, tmp_path / "site", [Payload("nap", "n001", "sleep 1")]) as campaign:
        campaign.amend_system("--partition=batch", f'--partition=batch", "{option}')
        campaign.start()
        campaign.end()
        verdict, reason = campaign.verdict("nap")
        assert verdict == "submit_failed"
        assert reason.startswith("the scheduler refused it: ")
        assert words in reason
        assert campaign.executed() == []


def test_politeness(accounting_cluster: Cluster, tmp_path: Path) -> None:
    """One squeue a look however many jobs; no sacct for jobs whose marks tell; few, and fewer with age, for one that is gone."""
    payloads = [Payload("many", "batch", f"{GATE}; sleep 1")]
    with Disturbed(accounting_cluster, tmp_path / "site", payloads, repeats=60) as campaign:
        for program in ("squeue", "sacct"):
            campaign.wrap(program, f"date +%s.%N >>$SITE/{program}.times")
        campaign.start()
        campaign.wait_until(lambda: len(campaign.executed()) >= 16, "they run")
        before = campaign.calls("squeue")
        campaign.wait_until(lambda: campaign.calls("squeue") > before + 3, "some looks")
        campaign.let_go()
        campaign.end()
        campaign.assert_all_passed_once(60)
        times = sorted(float(word) for word in (campaign.site / "squeue.times").read_text().split())
        # Of the whole time: a call that a busy machine starts late is close to the one after it.
        assert len(times) - 1 <= (times[-1] - times[0]) / 0.5 * 1.1 + 1, times
        assert campaign.calls("sacct") <= 2
        told = sum((event.value["squeue"] for event in campaign.events("asked")), 0)
        assert told == campaign.calls("squeue"), "what it asked is counted"


# ---- payloads that lie ----

FORGE = """\
marks=$(echo {campaign}/jobs/*/$(echo $SLURM_JOB_NAME | sed 's/.*-//'))/marks.0
read -r now _ </proc/uptime
echo "began=$now ended=$now status=0 told= ." >$marks
"""


def test_a_payload_that_writes_its_own_end(accounting_cluster: Cluster, tmp_path: Path) -> None:
    """It passes by none of them, and its end is not told while it runs."""
    payloads = [
        Payload("early", "n001", f"{FORGE}sleep 3"),
        Payload("fails", "n002", f"{FORGE}sleep 1\nexit 3"),
        Payload("kills", "n003", f"{FORGE}kill -9 $PPID\nsleep 20"),
        Payload("cancels", "n004", f"{FORGE}scancel $SLURM_JOB_ID\nsleep 20"),
        Payload("honest", "n005", "sleep 1"),
    ]
    with Disturbed(accounting_cluster, tmp_path / "site", payloads) as campaign:
        campaign.start()
        campaign.end()
        told = campaign.verdicts()
        early, again = (
            "an end mark was there before its payload ended: somebody else wrote it",
            "the result is attempted again while there is time",
        )
        own = "it is attempt 3, so that is taken for its own doing"
        killed = "its end mark says exit status 0, Slurm signal 9 (FAILED)"
        for name, why in (("early", early), ("kills", killed)):
            undetermined = ("undetermined", f"could not be judged: {why}; {again}")
            assert told[name] == [undetermined, undetermined, ("failed", f"{why}; {own}")], told[name]
        assert [verdict for verdict, _ in told["fails"]] == ["failed"] and early in told["fails"][0][1]
        assert {verdict for verdict, _ in told["cancels"]} <= {"cancelled", "interrupted", "failed", "undetermined"}
        assert told["honest"] == [PASSED]
        elapsed = [event.value["elapsed_s"] for event in campaign.events("verdict") if campaign.name(event) == "early"]
        assert all(seconds >= 2.9 for seconds in elapsed), "the numbers are its script's"
        found = [event for event in campaign.events("finding") if event.value["kind"] == "marks_doubted"]
        assert len(found) >= 7
