"""Texts that other programs read: shell words, Hydra values, comments. Names in a plan may be hostile."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rlopt.launchers.exports.contract import Blank, Gap

MARK: Final = "Written by rlopt export"
"""Stands in the first lines of every file, so that a later export knows what it may replace."""
LONGEST: Final = 4000
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./:@-]*")
_WORDS: Final = ("true", "false", "null", "none", "yes", "no", "on", "off", "nan", "inf")


def one_line(text: str) -> str:
    """Text without line breaks and control characters, for a comment."""
    return "".join(letter if letter.isprintable() else " " for letter in text)[:LONGEST].strip()


def slug(text: str) -> str:
    """Text as part of a file name or a cluster name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40] or "run"


def hydra_value(value: Any) -> str:
    """A value in Hydra's override grammar; text that could be read as something else is quoted."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ",".join(hydra_value(one) for one in value) + "]"
    if isinstance(value, int | float):
        return f"{value}"
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS and not _numeric(text):
        return text
    escaped = re.sub(r'(\\*)(")', lambda found: found[1] * 2 + '\\"', text)
    escaped = re.sub(r"(\\+)$", lambda found: found[1] * 2, escaped)
    return '"' + escaped.replace("${", "\\${") + '"'


def _numeric(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def under(room: str, key: str) -> str:
    """A key below ``room``; the ++ of one that the launcher's tree does not have moves to the front."""
    return f"++{room}{key[2:]}" if key.startswith("++") else room + key


def override(key: str, value: Any) -> str:
    """``key=value`` as a shell word; a blank stands as its variable."""
    if isinstance(value, Blank):
        return f'{key}="${value.variable}"'
    return f"{key}={shlex.quote(hydra_value(value))}"


def flag(name: str, value: Any = True) -> str:
    """``--name value`` as shell words; true alone is a switch."""
    if value is True:
        return f"--{name}"
    if isinstance(value, Blank):
        return f'--{name} "${value.variable}"'
    return f"--{name} {shlex.quote(str(value))}"


def blank_lines(blanks: Sequence[Blank]) -> list[str]:
    """The part of a script that asks for what only the user knows."""
    lines = []
    for blank in blanks:
        if blank.default is None:
            lines.append(f': "${{{blank.variable}:?set it to {_harmless(blank.what)}}}"')
        else:
            lines.append(f"# {blank.variable}: {one_line(blank.what)}")
            lines.append(f'{blank.variable}="${{{blank.variable}:-{_harmless(blank.default)}}}"')
    return lines


def _harmless(text: str) -> str:
    """Text that may stand within double quotes of a shell script."""
    return re.sub(r"[^\w .,:;/()+-]", "", one_line(text))


def head(title: str, gaps: Sequence[Gap], notes: str = "README.txt") -> list[str]:
    """Comment lines that a file begins with: whose it is, and what it could not say."""
    lines = [f"# {MARK}: {one_line(title)}. {notes} says more."]
    return lines + [f"# not expressed: {one_line(str(gap))}" for gap in gaps]


def script(title: str, gaps: Sequence[Gap], blanks: Sequence[Blank], command: str, words: Sequence[str]) -> str:
    """A shell script that fills in the blanks and runs one command; what is given to it comes last."""
    lines = ["#!/usr/bin/env bash", *head(title, gaps), "set -euo pipefail", *blank_lines(blanks)]
    body = [f"exec {command}", *words, '"$@"']
    return "\n".join([*lines, " \\\n    ".join(body)]) + "\n"


def smoke_script(title: str, words: Sequence[str]) -> str:
    """A shell script that runs launch.sh beside it with a few words more."""
    lines = [
        "#!/usr/bin/env bash",
        f"# {MARK}: {one_line(title)}. README.txt says more.",
        "set -euo pipefail",
        'here=$(CDPATH=\'\' cd -- "$(dirname -- "$0")" && pwd -P)',
    ]
    return "\n".join([*lines, " \\\n    ".join(['exec bash "$here/launch.sh"', *words, '"$@"'])]) + "\n"


def yaml_text(title: str, gaps: Sequence[Gap], tree: Mapping[str, Any], notes: str = "README.txt") -> str:
    """A YAML file with its head."""
    from ruamel.yaml import YAML

    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    writer.width = 4096
    out = io.StringIO()
    writer.dump(dict(tree), out)
    return "\n".join(head(title, gaps, notes)) + "\n" + out.getvalue()
