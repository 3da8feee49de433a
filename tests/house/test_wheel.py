"""The wheel: everything the program reads, nothing else, and it runs away from the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import rlopt


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it as an installer would, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(root)],
        check=True,
        capture_output=True,
        timeout=300,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_name_and_version(wheel: Path) -> None:
    assert wheel.name == f"rlopt_planner-{rlopt.__version__}-py3-none-any.whl"


def test_it_carries_the_code_and_the_data(wheel: Path, root: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    code = {f"rlopt/{p.relative_to(root / 'optimizer' / 'rlopt')}" for p in (root / "optimizer").rglob("*.py")}
    assert code <= names
    parts = [path for path in (root / "optimizer").rglob("templates/*") if path.is_file()]
    assert {path.suffix for path in parts} == {".j2", ".css", ".js"}
    assert {f"rlopt/{path.relative_to(root / 'optimizer' / 'rlopt')}" for path in parts} <= names
    texts = {f"rlopt/{p.relative_to(root / 'optimizer' / 'rlopt')}" for p in (root / "optimizer").rglob("*.po")}
    assert texts
    assert texts <= names
    for room in ("catalogs", "constraints"):
        files = {
            f"rlopt/_data/{path.relative_to(root)}"
            for path in (root / room).rglob("*")
            if path.is_file() and "raw" not in path.relative_to(root).parts and "__pycache__" not in path.parts
        }
        assert files <= names
    assert all(name.startswith("rlopt/") for name in names)
    assert not [name for name in names if "/raw/" in name or name.endswith(".pyc")]


def test_the_bench_stays_at_home(wheel: Path, root: Path) -> None:
    """Fits of shipped constants and pages of evidence are the house's own: whoever installs it needs none of them."""
    with zipfile.ZipFile(wheel) as archive:
        carried = [archive.read(name).decode() for name in archive.namelist() if name.endswith(".py")]
    assert (root / "lab" / "__main__.py").is_file()
    assert not [text for text in carried if "from lab" in text or "import lab" in text]


def test_it_reads_its_own_data_away_from_the_checkout(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = (
        "from rlopt.data_dir import catalogs_dir, constraints_dir\n"
        "import rlopt, sys\n"
        "here = sys.argv[1]\n"
        "assert rlopt.__file__.startswith(here), rlopt.__file__\n"
        "for folder in (catalogs_dir(), constraints_dir()):\n"
        "    assert str(folder).startswith(here) and any(folder.iterdir()), folder\n"
    )
    site = str(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": site}
    subprocess.run([sys.executable, "-c", code, site], cwd=tmp_path, env=environment, check=True, timeout=120)
    done = subprocess.run(
        [sys.executable, "-m", "rlopt", "catalog", "list", "--json"],
        cwd=tmp_path,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert '"offers"' in done.stdout


def test_it_solves_a_request_from_a_fresh_environment(wheel: Path, root: Path, tmp_path: Path) -> None:
    """Install the wheel with its command into an empty environment that only borrows the dependencies."""
    place = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True, timeout=120)
    python = place / "bin" / "python"
    target = Path(
        subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            check=True, capture_output=True, text=True, timeout=60,
        ).stdout.strip()
    )  # fmt: skip
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "-qq", "--no-deps", "--no-index", str(wheel)],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    (target / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    request = tmp_path / "constraints.yaml"
    request.write_text((root / "examples" / "sft-lora.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [place / "bin" / "rlopt", "solve", "constraints.yaml", "--json"],
        cwd=tmp_path, env=environment, check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["status"] == "optimal"
    where = [python, "-c", "import rlopt; print(rlopt.__file__)"]
    home = subprocess.run(where, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True, timeout=60)
    assert Path(home.stdout.strip()).is_relative_to(place)
