"""The command ``rlopt``: the table of its commands and the one place where a run ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

import click

import rlopt
from rlopt import language
from rlopt.cli import exits
from rlopt.cli.calibrate import calibrate
from rlopt.cli.catalog import catalog
from rlopt.cli.check import check
from rlopt.cli.compare import compare
from rlopt.cli.diff import diff
from rlopt.cli.evaluate import evaluate
from rlopt.cli.explain import explain
from rlopt.cli.export import export
from rlopt.cli.failures import explain_failure
from rlopt.cli.frontier import frontier
from rlopt.cli.init import init
from rlopt.cli.review import review
from rlopt.cli.schema import schema
from rlopt.cli.solve import solve
from rlopt.cli.speech import with_language
from rlopt.cli.validate import validate

COMMANDS: tuple[click.Command, ...] = (
    init,
    check,
    solve,
    frontier,
    explain,
    diff,
    compare,
    evaluate,
    review,
    validate,
    calibrate,
    catalog,
    export,
    schema,
)


class _InTableOrder(click.Group):
    """Lists the commands in the order of the table, which is the order of use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=_InTableOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(rlopt.__version__, prog_name="rlopt", message="%(prog)s %(version)s")
def command_line() -> None:
    """Find the provably cheapest plan for an RL post-training job.

    Which GPUs, how many, which layout, where and for how long: the whole bill included.

    \b
    Example:
      rlopt init -o constraints.yaml
      rlopt solve constraints.yaml
    """


for _command in COMMANDS:
    command_line.add_command(_command)
with_language(command_line)


def run(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command line and return its exit code.

    Parameters
    ----------
    arguments
        What stands after ``rlopt``; default: the process's own arguments.
    """
    with language.use(language.current()):
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = command_line.main(args=arguments, prog_name="rlopt", standalone_mode=False)
        sys.stdout.flush()
    except click.Abort:
        click.echo(f"\n{language.tr('stopped')}", err=True)
        return exits.INTERRUPTED
    except Exception as error:  # every way to end badly goes through one door
        text, code = explain_failure(error)
        click.echo(text, err=True)
    return int(code or exits.DONE)


def main() -> NoReturn:
    """Entry point of the ``rlopt`` command."""
    sys.exit(run())
