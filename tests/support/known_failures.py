"""The shipped classes of failures, and what knows them, once for all tests of a process."""

from __future__ import annotations

from shakedown.checks.classify.catalogue import Classifier
from shakedown.plans.failures import shipped_failures

CLASSES = shipped_failures()
KNOWN = Classifier(CLASSES)
