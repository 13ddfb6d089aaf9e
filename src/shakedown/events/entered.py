"""What a campaign says about its entry in the register of its site: in ``entry.json`` before it begins, then in its first event.

``entry.json`` is written before the line in the register. It holds a random name that the line repeats, so a process that is killed
between the two finds its line again, and no campaign is entered twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from shakedown.events.campaigns import CAMPAIGNS, campaigns_in
from shakedown.events.damage import NOT_JSON
from shakedown.events.plain_files import open_plain, read_plain
from shakedown.events.reader import first_event
from shakedown.events.register import Register, new_name, read_register
from shakedown.events.segment_file import sync_directory, unwritable
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout


class Vouched(Struct, frozen=True):
    """What a campaign's first event says about its entry: the register's name, the number and the sum of the register's line, and
    in words which campaign of its plan this is.
    """

    register: str
    entry: int
    sha256: str
    campaign: str
    words: str = ""


def site_of(layout: Layout) -> Path | None:
    """Purpose: the site directory whose ``campaigns`` holds a campaign, also through a symbolic link; None where there is none."""
    name = layout.root.absolute().name
    for root in (layout.root.absolute(), layout.root.resolve()):
        site = root.parent.parent
        if root.parent.name == CAMPAIGNS and (site / "site.yaml").is_file():
            return site
    try:
        here = Path.cwd()
        for site in (here, *here.parents):
            if (site / "site.yaml").is_file() and (site / CAMPAIGNS / name).resolve() == layout.root.resolve():
                return site
    except OSError:
        pass  # the current directory was removed
    return None


def vouched_by(layout: Layout) -> Vouched | None:
    """Purpose: what the first event of a campaign says about its entry; None where it says nothing or the campaign has not begun.

    Errors: RecordError where its log cannot be read.
    """
    first = first_event(layout.log) if layout.log.is_dir() else None
    said = first.value.get("register") if first is not None else None
    if first is None or not isinstance(said, dict) or not said.get("register"):
        return None
    entry = said.get("entry")
    number = entry if isinstance(entry, int) else 0
    campaign = str(first.value.get("campaign", ""))
    return Vouched(str(said["register"]), number, str(said.get("sha256", "")), campaign, str(said.get("words", "")))


def disowned(register: Register, said: Vouched) -> str:
    """Purpose: why a register is not the one that a campaign was entered in, or lacks its line; "" where both agree."""
    if not register.entries:
        return "it is gone"
    if register.name != said.register:
        return f"it is another one ({register.name}): {said.campaign} was entered in {said.register}"
    if said.entry > len(register.entries):
        return f"it ends at entry {len(register.entries)}, before entry {said.entry} of {said.campaign}: it is an older copy"
    line = register.entries[said.entry - 1] if said.entry > 0 else None
    if line is None or register.sums[said.entry - 1] != said.sha256 or line.campaign != said.campaign:
        return f"its entry {said.entry} is not the one by which {said.campaign} was entered"
    return ""


def read_vouched(site: Path) -> tuple[Register, str]:
    """Purpose: the register of a site, and a sentence about the first campaign that is missing from it; "" where none is missing.

    Reads only first events, and reads them before the register: a campaign that begins in between then already has its line. A
    register that was begun anew does not know earlier campaigns, and says so itself. Errors: RecordError where the register cannot
    be read.
    """
    said_by_all = list(vouchers(site))
    register = read_register(site)
    for said in said_by_all:
        if register.entries and said.register != register.name and begun_anew(register):
            continue
        why = disowned(register, said)
        if why:
            entry = f"entry {said.entry} of {said.register}"
            return register, f"{why}, and campaign {said.campaign} says that it was entered as {entry}"
    return register, ""


def vouchers(site: Path) -> Iterator[Vouched]:
    """Yield what each campaign of a site says about its entry; skips campaigns that cannot be read."""
    for path in campaigns_in(site / CAMPAIGNS):
        try:
            said = vouched_by(Layout(path))
        except (RecordError, OSError):
            continue  # its own record is damaged: whoever reads it says so
        if said is not None:
            yield said


def begun_anew(register: Register) -> bool:
    """Purpose: whether a person began this register because the earlier one was lost."""
    return bool(register.entries and register.entries[0].by)


# ---- entry.json ------------------------------------------------------------------------------------------------------------


def entry_path(layout: Layout) -> Path:
    return layout.root / "entry.json"


def read_entry(layout: Layout) -> dict[str, Any]:
    """Purpose: the content of ``entry.json``, for a campaign that has not begun; {} where there is none."""
    try:
        said = msgspec.json.decode(read_plain(entry_path(layout)))
    except (OSError, *NOT_JSON):
        return {}
    return said if isinstance(said, dict) else {}


def entry_trouble(layout: Layout, said: Vouched) -> str:
    """Purpose: why ``entry.json`` is not what was written before the campaign began; "" where it is. ``said``: what its first event
    says.

    A campaign that has begun no longer uses the file, but the file belongs to the record that people sign.
    """
    try:
        with open_plain(entry_path(layout), follow=False) as file:
            found = msgspec.json.decode(file.read())
    except OSError as error:
        return f"it cannot be read: {error.strerror}; {_must_hold(said)}"
    except NOT_JSON:
        return f"it is not JSON; {_must_hold(said)}"
    wanted = {"campaign": said.campaign, "register": said.register, "entry": said.entry, "sha256": said.sha256}
    if said.words != outside_words(said.entry):  # else it was moved before it began, and says what it was told before
        wanted["words"] = said.words
    there = found if isinstance(found, dict) else {}
    wrong = next((key for key, value in wanted.items() if there.get(key) != value), "")
    return f"its '{wrong}' is not that of the first event; {_must_hold(said)}" if wrong else ""


def _must_hold(said: Vouched) -> str:
    return f"event 1 says what it held: campaign {said.campaign}, entry {said.entry} of {said.register}"


def outside_words(entry: int) -> str:
    """Purpose: what a campaign says about its entry if it began outside of the site that it was entered in."""
    return f"entry {entry} of the register of its site, which is not where it began"


def identity_of(layout: Layout) -> str:
    """Purpose: the random name of a campaign that is about to be entered. Creates and writes it, durable, where there is none."""
    name = str(read_entry(layout).get("identity", ""))
    if not name:
        name = new_name()
        keep_entry(layout, {"identity": name})
    return name


def keep_entry(layout: Layout, said: dict[str, Any]) -> None:
    """Purpose: write ``entry.json``, durable. Errors: RecordError where it cannot be written."""
    path = entry_path(layout)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.write(msgspec.json.encode(said))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error
    sync_directory(path.parent)
