"""What in a line is no cause of a failure: denials, counts of zero, names of tests, harmless warnings. Pure.

``telling_part`` blanks it out, ``is_quiet`` says that a line itself calls what it tells of passing or harmless.
"""

from __future__ import annotations

import re

from shakedown.checks.classify.likeness import without_prefix

_TROUBLE = (
    r"(?:errors?|failures?|faults?|segfaults?|crash(?:es)?|ooms?|kills?|time-?outs?|leaks?|corruptions?|violations?|problems?"
    r"|aborts?|exceptions?|panics?|preemptions?|retries|evictions?|file handles?|events?|warnings?|issues?|losses)"
)
_TROUBLED = (
    r"(?:fail|crash|abort|exceed|r[ua]n out|kill|timed? ?out|preempt|die[ds]?|hang|hung|los[et]|corrupt|segfault"
    r"|evict|overflow)"
)
# "no space left on device", "no such file", "no route to host" deny no failure: they are one
_OF_ITS_OWN = (
    r"(?:such|space|room|route|locks?|free|inodes?|input|output|more|memory|licen[cs]es?|valid|match\w*|modules?|available|devices?"
    r"|response|answer|reply|access|permission|nodes?|cuda|gpus?|active|usable|longer|way|left|error message)\b"
)
_DENIALS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # "no ECC errors were found", "0 failed writes", "without a segmentation fault", "free of stale file handles"
        rf"\b(?:no|zero|without(?: any| an?)?+|free of(?: any)?+|not a single)\s+(?!{_OF_ITS_OWN})"
        rf"(?:[\w/-]+ ){{0,4}}?{_TROUBLE}\b[^.;:]*",
        rf"(?<![\w.#/:-])0\s+(?:[\w/-]+ ){{0,3}}?(?:{_TROUBLE}|failed|killed|lost|timed out|skipped)\b",
        # "never ran out of memory", "was not killed", "did not exceed the time limit"
        rf"\b(?:never|not|n't)\s+(?:been |be |have |yet )?{_TROUBLED}\w*\b[^.;:]*",
        # "ECC errors: 0", "uncorrectable: none", "quota exceeded: no"; an address, a code or a rank may be 0 as well as any other
        r"[\w /()%-]{3,80}?(?<!address)(?<!code)(?<!status)(?<!rank)(?<!node)(?<!task)(?<!line)(?<!value)(?<!level)(?<!\bid)"
        r"(?<!pid)(?<!device)(?<!gpu)(?<!unit)(?<!errno)(?<!signal)(?<!process)(?<!\brc)(?<!\bat)(?<!proc)(?<!thread)(?<!which)\s*(?:[:=]|\.{2,})\s*"
        r"(?:0(?:\.0+)?(?:\s*%)?|none|no|false|off|never|n/a|nil|zero)(?=\s*(?:$|[,;|)\]]|\())",
        # counters as files of the kernel print them: "oom_kill 0"
        rf"\b[\w-]*{_TROUBLE}\s+0(?=\s*(?:$|[,;|]))",
    )
)
_TESTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^\W*\[\s*(?:run|ok|pass(?:ed)?|fail(?:ed)?|skip(?:ped)?|disabled|-+|=+)\s*\]",  # GoogleTest
        r"^(?:not )?ok\s+\d+\b",  # TAP
        r"^(?:pass(?:ed)?|xfail|xpass|skip(?:ped)?|fail(?:ed)?)\b:?\s+[\w./-]*(?:::|test)",
        r"^(?:pass(?:ed)?|xfail|skip(?:ped)?)\b",
        r"^(?:=== (?:run|pause|cont)|--- (?:pass|fail|skip))\b",  # go
        r"^\s*start\s+\d+:|^\s*\d+/\d+\s+test\s+#\d+|^\s*test\s+#\d+",  # CTest
        r"\S+::\S+\s+(?:passed|failed|skipped|error)\b",  # pytest
        r"^\W*(?:running|starting|executing|begin)\s+(?:the\s+)?(?:self-?)?tests?\b|^\W*testing\b|^\W*test\s*(?:case\b|\d+\b|['\"])",
        r"^checking\b.*\b(?:yes|no|ok|done|none)\W*$",
        r"(?:\.{2,}|\s-+|:)\s*(?:ok|pass(?:ed)?|done)\W*(?:\(?[\d.]+\s*m?s(?:ec)?\)?)?$",
    )
)
_HARMLESS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"set(?:ting )?locale|LC_ALL",
        r"inappropriate ioctl for device|^tput: |^stty: ",
        r"fatal: not a git repository|fatal: no names found, cannot describe",
        r"cannot create directory .*file exists|^rm: (?:cannot remove|can't remove) .*no such file",
        r"floating-point exceptions are signalling",
        r"X11 (?:forwarding|connection)|xauth: ",
        r"\bhandlers?\b.*\b(?:installed|registered|enabled|set)\b|\b(?:install|register|enabl|sett?)(?:s|ed|ing)?\b.*\bhandlers?\b",
        r"^(?:export |declare -x |setenv )?(?-i:[A-Z][A-Z0-9]*_[A-Z0-9_]*=)",  # an environment as it is printed
        r"^\W*(?:max(?:imum)? |default )?(?:wall ?)?(?:time|memory|stack|core|file|locked memory|cpu)(?: size| use)?"
        r" limits?\s*[:=]",
        r"^(?:max(?:imum)? locked memory|max memory size|stack size|core file size|open files|virtual memory)\b"
        r".*(?:unlimited|, -\w\))",  # ulimit -a
        r"connection (?:was )?restored|reconnected\b|recovered from\b|server \S+ OK$",
        r"gds_ds\d+_lock|Read -1, expected \d+, errno = 1\b",
        r"^\W*(?:simulat|inject|emulat)(?:e|es|ed|ing)\b",
    )
)
_QUIET = re.compile(
    r"^\W*(?:info|information|debug|notice|trace|verbose|note)\b|\b(?:\[|<|\()?(?:INFO|DEBUG|NOTICE|TRACE)(?:\]|>|\)|:|\s\|)"
    r"|\bwarn(?:ing)?\b|\bcorrected error|falling back|fall(?:s)? back|will (?:be )?(?:retr|tr)(?:y|ied)|\bretrying\b|still trying"
    r"|trying again|asking again|attempt(?:ing)? to recover|\bcontinuing\b|\bignor(?:ed|ing)\b|\bnon-?fatal\b|\bharmless\b"
    r"|\brecovered\b"
    r"|\bif (?:you|it|this|the job)\b|\bwould (?:have|be|run)\b"
    r"|\bto (?:avoid|prevent)\b|\bprovok"
    r"|\bedac\b.*\b0 [cu]e\b",
    re.IGNORECASE,
)
_LOUD = re.compile(r"\bfatal\b(?!\s*:\s*0)|severely limit", re.IGNORECASE)


def telling_part(line: str) -> str:
    """Purpose: a cleaned line with everything blanked that is no cause, of the same length; all blanks where nothing is left."""
    bare = without_prefix(line)
    if any(pattern.search(line) or pattern.search(bare) for pattern in (*_TESTS, *_HARMLESS)):
        return " " * len(line)
    for pattern in _DENIALS:
        line = pattern.sub(_blanks, line)
    return line


def is_quiet(line: str) -> bool:
    """Purpose: whether a line calls itself a notice or a warning, or says that the trouble is passing."""
    return bool(_QUIET.search(without_prefix(line))) and not _LOUD.search(
        line.replace("non-fatal", "").replace("nonfatal", "")
    )


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match[0])
