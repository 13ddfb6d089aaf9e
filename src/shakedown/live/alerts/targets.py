"""Targets of alerts: a webhook of a chat, mail, a command of the site. Each returns "" on success, or why it failed."""

from __future__ import annotations

import json
import smtplib
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import msgspec

from shakedown.live.alerts.news import News, lines_of, title_of
from shakedown.live.feeds.sending import TIMEOUT_S, Outcome, post
from shakedown.model.errors import UsageError

SHAPES = ("slack", "mattermost", "teams", "json")
Target = Callable[[Sequence[News]], str]


@dataclass(frozen=True, slots=True)
class Webhook:
    """A POST of JSON to ``address``, in the format of that chat."""

    address: str
    shape: str

    def __call__(self, news: Sequence[News]) -> str:
        body = json.dumps(_shaped(self.shape, news)).encode()
        answer = post(self.address, body, {"Content-Type": "application/json"})
        return "" if answer.outcome == Outcome.TAKEN else answer.says or "it was refused"


@dataclass(frozen=True, slots=True)
class Mail:
    """A message to ``to`` through the server at ``host`` and ``port``; encrypted where the server supports it."""

    to: tuple[str, ...]
    sender: str
    host: str
    port: int

    def __call__(self, news: Sequence[News]) -> str:
        message = EmailMessage()
        message["Subject"], message["From"], message["To"] = title_of(news), self.sender, ", ".join(self.to)
        message["Auto-Submitted"] = "auto-generated"
        message.set_content("\n".join(lines_of(news)) + "\n")
        try:
            with smtplib.SMTP(self.host, self.port, timeout=TIMEOUT_S) as server:
                server.ehlo()
                if server.has_extn("starttls"):
                    server.starttls()
                server.send_message(message)
        except (OSError, smtplib.SMTPException) as error:
            return f"{self.host} port {self.port}: {getattr(error, 'strerror', None) or error}"
        return ""


@dataclass(frozen=True, slots=True)
class Command:
    """A program of the site: it gets the text on its standard input and the title in SHAKEDOWN_TITLE. Exit status
    0 means success.
    """

    words: tuple[str, ...]
    patience_s: float = 60.0

    def __call__(self, news: Sequence[News]) -> str:
        import os

        text = "\n".join([title_of(news), *lines_of(news)]) + "\n"
        environment = os.environ | {"SHAKEDOWN_TITLE": title_of(news)}
        try:
            done = subprocess.run(
                self.words,
                input=text.encode(),
                env=environment,
                timeout=self.patience_s,
                check=False,
                stdout=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return f"{self.words[0]} did not end in {self.patience_s:.0f} s"
        except OSError as error:
            return f"{self.words[0]}: {error.strerror}"
        return f"{self.words[0]}: exit status {done.returncode}" if done.returncode else ""


def read_address(path: Path) -> str:
    """Purpose: the address of a webhook, which is a secret, from a file. Errors: UsageError where the file holds none."""
    try:
        address = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as the address of a webhook: {error}") from error
    if not address.startswith(("https://", "http://")) or any(letter.isspace() for letter in address):
        hint = "one line, as the chat gave it: https://..."
        raise UsageError(f"{path} holds no address of a webhook", hint=hint)
    return address


def _shaped(shape: str, news: Sequence[News]) -> dict[str, Any]:
    title, lines = title_of(news), lines_of(news)
    if shape == "json":
        return {"title": title, "lines": lines, "news": msgspec.to_builtins(list(news))}
    if shape == "teams":
        texts = [{"type": "TextBlock", "text": title, "weight": "bolder", "wrap": True}]
        texts += [{"type": "TextBlock", "text": _markdown(line), "wrap": True} for line in lines]
        card = {"type": "AdaptiveCard", "version": "1.4", "body": texts}
        return {
            "type": "message",
            "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}],
        }
    escape = _slack if shape == "slack" else _markdown
    return {
        "text": "\n".join([f"*{escape(title)}*" if shape == "slack" else f"**{escape(title)}**", *map(escape, lines)])
    }


def _slack(text: str) -> str:
    """Escape text so that Slack finds no commands (``<!channel>``) or links in it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _markdown(text: str) -> str:
    """Escape text so that Markdown finds no marks in it, and no name that would notify everybody."""
    for letter in "\\`*_{}[]()<>#|~":
        text = text.replace(letter, "\\" + letter)
    return text.replace("@", "@\u200b")
