"""What the stories share: the command as a person runs it, and the types of the fixtures."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

SHAKEDOWN = [sys.executable, "-m", "shakedown"]

Shakedown = Callable[..., "subprocess.CompletedProcess[str]"]
MakeSite = Callable[..., Path]
