"""The front door: one table of commands, each in a file of its own that is imported only when it is called."""

from __future__ import annotations

import atexit
import errno
import gc
import importlib
import os
import sys
from typing import Any

import click

from shakedown import __version__
from shakedown.model.errors import OUR_FAULT, UNDECIDED, WRONG_USE, ShakedownError, did_you_mean

# command -> (module in cli/, what --help says of it); the order is the order of work
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("init", "Write a site directory for the machine this runs on."),
    "check": ("check", "Check a site's files: every fault with line and way out."),
    "list": ("list", "List tests, cases, systems and plans."),
    "show": ("show.show", "Show a test, case, system, plan, contract, run or job script."),
    "schema": ("schema", "Print the JSON Schema of a kind of file."),
    "run": ("run", "Run a plan: build, submit, watch, judge, report."),
    "rehearse": ("rehearse", "Rehearse a plan on a simulated machine in virtual time."),
    "resume": ("resume", "Go on with a campaign that was interrupted."),
    "status": ("status", "Where a campaign stands."),
    "why": ("why", "Why a run or case waits, failed, or was judged as it was."),
    "log": ("log", "The events of a campaign."),
    "runs": ("runs", "The runs of a campaign as a table."),
    "watch": ("watch", "A campaign on a terminal: streams of runs with filters."),
    "serve": ("serve", "A live page of the site's campaigns, in a browser."),
    "feed": ("feed", "Send every event to InfluxDB, syslog or another server."),
    "alert": ("alert", "Tell people by chat, mail or command what happens."),
    "failures": ("failures", "What failed runs are put down to, by class and by likeness."),
    "export": ("export", "Write one run as files: script, environment, output, events."),
    "cancel": ("steer.cancel", "Cancel runs, cases or a whole campaign."),
    "pause": ("steer.pause", "Order nothing new of a component until it is resumed."),
    "drain": ("steer.drain", "Bring a component or a campaign to its end; what runs may end."),
    "cap": ("steer.cap", "At most so many runs of a test at once."),
    "budget": ("steer.budget", "At most so much of a budget."),
    "exclude": ("steer.exclude", "Give nodes no more work."),
    "include": ("steer.include", "Give excluded nodes work again."),
    "clock": ("steer.clock", "Start, stop or restart the clock of a component."),
    "again": ("steer.again", "Run a component again: all of it, or the time it lacks."),
    "amend": ("steer.amend", "Put a changed plan into force, with who and why."),
    "note": ("steer.note", "Put runs down to a class of failures, attach a ticket."),
    "rule": ("steer.rule", "Say whose failure a run was, beside its verdict."),
    "change": ("steer.change", "Declare a change of the machine; it opens a new epoch."),
    "waive": ("steer.waive", "Accept a criterion, gate or contract row, with a restriction."),
    "acts": ("acts", "What people did, and the outcome without each act."),
    "agree": ("steer.agree", "Agree to what the other party did, by name or with a key."),
    "withdraw": ("steer.withdraw", "Take back a waiver or a ruling; it stays visible."),
    "fingerprint": ("fingerprint", "Take the machine's fingerprint: settings, firmware, modules."),
    "drill": ("steer.drill", "Say that a drill began or ended, with its evidence."),
    "attest": ("steer.attest", "Say that a procedure was met or not, with its evidence."),
    "rejudge": ("steer.rejudge", "Judge kept outputs again; the old verdicts stay visible."),
    "compare": ("compare", "What moved between campaigns, epochs, toolchains, nodes."),
    "history": ("history", "One figure over all campaigns of a site."),
    "scaling": ("scaling", "How tests scale: speed-up, efficiency, serial share."),
    "toolchains": ("toolchains", "Builds, bits and speed of tests with several."),
    "golden": ("golden", "Write the golden sums of a run's files."),
    "reference": ("reference", "Propose contract rows from what campaigns measured."),
    "seal": ("seal", "Close the record under a digest that both sides sign."),
    "register": ("register", "The campaigns that a site ever had, and how they ended."),
    "verify": ("verify", "Check that a record is whole, and what it was sealed as."),
    "report": ("report", "Write the report: scorecard, figures, tables."),
    "nodes": ("nodes", "Which nodes stand out among failed and slow runs."),
    "figures": ("figures", "List the figures of a campaign, or write them as files."),
    "trace": ("trace", "What the ranks of a traced run did in MPI and files."),
    "kernels": ("kernels", "List, build and run the benchmark kernels."),
    "twin": ("twin.twin", "Models of machines: noise, slow nodes, memory, checkpoints."),
    "import": ("importing", "The job history of a machine: sacct, or a workload."),
    "papers": ("papers", "The papers' derived numbers, computed again."),
}

COMPLETING = "_SHAKEDOWN_COMPLETE"  # in the environment while a shell asks how a line may go on

# What people are about -> the commands for it, in the order in which they are needed; each command stands in one section.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Prepare": ("init", "check", "list", "show", "schema", "kernels", "reference", "golden"),
    "Run": ("run", "resume"),
    "Watch": (
        "status",
        "watch",
        "serve",
        "feed",
        "alert",
        "why",
        "runs",
        "log",
        "failures",
        "nodes",
        "trace",
        "export",
        "figures",
    ),
    "Compare": ("compare", "history", "scaling", "toolchains", "import"),
    "Steer": (
        "pause",
        "drain",
        "cap",
        "budget",
        "exclude",
        "include",
        "clock",
        "again",
        "cancel",
        "amend",
        "change",
        "fingerprint",
    ),
    "Judge and sign": (
        "report",
        "rule",
        "note",
        "waive",
        "attest",
        "drill",
        "acts",
        "agree",
        "withdraw",
        "rejudge",
        "seal",
        "verify",
        "register",
    ),
    "Model": ("rehearse", "twin", "papers"),
}

EXAMPLES = """\
shakedown init                    describe this machine in a site directory
shakedown check                   find every fault of its files
shakedown rehearse acceptance     the plan on a simulated machine, in seconds
shakedown run acceptance          the plan on the real one
shakedown status                  where it stands, and what it waits for
shakedown report acceptance-1     the document that both sides sign
"""


class LazyGroup(click.Group):
    """Knows its commands by name; imports one only to run it or to show its own help."""

    def invoke(self, ctx: click.Context) -> Any:
        from shakedown.cli.record import guarded

        return guarded(ctx, lambda: super(LazyGroup, self).invoke(ctx))

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"shakedown.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        if COMPLETING in os.environ:
            from shakedown.cli.completion import complete_names

            complete_names(command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = list(args)  # the parser takes words away
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            command = next((word for word in words if word in COMMANDS), "")
            if not command or not words[0].startswith("-"):
                raise
            said = f"{error.option_name} stands before the command, and options come after it"
            at = words.index(command)
            raise click.UsageError(f"{said}: shakedown {' '.join((*words[at:], *words[:at]))}", ctx) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], COMMANDS) or "see 'shakedown --help'"
            raise click.UsageError(f"there is no command '{args[0]}'; {hint}")
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and COMPLETING not in os.environ:
            from shakedown.cli.repeated import refuse_repeated

            refuse_repeated(ctx, command, rest)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))
        for section, names in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(f"{name:{widest}}", COMMANDS[name][1]) for name in names])
        with formatter.section("Examples"):
            for line in EXAMPLES.splitlines():
                formatter.write(f"  {line}\n")


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(__version__, prog_name="shakedown")
def cli() -> None:
    """Take a supercomputer from "the hardware is in" to "accepted, with a report both sides can sign"."""


# How many more objects there may be before the garbage collector looks. At Python's own number, 700, and with its look through all
# at the end of a process, it takes a quarter of a short command's time; this many objects take some megabytes.
OBJECTS = 20_000


def main() -> None:
    """Purpose: run a command and end with its status. What people can cause is said in a sentence, never a traceback."""
    gc.set_threshold(OBJECTS)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)  # the memory of a process that ends is freed as a whole, without a look through it
    try:
        status = cli.main(standalone_mode=False)
        if sys.stdout is not None:  # closed by whoever called us
            sys.stdout.flush()  # what waits in a buffer may be refused as well, and at the exit nobody could say so
    except ShakedownError as error:
        _say(str(error))
        sys.exit(error.status)
    except click.UsageError as error:
        error.show()
        sys.exit(WRONG_USE)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted; nothing was decided")
        sys.exit(UNDECIDED)
    except BrokenPipeError:
        from shakedown.cli.output import fall_silent

        fall_silent(1)  # the reader of our output has seen enough
        sys.exit(OUR_FAULT)
    except OSError as error:
        from shakedown.cli.error_places import OUTPUT, place_of

        place = place_of(error)
        full = error.errno in _NO_ROOM and place != OUTPUT
        hint = "\nhint: make room on its file system, then give the command again" if full else ""
        _say(f"{place}: {error.strerror or error}{hint}")
        if place == OUTPUT:
            from shakedown.cli.output import fall_silent

            fall_silent(1)
        sys.exit(UNDECIDED if full else OUR_FAULT)
    except Exception as error:
        if os.environ.get("SHAKEDOWN_DEBUG"):
            raise
        _say(
            f"a fault of Shakedown itself: {type(error).__name__}: {error}\nhint: SHAKEDOWN_DEBUG=1 shows where; please report it"
        )
        sys.exit(OUR_FAULT)
    sys.exit(status if isinstance(status, int) else 0)


_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


def _say(text: str) -> None:
    from shakedown.cli.output import say

    say(text if text.startswith("error:") else f"error: {text}")
