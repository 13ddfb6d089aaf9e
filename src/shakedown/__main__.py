"""``python -m shakedown`` is ``shakedown``."""

import sys

# Python puts the working directory first among the places of modules, which a site's directory is not: a file ``yaml.py`` there
# would be taken for the library, and a disk that fails would end the command while it imports. The console script has it not.
if not sys.flags.safe_path:
    del sys.path[0]

from shakedown.cli.main import main

main()
