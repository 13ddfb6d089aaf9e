"""The wheel has the examples too: beside the package's own data, as ``shakedown/examples``. All else is in pyproject.toml."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

LEFT_OUT = shutil.ignore_patterns("campaigns", "__pycache__", "*.pyc", "build", "*.egg-info", ".gitignore")


class BuildWithExamples(build_py):
    """Copies ``examples/`` into the built package, without what running them leaves."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / "shakedown/examples"
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(Path(__file__).parent / "examples", target, ignore=LEFT_OUT)


setup(cmdclass={"build_py": BuildWithExamples})
