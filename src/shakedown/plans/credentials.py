"""Credentials in files that people write are told before anything is frozen: what a plan says goes into the record.

A value is never repeated in a message: messages end in logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from shakedown.model.secrets import announces_secret, is_certain, is_secret
from shakedown.plans.schema.problems import Problems

# Keys of what is handed to a shell or a scheduler: there a password after an option counts too.
COMMANDS = frozenset({"command", "environment", "fingerprint", "launch", "options", "parameters", "run"})
LONGEST_PARAMETER = 100  # characters of a parameter's value
_VARIABLES = frozenset({"environment", "parameters"})
_HINT = (
    "leave it out: both parties read the record. Runs and builds get the environment that shakedown is started in;"
    " a command can also read a file that only you may read. If it is no credential, name the word in"
    " no_credentials at the top of this file"
)
NO_CREDENTIALS = "no_credentials"  # the key that lists words which only look like one
# Without any of these there is nothing to look at, and most files have none.
_WORTH_A_LOOK = re.compile(
    rb"[A-Za-z0-9+/=_.~-]{20}|@|eyJ|-----BEGIN|AKIA|ASIA|(?i:pass|secret|token|key|cred|auth|jwt|cookie|bearer|basic|-u |user)"
)


def tell_credentials(root: Node, data: bytes, problems: Problems) -> None:
    """Purpose: a problem for each value in a file that looks like a credential."""
    if _WORTH_A_LOOK.search(data) is None:
        return
    harmless = _harmless(root)
    for node, keys in _scalars(root, (), set()):
        text = harmless.sub("", node.value) if harmless is not None else node.value
        if keys[:1] != (NO_CREDENTIALS,) and _is_credential(text, keys):
            what = f"the value of {keys[-1]}" if keys else "a value"
            problems.at(node, f"{what} looks like a credential, and would be stored in the record", _HINT)


def _harmless(root: Node) -> re.Pattern[str] | None:
    """The words that the file itself says are no credentials, each where it stands as a whole word."""
    pairs = root.value if isinstance(root, MappingNode) else []
    found = next((value for key, value in pairs if key.value == NO_CREDENTIALS), None)
    words = (
        [item.value for item in found.value if isinstance(item, ScalarNode)] if isinstance(found, SequenceNode) else []
    )
    said = "|".join(re.escape(word) for word in words if word)
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{said})(?![A-Za-z0-9_])") if said else None


def _is_credential(text: str, keys: tuple[str, ...]) -> bool:
    if COMMANDS.isdisjoint(keys):
        return is_certain(text)
    if keys[-2:-1] == ("parameters",) and len(text) > LONGEST_PARAMETER:
        return False  # it is refused, and its message does not repeat it
    if len(keys) > 1 and keys[-2] in _VARIABLES:
        return is_secret(keys[-1], text)
    return announces_secret(text)


def _scalars(node: Node, keys: tuple[str, ...], seen: set[int]) -> Iterator[tuple[ScalarNode, tuple[str, ...]]]:
    """Each value once, with the keys above it; an alias is the same node again."""
    if isinstance(node, ScalarNode):
        yield node, keys
    elif id(node) not in seen:
        seen.add(id(node))
        for item in node.value:
            if isinstance(node, MappingNode):
                yield from _scalars(item[1], (*keys, str(item[0].value)), seen)
            else:
                yield from _scalars(item, keys, seen)
