"""The script of a cluster's job: claim, begin mark, payload, end mark. What is shown to people is exactly what runs.

It consists of two files. The *payload* does what the case says and is kept once for all its jobs. It runs in a shell of its own, so
that the end mark is written whatever it does to that shell (``exit``, ``exec``, ``set -e``, traps, a syntax error). The *job
script* around it is what the scheduler gets. Writing its marks starts no process: only shell builtins are used, and times are read
from ``/proc/uptime``, which setting a clock does not change. Its claim starts two short processes, ``ln`` and ``rm``; checking the
payload starts one, ``sha256sum``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case
from shakedown.schedulers.linked_inputs import deepest_first
from shakedown.schedulers.local_host.script import CLAIM_TAKEN, case_environment, case_script

RAN_AND_ENDED_SO = 96  # what a job ends with whose payload ended with CLAIM_TAKEN
FOUL_MARKS = 95  # and with this where its claim or its end mark is not what its script left there

_NO_LIMIT = 2**31
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Slurm starts the script as the job's own: a person who runs it by hand, or in an allocation of another job, is refused before
# anything is claimed. The name is the one that the job was submitted under, whatever it is called since.
#
# A restart takes its own claim, and first those of the restarts before it that nobody took: a job whose place the conductor
# took, or another job of the same name has, cannot come in by being requeued. A restart that finds that one before it came to
# its own end does nothing: the work is done. An end that a signal brought about (a status of 128 and more) is not one's own.
#
# A claim is there with its words or not at all, wherever its shell is killed: they are written into a file of another name,
# which is then linked to the claim's. Where there is no ``ln``, or no link can be made, noclobber makes the claim; like a link it
# succeeds for one of any number of shells.
#
# A job that follows another one is started as soon as Slurm calls that one over, as it does when it loses a node, though the
# processes may live on there. So it looks for an end mark itself, of every start of the nearest job before it that ran. Of a start
# that never began a later one took the claim: both claims read alike. Where the conductor has the last claim, it
# knows the job to be over.
#
# A job that is cancelled, or at its time limit, is told to end by TERM. The payload may use the time that it is given; the end
# mark then says that it was told, and the scheduler knows why. Slurm signals a job's processes one after the other, children
# first: a payload that waits for its child can be over, with status 0, before we are told. Therefore the pause before the mark.
#
# A job that did not run ends with a status of its own, 97 below. A payload that ends with it too has it in its end mark, and the
# job ends with another one: where no mark could be written, a job that ran must not look like one that did not.
#
# A file system that is full or away when a payload ends is waited for, for half a minute and never up to the time limit: the end
# mark is what the run is judged by. One that could not be written leaves no empty file, which would look like one that somebody
# emptied. What was waited for in vain is waited for no more: of the many parts of a job each would.
# The payload runs as the same user: it can write an end mark of its own, and change or remove the claim. The script looks at both
# when the payload has ended. An end mark that it finds it moves aside, says so in its own (foul=...), reads that again, and ends
# with a status of its own, 95 below. That goes to the scheduler, where the payload cannot write; the report compares both.
#
# Nor is the payload in its file safe from other payloads: it is run where its sha256 begins as its name does. Where the node has no
# sha256sum, the script says so and runs it.
#
# Only Slurm starts it, as a job of this campaign. Which one its name says does not matter: somebody may have exchanged the
# names of two jobs, and a newer Slurm tells the job the name that it has by then. If that is none of the campaign's, the word that
# the job was submitted with says so: nobody can change it, and a person who submits the script has none.
#
# A shell that opens a pipe waits for whoever has its other end. So nothing is opened that is there and no plain file: what
# cannot be read is empty, what cannot be written is said, and a job whose claim or output has something else in its place runs
# nothing.
#
# A mark that had to wait says so (full=1), and so does that of each payload that ended before there was room again: what these
# wrote meanwhile may be lost, though nobody told them.
_HEAD = r"""#!/bin/sh
{directives}# job {label}
_sd_restart=${{SLURM_RESTART_COUNT:-0}}
_sd_control={control}
read -r _sd_began _ </proc/uptime
read -r _sd_host </proc/sys/kernel/hostname
_sd_is_plain() {{
    [ ! -L "$1" ] && {{ [ -f "$1" ] || [ ! -e "$1" ]; }} || {{
        echo "$1 is no plain file: somebody put it there, and nothing is written into it" >&2
        return 1
    }}
}}
{{ [ -f {token} ] && read -r _sd_token <{token}; }} || exit {taken}
_sd_ours=
case $SLURM_JOB_NAME in "sd-$_sd_token-"*) _sd_ours=1 ;; esac
[ "$1" != "sd-$_sd_token-{job}" ] || _sd_ours=1
if [ -z "$SLURM_JOB_ID" ] || [ -z "$SLURMD_NODENAME" ] || [ -z "$_sd_ours" ]; then
    echo "$0 is the script of a job of Shakedown's, {job}: only Slurm starts it, as that job. Nothing was run." >&2
    exit {taken}
fi
_sd_words="job=$SLURM_JOB_ID host=$_sd_host uptime=$_sd_began pid=$$ nodes=$SLURM_JOB_NODELIST node=$SLURMD_NODENAME ."
_sd_tries=0 _sd_room=
_sd_write() {{
    _sd_full=
    _sd_is_plain "$1" || return
    [ -z "$_sd_room" ] || [ "${{_sd_ended%.*}}" -gt "$_sd_room" ] || _sd_full=" full=1"
    until {{ echo "$2$_sd_full ." >>"$1"; }} 2>/dev/null; do
        _sd_full=" full=1"
        _sd_tries=$((_sd_tries + 1))
        [ "$_sd_tries" -le 30 ] && [ -z "$_sd_told" ] || return
        read -r _sd_now _ </proc/uptime && [ $((${{_sd_now%.*}} - ${{_sd_began%.*}})) -lt $(({limit} - 5)) ] || return
        sleep 1 2>/dev/null
    done
    [ "$_sd_tries" = 0 ] || {{ read -r _sd_room _ </proc/uptime && _sd_room=${{_sd_room%.*}}; }}
    _sd_tries=0
}}
_sd_take() {{
    _sd_is_plain "$1" || {{ _sd_strange=1; return 1; }}
    _sd_draft=$_sd_control/.claim.$_sd_restart.$SLURM_JOB_ID.$_sd_host.$$ _sd_linked=
    if [ ! -e "$1" ]; then
        echo "$_sd_words" >"$_sd_draft" || return
        if ln "$_sd_draft" "$1"; then _sd_linked=1; fi 2>/dev/null
        rm -f "$_sd_draft" 2>/dev/null
        [ -z "$_sd_linked" ] || return 0
    fi
    echo "$_sd_words" >"$1"
}}
_sd_mark=$_sd_control/marks.$_sd_restart _sd_foul= _sd_strange=
_sd_end() {{
    _sd_write "$_sd_mark" "$1" || [ ! -f "$_sd_mark" ] || [ -s "$_sd_mark" ] || rm -f "$_sd_mark" 2>/dev/null
}}
_sd_trouble() {{
    _sd_is_plain "$_sd_mark" && echo "trouble=$1 ." >"$_sd_mark"
}}
_sd_look() {{
    _sd_line= _sd_more=$_sd_control/claim.$_sd_restart
    {{ [ ! -f "$_sd_more" ] || IFS= read -r _sd_line <"$_sd_more"; }} 2>/dev/null
    case $_sd_line in
        "$_sd_words") ;;
        ?*) _sd_foul=" foul=claim" ;;
        *) [ -s "$_sd_more" ] || [ ! -d "$_sd_control" ] || _sd_foul=" foul=claim" ;;
    esac
    [ -e "$_sd_mark" ] || [ -L "$_sd_mark" ] || return 0
    _sd_line=
    {{ [ ! -f "$_sd_mark" ] || IFS= read -r _sd_line <"$_sd_mark"; }} 2>/dev/null
    [ "$_sd_line" = "trouble=before ." ] || _sd_foul=" foul=early"
    mv -f "$_sd_mark" "$_sd_control/found.$_sd_restart" 2>/dev/null
}}
_sd_is_ours() {{
    _sd_line= _sd_more=
    [ -z "$_sd_foul" ] || return
    [ -e "$_sd_mark" ] || return 0
    [ -f "$_sd_mark" ] || return
    [ -s "$_sd_mark" ] || return 0
    {{ {{ IFS= read -r _sd_line && ! read -r _sd_more; }} <"$_sd_mark"; }} 2>/dev/null || return
    case $_sd_more$_sd_line in "$1"*) ;; *) return 1 ;; esac
}}
_sd_before=$_sd_control
while [ -f "$_sd_before/before" ] && {{ IFS= read -r _sd_before <"$_sd_before/before"; }} 2>/dev/null; do
    _sd_count=0 _sd_ran= _sd_alive= _sd_claim= _sd_next=
    {{ [ ! -f "$_sd_before/claim.0" ] || read -r _sd_next <"$_sd_before/claim.0"; }} 2>/dev/null
    while [ -e "$_sd_before/claim.$_sd_count" ]; do
        _sd_claim=$_sd_next _sd_next= _sd_end=
        _sd_file=$_sd_before/claim.$((_sd_count + 1))
        {{ [ ! -f "$_sd_file" ] || read -r _sd_next <"$_sd_file"; }} 2>/dev/null
        case $_sd_claim in
            conductor) _sd_end=" ." ;;
            ?*) [ "$_sd_claim" != "$_sd_next" ] || _sd_end=" ." ;;
        esac
        if [ -z "$_sd_end" ]; then
            _sd_ran=1
            {{ [ ! -f "$_sd_before/marks.$_sd_count" ] || read -r _sd_end <"$_sd_before/marks.$_sd_count"; }} 2>/dev/null
        fi
        case $_sd_end in *" .") ;; *) _sd_alive=1 ;; esac
        _sd_count=$((_sd_count + 1))
    done
    [ -n "$_sd_ran" ] || continue
    [ -n "$_sd_alive" ] && [ "$_sd_claim" != conductor ] || break
    _sd_trouble before
    exit {taken}
done
_sd_count=0
set -C
while :; do
    _sd_end=
    _sd_file=$_sd_control/marks.$_sd_count
    [ "$_sd_count" = "$_sd_restart" ] || [ ! -f "$_sd_file" ] || {{ read -r _sd_end <"$_sd_file"; }} 2>/dev/null
    case $_sd_end in
        *" status="1[3-9][0-9]" "* | *" status="12[89]" "* | *" status="2[0-9][0-9]" "*) ;;
        began=*" status="*" told= "*.)
            _sd_trouble over
            exit {taken} ;;
    esac
    if _sd_take "$_sd_control/claim.$_sd_count"
    then :
    elif [ "$_sd_count" = "$_sd_restart" ] || [ -n "$_sd_strange" ]
    then
        [ -z "$_sd_strange" ] || _sd_trouble claim
        exit {taken}
    else
        read -r _sd_holder <"$_sd_control/claim.$_sd_count"
        case $_sd_holder in "job=$SLURM_JOB_ID "*) ;; *) exit {taken} ;; esac
    fi
    [ "$_sd_count" = "$_sd_restart" ] && break
    _sd_count=$((_sd_count + 1))
done
set +C
_sd_holds() {{
    [ -f "$1" ] || return 1
    _sd_sum=$(sha256sum 2>/dev/null <"$1") || _sd_sum=
    case $_sd_sum in
    "$2"*) ;;
    "") echo "sha256sum failed on $_sd_host: nothing says whether $1 is what its name says" >&2 ;;
    *) return 1 ;;
    esac
}}
command -v sha256sum >/dev/null 2>&1 || {{
    echo "there is no sha256sum on $_sd_host: nothing says there whether a payload is what its name says" >&2
    _sd_holds() {{ [ -f "$1" ]; }}
}}
"""
_SCRIPT = r"""_sd_payload={payload}
_sd_work={work}.$_sd_restart
_sd_output={output}.$_sd_restart.out
_sd_why=place
{place}if [ -r "$_sd_payload" ] && cd "$_sd_work" && _sd_is_plain "$_sd_output" &&
    true >"$_sd_output" && _sd_why=payload && _sd_holds "$_sd_payload" {name}; then
    export SHAKEDOWN_CAMPAIGN={root} SHAKEDOWN_RUN={run} SHAKEDOWN_RESTART="$_sd_restart"
    _sd_told=
    trap '_sd_told=TERM' TERM
    read -r _sd_began _ </proc/uptime
    /bin/sh "$_sd_payload" </dev/null >>"$_sd_output" 2>&1
    _sd_status=$?
    read -r _sd_ended _ </proc/uptime
    _sd_pause=0.05
    [ "$_sd_status" = 0 ] || _sd_pause=0.2
    [ -z "$_sd_ended" ] || [ $((${{_sd_ended%.*}} - ${{_sd_began%.*}})) -lt {limit} ] || _sd_pause=1
    sleep $_sd_pause 2>/dev/null
    _sd_look
    _sd_end "began=$_sd_began ended=$_sd_ended status=$_sd_status told=$_sd_told$_sd_foul"
    [ "$_sd_status" != {taken} ] || _sd_status={own}
    _sd_is_ours "began=$_sd_began ended=$_sd_ended " || _sd_status={foul}
    exit "$_sd_status"
fi
_sd_trouble "$_sd_why"
exit {taken}
"""


def cluster_script(layout: Layout, job: str, run: str, case: Case, payload: Path) -> str:
    """Purpose: the text that the scheduler gets for one job and all its restarts. ``payload``: the file with the text of
    ``payload_script``.
    """
    work = _without_restart(layout.job_work(job, 0), ".0")
    limit = max(1, int(case.shape.time_limit_s)) if case.shape.time_limit_s > 0 else _NO_LIMIT
    return head(layout, job, limit, case.shape.resources.directives) + _SCRIPT.format(
        payload=quoted(payload),
        name=shlex.quote(payload.stem),
        work=shlex.quote(work),
        output=shlex.quote(_without_restart(layout.job_output(job, 0), ".0.out")),
        root=quoted(layout.root),
        run=shlex.quote(run),
        place=_place(case),
        limit=limit,
        taken=CLAIM_TAKEN,
        own=RAN_AND_ENDED_SO,
        foul=FOUL_MARKS,
    )


def head(layout: Layout, job: str, limit_s: int = 0, directives: Sequence[str] = ()) -> str:
    """Purpose: the beginning of every job script, which takes the claim.

    It sets ``_sd_control``, ``_sd_restart``, ``_sd_host`` and ``_sd_mark`` (the file of the end mark). It defines ``_sd_write FILE
    WORDS``, which writes a mark of something that ended at the uptime ``_sd_ended``; ``_sd_end WORDS``, which writes the job's end
    mark; ``_sd_look``, which sets ``_sd_foul`` and is called before that; and ``_sd_is_ours BEGINNING``, which is called after it
    and tells whether nobody else wrote there.

    ``limit_s``: the job's time limit in seconds, 0 = none. ``directives``: lines for plugins of the scheduler, which are read up to
    the first line that is no comment.
    """
    lines = "".join(f"{line}\n" for line in directives)
    return _HEAD.format(
        directives=lines,
        job=job,
        label=" ".join(filter(None, (job, _name_at_the_scheduler(layout, job)))),
        control=quoted(layout.job(job)),
        token=quoted(layout.token),
        taken=CLAIM_TAKEN,
        limit=limit_s or _NO_LIMIT,
    )


def _name_at_the_scheduler(layout: Layout, job: str) -> str:
    """The job's name with the campaign's token. If the token's file is lost, the scripts of the jobs still contain it."""
    try:
        token = layout.token.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
    return f"sd-{token}-{job}"


def payload_script(case: Case, layout: Layout) -> str:
    """Purpose: what every job of a case does: set its environment, then run its own script, with the directories filled in. Raises
    ValueError, with a sentence, for text that cannot be given to a shell.
    """
    build = str(layout.build(case.build)) if case.build else ""
    variables = case_environment(case, layout, build)
    lines = [f"export {_checked(name)}={shlex.quote(value)}\n" for name, value in variables.items()]
    text = "".join(lines) + case_script(case, layout, build) + "\n"
    if "\0" in text:
        raise ValueError("there is a NUL byte in its script or environment")
    return text


def quoted(path: Path) -> str:
    """A path as one word of the shell."""
    return shlex.quote(str(path))


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name that a shell can give to an environment variable")
    return name


def _without_restart(path: Path, ending: str) -> str:
    return str(path).removesuffix(ending)


def _place(case: Case) -> str:
    """The lines that make the work directory of a restart, where nobody has made it. A restart of a job on a target makes it in the
    place where that of the first start is.
    """
    stage = case.stage if case.work or case.stage != "per-target" else "link"
    numbered = {name: number for number, (name, _) in enumerate(case.files)}
    files = case.files if stage == "copy" else deepest_first(case.files)
    lines = "".join(_input(name, source, stage, numbered[name]) for name, source in files)
    helper = _LINK if files and stage != "copy" else ""
    begin = _ON_TARGET if case.work else 'if [ ! -d "$_sd_work" ]; then\n    mkdir -p "$_sd_work"\n'
    return f"{helper}{begin}{lines}fi\n"


_ON_TARGET = """if [ ! -d "$_sd_work" ] && [ -f "$_sd_control/place" ] && IFS= read -r _sd_place <"$_sd_control/place"; then
    mkdir -p "$_sd_place.$_sd_restart"
    ln -s "$_sd_place.$_sd_restart" "$_sd_work"
"""

# What ``linked_inputs.link_input`` does. A link inside of the directory that names something inside of it names the run's own; a
# word ends with a dot while a shell would take a new line from its end.
_LINK = r"""_sd_link() {
    case $2 in "$1"/*) ;; *) [ ! -d "$1" ] || {
        cp -RHsT "$1" "$2"
        chmod -R u+rwx "$2"
        (cd "$1" && find . -type l -exec sh -c '
            real=$(pwd -P && echo .)
            real=${real%??}
            for link do
                to=$(readlink -mn "$link" && echo .)
                to=${to%.}
                case $to/ in "$real"/*) ;; *) continue ;; esac
                to=${to#"$real"} up= rest=${link#./}
                while case $rest in */*) ;; *) false ;; esac; do up=../$up rest=${rest#*/}; done
                to=$up${to#/}
                rm -f "$0/$link" && ln -s -- "${to:-.}" "$0/$link"
            done' "$2" {} +)
        return
    } ;; esac
    ln -s "$1" "$2"
}
"""


def _input(name: str, source: str, stage: str, number: int) -> str:
    """The lines that place an input file in a directory that the script itself has made. ``number``: of the file among those of its
    case.
    """
    folder, word, origin = str(Path(name).parent), shlex.quote(name), shlex.quote(source)
    deeper = "" if folder == "." else f'    mkdir -p "$_sd_work"/{shlex.quote(folder)}\n'
    if stage == "copy":
        return f'{deeper}    cp -RL {origin} "$_sd_work"/{word}\n'
    if stage == "per-target":
        shared = f'"$_sd_place.inputs/{number}"'
        which = f"_sd_shared={shared}\n    [ -e {shared} ] || _sd_shared={origin}"
        return f'{deeper}    {which}\n    _sd_link "$_sd_shared" "$_sd_work"/{word}\n'
    return f'{deeper}    _sd_link {origin} "$_sd_work"/{word}\n'
