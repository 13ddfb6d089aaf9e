"""``python -m shakedown`` is ``shakedown``."""

from shakedown.cli.main import main

main()
