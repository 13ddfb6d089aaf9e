"""Campaign directories: create, name and find them, and read and write the frozen documents in them.

Rehearsals have a folder of their own beside the campaigns, so that no command takes a rehearsal for the newest campaign. Names are
unique across both folders: a rehearsal and a campaign never have the same name.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from shakedown.events.chain import past_of
from shakedown.events.lease import began_to_drive, holder
from shakedown.events.plain_files import read_plain
from shakedown.events.reader import first_event
from shakedown.events.recorded_name import recorded_name
from shakedown.events.segment_file import sync_directory, unwritable
from shakedown.model.errors import RecordError, UsageError, did_you_mean, there_are
from shakedown.model.frozen import digest as digest_of
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document

CAMPAIGNS, REHEARSALS = "campaigns", "rehearsed"
_DOCUMENT = re.compile(r"[0-9a-f]{64}\.json")
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def new_identifier(site: Path, plan: str, folder_name: str = CAMPAIGNS, used: Collection[str] = ()) -> str:
    """Purpose: the next free id for a campaign of this plan: laptop-1, laptop-2... Creates its empty directory, which reserves the
    id.

    ``used``: names that were given before, even if their campaigns no longer exist: no name is used twice.
    """
    _check_identifier(plan)
    folder = site / folder_name
    pattern = re.compile(re.escape(plan) + r"-([1-9]\d*)", flags=re.IGNORECASE)
    try:
        folder.mkdir(exist_ok=True)
        other = _other_folder(folder)
        there = [path.name for place in (folder, other) if place.is_dir() for path in place.iterdir()] + list(used)
        taken = [int(match.group(1)) for name in there if (match := pattern.fullmatch(name))]
        number = max(taken, default=0) + 1
        while True:
            try:
                (folder / f"{plan}-{number}").mkdir()
            except FileExistsError:
                number += 1
                continue
            if not os.path.lexists(other / f"{plan}-{number}"):
                return f"{plan}-{number}"
            (folder / f"{plan}-{number}").rmdir()  # somebody made the other kind under this name just now
            number += 1
    except OSError as error:
        raise unwritable(folder, error) from error


def create_campaign(root: Path, identifier: str, document: bytes) -> Layout:
    """Purpose: create a campaign's directories under ``root`` (a site's ``campaigns``) with its frozen document, durable.

    The directory appears complete or not at all: a process that is killed before the end leaves a draft, which no command takes for
    a campaign.

    Errors: UsageError where ``root/identifier`` already holds something, RecordError where it cannot be written.
    """
    _check_identifier(identifier)
    layout = Layout(root / identifier)
    _refuse_taken(root, identifier)
    draft = Layout(root / f".{identifier}.{os.uname().nodename}.{os.getpid()}")  # no name that a campaign can have
    try:
        root.mkdir(parents=True, exist_ok=True)
        _forget(draft)
        for folder in _folders(draft):
            folder.mkdir(parents=True)
        write_document(draft, document)
        sync_directory(draft.root)
        draft.root.rename(layout.root)  # all at once; an empty directory gives way
    except OSError as error:
        _forget(draft)
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST) and layout.root.is_dir():
            message = f"{layout.root} exists already"
            raise UsageError(message, hint="resume it, or give the new campaign another name") from error
        if error.errno == errno.ENOTDIR and layout.root.exists():
            raise UsageError(f"{layout.root} exists already and is not a directory") from error
        raise unwritable(layout.root, error) from error
    sync_directory(root)
    return layout


def _forget(draft: Layout) -> None:
    """Delete the draft of a campaign whose creation did not finish."""
    shutil.rmtree(draft.root, ignore_errors=True)


def _other_folder(folder: Path) -> Path:
    """The folder of the other kind: rehearsals beside campaigns, campaigns beside rehearsals."""
    return folder.with_name(CAMPAIGNS if folder.name == REHEARSALS else REHEARSALS)


def _refuse_taken(root: Path, identifier: str) -> None:
    if root.name not in (CAMPAIGNS, REHEARSALS):
        return
    _refuse_alike(root, identifier)
    if not os.path.lexists(_other_folder(root) / identifier):
        return
    kind = "a rehearsal" if root.name == CAMPAIGNS else "a campaign"
    raise UsageError(
        f"there is {kind} of the name {identifier}: {_other_folder(root) / identifier}",
        hint="campaigns and rehearsals share their names, so that each name means one thing: give another one",
    )


def _refuse_alike(root: Path, identifier: str) -> None:
    """Raise UsageError where a name differs from an existing one only in upper and lower case.

    People read such names as one, and some file systems give both the same directory.
    """
    for folder in (root, _other_folder(root)):
        names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        alike = [name for name in names if name != identifier and name.casefold() == identifier.casefold()]
        if alike:
            raise UsageError(
                f"there is {folder / alike[0]}, whose name differs from {identifier} only in the case of its letters",
                hint="people read these as one name: give another one",
            )


def refuse_taken(site: Path, identifier: str) -> None:
    """Raise UsageError where a directory of the site already uses this name, so that a new campaign cannot have it."""
    _check_identifier(identifier)
    path = site / CAMPAIGNS / identifier
    if os.path.lexists(path):
        raise UsageError(f"{path} exists already", hint="resume it, or give the new campaign another name")
    _refuse_taken(site / CAMPAIGNS, identifier)


def _folders(layout: Layout) -> tuple[Path, ...]:
    plain = (layout.log, layout.documents, layout.packs, layout.outputs, layout.claims, layout.work)
    return (*plain, layout.builds, layout.inbox, layout.lease)


def _check_identifier(identifier: str) -> None:
    if not _IDENTIFIER.fullmatch(identifier):
        raise UsageError(
            f"{identifier!r} is no name for a campaign",
            hint="use letters, digits, '.', '_' and '-', at most 100 of them",
        )


# ---- frozen documents ----------------------------------------------------------------------------------------------------


def write_document(layout: Layout, document: bytes) -> str:
    """Purpose: write a frozen document under its digest, durable. Returns the digest."""
    digest = digest_of(document)
    path = layout.document(digest)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.write(document)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error
    sync_directory(layout.documents)
    return digest


def read_earlier(layout: Layout, digests: Sequence[str]) -> tuple[Document, ...]:
    """Purpose: the plans that were in force before the last one. Raises RecordError where one is missing or damaged."""
    return tuple(thaw(read_document(layout, digest)) for digest in digests[:-1])


def read_document(layout: Layout, digest: str) -> bytes:
    """Purpose: the bytes of a frozen document. Raises RecordError where it is missing or was changed since it was frozen."""
    path = layout.document(digest)
    try:
        document = read_plain(path)
    except OSError as error:
        raise RecordError(f"the record is damaged: the frozen plan {path} cannot be read: {error.strerror}") from error
    if digest_of(document) != digest:
        raise RecordError(
            f"the record is damaged: the frozen plan {path} was changed after it was frozen: its bytes no longer match its name",
            hint="put it back from a backup; 'shakedown amend' puts a changed plan into force",
        )
    return document


# ---- finding -------------------------------------------------------------------------------------------------------------


def find_campaign(site: Path | None, name: str | None) -> Path:
    """Purpose: the directory of a campaign: by its id under the site's ``campaigns``, by its path, or, without a name, the newest
    one.

    A renamed directory is also found by the name in its record. A rehearsal is found by its id, and without a name where the site
    has no campaign. ``site`` None: the nearest directory upwards from the current one that holds ``site.yaml``.

    Errors: UsageError where nothing is found (it lists what exists), or where the id is that of a campaign and of a rehearsal.
    """
    folder = _campaigns_of(site)
    if name is None:
        return _newest(folder)
    places = (folder, folder.with_name(REHEARSALS)) if folder is not None and "/" not in name else ()
    there = [place / name for place in places if _is_campaign(place / name)]
    if len(there) > 1:
        raise UsageError(
            f"{name} is the name of a campaign and of a rehearsal",
            hint=f"say which one by its path: {there[0]} or {there[1]}",
        )
    there = there or [found for place in places for found in _recorded_as(place, name)]
    if len(there) == 1:
        return there[0]
    path = Path(name)
    if _is_campaign(path):
        return path
    if path.is_dir():
        raise UsageError(f"{name} is no campaign: it has no log")
    if folder is None:
        raise UsageError(
            f"there is no campaign {name!r}: no directory above here holds site.yaml",
            hint="go into a site directory, name one with --site, or give the campaign's path; "
            "if this was one, its file system may be away (not mounted)",
        )
    known = [*_ids(folder.with_name(REHEARSALS)), *_ids(folder)]
    hint = _most_similar(name, known) or (there_are(known, 5, newest=True) if known else "there is none yet")
    raise UsageError(f"there is no campaign {name!r} in {folder}", hint=hint)


def _most_similar(name: str, known: Sequence[str]) -> str | None:
    """The known name that is most like a misspelt one, or None. Many campaigns share a number, so the part before it must be alike
    too.
    """
    plan = _without_number(name)
    if plan == name:
        return did_you_mean(name, known)
    return did_you_mean(name, [one for one in known if did_you_mean(plan, [_without_number(one)])])


def _without_number(name: str) -> str:
    return re.sub(r"-\d+$", "", name)


def _recorded_as(folder: Path, name: str) -> list[Path]:
    """The directories with another name whose record says that they hold the campaign of this name."""
    return [path for path in campaigns_in(folder) if recorded_name(Layout(path)) == name]


def _campaigns_of(site: Path | None) -> Path | None:
    if site is not None:
        return site / CAMPAIGNS
    here = Path.cwd()
    return next((above / CAMPAIGNS for above in (here, *here.parents) if (above / "site.yaml").is_file()), None)


def has_campaign(site: Path | None, name: str) -> bool:
    """Purpose: whether a site has a campaign or a rehearsal of that name (not path). ``site``: as in ``find_campaign``."""
    folder = _campaigns_of(site)
    known = folder is not None and _IDENTIFIER.fullmatch(name) is not None
    return (
        known
        and folder is not None
        and any(_is_campaign(folder.with_name(kind) / name) for kind in (CAMPAIGNS, REHEARSALS))
    )


def _is_campaign(path: Path) -> bool:
    """Whether a path is a directory with a log or a frozen plan. A frozen plan alone counts: the reader then reports that the log
    is gone.
    """
    return (path / "log").is_dir() or any(_DOCUMENT.fullmatch(found.name) for found in (path / "documents").glob("*"))


def campaigns_in(folder: Path) -> list[Path]:
    """Purpose: the directories of all campaigns in a folder, sorted by name."""
    return [folder / name for name in _ids(folder)]


def _ids(folder: Path | None) -> list[str]:
    if folder is None or not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if _IDENTIFIER.fullmatch(path.name) and _is_campaign(path))


def _newest(folder: Path | None) -> Path:
    """The campaign that started last according to its own record, so copies and restored backups do not change the answer.

    A campaign that its conductor is about to begin counts too: a command that a person gives now is meant for that one.
    """
    if folder is None:
        raise UsageError(
            "which campaign? No directory above here holds site.yaml",
            hint="go into a site directory, name one with --site, or give the campaign's path",
        )
    started = [(when, name) for name in _ids(folder) if (when := _start_of(folder / name)) is not None]
    if not started:
        rehearsals = folder.with_name(REHEARSALS)
        made = [(began_to_drive(Layout(rehearsals / name)), name) for name in _ids(rehearsals)]
        if made:
            return rehearsals / max(made)[1]
        raise UsageError(f"no campaign was started in {folder.parent} yet", hint="start one: shakedown run PLAN")
    return folder / max(started)[1]


def _start_of(campaign: Path) -> float | None:
    try:
        first = first_event(campaign / "log")
    except (RecordError, OSError):
        return 0.0  # it has a log, if a damaged one: better found last than never
    if first is not None:
        return first.time
    return 0.0 if past_of(Layout(campaign)) else _about_to_begin(Layout(campaign))


def _about_to_begin(layout: Layout) -> float | None:
    """When the conductor of a campaign without events took the lease, in seconds since 1970; None where there is
    no such conductor.
    """
    held = holder(layout)
    return None if held is None or held.gone or held.who is None else held.who.since


# ---- rehearsals ----------------------------------------------------------------------------------------------------------


def rehearsal_of(layout: Layout) -> dict[str, Any] | None:
    """Purpose: what a campaign's record says about its rehearsal (seed, scenario, faults); None where the campaign
    is a real one.
    """
    first = first_event(layout.log)
    said = first.value.get("rehearsal") if first is not None else None
    return said if isinstance(said, dict) else None


def refuse_rehearsal(layout: Layout, what: str) -> None:
    """Raise UsageError where a campaign is a rehearsal, because nothing is added to the record of one. ``what``: "sealed" and the
    like.
    """
    if layout.log.is_dir() and rehearsal_of(layout) is not None:
        raise UsageError(
            f"{layout.root.name} is a rehearsal on a model of the machine, no measurement: it cannot be {what}",
            hint="change the plan or the scenario and rehearse again: shakedown rehearse PLAN",
        )
