"""The files through which a cluster's jobs and the conductor communicate, and the names of the jobs at the scheduler."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shlex
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import msgspec

from shakedown.events.plain_files import open_plain, read_plain
from shakedown.model.errors import UsageError
from shakedown.model.frozen import digest
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case
from shakedown.model.ports import JobOrder, Part
from shakedown.schedulers.claims import CONDUCTOR, CannotStart, Workplace, cannot_start, make_claim
from shakedown.schedulers.cluster.job_script import cluster_script, payload_script
from shakedown.schedulers.cluster.parts_script import FIRST_END, parts_script
from shakedown.schedulers.cluster.targets import takes_its_time

MARK_BYTES = 64 << 10  # a claim or a mark is one line; a list of nodes may be long
ENDS_BYTES = 8 << 20  # the ends of a job's parts are a line each
AWAY_S = 600.0  # for which the directory of all jobs is expected to come back, before it is made again
_CACHED_CASES = 1024
_NAME_DIGITS = 32  # of the sha256 of a payload, which its file is named by
_TOKEN = re.compile(r"[0-9a-f]{8}")
IS_JOB = re.compile(r"[a-z]+[0-9]+")  # our own id of a job
_NAMED = re.compile(rb"^# job \S+ sd-([0-9a-f]{8})-", re.MULTILINE)
_CONTROL = re.compile(rb"^_sd_control=((?:[^'\"\n]|'[^']*'|\"[^\"]*\")+)$", re.MULTILINE)
_MOST_SCRIPTS = 100  # that are looked at for a token that is gone


@dataclass(slots=True)
class JobPlaces:
    """The files of one campaign's cluster jobs. ``layout``: made absolute, since the jobs run elsewhere. ``away_s``: how many
    seconds the directory of all jobs may be missing before it is made again.
    """

    layout: Layout
    _workplace: Workplace = field(init=False)
    _payloads: dict[str, tuple[Case, Path]] = field(default_factory=dict)
    away_s: float = AWAY_S
    _seen_jobs: bool = False  # the directory of all jobs was there
    _away_since: float = 0.0  # by a clock that nobody sets; 0 = it is not away

    def __post_init__(self) -> None:
        self.layout = Layout(self.layout.root.absolute())
        self._seen_jobs = _has_files(self.layout.payloads)  # written after that directory: a conductor before us had it
        self._workplace = Workplace(self.layout)

    def prepare(self, order: JobOrder, gathered: bool = False) -> Path:
        """Purpose: make everything that a job needs in the campaign before it is submitted, and return the script to submit.

        ``targets.py`` places what the job needs on targets; with ``gathered`` also input files that take long to place. Doing this
        again for the same order changes nothing. Raises CannotStart with a sentence.
        """
        try:
            self.see_jobs()
            self.control(order.job).mkdir(parents=True, exist_ok=True)
            self._seen_jobs = True
            text = (self._prepare_parts if order.parts else self._prepare_run)(order, gathered)
            script = self.script(order.job)
            script.write_text(text, encoding="utf-8", errors="surrogateescape")
            if order.after[0]:  # its script looks there before it begins
                before = self.control(order.job) / "before"
                before.write_text(f"{self.control(order.after[0])}\n", encoding="utf-8", errors="surrogateescape")
            if order.held and any(part.case.work for part in order.parts):
                self._keep(order)
        except OSError as error:
            raise cannot_start(order.run, error, self.layout) from error
        except ValueError as error:
            raise CannotStart(f"run {order.run} cannot be started: {error}") from error
        return script

    def see_jobs(self) -> None:
        """Purpose: check that the directory of all jobs is there, if it ever was. Raises OSError where it is away.

        Whoever moved or unmounted it will bring it back, and must not find another one in its place. If it is away for long, it was
        removed and may be made again.
        """
        seen = self._seen_jobs  # asked first: the thread that makes it may do so right after we looked
        if self.layout.jobs.is_dir():
            self._seen_jobs, self._away_since = True, 0.0
        elif seen:
            now = time.monotonic()
            self._away_since = self._away_since or now
            if now - self._away_since < self.away_s:
                raise OSError(errno.ESTALE, "the directory of the campaign's jobs is away", str(self.layout.jobs))

    def _prepare_run(self, order: JobOrder, gathered: bool) -> str:
        case = order.case
        self._workplace.check_files(case.files)
        payload = self._payload(case)
        self.output(order.job, order.restart).parent.mkdir(parents=True, exist_ok=True)
        place = self.directory(order.job, order.restart)
        if case.work or (gathered and takes_its_time(case)):
            place.parent.mkdir(parents=True, exist_ok=True)
        else:
            self._place(order.run, place, case)
        return cluster_script(self.layout, order.job, order.run, case, payload)

    def _prepare_parts(self, order: JobOrder, gathered: bool) -> str:
        """Make a directory for each part, and one script. Parts that share a payload or input files have these checked once."""
        layout, job = self.layout, order.job
        for folder in (layout.part_marks(job), layout.part_outputs(job), layout.job_work(job, 0)):
            folder.mkdir(parents=True, exist_ok=True)
        _begin_ends(layout.part_ends(job, 0))
        self._workplace.check_files(tuple(dict.fromkeys(file for part in order.parts for file in part.case.files)))
        kept: dict[str, str] = {}
        words: list[tuple[Part, str]] = []
        for part in order.parts:
            text = payload_script(part.case, layout)
            if text not in kept:
                kept[text] = keep_payload(layout, text).stem
            words.append((part, kept[text]))
            if not part.case.work and not (gathered and takes_its_time(part.case)):
                self._place(part.run, layout.part_work(job, part.run), part.case)
        return parts_script(layout, job, words, order.at_once)

    def _place(self, run: str, place: Path, case: Case) -> None:
        """Make a directory in the campaign, with its input files. There are no targets here, so inputs placed once per target are
        linked.
        """
        self._workplace.prepare(run, place=str(place), files=case.files, copied=case.stage == "copy")

    def _keep(self, order: JobOrder) -> None:
        """Write down the order of a held job: whoever releases it, perhaps another conductor, must know its parts."""
        path = self.order(order.job)
        draft = path.with_name(f".order.{os.getpid()}.{threading.get_ident()}")
        draft.write_bytes(msgspec.msgpack.encode(order))
        draft.replace(path)

    def moved_from(self, job: str) -> str:
        """Purpose: the campaign that a job's script was written for; "" where it is this one or cannot be told.

        A directory may have several names, so it is another campaign only where the directory that the script names is missing or
        differs.
        """
        try:
            found = _CONTROL.search(read_small(self.script(job)) or b"")
            if found is None:
                return ""
            (word,) = shlex.split(os.fsdecode(found[1]))
            control = Path(word)
            if control == self.control(job) or (control.exists() and control.samefile(self.control(job))):
                return ""
            depth = len(self.control(job).relative_to(self.layout.root).parts)
            return str(control.parents[depth - 1])
        except (OSError, ValueError, IndexError):
            return ""

    def kept_parts(self, job: str) -> tuple[Part, ...]:
        """Purpose: the parts of a held job, if one of them works on a target; else empty. Raises OSError, ValueError."""
        try:
            data = read_plain(self.order(job))
        except FileNotFoundError:
            return ()
        return msgspec.msgpack.decode(data, type=JobOrder).parts

    # ---- where things are ----

    def directory(self, job: str, restart: int) -> Path:
        """The work directory of one start of a job. Later restarts make their own."""
        return self.layout.job_work(job, restart)

    def control(self, job: str) -> Path:
        return self.layout.job(job)

    def output(self, job: str, restart: int) -> Path:
        """The file with the standard output and error of the payload, for one start of a job."""
        return self.layout.job_output(job, restart)

    def slurm_output(self, job: str) -> Path:
        """The file with messages of the scheduler itself, and of a script that got no claim."""
        return self.control(job) / "slurm.out"

    def script(self, job: str) -> Path:
        return self.control(job) / "job.sh"

    def order(self, job: str) -> Path:
        return self.control(job) / "order"

    def claim(self, job: str, restart: int) -> Path:
        return self.control(job) / f"claim.{restart}"

    def marks(self, job: str, restart: int) -> Path:
        return self.control(job) / f"marks.{restart}"

    # ---- claims ----

    def take_claim(self, job: str, restart: int) -> bool:
        """Purpose: take a job's claim for the conductor, so that the job can never run, requeued or not. False where it is taken
        already; so is an empty claim, since its job may have run. Raises CannotStart or OSError where the disk does not show it.
        """
        self.see_jobs()
        if make_claim(self.claim(job, restart), job, self.layout):
            return True
        return self.claim_holder(job, restart) == CONDUCTOR

    def claim_holder(self, job: str, restart: int) -> str | None:
        """Purpose: "conductor", the scheduler's id of the job that has the claim, or "" if nothing can be read; None: there is no
        claim. Raises OSError where that cannot be told.
        """
        data = read_small(self.claim(job, restart))
        return None if data is None else holder_of(data)

    def take_parts(self, job: str, runs: Sequence[str]) -> list[str]:
        """Purpose: take the claims of parts for the conductor, so that they can never begin. Returns the parts for which this
        worked; the others have begun or may have. Raises CannotStart or OSError where the disk does not show it; the call may then
        be repeated.

        A payload can remove claims, or write the conductor's name into them. So a part also counts as begun if it left an output,
        if its job's script saw it end, or if the directory of its claim is gone. The ends are read before and after, since a part
        may end just before its claim is taken.
        """
        known = self._ended_parts(job)
        taken = [run for run in runs if run not in known and self._take_part(job, run)]
        known = self._ended_parts(job) if taken else known
        return [run for run in taken if run not in known]

    def _take_part(self, job: str, run: str) -> bool:
        mark = self.layout.part_mark(job, run)
        self.see_jobs()
        if not self.layout.part_marks(job).is_dir() or os.path.lexists(self.layout.part_output(job, run)):
            return False
        if make_claim(mark, job, self.layout):
            return True
        data = read_small(mark)
        return data is not None and holder_of(data) == CONDUCTOR

    def _ended_parts(self, job: str) -> set[str]:
        """The parts about whose end a start of the job's script wrote anything. Files that cannot be read are skipped."""
        found: set[str] = set()
        with contextlib.suppress(OSError):
            for file in self.control(job).glob("ends.*"):
                lines = (read_small(file, ENDS_BYTES) or b"").split(b"\n")
                found.update(line.partition(b" ")[0].decode("ascii", "replace") for line in lines)
        return found

    # ---- what is kept once for all jobs of a case ----

    def _payload(self, case: Case) -> Path:
        known = self._payloads.get(case.id)
        if known is None or known[0] is not case or not is_payload(known[1]):
            if len(self._payloads) >= _CACHED_CASES:
                self._payloads.clear()
            known = self._payloads[case.id] = case, keep_payload(self.layout, payload_script(case, self.layout))
        return known[1]


def _has_files(folder: Path) -> bool:
    try:
        return next(folder.iterdir(), None) is not None
    except OSError:
        return False


def _begin_ends(path: Path) -> None:
    """Make the file for the ends of a job's parts before anybody looks for it: NFS remembers for long that a file is missing."""
    with path.open("a", encoding="ascii") as file:
        if not file.tell():
            file.write(f"{FIRST_END}\n")


def keep_payload(layout: Layout, text: str) -> Path:
    """Purpose: write a payload to its file, whole or not at all, whatever was there, and return the path. Raises OSError."""
    path = payload_path(layout, text)
    if not is_payload(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
        draft.write_bytes(_bytes(text))
        draft.replace(path)
    return path


def payload_path(layout: Layout, text: str) -> Path:
    return layout.payload(digest(_bytes(text))[:_NAME_DIGITS])


def is_payload(path: Path) -> bool:
    """Purpose: whether the content of a payload's file matches its name, which is its digest. False where it cannot be read."""
    try:
        with open_plain(path, follow=False) as file:
            return digest(file.read())[:_NAME_DIGITS] == path.stem
    except OSError:
        return False


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def holder_of(claim: bytes) -> str:
    """Whom the first line of a claim names: "conductor", the scheduler's id of a job, or ""."""
    line = claim.split(b"\n", 1)[0]
    if line == CONDUCTOR.encode():
        return CONDUCTOR
    match = re.match(rb"job=([0-9][0-9A-Za-z_+]{0,63}) ", line)
    return match[1].decode() if match else ""


def read_small(path: Path, most: int = MARK_BYTES) -> bytes | None:
    """Purpose: the first ``most`` bytes of a file that should be small; b"" where it is no regular file, None where there is none.
    Never waits for a writer. Raises OSError.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, a socket: not of our making
            return b""
        raise
    try:
        return os.read(descriptor, most)
    except (IsADirectoryError, BlockingIOError):
        return b""
    finally:
        os.close(descriptor)


# ---- names at the scheduler --------------------------------------------------------------------------------------------


def campaign_token(layout: Layout) -> str:
    """Purpose: the word that marks a campaign's jobs among all jobs of an account. It is made once and moves with the directory.

    Files beside it name the directory, and the token that was last used. Raises CannotStart where there is no token and none can be
    made. Raises UsageError in a copy of a campaign, and where the token was changed or is gone although there are jobs: with
    another token these would not be recognised and would run a second time.
    """
    path, here = layout.token, layout.root.absolute()
    try:
        known = read_small(path)
        if known is None:
            _refuse_a_second(layout, here)
            known, place = secrets.token_hex(4).encode() + b"\n", None
            write_durably(path, known)
        else:
            place = _written_for(path)
        token = known.decode("ascii", "replace").strip()
        if not _TOKEN.fullmatch(token):
            raise CannotStart(f"{path} does not hold what was once written there: eight hexadecimal digits")
        if place is not None:
            _refuse_another(path, token)
        if place is not None and place != here and _is_elsewhere(known, place, path):
            raise UsageError(
                f"{here} is a copy of the campaign in {place}, and the jobs of both would bear the same names",
                hint=f"go on with that one; or remove {path}, and this one is a campaign of its own that knows no job of that one",
            )
        if place != here:
            write_durably(_place(path), os.fsencode(here))
        if read_small(_used(path)) != known:
            write_durably(_used(path), known)
    except OSError as error:
        raise CannotStart(f"{path} cannot be read or made: {error.strerror}") from error
    return token


def _refuse_a_second(layout: Layout, here: Path) -> None:
    """Raises UsageError where a token is gone from a campaign with jobs. Allowed is removing it from a copy of a campaign that
    still exists.
    """
    place = _written_for(layout.token)
    if place is None and not (_has_files(layout.jobs) or _has_files(layout.payloads)):
        return
    if place is not None and place != here and _is_token(Layout(place).token):
        return
    if token := _token_of_jobs(layout):
        way_out = f"put it back: echo {token} >{layout.token} (the scripts in {layout.jobs} have it)"
    else:
        shown = "sacct -X --format=JobID,JobName%30,WorkDir%200"
        way_out = f"put it back from a backup, or write into it what its jobs have between 'sd-' and '-j' in their names: {shown}"
    raise UsageError(
        f"{layout.token} is gone: by what stood there this campaign knows its jobs at the scheduler, and with another token they"
        " would be unknown and run a second time",
        hint=way_out,
    )


def _is_token(path: Path) -> bool:
    try:
        return _TOKEN.fullmatch((read_small(path) or b"").decode("ascii", "replace").strip()) is not None
    except (OSError, ValueError):
        return False


def _token_of_jobs(layout: Layout) -> str:
    """The token that the scripts of a campaign's jobs contain; "" where there is none, or not the same in all of them."""
    found = set[bytes]()
    with contextlib.suppress(OSError):
        for script in islice(layout.jobs.glob("*/*/job.sh"), _MOST_SCRIPTS):
            found |= set(_NAMED.findall(read_small(script) or b"")[:1])
    return found.pop().decode() if len(found) == 1 else ""


def _refuse_another(path: Path, token: str) -> None:
    """Raises UsageError where the token's file was changed after the campaign was driven with another token."""
    used = (read_small(_used(path)) or b"").decode("ascii", "replace").strip()
    if _TOKEN.fullmatch(used) and used != token:
        raise UsageError(
            f"{path} was changed: it holds {token}, and this campaign knows its jobs at the scheduler by {used}; with another"
            " token they would be unknown and run a second time",
            hint=f"put it back: echo {used} >{path}",
        )


def _used(path: Path) -> Path:
    """The file with the token that the campaign was last driven with."""
    return path.with_name(f"{path.name}.used")


def _place(path: Path) -> Path:
    """The file with the directory that a token was last used in."""
    return path.with_name(f"{path.name}.place")


def _written_for(path: Path) -> Path | None:
    place = read_small(_place(path))
    return Path(os.fsdecode(place)) if place else None


def _is_elsewhere(token: bytes, place: Path, path: Path) -> bool:
    """Whether another directory has the same token: then this campaign was copied from there, and not moved."""
    other = Layout(place).token
    try:
        return read_small(other) == token and not other.samefile(path)
    except (OSError, ValueError):
        return False


def write_durably(path: Path, data: bytes) -> None:
    """Purpose: write a token's file, durable before any job has the token, and never half-written. Raises OSError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with draft.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    with contextlib.suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def job_label(token: str, job: str) -> str:
    """The name of a job at the scheduler."""
    return f"sd-{token}-{job}"


def job_of_label(token: str, label: str) -> str | None:
    """Our id of the job with this name at the scheduler; None where it is no job of this campaign."""
    prefix = f"sd-{token}-"
    job = label.removeprefix(prefix)
    return job if label.startswith(prefix) and IS_JOB.fullmatch(job) else None
