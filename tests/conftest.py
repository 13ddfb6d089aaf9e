"""What holds for all tests, whoever runs them."""

from __future__ import annotations

import signal

# Under nohup, and in some CI systems, hang-ups are ignored by us and by everything that we start; the programs under test respect
# that, and tests of hang-ups would wait for ever.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
