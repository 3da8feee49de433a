"""Every export of every example is taken by its launcher's own parser, and a wrong one is not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rlopt import api
from rlopt.answers.plan import Plan
from rlopt.launchers.exports import LAUNCHERS
from rlopt.launchers.nemo_rl import export as nemo_rl
from rlopt.request import Request
from tests.launchers.exports.launched import parsed, programs, put, words_of

NO_PLAN = ("15", "16", "17")
"""Examples that are infeasible on purpose."""
ACCEPTED = {"verl": 13, "openrlhf": 14, "trl": 13, "nemo-rl": 15, "skypilot": 23}
"""Files or command lines of the examples that each launcher has a trainer for, short trials left out."""
TRIALS = ("01", "02", "07")
"""Examples whose short trial is parsed too."""
HOSTILE = "x'; touch hacked #\"$(touch hacked)`touch hacked`${oc.env:HOME}\\"
KEYS = "tests/data/launchers/nemo_rl_keys.json"


def examples(root: Path) -> list[tuple[str, Request, Plan]]:
    files = [*sorted((root / "examples" / "requests").glob("*.yaml")), root / "examples" / "quickstart.yaml"]
    found = []
    for file in files:
        if file.name[:2] not in NO_PLAN:
            request = api.load(file)
            found.append((file.stem, request, api.solve(request, short_frontier=False)))
    hostile = found[0][1]
    job = hostile.job.model_copy(update={"name": HOSTILE, "tags": {"project": HOSTILE}})
    return [*found, ("hostile", hostile.model_copy(update={"job": job}), found[0][2])]


def spoiled(job: dict[str, Any], word: str | Sequence[str]) -> dict[str, Any]:
    """The same command line with one thing wrong at its end."""
    return job | {"id": f"wrong {word}", "argv": [*job["argv"], *([word] if isinstance(word, str) else word)]}


def test_every_export_is_accepted_by_its_launcher(root: Path, tmp_path: Path) -> None:
    jobs: dict[str, list[dict[str, Any]]] = {name: [] for name in LAUNCHERS}
    known = programs(tmp_path)
    for name, request, plan in examples(root):
        for to, launcher in LAUNCHERS.items():
            if request.job.algorithm not in launcher.ALGORITHMS:
                continue
            made = api.export(request, to, plan, smoke=name[:2] in TRIALS)
            folder = put(made, tmp_path / to / name)
            if to == "skypilot":
                tasks = sorted(folder.glob("sky-*.yaml"))
                jobs[to] += [{"id": f"{name}/{path.name}", "path": str(path)} for path in tasks]
                assert len(words_of(folder / "sky.sh", known)) == len(tasks) if tasks else not list(folder.glob("*.sh"))
                continue
            for script in sorted(folder.glob("*.sh")):
                (argv,) = words_of(script, known)
                jobs[to].append({"id": f"{name}/{script.name}", "argv": argv, "folder": str(folder)})
    assert not list(tmp_path.rglob("hacked"))
    launches = {
        to: sum("smoke" not in job["id"] and "hostile" not in job["id"] for job in found) for to, found in jobs.items()
    }
    assert launches == ACCEPTED
    wrong = {
        "verl": ["data.trian_batch_size=1", "actor_rollout_ref.actor.loss_agg_mode=some"],
        "openrlhf": [["--train.batch", "4"], ["--train.micro_batch_size", "many"], ["--vllm.enable_slep"]],
        "trl": [["--num_generation_s", "4"], ["--optim", "adamm"], ["--num_generations", "7"]],
        "nemo-rl": ["grpo.num_prompts=1", "policy.train_micro_batch_size=two"],
        "skypilot": [],
    }
    for to, found in jobs.items():
        first = found[0]
        batch = [*found, *(spoiled(first, word) for word in wrong[to])]
        if to == "skypilot":
            batch += [{"id": "wrong", "path": str(misspelt(Path(first["path"])))}]
        parser = f"check_{to.replace('-', '_')}"
        answers = parsed(root, parser, batch, *([str(root / KEYS)] if to == "nemo-rl" else []))
        refused = {key: answer["error"] for key, answer in answers.items() if answer["error"]}
        assert all(key.startswith("wrong") for key in refused), refused
        assert len(refused) == sum(job["id"].startswith("wrong") for job in batch), (to, refused)
        if to == "verl":
            assert answers["hostile/launch.sh"]["values"]["trainer.experiment_name"] == HOSTILE
            assert answers["hostile/launch.sh"]["values"]["trainer.project_name"] == HOSTILE
        if to == "trl":
            assert answers["hostile/launch.sh"]["values"]["run_name"] == HOSTILE


def misspelt(path: Path) -> Path:
    """A task with a provider that SkyPilot does not know."""
    text = path.read_text(encoding="utf-8")
    made = path.with_name("misspelt.yaml")
    made.write_text(text.replace("infra: ", "infra: gpc/", 1), encoding="utf-8")
    return made


def test_the_parsers_are_of_the_versions_that_are_described(root: Path) -> None:
    lock = (root / "requirements-launchers.lock").read_text(encoding="utf-8").splitlines()
    for name in ("verl", "openrlhf", "trl", "skypilot"):
        assert f"{name}=={LAUNCHERS[name].VERSION}" in lock
    listed = json.loads((root / KEYS).read_text(encoding="utf-8"))
    assert listed["commit"] == nemo_rl.COMMIT
