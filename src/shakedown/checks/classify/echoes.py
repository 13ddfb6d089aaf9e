"""Recognise echoes: lines in which a rank reports, as a network error, that another rank is gone. Pure.

``echo_of`` recognises an echo; ``explains`` tells whether another failure may have ended the missing rank.
"""

from __future__ import annotations

import enum
import re

import msgspec

from shakedown.model.failures import Failure


class Echo(enum.Enum):
    """The kind of an echo. NONE: the line is no echo. ENDED: the other rank ended. WAITED: the other rank did not arrive."""

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
    # libraries that print one message for everything that may happen to the other side
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
# messages about the network itself, not about the rank at the other end
_OF_THE_NETWORK = re.compile(
    r"\blink\b.{0,20}\b(?:down|fail\w*|flap\w*|lost)|\bretry\b.{0,20}\bexce|\bRETRY_EXC|\bretries exce"
    r"|\bports?\b.{0,20}\b(?:down|error|fail\w*|inactive)"
    r"|\badapters?\b|\bHCA\b|\bNIC\b|\bcable\b|\bswitch\b|\bIBV_WC_(?!WR_FLUSH)|\bibv_|\bNET/IB\b.*(?:completion|async|fatal)"
    r"|async event|\bsyndrome\b"
    r"|\bno (?:active|usable|suitable|relevant|socket) |\bregister|\bhfi|\bfi_getinfo|\bprovider\b|\bendpoint open\b",
    re.IGNORECASE,
)
_LEAST = 30  # failures of a higher weight name a signal, an exception or an error
_LEAST_OF_MPI = 60  # MPI errors of a lower weight say that a call failed, not why
_LEAST_OF_WAITED = 52  # a rank that waited in vain ends itself and all others by signals
_ECHO = 29  # the weight of an echo compared with the exit status: a signal there tells more


def echo_of(line: str) -> Echo:
    """Purpose: the kind of echo that a cleaned line is; ``Echo.NONE`` for other lines, as those about the network itself."""
    if _OF_THE_NETWORK.search(line):
        return Echo.NONE
    if _WAITED.search(line):
        return Echo.WAITED
    return Echo.ENDED if _ENDED.search(line) else Echo.NONE


def explains(cause: Failure, echo: Echo) -> bool:
    """Purpose: whether the failure ``cause`` may be the reason for an echo, that is, why the missing rank is gone."""
    if cause.weight <= _LEAST or cause.family == "fabric-error":
        return False
    if cause.family == "mpi-error" and cause.weight < _LEAST_OF_MPI and cause.name != "mpi-abort":
        return False
    if echo is Echo.WAITED:
        return cause.weight > _LEAST_OF_WAITED and (cause.name != "abort" or "what()" in cause.line)
    return True


def weighed(failure: Failure, echo: Echo) -> Failure:
    """Purpose: the failure of an unexplained echo; one of kind ``ENDED`` gets a weight below that of a signal."""
    return msgspec.structs.replace(failure, weight=min(failure.weight, _ECHO)) if echo is Echo.ENDED else failure
