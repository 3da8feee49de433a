"""Write what documents quote from the program: docs/command-line.md, and the output shown in README.md.

``python scripts/docs.py`` writes both; the suite fails when docs/command-line.md is not what this writes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from rlopt.cli.entry import command_line
from rlopt.measured.meanings import KEYS, MEANINGS, STATISTICS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "command-line.md"
README = ROOT / "README.md"
WIDTH = 100
_SHOWN_UNTIL = "Warnings"
_REST = "\n[then: warnings, how this was found, every price with its source and date, the catalogs' dates]"
_BLOCK = re.compile(r"(<!-- output:quickstart -->\n).*?(<!-- /output:quickstart -->)", re.DOTALL)

_VALIDATION = """## What rlopt validate writes

`--out FILE` is CSV, one row per measured value, columns in this order; empty where there is nothing to say.

| column | is |
|---|---|
{columns}

`--json` is one object:

| key | is |
|---|---|
{keys}

Every `all` and every group holds: {statistics}.
"""

_HEAD = """# The command line

Written by `scripts/docs.py` from the program's own help; do not edit by hand.

Results go to stdout and everything else to stderr; under `--json` stdout holds nothing but JSON.
Exit codes: 0 done, 2 bad input, 3 proven infeasible (the plan is still printed), 4 stopped at the time limit
without a proof (the best plan is printed), 1 an internal fault.
`NO_COLOR` is respected; `RLOPT_DEBUG=1` shows where an internal fault happened.
"""


def command_line_page() -> str:
    """Return the page: the help of every command, in the order of the command line itself."""
    parts = [_HEAD]
    for path, command in _commands(command_line, ("rlopt",)):
        context = click.Context(command, info_name=" ".join(path), max_content_width=WIDTH, terminal_width=WIDTH)
        context.help_option_names = ["-h", "--help"]
        parts.append(f"## {' '.join(path)}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join([*parts, _validation()])


def _validation() -> str:
    def lines(meanings: Mapping[str, str]) -> str:
        return "\n".join(f"| `{name}` | {meaning} |" for name, meaning in meanings.items())

    statistics = ", ".join(f"`{name}` ({meaning})" for name, meaning in STATISTICS.items())
    return _VALIDATION.format(columns=lines(MEANINGS), keys=lines(KEYS), statistics=statistics)


def _commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            yield from _commands(command.commands[name], (*path, name))


def with_quickstart(readme: str) -> str:
    """Return the README with the block replaced by what the quickstart prints now."""
    done = subprocess.run(
        [sys.executable, "-m", "rlopt", "solve", "examples/quickstart.yaml"],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": str(WIDTH), "NO_COLOR": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    shown = "\n".join(lines[: lines.index(_SHOWN_UNTIL)])
    return _BLOCK.sub(lambda found: f"{found[1]}```text\n{shown}{_REST}\n```\n{found[2]}", readme)


def main() -> None:
    """Write the page and the block."""
    PAGE.write_text(command_line_page(), encoding="utf-8")
    README.write_text(with_quickstart(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
