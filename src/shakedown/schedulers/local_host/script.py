"""The exact script of a job. What is shown to people is what runs.

The claim is a file made with ``set -C`` (noclobber): the shell opens it with O_CREAT | O_EXCL, which succeeds for exactly one of
any number of processes, as mkdir does, also on NFS version 3 and later. Unlike mkdir, this is a builtin of every POSIX shell: it
starts no process, and the next call writes into the file who holds the claim. A kill between the two leaves it empty: such a claim
counts as held, nobody else takes it, and its run may have begun.
"""

from __future__ import annotations

import shlex

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case
from shakedown.schedulers.local_host.gpus import HIDING

# Stands before the script that is run: the shell waits until it is released, and then has nothing more to read.
GATE = "read -r _ || exit 97\nexec </dev/null\n"
# The same where the site has GPUs: the line that releases the shell names those that are its own.
GPU_GATE = f"IFS= read -r _sd_gpus || exit 97\nexec </dev/null\n{HIDING}"
CLAIM_TAKEN = 97  # exit status of a script whose claim somebody else holds; the payload may use it too, the claim tells


def job_script(case: Case, layout: Layout, run: str, job: str, build_directory: str, restart: int = 0) -> str:
    """Purpose: the text that ``sh`` gets for one job: take the claim, go to the run's directory, run the case's script.
    ``build_directory`` fills ``{build}``; "" where the case has no build.
    """
    claim, work = str(layout.claim(job, restart)), str(layout.work_directory(run))
    return claimed(case_script(case, layout, build_directory), claim, work)


def claimed(script: str, claim: str, work: str) -> str:
    """The script with lines before it that take the claim and change to its directory."""
    return (
        f'set -C\necho "$$" >{shlex.quote(claim)} || exit {CLAIM_TAKEN}\nset +C\n'
        f"cd {shlex.quote(work)} || exit\n{script}\n"
    )


def case_script(case: Case, layout: Layout, build_directory: str) -> str:
    """The case's own script, with the directories of the campaign filled in."""
    text = fill(case.script, "{build}", build_directory)
    return fill(text, "{campaign}", str(layout.root))


def case_environment(case: Case, layout: Layout, build_directory: str) -> dict[str, str]:
    """The case's own variables, with the directories of the campaign filled in. No shell reads them, so nothing is quoted."""
    return {
        name: value.replace("{build}", build_directory).replace("{campaign}", str(layout.root))
        for name, value in case.environment
    }


def fill(script: str, placeholder: str, path: str) -> str:
    """Purpose: ``script`` with every ``placeholder`` replaced by ``path``, quoted as its place in the script requires.

    The shell reads the same path inside double quotes, inside single quotes, and without quotes, whatever characters it has.
    """
    if placeholder not in script:
        return script
    if shlex.quote(path) == path:
        return script.replace(placeholder, path)
    quote = ""
    parts: list[str] = []
    for number, piece in enumerate(script.split(placeholder)):
        if number:
            parts.append(_quoted(path, quote))
        parts.append(piece)
        quote = _open_quote(piece, quote)
    return "".join(parts)


def _quoted(path: str, quote: str) -> str:
    """The path as it must be written inside this kind of quotes."""
    if quote == '"':
        return "".join(f"\\{character}" if character in '$`"\\' else character for character in path)
    if quote == "'":
        return path.replace("'", "'\\''")
    return shlex.quote(path)


def _open_quote(piece: str, quote: str) -> str:
    """What is open at the end of a piece of script, if ``quote`` was open at its start: ', ", a comment (#) or nothing."""
    before = "\n" if not quote else ""
    for character in piece:
        if before == "\\":
            before = ""
            continue
        if quote == "#":
            quote = "" if character == "\n" else quote
        elif character == quote:
            quote = ""
        elif not quote and (character in "\"'" or (character == "#" and before.isspace())):
            quote = character
        before = "" if character == "\\" and quote in ("'", "#") else character
    return quote
