"""A site's own layout of the report: ``templates/report.html`` and ``templates/report.css`` of the site directory.

The template is Jinja's and extends ours (``{% extends "shakedown/report.html" %}``); the style sheet comes after ours. Both see
only the values for the page: the engine is sandboxed, gets no path, and reads no file outside the folder.
"""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shakedown.model.errors import FileProblems, Problem, did_you_mean
from shakedown.report.page.settled_block import strange_meta

if TYPE_CHECKING:
    from types import CodeType

    from jinja2 import BytecodeCache, Environment, nodes
    from jinja2.bccache import Bucket

OURS = Path(__file__).parents[1] / "templates"
PAGE, SHEET = "report.html", "report.css"
_TOKENS = re.compile(
    r"""/\*.*?\*/|/\*|\burl\(\s*(?:"[^"\n]*"|'[^'\n]*'|[^)"'\s]*)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|["'{}]|@import""",
    re.DOTALL | re.IGNORECASE,
)


def templates_of(campaign: Path, site: Path | None = None) -> Path | None:
    """Purpose: the templates folder of the campaign's site, or of ``site``; None where there is none."""
    home = site or campaign.resolve().parent.parent
    folder = home / "templates"
    return folder if (home / "site.yaml").is_file() and folder.is_dir() else None


def digests(folder: Path | None) -> list[tuple[str, str]]:
    """Purpose: (path, sha256) of the site's template and style sheet, where they exist: the page names them."""
    paths = [folder / name for name in (PAGE, SHEET)] if folder else []
    return [
        (f"templates/{path.name}", hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths if path.is_file()
    ]


def environment(folder: Path | None) -> Environment:
    """Purpose: the template engine: our templates under ``shakedown/``, and the site's folder."""
    from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    from shakedown.report.page.filters import FILTERS

    loaders: list[Any] = [PrefixLoader({"shakedown": FileSystemLoader(OURS)})]
    if folder is not None:
        loaders.append(_within(folder))
    made = ImmutableSandboxedEnvironment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        bytecode_cache=_compiled(),
    )
    made.filters.update(FILTERS)
    return made


@functools.cache
def _compiled() -> BytecodeCache:
    """A cache of compiled templates for the next engine of this process: compiling ours takes longer than a page. A changed text is
    compiled again, whatever its name.
    """
    from jinja2 import BytecodeCache

    class Kept(BytecodeCache):
        def __init__(self) -> None:
            self.code: dict[str, CodeType] = {}

        def load_bytecode(self, bucket: Bucket) -> None:
            bucket.code = self.code.get(f"{bucket.key} {bucket.checksum}")

        def dump_bytecode(self, bucket: Bucket) -> None:
            if bucket.code is not None:
                self.code[f"{bucket.key} {bucket.checksum}"] = bucket.code

    return Kept()


def _within(folder: Path) -> Any:
    """A loader for the files of a folder; a link that leads out of it is not followed."""
    from jinja2 import FunctionLoader

    home = folder.resolve()

    def load(name: str) -> tuple[str, str, None] | None:
        path = (home / name).resolve()
        if "\0" in name or not path.is_relative_to(home) or not path.is_file():
            return None
        return _text(path), str(path), None

    return FunctionLoader(load)


def render(folder: Path | None, facts: dict[str, Any]) -> str:
    """Purpose: the page as text. Errors: FileProblems where the site's template does not work, with its file and line."""
    engine = environment(folder)
    own = folder is not None and (folder / PAGE).is_file()
    try:
        if folder is not None and own:
            _check_blocks(engine, _text(folder / PAGE))
        page = engine.get_template(PAGE if own else "shakedown/report.html").render(facts)
        _check_tags(page if own else "")
        return page
    except Exception as error:
        problem = _problem(error, folder) if folder else None
        if problem is None:
            raise
        raise FileProblems([problem]) from error


def _check_blocks(engine: Environment, text: str) -> None:
    """Raise FileProblems for content outside of our blocks in a template that extends ours: Jinja would leave it out silently."""
    from jinja2 import nodes

    body = engine.parse(text, PAGE, PAGE).body
    if not any(isinstance(node, nodes.Extends) for node in body):
        return
    ours = engine.get_template("shakedown/report.html").blocks
    faults = []
    for node in body:
        line = node.lineno
        if isinstance(node, nodes.Block) and node.name not in ours:
            hint = did_you_mean(node.name, ours) or f"there are {', '.join(ours)}"
            faults.append(Problem(f"templates/{PAGE}", line, 1, f"the report has no block '{node.name}'", hint))
        elif isinstance(node, nodes.Output) and not _is_blank(node):
            hint = "put it into a block, such as {% block letterhead %}"
            faults.append(
                Problem(f"templates/{PAGE}", line, 1, "this stands outside of every block: nobody would see it", hint)
            )
    if faults:
        raise FileProblems(faults)


def _check_tags(page: str) -> None:
    """Raise FileProblems where a page has a tag that leads its reader to another page."""
    tag = strange_meta(page)
    if tag:
        hint = 'write it as <meta name="..." content="...">; nothing else may be said with it'
        raise FileProblems([Problem(f"templates/{PAGE}", 1, 1, f"a report may not hold the tag {tag}", hint)])


def _is_blank(node: nodes.Output) -> bool:
    return all(getattr(part, "data", "x").strip() == "" for part in node.nodes)


def _problem(error: Exception, folder: Path) -> Problem | None:
    """The problem in the site's file, with its place; None where the fault is not the site's."""
    from jinja2 import TemplateNotFound, TemplateSyntaxError

    if isinstance(error, FileProblems):
        return None
    if isinstance(error, TemplateSyntaxError):
        place, line, text = folder / (error.filename or PAGE), error.lineno, error.message or "it is no template"
    else:
        place, line = _last_place(error, folder)
        text = f"there is no template {error}" if isinstance(error, TemplateNotFound) else f"{error}"
    if not place.resolve().is_relative_to(folder.resolve()):
        return None
    hint = "what a template may use is in docs/guides/report.md"
    return Problem(f"templates/{place.name}", line, 1, text or type(error).__name__, hint)


def _last_place(error: Exception, folder: Path) -> tuple[Path, int]:
    """The innermost line of a file in the folder that the error passed through; Jinja adds such lines to the traceback."""
    place, line, trace = Path("/"), 0, error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if path.is_absolute() and path.is_relative_to(folder.resolve()):
            place, line = path, trace.tb_lineno
        trace = trace.tb_next
    return place, line


# ---- the style sheet ---------------------------------------------------------------------------------------------------


def style_sheet(folder: Path | None) -> str:
    """Purpose: our style sheet, then the site's. Errors: FileProblems where the site's is broken or loads
    something from elsewhere.
    """
    ours = (OURS / SHEET).read_text(encoding="utf-8")
    if folder is None or not (folder / SHEET).is_file():
        return ours
    text = _text(folder / SHEET)
    faults = css_faults(text, f"templates/{SHEET}")
    if faults:
        raise FileProblems(faults)
    return ours + "\n" + text.replace("</", "<\\/")


def css_faults(text: str, path: str) -> list[Problem]:
    """Purpose: what a browser would skip silently (an open comment, string or brace), and what would be loaded from elsewhere."""
    faults, depth = [], []

    def fault(place: int, message: str, hint: str | None = None) -> None:
        line = text.count("\n", 0, place) + 1
        faults.append(Problem(path, line, place - text.rfind("\n", 0, place), message, hint))

    for match in _TOKENS.finditer(text):
        word, place = match[0], match.start()
        if word == "{":
            depth.append(place)
        elif word == "}" and depth:
            depth.pop()
        elif word == "}":
            fault(place, "this brace closes nothing")
        elif word == "/*":
            fault(place, "this comment is never closed")
            return faults
        elif word in "\"'":
            fault(place, "this string is not closed on its line")
        elif word.lower() == "@import" or (word[:4].lower() == "url(" and not _is_data(word)):
            fault(place, "a report holds everything itself: nothing is loaded from elsewhere", "use url(data:...)")
    for place in depth:
        fault(place, "this brace is never closed")
    return faults


def _is_data(url: str) -> bool:
    """Whether ``url(...`` holds its data itself, or names a part of the page."""
    return url[4:].strip().strip("\"'").lower().startswith(("data:", "#"))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise FileProblems([Problem(f"templates/{path.name}", line, 1, "this is no UTF-8 text")]) from error
