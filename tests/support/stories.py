"""What the stories share: the command as a person runs it, and the types of the fixtures."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

# As the installed command: the interpreter looks for its own modules in no directory of a site, whose disk a test lets fail.
SHAKEDOWN = [sys.executable, "-P", "-m", "shakedown"]

Shakedown = Callable[..., "subprocess.CompletedProcess[str]"]
MakeSite = Callable[..., Path]
