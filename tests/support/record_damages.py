"""Records, finished, interrupted, sealed and rehearsed; damages of every kind to any of their files; and what readers may do then.

``make_records`` runs small campaigns whose payloads write down themselves what was executed. ``damage`` spoils one file of a copy.
``try_commands`` runs the commands of readers, and ``resume``, and says which of the promises was broken:

1. no traceback;   2. no "fault of Shakedown itself";   3. no number that differs without the word "damaged";
4. status 3 where that word is said;   5. no run executed twice;   6. nothing is added to a log that is said to be damaged.

Commands read folds that were kept, as of long campaigns, and some damages are to these: they change no number at all.
"""

from __future__ import annotations

import codecs
import hashlib
import importlib
import io
import os
import pkgutil
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import damaged_stories
import more_damages
import msgspec

SHAKEDOWN = [sys.executable, "-m", "shakedown"]
TESTS = {
    "ok": 'run: {command: "echo $SHAKEDOWN_RUN >> $SHAKEDOWN_CAMPAIGN/../../truth; echo rate 17.25; echo 7 > answer"}\n'
    'check:\n  - output contains "rate"\nfigures:\n  rate: {regex: "rate (?P<value>[0-9.]+)", unit: MB/s}\n',
    "bad": 'run: {command: "echo $SHAKEDOWN_RUN >> $SHAKEDOWN_CAMPAIGN/../../truth; echo 42 is wrong; exit 3"}\n',
    "slow": 'run: {command: "echo $SHAKEDOWN_RUN >> $SHAKEDOWN_CAMPAIGN/../../truth; sleep 0.2; echo rate 3.5"}\n'
    'figures:\n  rate: {regex: "rate (?P<value>[0-9.]+)", unit: MB/s}\n',
}
PLAN = """plan: p
system: here
components:
  - functionality:
      tests: [ok, bad, slow]
      repeats: 3
      criteria:
        correct: {measure: correct / completed, must: "= 100%"}
        rate: {measure: value, of: rate, statistic: median, must: ">= 1 MB/s"}
"""
READERS: tuple[tuple[str, ...], ...] = (
    ("status",),
    ("status", "--json"),
    ("runs",),
    ("runs", "--json", "--all"),
    ("failures",),
    ("nodes",),
    ("why", "r000001"),
    ("log",),
    ("log", "--json"),
    ("show", "run", "r000001"),
    ("verify",),
    ("log", "--verify"),
    ("figures",),
    ("reference", "--from"),
    ("report", "--no-pdf"),
    ("export", "r000002", "exported"),
    ("acts",),
    ("acts", "--json"),
    ("why", "ok"),
    ("nodes", "--json"),
    ("failures", "--json"),
    ("verify", "--json"),
    ("history", "elapsed"),
    ("history", "elapsed", "--json"),
    ("rehearse", "p", "--scenario", "past", "--no-try", "-q", "--id", "as-then"),
    ("compare",),
    ("compare", "--json"),
)
ACTS: tuple[tuple[str, ...], ...] = (
    ("seal", "--open", "--by", "A"),
    ("rule", "r000001", "--as", "site", "--by", "A", "--because", "b"),
    ("rejudge", "--by", "A", "--because", "b"),
    ("pause", "--component", "functionality", "--by", "A", "--because", "b"),
    ("again", "functionality", "--by", "A", "--because", "b"),
    ("waive", "functionality", "passed", "--restriction", "r", "--by", "A", "--because", "b"),
    ("attest", "vendor", "diag", "--met", "--by", "A", "--because", "b"),
    ("change", "--by", "A", "--because", "b"),
    ("amend", "p", "--by", "A", "--because", "b"),
    ("agree", "30", "--by", "A", "--because", "b"),
)
CACHE = ".cache"  # of a site: what commands keep of its campaigns
# Of campaigns and of snapshots that are not believed: a sentence that names one says no number.
_NAME = re.compile(r"\bp-[12]\b|\b[0-9]{12}\.snapshot\b")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")


@dataclass
class Told:
    """What a command said: its status, and both streams."""

    status: int
    out: str
    err: str

    @property
    def damaged(self) -> bool:
        return "damaged" in (self.out + self.err).lower()


@dataclass
class Source:
    """A whole record, and what each reader says of it. ``unsteady``: numbers that two readings of the same bytes differ in."""

    name: str
    site: Path
    campaign: str
    reference: dict[tuple[str, ...], Told] = field(default_factory=dict)
    unsteady: set[tuple[str, ...]] = field(default_factory=set)

    @property
    def root(self) -> Path:
        return self.site / self.campaign


KINDS = ("finished", "sealed", "interrupted", "killed", "rehearsed")


def make_records(folder: Path, kinds: Sequence[str] = KINDS) -> list[Source]:
    """Purpose: the records that are spoilt: each in a site of its own."""
    _import_all()
    crashing = [sys.executable, str(Path(__file__).with_name("crash_points.py"))]
    records = []
    for name in kinds:
        site = folder / name
        _make_site(site)
        if name in ("finished", "sealed"):
            _run([*SHAKEDOWN, "run", "p", "-q"], site)
        if name == "sealed":
            _run([*SHAKEDOWN, "seal", "--by", "A"], site)
        if name == "interrupted":
            _run([*crashing, "collector.start:before", "5", "run", "p", "-q"], site)
        if name == "killed":
            _run([*crashing, "scheduler.submit:after", "2", "run", "p", "-q"], site)
        if name in damaged_stories.KINDS:
            damaged_stories.make(name, site)
        if name == "rehearsed":
            _run([*SHAKEDOWN, "rehearse", "p", "-q"], site)
        place = "rehearsed/p-1" if name == "rehearsed" else "campaigns/p-1"
        if not (site / place / "log/000001.jsonl").is_file():
            raise AssertionError(f"{name}: there is no record")
        records.append(Source(name, site, place))
    time.sleep(0.5)  # what the killed ones started has ended
    return records


_WHEN_NEEDED = (
    "difflib",
    "traceback",
    "tempfile",
    "csv",
    "textwrap",
    "pprint",
    "stringprep",
    "matplotlib.pyplot",
    "matplotlib.backends.backend_svg",
    "matplotlib.font_manager",
)  # perhaps not everybody may read them
_CODECS = (
    "utf_8_sig",
    "utf_16_be",
    "utf_32_be",
    "mac_roman",
    "unicode_escape",
    "raw_unicode_escape",
    "idna",
    "ascii",
    "latin_1",
    "hex_codec",
)


def _import_all() -> None:
    """Every command is run in a fork of this process: what it imports is there already."""
    import shakedown

    for module in pkgutil.walk_packages(shakedown.__path__, "shakedown."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in _WHEN_NEEDED:
        importlib.import_module(name)
    for name in _CODECS:
        codecs.lookup(name)
    # A user who cannot read its cache has matplotlib look at all fonts again, with modules and codecs of its own for it.
    sys.modules["matplotlib.font_manager"]._load_fontmanager(try_read_cache=False)


def _make_site(site: Path) -> None:
    for place in ("tests", "plans", "systems", "campaigns"):
        (site / place).mkdir(parents=True)
    (site / "site.yaml").write_text("site: damages\n")
    for test, text in TESTS.items():
        (site / f"tests/{test}.yaml").write_text(f"test: {test}\n{text}")
    (site / "plans/p.yaml").write_text(PLAN)
    (site / "rehearsals").mkdir()
    (site / "rehearsals/past.yaml").write_text("rehearsal: past\ntimes: {from: p-1}\n")


def _run(words: list[str], site: Path) -> None:
    subprocess.run(words, cwd=site, capture_output=True, timeout=120, check=False)


# ---- commands, each in a fork: nothing is imported twice ---------------------------------------------------------------------


def tell(
    site: Path, *words: str, limit_s: float = 60.0, as_nobody: bool = False, first: Callable[[], None] | None = None
) -> Told:
    """Purpose: what a command says in a site; status 0 where it was ended at its limit: a resume may wait for one.

    ``as_nobody``: as a user whom permissions bind. ``first``: what the process of the command does before the command.
    """
    from shakedown.cli import main

    with (site / ".out").open("w+b") as out, (site / ".err").open("w+b") as err:
        child = os.fork()
        if child == 0:
            status = 99
            try:
                os.setsid()
                os.chdir(site)
                if as_nobody:
                    os.setgroups([])
                    os.setgid(more_damages.NOBODY)
                    os.setuid(more_damages.NOBODY)
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False), write_through=True)
                sys.stderr = io.TextIOWrapper(
                    os.fdopen(2, "wb", closefd=False), errors="backslashreplace", write_through=True
                )
                sys.argv = ["shakedown", *words]
                os.environ["XDG_CACHE_HOME"] = str(site / CACHE)
                sys.modules["shakedown.queries.folds"].WORTH = 1  # type: ignore[attr-defined]
                if first is not None:
                    first()
                try:
                    main.main()
                    status = 0
                except SystemExit as leaving:
                    status = leaving.code if isinstance(leaving.code, int) else 0
                except BaseException:  # noqa: BLE001 - it is what is looked for
                    import traceback

                    traceback.print_exc()
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(status)
        end = time.monotonic() + limit_s
        status = -999
        while time.monotonic() < end:
            done, how = os.waitpid(child, os.WNOHANG)
            if done:
                status = os.waitstatus_to_exitcode(how)
                break
            time.sleep(0.002)
        if status == -999:
            status = 0 if limit_s < 60 else status
            with suppress(ProcessLookupError):  # it has no group of its own yet
                os.killpg(child, signal.SIGKILL)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        out.seek(0)
        err.seek(0)
        return Told(status, out.read().decode("utf-8", "replace"), err.read().decode("utf-8", "replace"))


def words_of(source: Source, words: tuple[str, ...]) -> tuple[str, ...]:
    """The command for a source's campaign, by its path."""
    place = source.campaign
    if words[0] in ("show", "export", "rule", "rejudge", "waive", "attest", "agree", "again", "amend"):
        return (*words, "--campaign", place)
    if words[0] == "compare":
        return (words[0], place, "campaigns/p-2", *words[1:])
    if words[0] == "rehearse":
        return words
    if words[0] in ("reference", "history"):
        return (*words, place)
    return (*words[:2], place, *words[2:]) if words[0] == "why" else (words[0], place, *words[1:])


def learn(source: Source, scratch: Path, readers: Sequence[tuple[str, ...]] = READERS) -> None:
    """Purpose: what each reader says of the whole record, twice."""
    for words in readers:
        if words[0] == "rehearse" and source.name in ("rehearsed", "interrupted", "killed"):
            continue  # no campaign, or none of whose runs came to an end
        if words[0] == "compare" and not (source.site / "campaigns/p-2").is_dir():
            continue
        told = []
        for _ in range(2):
            site = copy(source, scratch)
            told.append(tell(site, *words_of(source, words)))
        source.reference[words] = told[0]
        if told[0].damaged or told[0].status not in (0, 1, 2, 4) or "fault of Shakedown" in told[0].err:
            raise AssertionError(f"{source.name}: {words}: {told[0]}")
        if numbers(told[0]) != numbers(told[1]):
            source.unsteady.add(words)


def copy(source: Source, scratch: Path) -> Path:
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(source.site, scratch, symlinks=True)
    return scratch


def numbers(told: Told) -> Counter[str]:
    return Counter(_NUMBER.findall(_NAME.sub("", told.out)))


# ---- damages -----------------------------------------------------------------------------------------------------------------


@dataclass
class Damage:
    """What was done. ``remade``: the chain was made again over it, as only somebody would on purpose: only a seal finds that."""

    kind: str
    path: str
    remade: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.path}{' (chain made again)' if self.remade else ''}"


_BESIDE = (
    "lease",
    "documents",
    "claims",
    "packs",
    "outputs",
    "seals",
    "inbox",
    "fingerprints",
    "environments",
    "jobs",
    "work",
    "payloads",
    "evidence",
    "builds",
    "log/snapshots",
)
_WHOLE_FILE = (
    "truncated",
    "emptied",
    "removed",
    "a directory",
    "a pipe",
    "a socket",
    "unreadable",
    "a link to nothing",
    "a link to itself",
    "appended",
)
_PAGE = 4096
_BYTES = ("a bit", "a byte", "a digit", "zeroed", "a page zeroed", "a page doubled", "a page lost")
_LINES = ("line dropped", "line doubled", "lines swapped")
_FIELDS = ("field removed", "field retyped", "value removed", "value retyped", "value changed")


def damage(root: Path, chance: random.Random, others: Sequence[Path] = ()) -> Damage:
    """Purpose: spoil one thing of the campaign in ``root``. ``others``: campaigns whose files may get into it."""
    if others and chance.random() < 0.5:
        return _more(root, chance, others)
    path = _pick(root, chance)
    name = str(path.relative_to(root))
    if path.suffix == ".jsonl" and path.parent.name == "log":
        kind = chance.choice([*_BYTES, *_BYTES, *_LINES, *_FIELDS, *_FIELDS, *_WHOLE_FILE])
    elif path.is_dir():
        kind = chance.choice(["removed", "emptied directory"])
    else:
        kind = chance.choice([*_BYTES, *_WHOLE_FILE])
    done = Damage(kind, name)
    if kind in _FIELDS:
        done.remade = chance.random() < 0.6
        _spoil_field(path, kind, chance, done.remade)
    elif kind in _LINES:
        _spoil_lines(path, kind, chance)
    elif kind in _BYTES:
        _spoil_bytes(path, kind, chance)
    else:
        _spoil_file(path, kind, chance)
    return done


def damage_beside(site: Path, chance: random.Random) -> Damage | None:
    """Purpose: spoil the site's register, or what commands keep of its campaigns, if they keep something."""
    kept = [path for path in sorted((site / CACHE).rglob("*")) if path.is_file()]
    register = site / "register.jsonl"
    path = chance.choice(kept) if kept and (chance.random() < 0.7 or not register.is_file()) else register
    if not path.is_file():
        return None
    kind = chance.choice([*_BYTES, *_WHOLE_FILE])
    if kind in _BYTES:
        _spoil_bytes(path, kind, chance)
    else:
        _spoil_file(path, kind, chance)
    return Damage(
        kind, str(path.relative_to(site)), remade=path == register
    )  # a register is about more than this record


def warm(source: Source, site: Path) -> None:
    """Purpose: have commands keep what they keep of a record, before it is spoilt."""
    for words in (("status",), ("runs",), ("nodes",)):
        tell(site, *words_of(source, words))


def _more(root: Path, chance: random.Random, others: Sequence[Path]) -> Damage:
    """One of those kinds that keep a record looking like one."""
    if chance.random() < 0.15:
        kind = chance.choice(more_damages.OF_A_RECORD)
        return Damage(kind, ".", more_damages.spoil_record(root, kind, chance, others))
    path = _pick(root, chance)
    name = str(path.relative_to(root))
    if path.is_dir():
        kinds: tuple[str, ...] = more_damages.OF_A_FOLDER
    else:
        kinds = more_damages.OF_A_FILE + more_damages.STRANGE * (2 if path.suffix == ".jsonl" else 1)
    kind = chance.choice(kinds)
    return Damage(kind, name, more_damages.spoil(path, kind, chance, chance.choice(others) / name))


def _pick(root: Path, chance: random.Random) -> Path:
    logs = sorted((root / "log").glob("*.jsonl"))
    others = [path for name in _BESIDE for path in sorted((root / name).rglob("*"))]
    others += [path for path in sorted(root.iterdir()) if path.is_file() or path.name in ("log", *_BESIDE)]
    if chance.random() < 0.6 and logs:
        return chance.choice(logs)
    folders: dict[str, list[Path]] = {}
    for path in others:
        folders.setdefault(path.relative_to(root).parts[0], []).append(path)
    return chance.choice(folders[chance.choice(sorted(folders))])


def _spoil_bytes(path: Path, kind: str, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    if not data:
        return
    at = chance.randrange(len(data))
    if kind == "a bit":
        data[at] ^= 1 << chance.randrange(8)
    elif kind == "a byte":
        data[at] = chance.randrange(256)
    elif kind == "a digit":
        digits = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
        if digits:
            at = chance.choice(digits)
            data[at] = 48 + (data[at] - 48 + chance.randrange(1, 10)) % 10
    elif kind == "zeroed":
        data[at : at + 20] = bytes(len(data[at : at + 20]))
    else:
        at -= at % _PAGE
        page = data[at : at + _PAGE]
        data[at : at + _PAGE] = {"a page zeroed": bytes(len(page)), "a page doubled": page * 2, "a page lost": b""}[
            kind
        ]
    path.write_bytes(data)


def _spoil_lines(path: Path, kind: str, chance: random.Random) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    at = chance.randrange(len(lines))
    if kind == "line dropped":
        del lines[at]
    elif kind == "line doubled":
        lines.insert(at, lines[at])
    else:
        other = chance.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    path.write_bytes(b"".join(lines))


def _spoil_field(path: Path, kind: str, chance: random.Random, remade: bool) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    at = chance.randrange(len(lines))
    fields = msgspec.json.decode(lines[at])
    inner = fields.get("value") if kind.startswith("value") and fields.get("value") else fields
    name = chance.choice(sorted(inner))
    if kind.endswith("removed"):
        del inner[name]
    elif kind.endswith("retyped"):
        inner[name] = chance.choice([None, "x", -1, 1.5, [], {}, {"a": 1}, ["b"], True, 10**30, ""])
    else:
        inner[name] = _other(inner[name], chance)
    lines[at] = msgspec.json.encode(fields) + b"\n"
    path.write_bytes(b"".join(lines))
    if remade:
        remake(path.parent)


def _other(value: Any, chance: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + chance.choice([-1, 1, 1000])
    return f"{value}x" if isinstance(value, str) else value


def remake(log: Path) -> None:
    """Make the sums, the chain and the log's end again, as if all had been written so."""
    from shakedown.events.sums import begin_end, with_sum

    previous, length = "", 0
    for path in sorted(log.glob("*.jsonl")):
        lines = path.read_bytes().splitlines(keepends=True)
        try:
            header = msgspec.json.decode(lines[0])
            if previous:
                header |= {"previous": previous, "previous_bytes": length}
            lines[0] = msgspec.json.encode(header) + b"\n"
        except (msgspec.DecodeError, TypeError):
            return
        import zlib

        crc, made = zlib.crc32(lines[0]), [lines[0]]
        for line in lines[1:]:
            try:
                fields = msgspec.json.decode(line)
            except msgspec.DecodeError:
                return
            summed = isinstance(fields.pop("sum", None), str)
            bare = msgspec.json.encode(fields) + b"\n"
            if summed:
                line, crc = with_sum(bare, crc)
            else:
                crc = zlib.crc32(line, crc)
            made.append(line)
        data = b"".join(made)
        path.write_bytes(data)
        previous, length = hashlib.sha256(data).hexdigest(), len(data)
    begin_end(log, durable=False)


def _spoil_file(path: Path, kind: str, chance: random.Random) -> None:
    if kind == "emptied directory":
        shutil.rmtree(path)
        path.mkdir()
        return
    if kind == "truncated":
        os.truncate(path, chance.randrange(max(1, path.stat().st_size)))
    elif kind == "emptied":
        os.truncate(path, 0)
    elif kind == "appended":
        with path.open("ab") as file:
            file.write(chance.choice([b"\n", b"\0\0\0\n", b"{}\n", b"junk", b'{"v":1,"event":"finding","seq":1}\n']))
    elif kind == "unreadable":
        path.chmod(0)
    else:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
        if kind == "a directory":
            path.mkdir()
        elif kind == "a pipe":
            os.mkfifo(path)
        elif kind == "a socket":
            os.mknod(path, stat.S_IFSOCK | 0o600)
        elif kind == "a link to nothing":
            path.symlink_to("nothing")
        elif kind == "a link to itself":
            path.symlink_to(path.name)


# ---- the promises ------------------------------------------------------------------------------------------------------------


def try_commands(
    source: Source,
    site: Path,
    done: Damage,
    chance: random.Random,
    commands: int,
    readers: Sequence[tuple[str, ...]] = READERS,
    limit_s: float = 8.0,
) -> list[str]:
    """Purpose: what was broken by some readers, and in the end by one that acts and by ``resume``; each as a sentence.

    ``limit_s``: of ``resume``, which may wait a minute for a run that no source knows any more.
    """
    broken: list[str] = []
    bound = more_damages.needs_nobody(done.kind, site)
    if bound:
        more_damages.give_to_nobody(site)
    known = [words for words in readers if words in source.reference]
    for words in chance.sample(known, min(commands, len(known))):
        told = tell(site, *words_of(source, words), as_nobody=bound)
        broken += [f"{' '.join(words)}: {what}" for what in _broken(source, words, told, done)]
    for words in (chance.choice(ACTS), ("resume", "-q")):
        log = _bytes_of(site / source.campaign / "log")
        told = tell(site, *words_of(source, words), limit_s=limit_s if words[0] == "resume" else 60.0, as_nobody=bound)
        broken += [f"{' '.join(words)}: {what}" for what in faults(told)]
        about_lease = "lease file is damaged" in told.out + told.err
        if told.status == 3 and told.damaged and not about_lease and _bytes_of(site / source.campaign / "log") != log:
            broken.append(f"{' '.join(words)}: it says damaged, and the log is another one")
    counted = Counter((site / "truth").read_text().split()) if (site / "truth").is_file() else Counter()
    broken += [f"run {run} was executed {count} times" for run, count in counted.items() if count > 1]
    return broken


def _bytes_of(log: Path) -> dict[str, bytes]:
    """The segments of a log that can be read."""
    found = {}
    for path in sorted(log.glob("*.jsonl")) if log.is_dir() else ():
        with suppress(OSError):
            if path.is_file() and path.stat().st_rdev == 0 and path.resolve() != Path("/dev/zero"):
                found[path.name] = path.read_bytes()
    return found


def faults(told: Told) -> list[str]:
    text = told.out + told.err
    found = [f"{word!r}: {_line(text, word)}" for word in ("Traceback", "fault of Shakedown") if word in text]
    if told.status not in (0, 1, 2, 3, 4):
        found.append(f"status {told.status}")
    return found


def _line(text: str, word: str) -> str:
    lines = text.splitlines()
    return lines[-1] if word == "Traceback" else next(line for line in lines if word in line)


def _broken(source: Source, words: tuple[str, ...], told: Told, done: Damage) -> list[str]:
    found = faults(told)
    reference = source.reference[words]
    about_lease = "lease file is damaged" in told.out + told.err  # who drives is no part of the record
    if told.damaged and told.status != 3 and words[0] != "verify" and not about_lease:
        found.append(f"it says damaged, and its status is {told.status}")
    sealed = source.name in damaged_stories.SEALED and done.path != "register.jsonl"
    trusted = not done.remade or (sealed and done.kind not in more_damages.BESIDE_THE_RECORD)
    if done.path.startswith(CACHE) and (told.damaged or told.status != reference.status):
        found.append(f"what is kept beside the record is not the record: status {told.status}, was {reference.status}")
    if trusted and not told.damaged and told.status in (0, 1, 4) and words not in source.unsteady:
        new = numbers(told) - numbers(reference)
        if words[0] in ("status", "runs", "failures", "nodes", "log", "acts"):
            new |= numbers(reference) - numbers(told)  # what is missing is as wrong
        if new and "verify" not in words[0] and "--verify" not in words:
            found.append(f"other numbers, and no word: {dict(list(new.items())[:4])}")
    return found
