"""From an exception to one block of text on stderr and an exit code; a traceback is for developers only."""

from __future__ import annotations

import os
import traceback

import click

from rlopt.cli import exits


def explain_failure(error: Exception) -> tuple[str, int]:
    """Say what went wrong and how the process should end.

    Parameters
    ----------
    error
        Anything a command let through: a member of rlopt's error family, a usage error, or a defect.

    Returns
    -------
    tuple
        The text for stderr, without a final newline, and the exit code.
    """
    from rlopt import errors

    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return error.format_message(), exits.BAD_INPUT
    if isinstance(error, click.ClickException):
        return _usage(error), exits.BAD_INPUT
    if isinstance(error, errors.RloptError):
        return _heading(error) + str(error), error.exit_code
    if isinstance(error, OSError):
        return f"error: {error.filename or 'file'}: {error.strerror or error}", exits.BAD_INPUT
    return _defect(error), exits.INTERNAL_FAULT


def _heading(error: Exception) -> str:
    from rlopt import errors

    if isinstance(error, errors.InfeasibleError):
        return "infeasible: "
    if isinstance(error, errors.SolverError):
        return "internal fault: "
    if isinstance(error, errors.InputError) and len(error.complaints) > 1:
        return f"{len(error.complaints)} errors:\n"
    return "error: "


def _usage(error: click.ClickException) -> str:
    text = f"error: {error.format_message()}"
    context = getattr(error, "ctx", None)
    return text if context is None else f"{text}\nhelp:  {context.command_path} --help"


def _defect(error: Exception) -> str:
    if os.environ.get("RLOPT_DEBUG"):
        return "".join(traceback.format_exception(error)).rstrip()
    return (
        f"internal fault: {type(error).__name__}: {error}\n"
        "This is a defect of rlopt, not of your file. Run again with RLOPT_DEBUG=1 to see where it happened."
    )
