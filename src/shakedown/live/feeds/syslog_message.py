"""Events as messages of syslog (RFC 5424): a header, structured data that programs read, and a sentence that people read.

``Messages.of`` is the main function. Every text is of unknown origin: no control character, and no letter that ends a value too
early, comes out of here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from shakedown.live.alerts.kinds import FAILURES, HOLES
from shakedown.live.alerts.news import kind_of, text_of
from shakedown.metrics.failures import failure_of
from shakedown.model.events import ACTS, EVENTS, SHOWN, Event
from shakedown.report.words import one_line

APP_NAME = "shakedown"
# RFC 5612 reserves this number for documentation. Shakedown has no number of its own, and takes none that is another's.
SD_ID = "shakedown@32473"
FACILITIES = {"user": 1, "daemon": 3} | {f"local{number}": 16 + number for number in range(8)}
ERROR, WARNING, INFO = 3, 4, 6
LONGEST_STREAM = 8000  # bytes of a message: rsyslog cuts at 8,192 where nobody tells it otherwise
LONGEST_DATAGRAM = (
    1180  # bytes that every receiver must take (RFC 5426, 3.2, IPv6); they fit into one frame of any network
)
LEAST_SENTENCE = 80  # bytes that are kept for the sentence
_DAMAGE = frozenset({"torn_line", "snapshot_refused", "marks_doubted", "payload_changed", "token_changed", "disk_full"})
_REFUSED = frozenset({"submit_refused", "command_refused"})
_TOLD = frozenset({"verdict", "finding", "campaign_end"})  # events that alerts have a sentence for, as for acts
_BOM = b"\xef\xbb\xbf"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Pair = tuple[str, str]


@dataclass(slots=True)
class Messages:
    """Makes the messages of a feed. ``host`` and ``process``: who sends them; ``longest``: bytes of a message.

    ``cut`` counts the messages that were too long; ``say`` tells a person about the first one.
    """

    facility: int
    host: str
    process: int
    longest: int
    say: Callable[[str], None]
    cut: int = 0

    def of(self, campaign: Path, event: Event) -> Iterator[bytes]:
        """Purpose: the message of an event of the campaign in that directory."""
        words = (
            f"<{self.facility * 8 + severity_of(event)}>1", _timestamp(event.time), _header_word(self.host, 255), APP_NAME,
            str(self.process), _header_word(event.event, 32),
        )  # fmt: skip
        head = " ".join(words).encode() + b" "
        pairs = [(name, value) for name, value in _pairs(campaign.name, event) if value]
        message, whole = _fitted(head, pairs, one_line(f"{campaign.name}: {_sentence(event)}").encode(), self.longest)
        if not whole:
            if not self.cut:
                self.say(
                    f"{one_line(campaign.name)}: event {event.seq} is cut to {self.longest} bytes; the record has all of it"
                )
            self.cut += 1
        yield message


def severity_of(event: Event) -> int:
    """Purpose: ERROR for damage and holes, WARNING for what failed or was refused, INFO for all else."""
    kind = kind_of(event)
    if kind == HOLES or (event.event == "finding" and event.value.get("kind") in _DAMAGE):
        return ERROR
    failed = kind == FAILURES or event.event in _REFUSED
    return WARNING if failed or (event.event == "build_end" and event.value.get("state") == "failed") else INFO


# ---- what is told


def _pairs(campaign: str, event: Event) -> Iterator[Pair]:
    """The structured data, the most important first: the last ones are left out of a message that is too long."""
    yield "campaign", campaign
    yield "seq", str(event.seq)
    yield from (("run", event.run), ("job", event.job), ("case", event.case), ("build", event.build))
    if event.event == "verdict":
        failure = failure_of(event)
        yield "verdict", str(event.value.get("verdict", ""))
        yield "class", failure.name if failure else ""
        yield "nodes", str(event.value.get("nodes") or "")
    if event.event == "finding":
        yield "kind", str(event.value.get("kind", ""))


def _sentence(event: Event) -> str:
    if event.event in _TOLD or event.event in ACTS:
        said = text_of(event).rstrip(": ")
        return said if event.reason or event.event == "verdict" else f"{said}: {EVENTS[event.event]}"
    ids = " ".join(part for part in (event.run, event.job, event.case, event.build[:12]) if part)
    shown = [key for key in SHOWN.get(event.event, ()) if event.value.get(key) not in (None, "")]
    facts = ", ".join(f"{key} {event.value[key]}" for key in shown)
    name = f"{event.event.replace('_', ' ')} {ids}".strip()
    return ": ".join(part for part in (name, facts, event.reason or EVENTS.get(event.event, "")) if part)


# ---- how it is written


def _fitted(head: bytes, pairs: Sequence[Pair], sentence: bytes, longest: int) -> tuple[bytes, bool]:
    """The message in at most so many bytes, and whether it is whole. A value of the structured data is whole or left out, and the
    first two stay; the sentence is cut behind a letter.
    """
    kept = list(pairs)
    while len(kept) > 2 and len(head) + len(_structured(kept)) + len(_BOM) + 1 + LEAST_SENTENCE > longest:
        kept.pop()
    begin = head + _structured(kept) + b" " + _BOM
    room = longest - len(begin)
    if len(sentence) <= room:
        return begin + sentence, len(kept) == len(pairs)
    end = "…".encode()
    return begin + sentence[: max(0, room - len(end))].decode(errors="ignore").encode() + end, False


def _structured(pairs: Sequence[Pair]) -> bytes:
    words = [SD_ID, *(f'{name}="{_value(text)}"' for name, text in pairs)]
    return f"[{' '.join(words)}]".encode()


def _value(text: str) -> str:
    """A value as it is, but that what cannot be seen is written in letters."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown.replace("\\", "\\\\").replace('"', '\\"').replace("]", "\\]")


def _header_word(text: str, longest: int) -> str:
    """A word of the header: visible letters of ASCII without blanks; a dash where there is none."""
    return "".join(c if "!" <= c <= "~" else "_" for c in text)[:longest] or "-"


def _timestamp(seconds: float) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).isoformat(timespec="microseconds").replace("+00:00", "Z")
