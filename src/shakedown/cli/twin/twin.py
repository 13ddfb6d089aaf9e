"""``shakedown twin``: models of what machines do, one command each in a file of its own."""

from __future__ import annotations

import importlib

import click

from shakedown.model.errors import did_you_mean

# model -> (module in cli/, what --help says of it)
MODELS: dict[str, tuple[str, str]] = {
    "noise": ("twin.noise", "what the operating system's noise costs, by size and idle cores"),
    "slow-node": ("twin.slow_node", "what a slow node costs all others, and how it is found"),
    "memory": ("twin.memory", "memory that MPI takes on a node, and what Reduce_scatter does"),
    "checkpoint": ("twin.checkpoint", "time of checkpoints, the best interval, and the waste"),
    "archive": ("twin.archive", "the data path to an archive, and what limits it"),
    "collectives": ("twin.collectives", "how long barriers, broadcasts and reductions take"),
    "scaling": ("twin.scaling", "a stencil code on more and more ranks"),
    "congestion": ("twin.congestion", "what others' traffic costs"),
    "production": ("twin.production", "a year of jobs under EASY backfill, made or from a trace"),
}


class Models(click.Group):
    """Knows the models by name; imports one only to run it or to show its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(MODELS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in MODELS:
            return None
        found: click.Command = importlib.import_module(f"shakedown.cli.{MODELS[cmd_name][0]}").command
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in MODELS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], MODELS) or f"there are: {', '.join(MODELS)}"
            raise click.UsageError(f"there is no model '{args[0]}'; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Models"):
            formatter.write_dl([(name, about) for name, (_, about) in MODELS.items()])


@click.group(cls=Models, name="twin")
def command() -> None:
    """Models of what machines do: noise, slow nodes, memory, checkpoints and more.

    Each prints its numbers (--json too) and draws its figure (--figure FILE). What is assumed, and not measured or published,
    is called so.
    """
