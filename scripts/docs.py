"""Write what documents quote from the program: the reference from its code, the outputs by running it.

``python scripts/docs.py`` writes docs/command-line.md, docs/reference/, the map of the code and every output that pages
show (`scripts/docs_outputs.py` says how they ask for one); the suite fails when one of them is not what this writes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [folder for folder in (str(ROOT), str(ROOT / "optimizer")) if folder not in sys.path]

from rlopt.cli.entry import command_line  # noqa: E402
from rlopt.measured.meanings import KEYS, MEANINGS, STATISTICS  # noqa: E402
from scripts.docs_map import map_pages  # noqa: E402
from scripts.docs_outputs import WIDTH, pages, with_outputs  # noqa: E402
from scripts.docs_reference import reference_pages  # noqa: E402

PAGE = ROOT / "docs" / "command-line.md"

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
without a proof (the best plan is printed), 5 prices could not be renewed and the old ones stay, 1 an internal
fault, 130 stopped from the keyboard.
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


def written_pages() -> dict[Path, str]:
    """Pages that this script writes as a whole."""
    return {PAGE: command_line_page(), **reference_pages(), **map_pages()}


def main() -> None:
    """Write all pages that are written as a whole, then the outputs that other pages show."""
    for path, text in written_pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in pages():
        path.write_text(with_outputs(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
