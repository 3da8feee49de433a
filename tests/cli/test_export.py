"""`rlopt export` from file to folder: what is written, refused and said."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rlopt.cli import folder
from rlopt.cli.entry import run
from rlopt.cli.export import LAUNCHERS as NAMES
from rlopt.cli.folder import write_folder
from rlopt.launchers.exports import LAUNCHERS

EXAMPLE = "examples/requests/01-grpo-lora-qwen2.5-0.5b-one-gpu.yaml"


@pytest.fixture(scope="module")
def saved(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's plan, saved once."""
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    assert run(["solve", str(root / EXAMPLE), "-o", str(path)]) == 0
    return path


def export(root: Path, saved: Path, into: Path, *more: str, to: str = "verl") -> int:
    return run(["export", str(root / EXAMPLE), "--plan", str(saved), "--to", to, "-o", str(into), *more])


def test_help_names_the_rows_of_the_table() -> None:
    assert tuple(LAUNCHERS) == NAMES


def test_a_folder_is_made_with_scripts_that_can_be_started(
    root: Path, saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "new" / "launch"
    assert export(root, saved, made, "--smoke") == 0
    out = capsys.readouterr().out
    assert sorted(path.name for path in made.iterdir()) == ["README.txt", "launch.sh", "smoke.sh"]
    assert os.access(made / "launch.sh", os.X_OK)
    assert "fill in:\n  TRAIN_FILES: " in out
    assert "smoke.sh: 3 steps at full length without checkpoints, about 22 min by the plan" in out
    notes = " ".join((made / "README.txt").read_text(encoding="utf-8").split())
    script = (made / "launch.sh").read_text(encoding="utf-8")
    said = [line[2:] for line in out.split("not expressed:\n")[1].splitlines() if line.startswith("  ")]
    assert len(said) >= 10
    for line in said:
        assert line in notes
        assert f"# not expressed: {line}" in script or "smoke.sh" in line
    plan = json.loads(saved.read_text(encoding="utf-8"))
    assert plan["warnings"]
    assert all(" ".join(warning.split()) in notes for warning in plan["warnings"])


def test_the_same_folder_twice_is_the_same_and_another_launcher_leaves_files_that_are_named(
    root: Path, saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(root, saved, tmp_path, "--smoke") == 0
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert export(root, saved, tmp_path, "--smoke") == 0
    assert first == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    capsys.readouterr()
    assert export(root, saved, tmp_path, to="trl") == 0
    assert "older files of an export that stay:\n  smoke.sh" in capsys.readouterr().out


def test_files_of_somebody_else_are_never_replaced(
    root: Path, saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.txt").write_text("mine\n", encoding="utf-8")
    (tmp_path / "launch.sh").symlink_to(tmp_path.parent / "elsewhere.sh")
    assert export(root, saved, tmp_path) == 2
    err = capsys.readouterr().err
    assert "README.txt is there and was not written by rlopt export" in err
    assert "launch.sh is a link" in err
    assert (tmp_path / "README.txt").read_text(encoding="utf-8") == "mine\n"
    assert not (tmp_path.parent / "elsewhere.sh").exists()


def test_a_disk_that_is_full_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path, {"a.sh": "# mark 1\n", "b.txt": "# mark 1\n"}, "mark")
    written = folder.write_file

    def full(path: Path, text: str) -> None:
        if path.name == "b.txt":
            raise OSError(28, "No space left on device")
        written(path, text)

    monkeypatch.setattr(folder, "write_file", full)
    with pytest.raises(OSError, match="No space"):
        write_folder(tmp_path, {"a.sh": "# mark 2\n", "b.txt": "# mark 2\n"}, "mark")
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {
        "a.sh": "# mark 1\n",
        "b.txt": "# mark 1\n",
    }


def test_a_launcher_without_a_trainer_is_refused_before_any_work(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = str(root / "examples" / "requests" / "04-dpo-olmo2-1b-spot-only.yaml")
    assert run(["export", request, "--to", "verl", "-o", str(tmp_path / "x")]) == 2
    assert "verl has no trainer for dpo; export to openrlhf or trl or nemo-rl" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_a_request_without_a_plan_exports_nothing(root: Path, tmp_path: Path) -> None:
    arguments = [str(root / EXAMPLE), "--set", "limits.deadline=30min", "--to", "trl", "-o", str(tmp_path / "x")]
    assert run(["export", *arguments]) == 3
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("job", "other", "the plan is of job 'other'"),
        ("pools.0.layout.micro_batch", 10**9, "1000000000 is no degree"),
        ("pools.0.layout.dp", 3, "tp · pp · cp · dp is 3, the pool has 1 GPUs"),
        ("pools.0.nodes", -1, "-1 machines of 1 GPUs"),
        ("pools.0.gpus", 7, "7 GPUs on 1 machines of 1"),
        ("time.steps", 0, "0 steps"),
        ("decisions.group_size", 0, "0 samples a prompt"),
        ("pools.0.roles", ["generate"], "0 pools with a layout update the policy"),
    ],
)
def test_a_plan_that_cannot_be_this_requests_is_bad_input(
    root: Path, saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str, value: object, message: str
) -> None:
    tree = json.loads(saved.read_text(encoding="utf-8"))
    room, *path = tree, *key.split(".")
    for step in path[:-1]:
        room = room[int(step)] if step.isdigit() else room[step]
    room[path[-1]] = value
    other = tmp_path / "other.json"
    other.write_text(json.dumps(tree), encoding="utf-8")
    assert export(root, other, tmp_path / "x") == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
