"""The text of a procedure or a drill, as a digest: what a person attested is what it said then."""

from __future__ import annotations

import hashlib
import json

from shakedown.model.nouns import Drill, Procedure


def wording_of_drill(drill: Drill) -> str:
    """Purpose: the sha256 of what a plan asks people to do in a drill; what it expects of the machine is no part of that."""
    said = [drill.name, drill.about, drill.who, drill.evidence, drill.clause]
    return hashlib.sha256(json.dumps(said, ensure_ascii=True).encode()).hexdigest()


def wording_of(procedure: Procedure) -> str:
    """Purpose: the sha256 of everything that the plan says of a procedure."""
    said = [procedure.name, procedure.about, procedure.who, procedure.evidence, procedure.clause]
    return hashlib.sha256(json.dumps(said, ensure_ascii=True).encode()).hexdigest()
