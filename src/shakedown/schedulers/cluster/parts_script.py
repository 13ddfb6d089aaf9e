"""The script of a cluster's job that holds several runs. For each part it starts only the processes of its payload and one
``sha256sum``.

*Lanes*, shells side by side, take the next part that nobody has. The claim of a part is a file made with noclobber; it is also its
begin mark. It is written by one call, so that a kill leaves it empty or whole; an empty one means that the part may have begun, and
has no end. Claiming by a link, as a job does, would cost each part two processes. The *scribe*, one more shell, hears of ends
through a pipe and writes end marks behind the begin marks. The *watch* ends parts at their time limits.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence

from shakedown.model.layout import Layout
from shakedown.model.ports import Part
from shakedown.schedulers.cluster.job_script import FOUL_MARKS, head, quoted

FIRST_END = "ends"  # the first line of a file of ends: it takes the block that the ends after it fit into
_MOST_LANES = 1024
_GRACE_S = 10  # from TERM to KILL, of a part at its time limit
_HALT_S = 5  # beyond its time to sleep: the watch was stopped, and so were the parts
_CHUNK = 64  # lines, or parts, that are kept in one variable of the shell
_LONGEST_TICK_S = 10  # between two looks for parts at their time limit

# An end that Slurm brought about must not be written as one of the part's own. Slurm signals a job's processes one after the
# other, and the end of a payload can reach us before the signal does. So an end is written only when it is some time old and the
# scribe is still alive, which a signal kills; the lanes do not wait for that. A lane that is told to end begins nothing more.
# One whose payload was killed gives the signal a moment to reach it; what still begins then has no end mark, and is run again.
#
# The lanes are members of a pipeline, though nothing goes through it: a shell has its background processes ignore interrupts,
# and their payloads would inherit that. Payloads do not get the scribe's pipe: what one leaves behind would keep it open.
#
# A part at its time limit is ended by *watch*, which wakes up now and then, looks for marks that are too old, and ends the child of
# that lane with all below it. It goes by when the child was started, so that it cannot be the lane's next part, and says it first
# in the mark: whatever the part's status is then, it was the time limit. It is killed in the end: a shell that was forked a moment
# ago still has its parent's traps, and would lose any gentler signal. Where the whole job is suspended, or stopped by a signal, the
# watch sleeps for longer than it meant to: that time counts for no part.
#
# A mark that a lane finds there is another one's, empty or not: that one may just be about to write into it. Only a mark that the
# lane itself made and could not fill is trouble, or one that is not there after all.
#
# A payload can write into marks, too. So lanes tell the scribe what they begin, and it keeps in its memory what it heard: a mark
# that is not the claim of that lane, or has a word of a time limit that is not over, is foul. Behind each end mark it writes the
# same words into *ends*: the report believes an end that stands in both. When all is over it compares that file, and all marks,
# with its memory: claims that no lane of ours took, outputs that were there before their part, marks that are gone. It puts the
# file right, says what it found (foul=...), and its status makes the job end with one of its own, which the scheduler knows.
#
# A part without a mark that has an output did begin: somebody removed its mark. No lane runs it again. Where the directory of
# marks is gone no lane begins anything: the conductor's claims are gone with it.
#
# A shell copies a text whole each time it adds to it, and searches it from its beginning. So what grows with the parts is kept in
# pieces of some 64 lines, in variables whose names are counted, or made of a run's name without its last two digits: the work of a
# job of thousands of parts grows as their number does. A name that somebody else sent through the pipe is no part of a variable's.
#
# The end mark of a part fits into the block that its claim has, and the ends of the first parts into the one that *ends* has from
# its first line on, which is written before any part begins. So a full disk does not keep them from being written. So the lane
# writes a small file of its own when the payload has ended, and says in the mark where it cannot (full=1). The file stays,
# empty, and costs no process; behind a failure it is a new one, which takes an inode as well, and is removed.
#
# A lane that cannot write a claim (a full disk) begins nothing more, and removes what it made of it: that part has not begun, and
# waits again with all that follow. The end mark of the job says so (stopped=claims). What cannot be removed either stays empty.
_SCRIPT = r"""_sd_work={work}
_sd_outputs={outputs}
_sd_payloads={payloads}
_sd_parts='{parts}'
_sd_newline='
'
[ "$_sd_restart" = 0 ] || {{ _sd_is_plain "$_sd_control/ends.$_sd_restart" && echo {first} >"$_sd_control/ends.$_sd_restart"; }}
export SHAKEDOWN_CAMPAIGN={root} SHAKEDOWN_RESTART="$_sd_restart"

_sd_lane() {{
    _sd_told=
    read -r _sd_pid _ </proc/self/stat
    trap '_sd_told=TERM' TERM
    set -C
    for _sd_part in $_sd_parts; do
        _sd_run=${{_sd_part%%/*}}
        _sd_mark=$_sd_control/parts/$_sd_run
        [ -e "$_sd_mark" ] && continue
        [ -z "$_sd_told" ] || exit
        if [ -e "$_sd_outputs/$_sd_run.out" ]; then
            [ -e "$_sd_mark" ] || [ ! -d "$_sd_control/parts" ] || echo "$_sd_run robbed" >&3
            continue
        fi
        read -r _sd_began _ </proc/uptime
        _sd_ours=
        {{
            {{
                _sd_ours=opened
                echo "job=$SLURM_JOB_ID host=$_sd_host uptime=$_sd_began restart=$_sd_restart lane=$_sd_pid ." && _sd_ours=written
            }} >"$_sd_mark"
        }} 2>/dev/null
        if [ "$_sd_ours" != written ]; then
            [ -z "$_sd_ours" ] && [ -e "$_sd_mark" ] && continue
            [ -z "$_sd_ours" ] || rm -f "$_sd_mark" 2>/dev/null
            echo "$_sd_mark cannot be written: this lane begins nothing more" >&2
            echo "$_sd_run unclaimed" >&3
            exit
        fi
        echo "$_sd_run begin $_sd_began $_sd_pid/${{_sd_part##*/}}" >&3
        _sd_name=${{_sd_part#*/}}
        _sd_payload=$_sd_payloads/${{_sd_name%/*}}.sh
        _sd_status=
        _sd_why=place
        if cd "$_sd_work/$_sd_run" && [ -r "$_sd_payload" ] && _sd_why=payload && _sd_holds "$_sd_payload" "${{_sd_name%/*}}"; then
            _sd_why=place
            export SHAKEDOWN_RUN="$_sd_run"
            read -r _sd_began _ </proc/uptime
            {{ /bin/sh "$_sd_payload" 3>&-; _sd_status=$?; }} </dev/null >|"$_sd_outputs/$_sd_run.out" 2>&1
        fi
        read -r _sd_ended _ </proc/uptime
        _sd_short=
        _sd_has_room || _sd_short=full
        case $_sd_status in 137 | 143) sleep 0.1 2>/dev/null ;; esac
        [ -z "$_sd_told" ] || exit
        echo "$_sd_run $_sd_began $_sd_ended ${{_sd_status:-$_sd_why}} $_sd_short" >&3
    done
}}

_sd_has_room() {{
    [ -n "$_sd_status" ] || return 0
    _sd_trial=$_sd_control/.room.$_sd_pid
    [ "$_sd_status" = 0 ] || _sd_trial=$_sd_trial.$_sd_run
    _sd_is_plain "$_sd_trial" || return 0
    {{ echo . >>"$_sd_trial" && true >|"$_sd_trial"; }} 2>/dev/null || return
    [ "$_sd_status" = 0 ] || rm -f "$_sd_trial" 2>/dev/null
    return 0
}}

_sd_scribe() {{
    _sd_found= _sd_open=" " _sd_ends={first}$_sd_newline _sd_held=1 _sd_chunks=0 _sd_failed= _sd_stopped=
    while read -r _sd_run _sd_began _sd_ended _sd_status _sd_short; do
        case $_sd_began in
            begin) _sd_hear_begin ;;
            robbed) _sd_hear_robbed ;;
            unclaimed) _sd_stopped=1 ;;
            *) _sd_hear_end ;;
        esac
    done
    [ ! -d "$_sd_control" ] || _sd_compare
    return $((${{_sd_found:-0}} + 2 * ${{_sd_stopped:-0}}))
}}

_sd_recall() {{
    _sd_known=
    case $_sd_run in "" | *[!0-9A-Za-z]*) return 1 ;; esac
    eval "_sd_known=\$_sd_in_${{_sd_run%??}}"
}}

_sd_remember() {{
    _sd_known="$_sd_known$1 "
    eval "_sd_in_${{_sd_run%??}}=\$_sd_known"
}}

_sd_hear_begin() {{
    _sd_recall || {{ _sd_found=1; _sd_keep "$_sd_run foul=twice ."; return; }}
    case " $_sd_known" in *" $_sd_run "*) _sd_found=1; _sd_keep "$_sd_run foul=twice ." ;; esac
    _sd_remember "$_sd_run"
    _sd_open="$_sd_open$_sd_run:$_sd_ended:$_sd_status "
}}

_sd_hear_robbed() {{
    _sd_recall || return
    case " $_sd_known" in
        *" $_sd_run "* | *" $_sd_run/robbed "*) ;;
        *)
            _sd_found=1
            _sd_remember "$_sd_run/robbed"
            _sd_keep "$_sd_run foul=output ." ;;
    esac
}}

_sd_keep() {{
    _sd_ends=$_sd_ends$1$_sd_newline
    _sd_held=$((_sd_held + 1))
    [ "$_sd_held" = {chunk} ] || return 0
    eval "_sd_ends_$_sd_chunks=\$_sd_ends"
    _sd_ends= _sd_held=0 _sd_chunks=$((_sd_chunks + 1))
}}

_sd_hear_end() {{
    case $_sd_open in
        *" $_sd_run:"*) ;;
        *)
            _sd_found=1
            _sd_keep "$_sd_run foul=twice ."
            return ;;
    esac
    _sd_claim=${{_sd_open#* "$_sd_run":}}
    _sd_claim=${{_sd_claim%% *}}
    _sd_open="${{_sd_open%% "$_sd_run":*}} ${{_sd_open#* "$_sd_run:$_sd_claim" }}"
    _sd_pid=${{_sd_claim#*:}} _sd_limit=${{_sd_claim##*/}} _sd_claim=${{_sd_claim%%:*}}
    _sd_own="job=$SLURM_JOB_ID host=$_sd_host uptime=$_sd_claim restart=$_sd_restart lane=${{_sd_pid%/*}} ."
    _sd_pause=20 _sd_words="began=$_sd_began ended=$_sd_ended status=$_sd_status" _sd_more_words=
    case $_sd_status in place | payload) _sd_words=trouble=$_sd_status ;; esac
    [ "$_sd_short" != full ] || _sd_words="$_sd_words full=1"
    [ "$_sd_status" != 0 ] || _sd_pause=06
    _sd_hundredths=${{_sd_ended%.*}}${{_sd_ended#*.}}
    _sd_line= _sd_more= _sd_third= _sd_mark=$_sd_control/parts/$_sd_run
    {{
        [ ! -f "$_sd_mark" ] ||
            {{ IFS= read -r _sd_line; IFS= read -r _sd_more; IFS= read -r _sd_third; }} <"$_sd_mark"
    }} 2>/dev/null
    case "$_sd_line/$_sd_more/$_sd_third" in
        "$_sd_own//") ;;
        "$_sd_own/timeout=$_sd_limit ./")
            if [ $((_sd_hundredths - ${{_sd_claim%.*}}${{_sd_claim#*.}})) -ge "${{_sd_limit:-0}}"00 ]
            then _sd_more_words=" timeout=$_sd_limit"
            else _sd_words="$_sd_words foul=early" _sd_found=1
            fi ;;
        *)
            if [ -d "$_sd_control" ]; then
                _sd_words="$_sd_words foul=early" _sd_found=1
                [ -d "$_sd_control/parts" ] || _sd_mark=
            fi ;;
    esac
    read -r _sd_now _ </proc/uptime
    _sd_age=$((${{_sd_now%.*}}${{_sd_now#*.}} - _sd_hundredths))
    [ "$_sd_age" -ge "$_sd_pause" ] || sleep "0.$_sd_pause" 2>/dev/null
    _sd_full=
    [ -z "$_sd_mark" ] || _sd_write "$_sd_mark" "$_sd_words"
    [ -z "$_sd_full" ] || _sd_failed=1
    _sd_more_words=$_sd_more_words$_sd_full
    _sd_words="$_sd_run $_sd_words$_sd_more_words"
    _sd_write "$_sd_control/ends.$_sd_restart" "$_sd_words"
    [ -z "$_sd_full" ] || _sd_failed=1
    _sd_keep "$_sd_words ."
}}

_sd_compare() {{
    _sd_file=$_sd_control/ends.$_sd_restart _sd_same=1
    {{ _sd_agrees; }} 2>/dev/null || _sd_same=
    [ -n "$_sd_same$_sd_failed" ] || _sd_found=1
    for _sd_part in $_sd_parts; do
        _sd_run=${{_sd_part%%/*}} _sd_line=
        _sd_mark=$_sd_control/parts/$_sd_run
        _sd_recall
        case " $_sd_known" in
            *" $_sd_run "*) [ -e "$_sd_mark" ] || [ -n "$_sd_failed" ] || _sd_found=1 ;;
            *)
                {{ [ ! -f "$_sd_mark" ] || IFS= read -r _sd_line <"$_sd_mark"; }} 2>/dev/null
                [ -f "$_sd_mark" ] || [ ! -e "$_sd_mark" ] || _sd_line=strange
                case $_sd_line in
                    "" | conductor) continue ;;
                    "job=$SLURM_JOB_ID "*" restart=$_sd_restart "*) ;;
                    "job=$SLURM_JOB_ID "*" restart="*) [ "$_sd_restart" = 0 ] || continue ;;
                esac
                _sd_found=1 _sd_same=
                _sd_keep "$_sd_run foul=claim ." ;;
        esac
    done
    [ -n "$_sd_same" ] || {{ _sd_is_plain "$_sd_file" && _sd_print >|"$_sd_file"; }} 2>/dev/null
    return 0
}}

_sd_agrees() {{
    _sd_at=0 _sd_some= _sd_more=
    [ ! -f "$_sd_file" ] || while IFS= read -r _sd_more; do
        _sd_some=$_sd_some$_sd_more$_sd_newline _sd_at=$((_sd_at + 1))
        [ $((_sd_at % {chunk})) = 0 ] || continue
        [ $((_sd_at / {chunk})) -le "$_sd_chunks" ] || return 1
        eval "_sd_line=\$_sd_ends_$((_sd_at / {chunk} - 1))"
        [ "$_sd_some" = "$_sd_line" ] || return 1
        _sd_some=
    done <"$_sd_file"
    [ $((_sd_at / {chunk})) = "$_sd_chunks" ] && [ "$_sd_some$_sd_more" = "$_sd_ends" ]
}}

_sd_print() {{
    _sd_at=0
    while [ "$_sd_at" -lt "$_sd_chunks" ]; do
        eval "printf %s \"\$_sd_ends_$_sd_at\""
        _sd_at=$((_sd_at + 1))
    done
    printf %s "$_sd_ends"
}}

_sd_watch() {{
    _sd_ending= _sd_halts= _sd_chunks=0 _sd_some= _sd_held=0
    for _sd_part in $_sd_parts; do
        _sd_some="$_sd_some $_sd_part" _sd_held=$((_sd_held + 1))
        [ "$_sd_held" -ge {chunk} ] || continue
        eval "_sd_later_$_sd_chunks=\$_sd_some"
        _sd_some= _sd_held=0 _sd_chunks=$((_sd_chunks + 1))
    done
    eval "_sd_later_$_sd_chunks=\$_sd_some"
    read -r _sd_last _ </proc/uptime
    _sd_last=${{_sd_last%.*}}${{_sd_last#*.}}
    while sleep {tick} </dev/null >/dev/null 2>&1; do
        read -r _sd_now _ </proc/uptime
        _sd_now=${{_sd_now%.*}}${{_sd_now#*.}}
        _sd_still=$((_sd_now - _sd_last - {tick}00))
        [ "$_sd_still" -lt {slack}00 ] || _sd_halts="$_sd_halts $_sd_now:$_sd_still"
        _sd_last=$_sd_now _sd_at=0 _sd_open=
        while [ "$_sd_at" -le "$_sd_chunks" ]; do
            eval "_sd_some=\$_sd_later_$_sd_at"
            _sd_later=
            for _sd_part in $_sd_some; do
                _sd_is_over || _sd_later="$_sd_later $_sd_part"
            done
            eval "_sd_later_$_sd_at=\$_sd_later"
            [ -z "$_sd_later" ] || _sd_open=1
            _sd_at=$((_sd_at + 1))
        done
        _sd_kill
        [ -n "$_sd_open$_sd_ending" ] || exit
    done
}}

_sd_is_over() {{
    _sd_mark=$_sd_control/parts/${{_sd_part%%/*}} _sd_limit=${{_sd_part##*/}} _sd_claim= _sd_end=
    [ -n "$_sd_limit" ] || return 0
    [ -e "$_sd_mark" ] || return 1
    [ ! -f "$_sd_mark" ] || {{ read -r _sd_claim; read -r _sd_end; }} <"$_sd_mark"
    case $_sd_claim/$_sd_end in
        *" lane="*" ./")
            _sd_began=${{_sd_claim#* uptime=}} _sd_pid=${{_sd_claim#* lane=}}
            _sd_began=${{_sd_began%% *}} _sd_pid=${{_sd_pid%% *}}
            _sd_began=${{_sd_began%.*}}${{_sd_began#*.}}
            _sd_age=$((_sd_now - _sd_began))
            for _sd_halt in $_sd_halts; do
                [ "$_sd_began" -ge "${{_sd_halt%:*}}" ] || _sd_age=$((_sd_age - ${{_sd_halt#*:}}))
            done
            [ "$_sd_age" -lt "$_sd_limit"00 ] || _sd_overdue
            return 1 ;;
        /) return 1 ;;
    esac
}}

_sd_overdue() {{
    _sd_table=
    for _sd_file in /proc/[0-9]*/stat; do
        read -r _sd_line <"$_sd_file" || continue
        _sd_child=${{_sd_file#/proc/}}
        set -- ${{_sd_line##*) }}
        _sd_table="$_sd_table ${{_sd_child%/stat}}:$2:${{20}}"
    done 2>/dev/null
    _sd_found=
    for _sd_line in $_sd_table; do
        _sd_child=${{_sd_line#*:}}
        [ "${{_sd_child%:*}}" = "$_sd_pid" ] && [ $((_sd_now - ${{_sd_line##*:}} + 50)) -ge "$_sd_limit"00 ] &&
            _sd_found=" $_sd_line "
    done
    [ -n "$_sd_found" ] || return
    _sd_count=0
    while [ "$_sd_count" -lt 16 ]; do
        for _sd_line in $_sd_table; do
            _sd_child=${{_sd_line#*:}}
            case $_sd_found in *" $_sd_line "*) ;; *" ${{_sd_child%:*}}:"*) _sd_found="$_sd_found$_sd_line " ;; esac
        done
        _sd_count=$((_sd_count + 1))
    done
    _sd_is_plain "$_sd_mark" && echo "timeout=$_sd_limit ." >>"$_sd_mark"
    for _sd_line in $_sd_found; do
        kill "${{_sd_line%%:*}}"
        _sd_ending="$_sd_ending $((_sd_now + {grace}00)):$_sd_line"
    done 2>/dev/null
}}

_sd_kill() {{
    _sd_later=
    for _sd_line in $_sd_ending; do
        _sd_child=${{_sd_line#*:}}
        if [ "${{_sd_line%%:*}}" -gt "$_sd_now" ]; then
            _sd_later="$_sd_later $_sd_line"
        elif read -r _sd_file <"/proc/${{_sd_child%%:*}}/stat"; then
            set -- ${{_sd_file##*) }}
            [ "${{20}}" != "${{_sd_line##*:}}" ] || kill -9 "${{_sd_child%%:*}}"
        fi
    done 2>/dev/null
    _sd_ending=$_sd_later
}}

_sd_told=
trap '_sd_told=TERM' TERM
read -r _sd_began _ </proc/uptime
{watch}{{
    trap '_sd_told=TERM' TERM
    {lanes}
}} 3>&1 | _sd_scribe
_sd_found=$?
{unwatch}read -r _sd_ended _ </proc/uptime
_sd_left=0
for _sd_part in $_sd_parts; do
    [ -e "$_sd_control/parts/${{_sd_part%%/*}}" ] || _sd_left=$((_sd_left + 1))
done
sleep 0.05 2>/dev/null
{{ rm -f "$_sd_control"/.room.*; }} 2>/dev/null
_sd_look
_sd_stopped=
case $_sd_found in 2 | 3) _sd_stopped=" stopped=claims" ;; esac
case $_sd_found in 0 | 2) ;; *) [ -n "$_sd_told" ] || _sd_foul=" foul=part" ;; esac
_sd_end "began=$_sd_began ended=$_sd_ended status=0 told=$_sd_told left=$_sd_left$_sd_stopped$_sd_foul"
_sd_is_ours "began=$_sd_began ended=$_sd_ended " || exit {foul}
exit 0
"""


def parts_script(layout: Layout, job: str, parts: Sequence[tuple[Part, str]], at_once: int) -> str:
    """Purpose: the text that the scheduler gets for a job of several runs. ``parts``: each with the digest of its payload."""
    words = [f"{part.run}/{payload}/{_limit(part)}" for part, payload in parts]
    lanes = max(1, min(at_once, len(words), _MOST_LANES))
    limits = [limit for part, _ in parts if (limit := _limit(part))]
    directives = parts[0][0].case.shape.resources.directives if parts else ()
    return head(layout, job, directives=directives) + _SCRIPT.format(
        work=quoted(layout.job_work(job, 0)),
        outputs=quoted(layout.part_outputs(job)),
        payloads=quoted(layout.payloads),
        parts="\n".join(words),
        root=shlex.quote(str(layout.root)),
        tick=max(1, min(_LONGEST_TICK_S, min(map(int, limits), default=0) // 20)),
        grace=_GRACE_S,
        slack=_HALT_S,
        chunk=_CHUNK,
        first=FIRST_END,
        watch="_sd_watch &\n_sd_watcher=$!\n" if limits else "",
        unwatch='{ kill -9 "$_sd_watcher"; wait "$_sd_watcher"; } 2>/dev/null\n' if limits else "",
        foul=FOUL_MARKS,
        lanes=" | ".join(["_sd_lane"] * lanes),
    )


def _limit(part: Part) -> str:
    """The time limit of a part in whole seconds, "" = none. A part that exceeds it is ended; the others go on."""
    limit_s = part.case.shape.time_limit_s
    return str(math.ceil(limit_s)) if limit_s > 0 else ""
