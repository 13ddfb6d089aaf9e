"""Recognise parts of a line that are no cause of a failure: denials, counts of zero, names of tests, harmless warnings. Pure.

``telling_part`` blanks these parts out; ``is_quiet`` tells whether a line calls its own trouble temporary or harmless.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from shakedown.checks.classify.likeness import without_prefix

_TROUBLE = (
    r"(?:errors?|failures?|faults?|segfaults?|crash(?:es)?|ooms?|kills?|time-?outs?|leaks?|corruptions?|violations?|problems?"
    r"|aborts?|exceptions?|panics?|preemptions?|retries|evictions?|file handles?|events?|warnings?|issues?|losses|nans?)"
)
_TROUBLED = (
    r"(?:fail|crash|abort|exceed|r[ua]n out|kill|timed? ?out|preempt|die[ds]?|hang|hung|los[et]|corrupt|segfault"
    r"|evict|overflow|diverg|fall(?:en)? |end(?:s|ed)? (?:with|by|in) )"
)
# "no space left on device", "no such file", "no route to host" deny no failure: they are one
_OF_ITS_OWN = (
    r"(?:such|space|room|route|locks?|free|inodes?|input|output|more|memory|licen[cs]es?|valid|match\w*|modules?|available|devices?"
    r"|response|answer|reply|access|permission|nodes?|cuda|gpus?|active|usable|longer|way|left|error message)\b"
)
_OF_ITS_OWN_DOING = (
    r"(?:such|space|room|route|free|inodes?|output|more|valid|match\w*|available|response|answer|reply|access|permission|longer|way"
    r"|left|error message)\b"
)
_VERB = (
    r"(?:(?:(?:is|are|was|were|has|have|had|been|be|being|got|to)\s+){0,3}"
    rf"(?:{_TROUBLED}\w*|skipped|refused|denied|reset|lost|dropped|(?:report|encounter|suffer|experienc)\w*)"
    r"|(?:is|are|was|were)\s+(?:full|down|hung|dead|stuck|stale|missing|unreachable|stopped))"
)
_COUNTED = r"(?:counts?|counter|total|number|num|occurrences?|events?|times|hits|instances)"
_END = r"(?=\s*[.!]?\s*(?:$|[,;|)\]]|\())"
_DENIALS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # "no ECC errors were found", "0 failed writes", "without a segmentation fault", "free of stale file handles"
        rf"\b(?:no|zero|without(?: any| an?)?+|free of(?: any)?+|not a single)\s+(?!{_OF_ITS_OWN})"
        rf"(?:[\w/-]+ ){{0,4}}?{_TROUBLE}\b[^.;:,]*",
        rf"(?<![\w.#/:-])0\s+(?:[\w/-]+ ){{0,3}}?(?:{_TROUBLE}|failed|killed|lost|timed out|skipped)\b[^.;:,]*",
        # "0 tasks failed with out of memory", "none of the ranks was killed", "no process ran out of memory"
        rf"(?<![\w.#/:-])(?:0|zero|none|nobody|nothing|no(?: one)?|not one|not a single)\s+(?!{_OF_ITS_OWN_DOING})"
        rf"(?:of\s+(?:the\s+|all\s+|our\s+|\d+\s+){{0,2}})?(?:[\w/-]+ ){{0,3}}?{_VERB}\b[^.;:,]*",
        # "there were 0 cases of 'no space left on device'"
        r"(?<![\w.#/:-])(?:0|zero|no|not one|not a single)\s+(?:further |other |more |such )?"
        r"(?:cases?|instances?|occurrences?|reports?|signs?|traces?|mentions?|messages?|lines?|hits)\s+(?:of|with|for|that)\b[^.;]*",
        r"\bno core(?: file)?s? (?:was |is |were )?dump\w*|\bno (?:(?!space|room)\w+ ){0,2}core[ -]?(?:dumps?|files?)\b",
        # "never ran out of memory", "was not killed", "did not exceed the time limit"
        rf"\b(?:never|not|n't)\s+(?:been |be |have |has |yet |once |ever ){{0,2}}(?:get |got |hit |see |seen |saw "
        rf"|encounter(?:ed)? |{_TROUBLED})[^.;:]*",
    )
)


class _Verdict(NamedTuple):
    """An expression that denies the words before it, up to ``most`` characters back.

    ``stops``: characters that end the search backwards. ``needs``: the denied words must match this.
    """

    pattern: re.Pattern[str]
    stops: str
    most: int
    needs: re.Pattern[str] | None = None


# a pattern that begins with what is denied would be tried at each letter of a line, so these begin with the denial
_VERDICTS = (
    # "retry count exceeded 0 times", "killed by OOM: 0 of 12 ranks", "failed zero times"
    _Verdict(
        re.compile(
            r"(?<![\w.#/-])(?:0|zero|no)\s+(?:times?|occurrences?|instances|hits|of\s+\d+|out of\s+\d+)\b",
            re.IGNORECASE,
        ),
        ".;,",
        120,
    ),
    # "uncorrectable ECC count 0", "aborts total = 0"
    _Verdict(re.compile(rf"\b{_COUNTED}\s*[:=]?\s*(?:0(?:\.0+)?|zero|none){_END}", re.IGNORECASE), ".;:,=", 80),
    # counters as files of the kernel print them: "oom_kill 0"
    _Verdict(
        re.compile(
            rf"(?:{_TROUBLE}|\b(?:down(?:ed|s)?|flaps?|drops?|dropped|discard\w*|lost))\s+0{_END}", re.IGNORECASE
        ),
        " ",
        80,
    ),
    # "Out of memory may occur if the block is too large"
    _Verdict(
        re.compile(
            r"\b(?:may|might|can|could|will|would) (?:also |then |still )?(?:occur|happen|appear|arise|be seen)\b[^.;]*"
            r"|\b(?:is|are) (?:possible|conceivable)\b[^.;]*",
            re.IGNORECASE,
        ),
        ".;:",
        120,
    ),
    # a question and its answer: "Disk quota exceeded? no"
    _Verdict(
        re.compile(
            r"\?\W{0,4}(?:0|no(?:ne|pe|t \w+)?|false|never|negative|nothing|nil|ok|passed)\b[^.;]*", re.IGNORECASE
        ),
        ".;:?",
        120,
    ),
    # "Stale file handle: not found", "node failures: not detected"
    _Verdict(
        re.compile(
            r"(?:[:=]|\.{2,}|->)\s*(?:not (?:found|detected|present|seen|observed|triggered|active|applicable)|absent|clean"
            r"|clear"
            r"|no (?:match(?:es)?|hits?|results?|entries)|nothing(?: found)?)"
            rf"{_END}",
            re.IGNORECASE,
        ),
        ".;:",
        120,
        re.compile(
            rf"{_TROUBLE}|{_TROUBLED}|stale\b|handles?|out of memory|no space|denied|refused|reset|illegal|quota|xid|ecc|nan",
            re.IGNORECASE,
        ),
    ),
)
# "ECC errors: 0", "uncorrectable: none", "quota exceeded: no"; an address, a code or a rank may be 0 as well as any other
_NOTHING = re.compile(
    r"\s*(?:[:=]|\.{2,})\s*(?:0(?:\.0+)?(?:\s*%)?|none(?: \w+)?|no|false|off|never|n/a|nil|zero|0\s*/\s*\d+)(?=\s*[.!]?\s*(?:$|[,;"
    r"|)\]]|\())",
    re.IGNORECASE,
)
_COUNTED_THING = re.compile(r"[\w /()%'\"-]{3,80}$")
_MAY_BE_0 = re.compile(
    r"(?:address|code|status|rank|node|task|line|value|level|\bid|pid|device|gpu|unit|errno|signal|process|\brc|\bat|proc|thread"
    r"|which|step|core|cpu|iteration|index|offset|source|size|free|left|(?<!not )available)\s*$",
    re.IGNORECASE,
)
# things that may happen, and under which condition: the part of a line up to the end of its sentence
_CONDITIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:will|would|may|might|can|could|should|must)\b(?! ?not\b|')[^.;]*\b(?:if|when(?:ever)?|unless|in case"
        r"|should)\b[^.;]*",
        r"(?:^|[:;,.(] ?)(?:if|when(?:ever)?|unless|should|in case|upon|once)\b[^.;:]*\b(?:occurs?|happens?|fails?|appears?"
        r"|set|use|try|check|see|raise"
        r"|increase|reduce|rerun|contact|consult|consider|make sure|ensure|run|please|then|the job|we|you|it|this|they)\b[^.;]*",
        r"(?<!\bas )(?<!\beven )\bif (?:you|it|this|that|the job|there|an?|any|one|the)\b[^.;]*|\bin (?:the )?(?:case"
        r"|event) of\b[^.;]*",
        r"\bto (?:avoid|prevent|work around|guard against|protect (?:from|against)|recover from|detect|catch|handle)\b[^.;]*",
        r"(?:^|[:;,.] ?)(?:please )?(?:set|use|try|raise|increase|decrease|add|export|specify|see|check|contact|rerun|run"
        r"|consider)\b"
        r"[^.;]*\b(?:if|when(?:ever)?|unless)\b[^.;]*",
        r"\bretr(?:y|ies)[ _]on\b\s*[:=][^.;]*",
        r"\b(?:retry|retries|retrying|abort|stop|exit|warn|recover|continue|resubmit|restart|requeue|action|policy|behaviou?r)\s+"
        r"(?:up to \d+ times |\w+ly )?(?:on|upon|after|for|in case of)\b[^.;]*(?:[:=]\s*|\bis )(?:\w+)\s*$",
        r"(?<!while )\b(?:check(?:s|ing)?|watch(?:es|ing)?|look(?:s|ing)?|monitor(?:s|ing)?|scan(?:s|ning)?|guard(?:s"
        r"|ing)?)\s+(?:for|against)\b(?! ?(?:is|was|were)\b)"
        r"[^.;:]*",
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
        r"::\S+\s+(?:passed|failed|skipped|error)\b",  # pytest
        r"^\W*(?:running|starting|executing|begin)\s+(?:the\s+)?(?:self-?)?tests?\b"
        r"|^\W*testing\b\W*(?::|['\"]|(?:for|of|whether|that|if)\b)|^\W*test\s*(?:case\b|\d+\b"
        r"|['\"])",
        r"^\W*(?:checking|looking for|probing|verifying|self-?check|health ?check)\b.*\b(?:yes|no|ok|done|none|not found"
        r"|not detected|not present|absent"
        r"|passed|clean|clear|0)\W*$",
        r"\btests?\b.*\bpass(?:ed|es)\W*$|^\W*ok\b\s*[:,-]",
        r"\btests?\b\s*(?:[:=]|\.{2,}|-+)\s*(?:ok|pass(?:ed)?|skipped)\W*$",
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
        r"^trapFpe:|\bexceptions? trapping (?:is )?(?:en|dis)abled\b",  # OpenFOAM, at each start
        r"X11 (?:forwarding|connection)|xauth: ",
        r"\bhandlers?\b.*\b(?:installed|registered|enabled|set)\b|\b(?:install|register|enabl|sett?)(?:s|ed|ing)?\b.*\bhandlers?\b",
        r"^(?:export |declare -x |setenv )?(?-i:[A-Z][A-Z0-9]*_[A-Z0-9_]*=)",  # an environment as it is printed
        r"^\W*[\w. -]{0,30}\btime-?out\s*[:=]\s*\d[\d:.]*\s*(?:s|sec\w*|m|min\w*|h|hours?)?\s*(?:$|\()(?!.*\b(?:exceed|reached))",
        r"^\W*(?:max(?:imum)? |default )?(?:wall ?)?(?:time|memory|stack|core|file|locked memory|cpu)(?: size| use)?"
        r" limits?\s*[:=]",
        r"^(?:max(?:imum)? locked memory|max memory size|stack size|core file size|open files|virtual memory)\b"
        r".*(?:unlimited|, -\w\))",  # ulimit -a
        r"connection (?:was )?restored|reconnected\b|recovered from\b|server \S+ OK$",
        # Open MPI's openib, beside UCX that does the work
        r"there was an error initializing an OpenFabrics device|messaging module was unable to find any relevant network",
        r"gds_ds\d+_lock|Read -1, expected \d+, errno = 1\b",
        r"^\W*(?:simulat|inject|emulat|mock|fak)(?:e|es|ed|ing)\b",
        r"^\W*(?:usage notes?|hints?(?!: (?:might )?try)|tips?|help|examples?|e\.g\.|options?|settings?|config(?:uration)?"
        r"|parameters?|defaults?|see also"
        r"|remarks?|todo|advice|suggestions?|troubleshooting|faq|known issues?|documentation|synopsis|description|features?"
        r"|changelog)\b\s*[:=-]",
        r"^\W*(?:option|setting|parameter|flag)\b.*=|^\W*--?[a-z][\w-]*(?:[ =]|\s{2,})\S.*$",
        r"\b(?:handled|ignored|tolerated|suppressed|swallowed) (?:an? |the )?(?:error|exception|failure)s?\b|^\W*expected\b\s*[:=]",
        r"\b(?:fill|missing|default|undef\w*|mask\w*|padding|no-?data|_FillValue)\b.{0,30}\bnan\b",
        r"\bcore ?dump(?:s|ing)? (?:is |are |have been )?(?:disabled|enabled)|^\W*(?:up)?on ['\"]",
        r"\bsignals? (?:caught|handled|trapped|blocked)\s*[:=]|^\W*trap\b.*\bSIG|\bon SIG\w+\s*[:=]|\b(?:simulated|injected"
        r"|provoked)\W*$",
        r"\b(?:replac|ignor|skip|treat|mask|filter|drop|fill|handl|remov)\w*\b.{0,20}\bnans?\b",
        r"\bsignal handlers?\b\s*[:=]|^\W{0,4}(?:echo|printf|trap|grep|alias) ['\"-]",
        r"\b(?:ulimit|locked memory|memlock)\b[^.]*(?:\bis|[:=])\s*(?:now |set to )?unlimited",
        r"\b(?:previous|earlier|former) (?:run|job|campaign)s?\b",
        r"^\W*#(?!\d)|^\s*(?://|/\*|!\$?\s)|^\+{1,3} ",  # comments, and commands as a shell shows them
        r"\bexpect(?:ed|ing|s)\b(?:[\s:]+\w+){0,4}? (?:error|failure|exception|fault|signal|abort|crash|time-?out|warning"
        r"|message)s?\b(?!.*\bbut\b)"
        r"|\bexpected (?:to|that it) (?:fail|crash|abort|die)|(?<!not )(?<!than )\bas expected\b|\((?:this is )?expected\b"
        r"|[,:(-] ?(?:this is )?expected[.!)]?$|\bxfail\b",
        r"\b(?:caught|handled|survived|tolerated|suppressed)(?: (?:and|but) (?:handled|ignored|recovered|survived|logged)"
        r"| (?:gracefully|correctly|cleanly|ok"
        r"|as intended))|\.{2,}\s*(?:caught|handled|survived|recovered|tolerated|ignored)\W*$|\((?:caught|handled|recovered"
        r"|tolerated)\)",
        r"\b(?:deliberate|intentional|artificial)(?:ly)?\b|\bon purpose\b|\bself-?inflicted\b|\bdry[ -]run\b",
        r"\bset(?:ting)? (?:thread |cpu |process |task )?affinity|\baffinity mask\b",
        # errors that the hardware corrected by itself
        r"^(?!.*\b(?:un-?correct|fatal|\d+ UE\b)).*(?:\bEDAC\b.*\bCE\b|\bcorrect(?:ed|able)\b.{0,40}\b(?:error|ecc|memory"
        r"|event|fault|threshold)"
        r"|\b(?:ecc|error|memory|severity|type|event|has been|was|were)\b.{0,20}\bcorrect(?:ed|able)\b)",
    )
)
_QUIET = re.compile(
    r"^\W*(?:info|information|debug|notice|trace|verbose|note)\b|\b(?:\[|<|\()?(?:INFO|DEBUG|NOTICE|TRACE)(?:\]|>|\)|:|\s\|)"
    r"|\bwarn(?:ing)?\b|\bcorrected error|falling back|fall(?:s)? back|will (?:be )?(?:retr|tr)(?:y|ied)|\bretrying\b|still trying"
    r"|trying again|asking again|attempt(?:ing)? to recover|\bgoing to \S+ instead"
    r"|start(?:ing|s)? (?:from (?:scratch|zero|the beginning)|afresh|anew|cold)|cold start"
    r"|\bcontinuing\b|\bignor(?:ed|ing)\b|\bnon-?fatal\b|\bharmless\b"
    r"|\brecovered\b|\bnot fatal\b|\bcan be (?:safely )?ignored|\bignore (?:above|this|the|if)\b"
    r"|[,;(-] ?(?:\w+ ){1,2}(?:disabled|unavailable|off)\b|\bsafe(?:ly)? (?:to )?ignore"
    r"|\bwould (?:have|be|run)\b|\bprovok"
    r"|^\W*\[?W\]?[ \d:]|\[W(?:\]|:)"
    r"|[,;(-] ?(?:using|use|trying|running|switching|switched|defaulting|reverting|proceeding|skipping|skipped|disabling"
    r"|disabled|will use|will run)\b"
    r"(?! of)[^.]{0,60}"
    r"|\b(?:default(?:ing|s)?|reverting|switching) (?:back )?to\b"
    r"|^\W*(?:ls|find|stat|rm|rmdir|du|grep|chmod|chown|chgrp|unlink|kill|pkill|umount|which): .*(?:no such|not permitted"
    r"|permission denied|no process"
    r"|is a directory|not empty)"
    r"|(?:^|[\s/])\.?(?:bashrc|bash_profile|bash_login|profile|zshrc|zshenv|cshrc|tcshrc|login|kshrc|lmodrc)(?:\.\w+)?: "
    r"|/etc/(?:profile|bash|zsh|csh)"
    r"|\bedac\b.*\b0 [cu]e\b|\[Hardware Error\]: (?:Hardware error from|Machine check events logged)",
    re.IGNORECASE,
)
_LOUD = re.compile(r"\bfatal\b(?!\s*:\s*0)|severely limit|RLIMIT_MEMLOCK is \d", re.IGNORECASE)
# names of files, but for scripts with a line behind them: a file that is called segfault.log says nothing
_FILES = re.compile(
    r"(?<![\w./~+@%=-])(?:[\w.~+@%-]*[\w~+@%-]|[\w./~+@%-]*[\w/~+@%-])\.(?:log|out|err|txt|nml|ya?ml|json|toml|dat|data|csv"
    r"|tsv|in|inp|cfg|conf|ini|md|rst|html?"
    r"|xml|nc|h5|hdf5|bin|tar|t?gz|zip|bz2|xz|dump|rpt|report|pdf|png|svg|py|sh|job|sbatch|slurm|test|ok|tmp|bak|lock"
    r"|msg|trace|prof|db|sql|lmp|xyz|pdb|mesh|cgns|vtk)(?![\w/-]|\.\w)(?!:\s*(?:line )?\d|\(\d|, line| at line|: line)",
    re.IGNORECASE,
)


def telling_part(line: str) -> str:
    """Purpose: a cleaned line of the same length in which all parts that are no cause of a failure are blanked out."""
    bare = without_prefix(line)
    if any(pattern.search(line) or pattern.search(bare) for pattern in (*_TESTS, *_HARMLESS)):
        return " " * len(line)
    for pattern in _DENIALS:
        line = pattern.sub(_blanks, line)
    for verdict in _VERDICTS:
        line = _without_denied(line, verdict)
    for pattern in _CONDITIONS:
        line = pattern.sub(_blanks, line)
    for match in list(_NOTHING.finditer(line)):
        thing = _COUNTED_THING.search(line[max(0, match.start() - 80) : match.start()])
        if thing is not None and not _MAY_BE_0.search(thing[0]):
            line = _blanked(line, match.start() - len(thing[0]), match.end())
    return _FILES.sub(_letters, line)


def is_quiet(line: str) -> bool:
    """Purpose: whether a line calls itself a notice or a warning, or says that the trouble is temporary."""
    return bool(_QUIET.search(without_prefix(line))) and not _LOUD.search(
        line.replace("non-fatal", "").replace("nonfatal", "")
    )


def _without_denied(line: str, verdict: _Verdict) -> str:
    for match in list(verdict.pattern.finditer(line)):
        at = match.start()
        begin = max(at - verdict.most, 0, *(line.rfind(stop, 0, at) + 1 for stop in verdict.stops))
        if verdict.needs is None or verdict.needs.search(line, begin, at):
            line = _blanked(line, begin, match.end())
    return line


def _blanked(line: str, begin: int, end: int) -> str:
    return line[:begin] + " " * (end - begin) + line[end:]


_RECORD = re.compile(r"^.*?(?P<number>\{\d+\})?\[Hardware Error\].*$", re.MULTILINE)
_MENDED = re.compile(r"\bcorrect(?:ed|able)\b|\bstatus\[[^\]]*\bCE\b", re.IGNORECASE)
_NOT_MENDED = re.compile(r"\bun-?correct|\bfatal|\brecoverable\b|\bpanic|\bdeferred\b|exception", re.IGNORECASE)


def without_mended(text: str) -> str:
    """Purpose: a text in which the Linux kernel's multi-line records of corrected hardware errors are replaced by empty lines."""
    if "[Hardware Error]" not in text:
        return text
    records: dict[str, str] = {}
    for match in _RECORD.finditer(text):
        records[match["number"] or ""] = f"{records.get(match['number'] or '', '')} {match[0]}"
    mended = {number for number, said in records.items() if _MENDED.search(said) and not _NOT_MENDED.search(said)}
    return _RECORD.sub(lambda match: "" if (match["number"] or "") in mended else match[0], text)


def _letters(match: re.Match[str]) -> str:
    return "".join("/" if letter == "/" else "x" for letter in match[0])


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match[0])
