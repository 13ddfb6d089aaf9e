from shakedown.checks.extract import label
from shakedown.checks.text import Text
from shakedown.model.checks import CheckKind
from shakedown.model.nouns import Check
from shakedown.model.ports import CheckResult


def has_lines(check: Check, text: Text) -> CheckResult:
    """Whether the text has at least so many lines that are not blank."""
    count = sum(1 for part in text.parts for line in part.splitlines() if line.strip())
    if count >= int(check.argument):
        return CheckResult(label(check), True)
    if len(text.parts) > 1:
        return CheckResult(label(check), None, f"{count} lines were read, and the middle was not")
    return CheckResult(label(check), False, f"it has {count} lines")


HAS_LINES = CheckKind(
    "has-lines",
    (
        ("output has-lines N", "the output has at least N lines that are not blank"),
        ("file PATH has-lines N", "the file has them"),
    ),
    "site_checks:has_lines",
    argument="words",
    words=r"\d+",
)
