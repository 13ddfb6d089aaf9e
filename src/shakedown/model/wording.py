"""The text of a procedure, as a digest: what a person attested is what it said then."""

from __future__ import annotations

import hashlib
import json

from shakedown.model.nouns import Procedure


def wording_of(procedure: Procedure) -> str:
    """Purpose: the sha256 of everything that the plan says of a procedure."""
    said = [procedure.name, procedure.about, procedure.who, procedure.evidence, procedure.clause]
    return hashlib.sha256(json.dumps(said, ensure_ascii=True).encode()).hexdigest()
