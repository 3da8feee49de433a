"""``--lang``: the language that a command's report and errors are in; the same option on every command."""

from __future__ import annotations

import click

from rlopt import language

VARIABLE = "RLOPT_LANG"
"""Environment variable that stands for the option where it is not given."""


def _choose(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        language.choose(value)
    return value


def with_language(command: click.Command) -> click.Command:
    """Give a command, and every command below it, the option ``--lang``."""
    command.params.append(
        click.Option(
            ["--lang"],
            type=click.Choice(language.LANGUAGES),
            envvar=VARIABLE,
            is_eager=True,
            expose_value=False,
            callback=_choose,
            help=f"Language of reports and errors; JSON and CSV stay English. Default: {VARIABLE}, or en.",
        )
    )
    if isinstance(command, click.Group):
        for below in command.commands.values():
            with_language(below)
    return command
