"""Style, types and import floors: each tool as a test, so that one command checks everything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = {
    "style": ["-m", "ruff", "check", "--no-cache", "--output-format=concise", "."],
    "types": ["-m", "mypy", "--no-error-summary"],
    "import floors": [
        "-c",
        "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())",
    ],
}


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_tool_finds_nothing(tool: str, root: Path) -> None:
    done = subprocess.run(
        [sys.executable, *TOOLS[tool]], cwd=root, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, f"{tool}:\n{done.stdout}{done.stderr}"
