"""The same no-op commands as ReFrame tests: COUNT comes from the environment."""

import os

import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class Noop(rfm.RunOnlyRegressionTest):
    number = parameter(range(int(os.environ["COUNT"])))  # noqa: F821 - ReFrame's own word
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "sh"

    @run_before("run")  # noqa: F821
    def say_ok(self):
        self.executable_opts = ["-c", f"'echo ok {self.number}'"]

    @sanity_function  # noqa: F821
    def is_ok(self):
        return sn.assert_found("ok", self.stdout)
