"""Lines in which a rank tells that another one is gone: echoes of whatever ended that one, told in words of the network. Pure.

``echo_of`` knows them, ``explains`` knows what may have ended the other one.
"""

from __future__ import annotations

import enum
import re

import msgspec

from shakedown.model.failures import Failure


class Echo(enum.Enum):
    """NONE: a cause, or anything else. ENDED: the other side ended. WAITED: the other side did not come."""

    NONE = 0
    ENDED = 1
    WAITED = 2


_PEER = r"(?:(?:remote|other)[ -]?(?:side|end|peer|process|rank|host|endpoint)|peer(?: process)?|far end)"
_GONE = (
    r"(?:reset|clos(?:ed?|ing)|disconnect\w*|terminat\w*|exit(?:ed|ing|s)?|gone|dead|died|dropped|lost|vanished|aborted|hung up"
    r"|went away|shut ?down|failed|not responding)"
)
_ENDED = re.compile(
    rf"\b(?:connection|socket|channel|link|endpoint)\b.{{0,40}}\b{_GONE}\b.{{0,20}}\bby (?:the )?{_PEER}"
    rf"|\b{_PEER}(?: \S{{1,60}}){{0,3}}? (?:has |have |had |was |is |may have |might have |been |unexpectedly |already "
    rf"|prematurely ){{0,3}}{_GONE}\b"
    r"|\bconnection (?:was |has been |is )?(?:reset|aborted|closed|lost|dropped|broken)\b|\breset by peer\b|\bbroken ?pipe\b"
    r"|\bEPIPE\b"
    r"|\bECONNRESET\b|\bErrno 104\b|\bErrno 32\b|software caused connection abort|socket (?:was )?closed\b"
    r"|\bUNDELIVERABLE\b|\bPTLTE_NOT_FOUND\b|endpoint is closed|\bMPIX?_ERR_PROC_FAILED|\bMPIX?_ERR_REVOKED"
    r"|communication error with rank|process(?:es)? (?:has |have )?exited or there was a network"
    # libraries that have one word for all that may befall the other side
    r"|\bUCX +ERROR\b.*(?:unreachable|time-?out|timed out|input/output error|i/o error|not connected|keep-?alive|refused|disconnect"
    r"|rejected|cancell?ed)"
    r"|\bOFI\b.*\bfail.*(?:not connected|input/output error|i/o error|connection|timed out|unreachable|cancell?ed)"
    r"|\bmca_btl_\w+.*(?:\brecv|\bsend|readv|writev|connect)\w*\b.*(?:fail|error|refused)|\bbtl_tcp_\w+.*(?:readv|writev|send|recv)"
    r"|\bMPIDU?_(?:Sock|nem_tcp)\w*.*(?:fail|refused|connection)|tcp_(?:recv|send)\w*.*failed"
    r"|\bNCCL WARN\b|\bNCCL error\b|\bRCCL error\b|\bncclRemoteError|\bncclSystemError|\bncclInternalError|\bncclUnhandled"
    r"|\bNCCL communicator (?:was|has been) aborted|\bDistBackendError|\bDistNetworkError|\bDistStoreError|\bChildFailedError"
    r"|\bTCPStore\b|\bGloo\b.*(?:error|fail|clos|timed? ?out)|\bRendezvous\w*Error",
    re.IGNORECASE,
)
_WAITED = re.compile(
    r"collective operation timeout|watchdog (?:thread )?(?:caught|got stuck|terminated)|HeartbeatMonitor"
    r"|operations have failed or timed out"
    r"|monitoredBarrier|tensors were submitted to be reduced|ProcessGroupGloo.*timed out|store.{0,20}\btime(?:d )?-?out",
    re.IGNORECASE,
)
# what a network says of itself, and not of who is at its other end
_OF_THE_NETWORK = re.compile(
    r"\blink\b.{0,20}\b(?:down|fail\w*|flap\w*|lost)|\bretry\b.{0,20}\bexce|\bRETRY_EXC|\bretries exce"
    r"|\bports?\b.{0,20}\b(?:down|error|fail\w*|inactive)"
    r"|\badapters?\b|\bHCA\b|\bNIC\b|\bcable\b|\bswitch\b|\bIBV_WC_(?!WR_FLUSH)|\bibv_|\bNET/IB\b.*(?:completion|async|fatal)"
    r"|async event|\bsyndrome\b"
    r"|\bno (?:active|usable|suitable|relevant|socket) |\bregister|\bhfi|\bfi_getinfo|\bprovider\b|\bendpoint open\b",
    re.IGNORECASE,
)
_LEAST = 30  # what weighs more than this tells of a signal, an exception, an error by its name
_LEAST_OF_MPI = 60  # what MPI says below this is that a call failed, and not why
_LEAST_OF_WAITED = 52  # who waited in vain ends itself and all others by signals
_ECHO = 29  # what an echo weighs beside the exit status: a signal there tells more


def echo_of(line: str) -> Echo:
    """Purpose: whether a cleaned line tells only that another rank is gone, or did not come."""
    if _OF_THE_NETWORK.search(line):
        return Echo.NONE
    if _WAITED.search(line):
        return Echo.WAITED
    return Echo.ENDED if _ENDED.search(line) else Echo.NONE


def explains(cause: Failure, echo: Echo) -> bool:
    """Purpose: whether what a line says may be why a rank that another one misses is gone."""
    if cause.weight <= _LEAST or cause.family == "fabric-error":
        return False
    if cause.family == "mpi-error" and cause.weight < _LEAST_OF_MPI and cause.name != "mpi-abort":
        return False
    if echo is Echo.WAITED:
        return cause.weight > _LEAST_OF_WAITED and (cause.name != "abort" or "what()" in cause.line)
    return True


def weighed(failure: Failure, echo: Echo) -> Failure:
    """Purpose: an echo that nothing in the output explains, as it is weighed beside the exit status and the scheduler's words."""
    return msgspec.structs.replace(failure, weight=min(failure.weight, _ECHO)) if echo is Echo.ENDED else failure
