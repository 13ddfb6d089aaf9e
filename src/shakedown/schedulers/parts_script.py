"""The script of a cluster's job that holds several runs. Beside what a part itself does, it costs no process.

*Lanes*, shells side by side, take the next part that nobody has. The claim of a part is a file made with noclobber, and its begin
mark. *Scribe*, one more shell, hears through a pipe of ends and writes end marks behind the begin marks.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence

from shakedown.model.layout import Layout
from shakedown.model.ports import Part
from shakedown.schedulers.job_script import head, quoted

LEAST_LIMIT_S = 1
_MOST_LANES = 1024

# An end that Slurm brought about must not be written as one of the part's own. Slurm signals a job's processes one after the
# other, and the end of a payload can reach us before the signal does. So an end is written only when it is some time old and the
# scribe is still alive, which a signal kills; the lanes do not wait for that. A lane that is told to end begins nothing more.
#
# The lanes are members of a pipeline, though nothing goes through it: a shell has its background processes ignore interrupts,
# and their payloads would inherit that. Payloads do not get the scribe's pipe: what one leaves behind would keep it open.
#
# A lane whose claims cannot be written (a full disk) gives up at the third: it must not use up parts that it cannot run.
_SCRIPT = r"""_sd_work={work}
_sd_outputs={outputs}
_sd_payloads={payloads}
_sd_parts='{parts}'
export SHAKEDOWN_CAMPAIGN={root} SHAKEDOWN_RESTART="$_sd_restart"
command -v timeout >/dev/null 2>&1 && _sd_timeout=1 || _sd_timeout=

_sd_lane() {{
    _sd_told=
    trap '_sd_told=TERM' TERM
    _sd_failures=0
    set -C
    for _sd_part in $_sd_parts; do
        _sd_run=${{_sd_part%%/*}}
        _sd_mark=$_sd_control/parts/$_sd_run
        [ -e "$_sd_mark" ] && continue
        [ -z "$_sd_told" ] || exit
        read -r _sd_began _ </proc/uptime
        if echo "job=$SLURM_JOB_ID host=$_sd_host uptime=$_sd_began restart=$_sd_restart ." >"$_sd_mark"
        then :
        elif [ -s "$_sd_mark" ]
        then continue
        else
            _sd_failures=$((_sd_failures + 1))
            [ "$_sd_failures" -lt 3 ] && continue
            exit
        fi
        _sd_limit=${{_sd_part##*/}}
        _sd_payload=${{_sd_part#*/}}
        _sd_payload=$_sd_payloads/${{_sd_payload%/*}}.sh
        _sd_status=
        if cd "$_sd_work/$_sd_run" && [ -r "$_sd_payload" ]; then
            export SHAKEDOWN_RUN="$_sd_run"
            read -r _sd_began _ </proc/uptime
            {{
                case $_sd_timeout/$_sd_limit in
                    1/?*) timeout -k 10 "$_sd_limit" /bin/sh "$_sd_payload" ;;
                    *) /bin/sh "$_sd_payload" ;;
                esac
                _sd_status=$?
            }} </dev/null >|"$_sd_outputs/$_sd_run.out" 2>&1 3>&-
        fi
        read -r _sd_ended _ </proc/uptime
        [ -z "$_sd_told" ] || exit
        echo "$_sd_run $_sd_began $_sd_ended ${{_sd_status:-place}} $_sd_limit" >&3
    done
}}

_sd_scribe() {{
    while read -r _sd_run _sd_began _sd_ended _sd_status _sd_limit; do
        _sd_pause=20
        case $_sd_status in
            place) _sd_words=trouble=place ;;
            *) _sd_words="began=$_sd_began ended=$_sd_ended status=$_sd_status limit=$_sd_limit" ;;
        esac
        [ "$_sd_status" != 0 ] || _sd_pause=06
        read -r _sd_now _ </proc/uptime
        [ $((${{_sd_now%.*}}${{_sd_now#*.}} - ${{_sd_ended%.*}}${{_sd_ended#*.}})) -ge $_sd_pause ] || sleep "0.$_sd_pause" 2>/dev/null
        echo "$_sd_words ." >>"$_sd_control/parts/$_sd_run"
    done
}}

_sd_told=
trap '_sd_told=TERM' TERM
read -r _sd_began _ </proc/uptime
{{
    trap '_sd_told=TERM' TERM
    {lanes}
}} 3>&1 | _sd_scribe
read -r _sd_ended _ </proc/uptime
_sd_left=0
for _sd_part in $_sd_parts; do
    [ -e "$_sd_control/parts/${{_sd_part%%/*}}" ] || _sd_left=$((_sd_left + 1))
done
sleep 0.05 2>/dev/null
echo "began=$_sd_began ended=$_sd_ended status=0 told=$_sd_told left=$_sd_left ." >"$_sd_control/marks.$_sd_restart"
exit 0
"""


def parts_script(layout: Layout, job: str, parts: Sequence[tuple[Part, str]], at_once: int) -> str:
    """Purpose: the text that the scheduler is given for a job of several runs. ``parts``: each with the digest of its payload."""
    words = [f"{part.run}/{payload}/{_limit(part)}" for part, payload in parts]
    lanes = max(1, min(at_once, len(words), _MOST_LANES))
    return head(layout, job) + _SCRIPT.format(
        work=quoted(layout.job_work(job, 0)),
        outputs=quoted(layout.part_outputs(job)),
        payloads=quoted(layout.payloads),
        parts="\n".join(words),
        root=shlex.quote(str(layout.root)),
        lanes=" | ".join(["_sd_lane"] * lanes),
    )


def _limit(part: Part) -> str:
    """Whole seconds, "" for none. A part that is beyond them is ended; the others go on."""
    limit_s = part.case.shape.time_limit_s
    return str(max(LEAST_LIMIT_S, math.ceil(limit_s))) if limit_s > 0 else ""
