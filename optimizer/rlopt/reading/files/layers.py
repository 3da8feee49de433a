"""A file and all that it extends: presets by name, other files by a path below its own folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from rlopt.data_dir import constraints_dir
from rlopt.errors import Complaint, InputError
from rlopt.facts.files.text import read_text
from rlopt.reading.files import overrides
from rlopt.reading.files.merge import Layer, merge_all, put_over
from rlopt.reading.files.tree import Tree, parse
from rlopt.request.values.kinds import show

_MOST_FILES: Final = 64
_DEEPEST: Final = 8
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


def preset_names() -> list[str]:
    """List the presets that `extends` may name."""
    return sorted(path.stem for path in constraints_dir().glob("*.yaml"))


def load_layers(path: Path, changes: Sequence[str]) -> Layer:
    """Read a file, apply ``--set`` changes to it and merge it over what it extends.

    Raises
    ------
    InputError
        When a file cannot be read at all; smaller faults are in `Layer.complaints`.
    """
    return _Loader().file(path, str(path), "", changes)


def layer_of(value: Any, name: str, changes: Sequence[str] = ()) -> Layer:
    """Merge a map built in Python over the presets that it extends."""
    return _Loader().merged(overrides.apply(Tree(value), changes), Path(), name, name)


def merge_file(tree: Tree, path: Path) -> Layer:
    """Merge the tree of a file, changed or not, over what it extends."""
    return _Loader(stack=[path.resolve()]).merged(tree, path.parent, str(path), str(path))


def put_own_over(tree: Tree, below: Layer, path: Path) -> Layer:
    """Put further keys of the same file over its layer; its relative paths start where the file stands."""
    return put_over(Tree(_absolute(tree, path.parent), tree.places, tree.complaints), below, str(path))


@dataclass(slots=True)
class _Loader:
    """Loads each file once and watches for circles."""

    stack: list[Path] = field(default_factory=list)
    done: dict[Path, Layer] = field(default_factory=dict)

    def file(self, path: Path, name: str, label: str, changes: Sequence[str] = ()) -> Layer:
        """Load one file; `label` is what reports call it when it is extended."""
        try:
            resolved = path.resolve()
        except (OSError, ValueError, RuntimeError):  # a NUL, a circle of links: reading it will say so
            resolved = path
        if resolved in self.done:
            return self.done[resolved]
        text = read_text(path, name)
        if not text.strip():
            raise InputError.of(
                "",
                "is empty",
                file=name,
                line=1,
                allowed="a request",
                fix="write one with: rlopt init -o constraints.yaml",
            )
        tree = parse(text, name)
        if tree.value is None and not tree.complaints:
            raise InputError.of(
                "",
                "holds no value, only comments",
                file=name,
                line=1,
                allowed="a request",
                fix="write one with: rlopt init -o constraints.yaml",
            )
        if changes:
            tree = overrides.apply(tree, changes)
        self.stack.append(resolved)
        layer = self.merged(tree, path.parent, name, label or name)
        self.stack.pop()
        self.done[resolved] = layer
        return layer

    def merged(self, tree: Tree, folder: Path, name: str, label: str) -> Layer:
        """Merge a tree over what its `extends` names."""
        if not isinstance(tree.value, dict):
            found = "a list" if isinstance(tree.value, list) else show(tree.value)
            complaint = Complaint(
                name,
                1,
                "",
                f"the file holds {found}, not a map",
                "keys such as job: and limits:",
                "start with: rlopt init -o constraints.yaml",
            )
            raise InputError([*tree.complaints, complaint])
        complaints: list[Complaint] = []
        value = _absolute(tree, folder)
        listed = value.pop("extends", None)
        below = merge_all(self.extended(listed, tree, folder, name, complaints))
        below.complaints.extend(complaints)
        return put_over(Tree(value, tree.places, tree.complaints), below, label)

    def extended(self, listed: Any, tree: Tree, folder: Path, name: str, complaints: list[Complaint]) -> list[Layer]:
        """Load what `extends` lists; complain about what is not there."""
        if listed is None:
            return []
        entries = [listed] if isinstance(listed, str) else listed
        layers: list[Layer] = []
        for place, entry in enumerate(entries if isinstance(entries, list) else [entries]):
            key = f"extends[{place}]" if isinstance(listed, list) else "extends"
            file, line = tree.places.get(key) or tree.places.get("extends") or (name, None)
            try:
                layer = self.entry(entry, folder)
            except _RefusedError as error:
                complaints.append(Complaint(file, line, key, *error.args))
            else:
                names = tuple(dict.fromkeys((*layer.names, entry)))
                layers.append(replace(layer, names=names))
        return layers

    def entry(self, entry: Any, folder: Path) -> Layer:
        """Load one preset or file."""
        if not isinstance(entry, str) or not entry.strip() or len(entry) > 400:
            message = f"{show(entry)} is neither a preset nor a path"
            raise _RefusedError(message, "a list of names and paths", "write for example [grpo]")
        if "/" not in entry and "\\" not in entry and not entry.endswith((".yaml", ".yml")):
            path, shown, label = self.preset(entry)
        else:
            path, shown, label = self.below(entry, folder), str(folder / entry), entry
        resolved = path.resolve()
        if resolved in self.stack:
            circle = " -> ".join(p.name for p in (*self.stack[self.stack.index(resolved) :], resolved))
            message = f"{show(entry)} extends itself: {circle}"
            raise _RefusedError(message, "files that do not extend each other in a circle", "delete it here")
        if len(self.stack) >= _DEEPEST or len(self.done) >= _MOST_FILES:
            message = f"{show(entry)} is one file too many"
            raise _RefusedError(message, f"{_DEEPEST} levels and {_MOST_FILES} files", "extend fewer files")
        return self.file(path, shown, label)

    def preset(self, name: str) -> tuple[Path, str, str]:
        """Find a preset by name."""
        path = constraints_dir() / f"{name}.yaml"
        names = preset_names()
        if not _NAME.fullmatch(name) or name not in names:
            near = get_close_matches(name[:60], names, 1, 0.5)
            fix = f"write {near[0]}" if near else "name one of these, or a path that ends in .yaml"
            message = f"there is no preset {show(name)}"
            raise _RefusedError(message, f"presets: {', '.join(names)}", fix)
        return path, f"constraints/{name}.yaml", f"preset {name}"

    def below(self, entry: str, folder: Path) -> Path:
        """Find a file by its path, which must stay below the folder of the file that names it."""
        allowed = "a path inside the folder of the file that names it"
        path = folder / entry
        if not _inside(path, folder):
            message = f"{show(entry)} leads out of the file's folder"
            raise _RefusedError(message, allowed, "copy that file next to this one")
        if not path.is_file():
            message = f"there is no file {show(entry)} in {show(str(folder))}"
            raise _RefusedError(message, allowed, "check the path; it starts at the file's own folder")
        return path


class _RefusedError(Exception):
    """An entry of `extends` that is not followed: message, allowed, fix."""


def _absolute(tree: Tree, folder: Path) -> dict[str | int, Any]:
    """Copy a tree's top with relative paths made absolute: they start at the file that states them."""
    value = dict(tree.value)
    choices, job = value.get("choices"), value.get("job")
    if isinstance(choices, dict) and isinstance(choices.get("offers"), str) and choices["offers"].strip():
        path = _base(tree, "choices.offers", folder) / choices["offers"].strip()
        value["choices"] = {**choices, "offers": str(path)}
        file, line = tree.places.get("choices.offers", (overrides.PLACE, None))
        if file != overrides.PLACE and not _inside(path, folder):  # a file is handed on; --set is the user's own word
            message = f"{show(choices['offers'])} leads out of the file's folder"
            allowed, fix = "a path inside the folder of the file that names it", "copy that file next to this one"
            tree.complaints.append(Complaint(file, line, "choices.offers", message, allowed, fix))
    models = job.get("models") if isinstance(job, dict) else None
    if isinstance(job, dict) and isinstance(models, dict):
        found = {role: _model(ref, _base(tree, f"job.models.{role}", folder)) for role, ref in models.items()}
        value["job"] = {**job, "models": found}
    return value


def _inside(path: Path, folder: Path) -> bool:
    """Tell whether a path stays in a folder, links followed; what is no path does not."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        return False


def _base(tree: Tree, key: str, folder: Path) -> Path:
    """Give the folder that a path starts from: the file's, or the working folder for ``--set``."""
    return (Path() if tree.places.get(key, ("", None))[0] == overrides.PLACE else folder).absolute()


def _model(ref: Any, base: Path) -> Any:
    """Make a path to a model's config.json absolute, also in a choice of models; names stay as they are."""
    if isinstance(ref, list):
        return [_model(entry, base) for entry in ref]
    if isinstance(ref, dict) and "model" in ref:
        return {**ref, "model": _model(ref["model"], base)}
    if not isinstance(ref, str) or "\x00" in ref or len(ref) > 1000:
        return ref
    text = ref.strip()
    if not text.endswith(".json") and not text.startswith(("./", "../", "/")):
        return ref
    path = base / text
    return str(path if text.endswith(".json") else path / "config.json")
