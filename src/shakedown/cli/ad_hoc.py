"""What ``run`` runs: a plan of the site, or tests that its options name; never both."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.model.nouns import Document
    from shakedown.plans.ad_hoc import Failed, Wish


@dataclass(frozen=True, slots=True)
class Options:
    """The options of ``run`` that stand in for a plan, as they were given. ``failed``: "" is the newest campaign."""

    tests: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    failed: str | None = None
    parameters: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    system: str | None = None
    repeats: int | None = None

    @property
    def given(self) -> list[str]:
        """The options that were given, by the words that a person types."""
        return [_WORDS[one.name] for one in fields(self) if getattr(self, one.name) not in ((), None)]

    @property
    def choose(self) -> bool:
        """Whether any of them says which tests."""
        return bool(self.tests or self.tags or self.failed is not None)


_WORDS = {
    "tests": "--test",
    "tags": "--tag",
    "failed": "--last-failed",
    "parameters": "--param",
    "partitions": "--partition",
    "system": "--system",
    "repeats": "--repeats",
}


def document_of(plan: str | None, options: Options, site: Path | None) -> tuple[Path, Document]:
    """Purpose: the site, and the document that is to be run on it.

    Errors: UsageError where both or neither is named, or an option is wrong; FileProblems with what is wrong in files.
    """
    from shakedown.cli.driving import site_of, this_machine
    from shakedown.conductor.record.baselines import past_of
    from shakedown.plans import find_site, read_plan

    refuse_mixed(plan, options)
    if plan is not None:
        root = find_site(site or site_of(plan))
        return root, read_plan(root, plan, this_machine, system=options.system, past=past_of(root))
    from shakedown.plans.ad_hoc import ad_hoc_document

    root = find_site(site)
    return root, ad_hoc_document(root, wish_of(options, root), this_machine)


def refuse_mixed(plan: str | None, options: Options) -> None:
    """Raise UsageError where a plan and options that choose tests are named, or neither. A plan of the package takes a system."""
    from shakedown.plans.files import CATALOGUE

    given = [one for one in options.given if one != "--system" or plan is None or not plan.startswith(CATALOGUE)]
    if plan is not None and given:
        raise UsageError(
            f"plan '{plan}' and {', '.join(given)} do not go together",
            "a plan says itself what is run: leave one of them out",
        )
    if plan is None and not options.choose:
        if given:
            verb = "chooses among" if given[0] in ("--param", "--partition") else "is for named"
            raise UsageError(f"{given[0]} {verb} tests, and none is named", "name tests: --test NAME or --tag TAG")
        raise UsageError("nothing is named to be run", "name a plan, or tests: shakedown run --test NAME")


def wish_of(options: Options, site: Path) -> Wish:
    """Purpose: the options read. Errors: UsageError where one cannot be read, or there is no such campaign."""
    from shakedown.plans.ad_hoc import Wish

    return Wish(
        tests=_names("--test", options.tests),
        tags=_names("--tag", options.tags),
        parameters=tuple(map(_pair, dict.fromkeys(options.parameters))),
        partitions=_names("--partition", options.partitions),
        system=options.system,
        repeats=1 if options.repeats is None else options.repeats,
        failed=None if options.failed is None else _failed(site, options.failed),
    )


def _names(option: str, given: tuple[str, ...]) -> tuple[str, ...]:
    """Names, each once; several may stand in one option."""
    names = [name.strip() for text in given for name in text.split(",")]
    if not all(names):
        raise UsageError(f"{option} has an empty name", f"write names with ',' between them: {option} one,other")
    return tuple(dict.fromkeys(names))


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        meant = re.fullmatch(r"\s*([\w-]+)\s*[: ]\s*([\w.+-]+)\s*", text)
        such = f"{meant[1]}={meant[2]}" if meant else f"{name.strip() or 'n'}=4"
        raise UsageError(f"--param '{text}' is no parameter with a value", f"write NAME=VALUE, such as --param {such}")
    return name.strip(), value.strip()


def _failed(site: Path, name: str) -> Failed:
    from shakedown.cli.record import find_whole_campaign
    from shakedown.queries.last_failed import last_failed

    return last_failed(find_whole_campaign(site, name or None))
