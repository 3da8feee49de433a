"""Facts enter by one door: each file of the catalogs is read into `Catalog`, and ``facts=`` changes all of them."""

from __future__ import annotations

import ast
import re
import shutil
from functools import cache
from pathlib import Path

import pytest

from rlopt import api
from rlopt.errors import InputError, MissingFactError
from rlopt.facts import Catalog
from rlopt.facts.files.folder import load_catalog
from rlopt.measured.predictions import predict_table
from rlopt.measured.rows import parse_table
from rlopt.request import Request
from tests.catalogs.rows import FOLDER

ROOT = Path(__file__).resolve().parents[2]
DOOR = "facts/files/folder.py"
READERS = ("rlopt.facts.files.cells", "rlopt.facts.files.tables", "rlopt.facts.files.stated", "rlopt.data_dir")
FOR_PEOPLE = {"rejected_prices.csv"}
"""What nothing is planned with."""
FILES = sorted(
    path.relative_to(FOLDER).as_posix()
    for path in FOLDER.rglob("*.*")
    if path.suffix in (".csv", ".yaml") and "raw" not in path.parts and path.name not in FOR_PEOPLE
)


def folder_with(tmp_path: Path, **changes: tuple[str, str]) -> Path:
    """A copy of the catalogs; each change is a pattern and what stands in its place."""
    there = tmp_path / "catalogs"
    shutil.copytree(FOLDER, there, ignore=shutil.ignore_patterns("raw", "*.md"))
    for name, (pattern, new) in changes.items():
        path = there / name
        text, count = re.subn(pattern, new, path.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE)
        assert count == 1, (name, pattern)
        path.write_text(text, encoding="utf-8")
    return there


def facts_with(tmp_path: Path, name: str, pattern: str, new: str) -> Catalog:
    return load_catalog(folder_with(tmp_path, **{name: (pattern, new)}))


def test_one_module_knows_the_folder() -> None:
    source = ROOT / "optimizer" / "rlopt"
    found = set()
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (isinstance(node, ast.Name) and node.id == "catalogs_dir") or (
                isinstance(node, ast.Attribute) and node.attr == "catalogs_dir"
            ):
                found.add(path.relative_to(source).as_posix())
    assert found == {DOOR}


def test_no_room_reads_a_catalog_file_beside_the_door() -> None:
    source = ROOT / "optimizer" / "rlopt"
    for path in source.rglob("*.py"):
        name = path.relative_to(source).as_posix()
        if name.startswith("facts/files/"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in READERS[:3]:
                pytest.fail(f"{name} imports {node.module}: take the facts from the catalog")


@pytest.mark.parametrize("name", FILES)
def test_each_file_is_read(name: str, tmp_path: Path) -> None:
    folder = folder_with(tmp_path)
    (folder / name).unlink()
    with pytest.raises(InputError, match=re.escape(Path(name).name)):
        load_catalog(folder)


@cache
def asked(*changes: str, example: str = "quickstart") -> Request:
    return api.load(ROOT / "examples" / f"{example}.yaml", changes)


def told(facts: Catalog | None, request: Request) -> str:
    """The whole plan, with nothing of the clock."""
    return str(api.solve(request, facts=facts, short_frontier=False).model_dump(exclude={"solver"}))


ON_SLOTS = ("choices.gpus=[L40S]", "choices.providers=[aws]")
ENCRYPTED = ("limits.storage={encrypted: true}", "choices.providers=[aws]", "choices.gpus=[H100]")


@pytest.mark.parametrize(
    ("name", "pattern", "new", "changes", "example"),
    [
        ("operations.yaml", r"(?<=startup_minutes:\n  value: )15", "75", (), "quickstart"),
        ("nodes.yaml", r"(?<=disk_image_gib:\n  value: )30", "31", (), "quickstart"),
        ("calibration/training.yaml", r"(?<=^half_width: )[\d.]+", "900", (), "quickstart"),
        ("calibration/memory.yaml", r"(?<=^gradient_bytes_rl: {megatron: )2\.0", "2.1", (), "quickstart"),
        ("calibration/generation.yaml", r"(?<=^most_shared: )[\d.]+", "2", (), "quickstart"),
        ("calibration/bands.yaml", r"(?<=^rl:)(.*\n  dense: {known: )[\d.]+", r"\g<1>0.9", (), "quickstart"),
        ("calibration/rl.yaml", r"(?<=step_s: )5\.187", "9", (), "quickstart"),
        ("calibration/links.yaml", r"(?<=pcie_share: )[\d.]+", "0.05", ON_SLOTS, "quickstart"),
        ("calibration/acting.yaml", r"(?<=engine: )transformers", "vllm", (), "vla-simulator"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value and "/" in value else None,
)
def test_a_changed_constant_changes_the_plan(
    name: str, pattern: str, new: str, changes: tuple[str, ...], example: str, tmp_path: Path
) -> None:
    request = asked(*changes, example=example)
    assert told(facts_with(tmp_path, name, pattern, new), request) != told(None, request)


def test_a_store_that_states_nothing_is_not_used(tmp_path: Path) -> None:
    request = asked(*ENCRYPTED)
    assert api.solve(request, short_frontier=False).pools
    silent = facts_with(tmp_path, "stores.yaml", r"(?<=aws/S3:\n  encrypted: )true", "")
    with pytest.raises(MissingFactError, match=r"limits\.storage"):
        api.solve(request, facts=silent, short_frontier=False)


def test_a_launcher_of_the_catalog_is_known(tmp_path: Path) -> None:
    facts = facts_with(tmp_path, "launchers.yaml", r"^verl:", "ours:")
    path = ROOT / "examples" / "quickstart.yaml"
    assert api.check(path, ["recovery.launcher=ours"], facts=facts)
    with pytest.raises(MissingFactError, match="launcher ours"):
        api.check(path, ["recovery.launcher=ours"])


def test_what_check_says_is_the_catalogs(tmp_path: Path) -> None:
    facts = facts_with(tmp_path, "operations.yaml", r"(?<=idle_minutes:\n  value: )10", "77")
    path = ROOT / "examples" / "quickstart.yaml"
    assert "machines are paid for 77 min after each run" in " ".join(api.check(path, facts=facts))
    assert "machines are paid for 10 min after each run" in " ".join(api.check(path))


def test_skypilots_names_are_the_catalogs(tmp_path: Path) -> None:
    request = asked()
    plan = api.solve(request, short_frontier=False)
    files = "".join(api.export(request, "skypilot", plan).files.values())
    facts = facts_with(tmp_path, "skypilot.yaml", r"(?<=^accelerators:)(.|\n)*?(?=^of_provider)", " {}\n")
    other = "".join(api.export(request, "skypilot", plan, facts=facts).files.values())
    assert "accelerators:" in files
    assert other != files


TRAINED = (
    "id,model,gpu,gpus,source,global_batch,seq_len,tokens_per_s_per_gpu\na,llama2-7b,H100,8,axolotl,64,4096,5000\n"
)
SAMPLED = (
    "id,framework,model,gpu,gpus,algorithm,prompts_per_step,K,response_len_max,step_time_s\n"
    "a,nemo-rl,Qwen/Qwen2.5-7B,H100,8,grpo,64,8,2048,100\n"
)


@pytest.mark.parametrize(
    ("name", "pattern", "new", "text"),
    [
        ("calibration/sources.yaml", r"(?<=axolotl)(.*engine: )hf", r"\g<1>maxtext", TRAINED),
        ("calibration/loops.yaml", r"(?<=nemo-rl: {prompt: )160", "600", SAMPLED),
        ("measured/names.csv", r"^llama2-7b,.*", "llama2-7b,Llama-2-13B", TRAINED),
        ("measured/machines.csv", r"^h100\.\*,.*", "h100.*,A100-80GB,8,nvswitch,400,", TRAINED),
    ],
)
def test_how_measurements_are_read_is_the_catalogs(
    name: str, pattern: str, new: str, text: str, tmp_path: Path
) -> None:
    def predicted(facts: Catalog) -> list[float | str | None]:
        return [one.outcome.predicted for one in predict_table(parse_table(text, "m.csv"), facts, facts.calibration)]

    shipped = predicted(load_catalog())
    assert isinstance(shipped[0], float)
    assert predicted(facts_with(tmp_path, name, pattern, new)) != shipped
