"""From an exception to one block of text on stderr and an exit code; a traceback is for developers only."""

from __future__ import annotations

import os
import traceback
from typing import TYPE_CHECKING

import click

from rlopt.cli import exits
from rlopt.language import Name, labelled, tr

if TYPE_CHECKING:
    from rlopt.errors import Complaint


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
    if isinstance(error, errors.InputError):
        said = "\n".join(_complaint(complaint) for complaint in error.complaints)
        return _heading(error) + said, error.exit_code
    if isinstance(error, errors.NotSupportedError):
        return f"{_heading(error)}{error.key}: {tr(error.message)}", error.exit_code
    if isinstance(error, errors.RloptError):
        return _heading(error) + tr(str(error)), error.exit_code
    if isinstance(error, OSError):
        text = f"{error.filename or tr('file')}: {tr(error.strerror or str(error))}"
        return labelled("error", Name(text)), exits.BAD_INPUT
    return _defect(error), exits.INTERNAL_FAULT


def _heading(error: Exception) -> str:
    from rlopt import errors

    if isinstance(error, errors.InfeasibleError):
        return labelled("no plan", "")
    if isinstance(error, errors.SolverError):
        return labelled("internal fault", "")
    if isinstance(error, errors.InputError) and len(error.complaints) > 1:
        return tr(f"{len(error.complaints)} errors:") + "\n"
    return labelled("error", "")


def _complaint(complaint: Complaint) -> str:
    """As the complaint says itself, each of its sentences in the language in use."""
    place = ":".join(str(part) for part in (complaint.file, complaint.line) if part is not None)
    head = ": ".join(part for part in (place, complaint.key, tr(complaint.message)) if part)
    rest = (("allowed", complaint.allowed), ("fix", complaint.fix))
    return "\n".join([head, *(f"  {labelled(name, text)}" for name, text in rest if text)])


def _usage(error: click.ClickException) -> str:
    text = labelled("error", error.format_message())
    context = getattr(error, "ctx", None)
    return text if context is None else f"{text}\n{labelled('help', '')} {context.command_path} --help"


def _defect(error: Exception) -> str:
    if os.environ.get("RLOPT_DEBUG"):
        return "".join(traceback.format_exception(error)).rstrip()
    advice = "This is a defect of rlopt, not of your file. Run again with RLOPT_DEBUG=1 to see where it happened."
    return f"{labelled('internal fault', '')}{type(error).__name__}: {error}\n{tr(advice)}"
