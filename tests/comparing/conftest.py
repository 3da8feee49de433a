"""Command lines run in this process, as in the tests of the command line itself."""

from tests.cli.conftest import rlopt_run

__all__ = ["rlopt_run"]
