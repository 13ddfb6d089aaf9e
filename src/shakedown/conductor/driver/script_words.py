"""What the scripts of runs name, as far as that can be seen: programs, and files by absolute paths.

Only a shell that runs a script knows what each word means, so this looks at words alone. It fills in variables that are assigned or
set, ``~`` and ``$HOME``, and looks into quoted words, which may be scripts themselves. Files that do not exist or are clearly
outputs do not count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_SEPARATORS = re.compile(r"[;&|()`\n]+|\b(?:then|do|else|time|exec|nohup)\b")
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_./+-]+")
_REDIRECTION = re.compile(r"[0-9&]?>{1,2}[|&]?\s*[^\s;&|()]+")
# Each path that the first are given is written, or goes away; of the second the last one; of an option the one that follows it.
_WRITES_ALL = ("tee", "touch", "rm", "mkdir", "truncate", "mktemp")
_WRITES_LAST = ("cp", "mv", "ln", "install", "rsync", "scp")
_WRITES_NEXT = ("-o", "--output", "--out", "--log", "--logfile")
# Options and variables whose names say that what they name is written.
_WRITTEN = re.compile(
    r"(?i)(?:^|[-_])(?:of?|out\w*|log\w*|result\w*|dump\w*|save\w*|write\w*|checkpoint\w*|filename|scratch|te?mp\w*)$"
)
_ASSIGNS = frozenset({"export", "local", "readonly", "declare", "env"})  # words of a shell before an assignment
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_LEADING = ("do", "then", "else", "{", "while", "until", "if")
_NAME = re.compile(r"[A-Za-z_]\w*")
_STATEMENTS = re.compile(r"[;\n]+|&&|\|\|")
_COMMENT = re.compile(r"(?m)(?:^|(?<=\s))#(?!!).*$")
# A variable in a shell, also with what stands in for it; and as programs ask for one.
_READ = re.compile(
    r"""\$\{[#!]?([A-Za-z_]\w*)|\$([A-Za-z_]\w*)|\benviron(?:\.get)?\s*[\[(]\s*["'](\w+)["']"""
    r"""|\bgetenv\s*\(\s*["'](\w+)["']|\bENV\[\s*["'](\w+)["']"""
)
_HOME = re.compile(r"(?<![\w/~.$}-])~(?=/)")
_SCRIPT_BEGINS = re.compile(r"""\s-\w*c\s+["']""")
_PATH = re.compile(r"(?:^|[=:,@<]|^-[A-Za-z])(/[\w./+@%,-]*[\w+@%-])")
_KERNEL = ("/proc/", "/sys/", "/dev/")  # they say something else at each look, and nobody puts a program there
_ROUNDS = 5  # a variable may hold another one
_LONGEST = 1 << 20  # characters of a script that is filled in
# Variables that name files of code which other programs run before or beside their own.
RUN_BY_OTHERS = (
    "BASH_ENV",
    "ENV",
    "LD_PRELOAD",
    "LD_AUDIT",
    "PYTHONSTARTUP",
    "R_PROFILE",
    "R_PROFILE_USER",
    "LUA_INIT",
)


def filled_in(script: str, variables: Mapping[str, str]) -> str:
    """Purpose: the script with ``~/`` and variables filled in: with the values it assigns itself, else with the given ones."""
    own = {**variables, **dict(_assigned(script))}
    home = own.get("HOME", "")
    for _ in range(_ROUNDS):
        before = script
        script = _HOME.sub(lambda _: home, script) if home else script
        script = _VARIABLE.sub(lambda found: own.get(found[1] or found[2], found[0]), script)
        if script == before or len(script) > _LONGEST:
            break
    return script


def programs_in(script: str) -> list[str]:
    """Purpose: what a script names at the beginning of a command, as far as that can be seen, and absolute paths that it does not
    clearly write. An output is no condition of a run, even if the script reads it again or appends to it.
    """
    found: dict[str, None] = {}
    outputs = set(_outputs(script))
    for words in _commands(script):
        if words and _PLAIN_WORD.fullmatch(words[0]) and not words[0].startswith(("#", *_KERNEL)):
            found[words[0]] = None
        written = _written(words)
        for place, word in enumerate(words):
            if place not in written and not _says_written(word):
                paths = (path for path in _PATH.findall(word) if not path.startswith(_KERNEL))
                found.update((path, None) for path in paths if place == 0 or path not in outputs)
    return list(found)


def variables_in(script: str) -> list[str]:
    """Purpose: the variables that a script reads before it sets them, that is, those it inherits, as far as that can be seen.
    Programs read some too (``os.environ["SIZE"]``, ``getenv("SIZE")``).
    """
    found: dict[str, None] = {}
    own: set[str] = set()
    for part in _STATEMENTS.split(_COMMENT.sub("", script)[:_LONGEST]):
        named = [next(filter(None, match.groups())) for match in _READ.finditer(part)]
        found.update((name, None) for name in named if name not in own)
        own.update(_given(part.split()))
    return list(found)


def _given(words: list[str]) -> Iterator[str]:
    """The variables that a statement sets for later ones. An assignment before a command holds for that command only."""
    while words and words[0] in _LEADING:
        words = words[1:]
    if words[:1] == ["for"]:
        yield from words[1:2]
    elif words[:1] == ["read"]:
        yield from (word for word in words[1:] if _NAME.fullmatch(word))
    elif words:
        assigned = [found[1] for word in words if (found := _ASSIGNMENT.match(word))]
        if words[0] in _ASSIGNS or len(assigned) == len(words):
            yield from assigned


def files_of_variables(pairs: Iterable[tuple[str, str]], script: str) -> Iterator[str]:
    """Purpose: the absolute paths in the values of variables that a script is given, without those that are clearly outputs."""
    outputs = set(_outputs(script))
    for name, value in pairs:
        if not _WRITTEN.search(name):
            for word in value.split():
                yield from (
                    path for path in _PATH.findall(word) if path not in outputs and not path.startswith(_KERNEL)
                )


def run_by_others(variables: Mapping[str, str]) -> Iterator[str]:
    """Purpose: the files that some variables make other programs run."""
    for name in RUN_BY_OTHERS:
        for path in re.split(r"[\s:]+", filled_in(variables.get(name, ""), variables)):
            if path.startswith("/"):
                yield path


def normal(path: str) -> str:
    """Purpose: a path without ``..`` and ``.``, as a person would write it."""
    return os.path.normpath(path)


# ---- words -----------------------------------------------------------------------------------------------------------------


def _commands(script: str) -> Iterator[list[str]]:
    """The words of each command. Quoted words are split too, since they may contain commands."""
    text = _SCRIPT_BEGINS.sub(" -c ; ", _REDIRECTION.sub(" ", script))
    for part in _SEPARATORS.split(text.replace('"', " ").replace("'", " ")):
        words = part.split()
        while words and _ASSIGNMENT.match(words[0]):
            words.pop(0)
        yield words


def _assigned(script: str) -> Iterator[tuple[str, str]]:
    """The variables that a script sets to a plain value."""
    for part in _SEPARATORS.split(script):
        for word in part.split():
            found = _ASSIGNMENT.match(word)
            if found:
                yield found[1], word[found.end() :].strip("\"'")
            elif word not in _ASSIGNS:
                break


def _says_written(word: str) -> bool:
    name, _, value = word.partition("=")
    return bool(value) and bool(_WRITTEN.search(name))


def _written(words: list[str]) -> set[int]:
    """The positions of the words in a command that are clearly paths it writes."""
    name = Path(words[0]).name if words else ""
    after_option = {place + 1 for place, word in enumerate(words) if word in _WRITES_NEXT}
    if name in _WRITES_ALL:
        return {*range(1, len(words)), *after_option}
    return {len(words) - 1, *after_option} if name in _WRITES_LAST and len(words) > 1 else after_option


def _outputs(script: str) -> Iterator[str]:
    """The paths that a script clearly writes."""
    for found in _REDIRECTION.finditer(script):
        yield found[0].lstrip("0123456789&>|").strip(" \"'")
    for words in _commands(script):
        yield from (words[place] for place in _written(words) if place < len(words))
