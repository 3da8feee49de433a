"""Reads exported tasks with SkyPilot's own ``sky.Task.from_yaml``.

The package imports databases, servers and ssh that no task needs: every package that is not installed stands as an
empty one. Accelerator names, regions and prices are not checked by it. Input: a JSON list of {"id", "path"}; output:
{"id": {"error": text or null, "values": {...}, "checked": text}}.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import os
import sys
import tempfile
import types

os.environ["HOME"] = tempfile.mkdtemp()
os.environ["SKYPILOT_DISABLE_USAGE_COLLECTION"] = "1"


class Kind(type):
    """A class that has every attribute, and takes every use."""

    def __getattr__(cls, name: str) -> Kind:
        if name.startswith("__"):
            raise AttributeError(name)
        made = Kind(name, (Nothing,), {})
        setattr(cls, name, made)
        return made

    def __call__(cls, *given, **named):  # type: ignore[no-untyped-def]
        if len(given) == 1 and callable(given[0]) and not named and not isinstance(given[0], Kind):
            return given[0]  # a decorator of something that is not there leaves what it decorates
        return type.__call__(cls)

    def __getitem__(cls, _):  # type: ignore[no-untyped-def]
        return cls

    def __setitem__(cls, _, __) -> None:  # type: ignore[no-untyped-def]
        pass

    def __contains__(cls, _) -> bool:  # type: ignore[no-untyped-def]
        return False

    def __or__(cls, _):  # type: ignore[no-untyped-def]
        return cls

    __ror__ = __or__

    def __iter__(cls):  # type: ignore[no-untyped-def]
        return iter(())


class Nothing(metaclass=Kind):
    """An object of such a class."""

    def __init__(self, *_, **__) -> None:  # type: ignore[no-untyped-def]
        pass

    def __getattr__(self, name: str):  # type: ignore[no-untyped-def]
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(type(self), name)

    def __call__(self, *given, **named):  # type: ignore[no-untyped-def]
        return given[0] if len(given) == 1 and callable(given[0]) and not named else Nothing()

    def __getitem__(self, _):  # type: ignore[no-untyped-def]
        return Nothing()

    def __setitem__(self, _, __) -> None:  # type: ignore[no-untyped-def]
        pass

    def __contains__(self, _) -> bool:  # type: ignore[no-untyped-def]
        return False

    def __or__(self, _):  # type: ignore[no-untyped-def]
        return self


class Module(types.ModuleType):
    __path__: list = []

    def __getattr__(self, name: str) -> Kind:
        if name.startswith("__"):
            raise AttributeError(name)
        made = Kind(name, (Nothing,), {})
        setattr(self, name, made)
        return made


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Last in the row: only what nobody else finds."""

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]
        if name.split(".")[0] in (*sys.stdlib_module_names, "sky", "numpy"):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):  # type: ignore[no-untyped-def]
        return Module(spec.name)

    def exec_module(self, module) -> None:  # type: ignore[no-untyped-def]
        pass


def main() -> None:
    sys.meta_path.append(Finder())
    import sky

    answers = {}
    for one in json.load(sys.stdin):
        try:
            task = sky.Task.from_yaml(one["path"])
            resources = next(iter(task.resources))
            values = {"nodes": task.num_nodes, "infra": str(resources.infra.to_str()), "spot": resources.use_spot}
            values |= {"accelerators": resources.accelerators, "run": task.run, "disk": resources.disk_size}
            values["max_hourly_cost"] = getattr(resources, "max_hourly_cost", None)
            answers[one["id"]] = {"error": None, "values": values, "checked": "read as a task"}
        except Exception as error:  # the launcher's own refusal is the answer
            answers[one["id"]] = {"error": f"{type(error).__name__}: {error}", "values": {}, "checked": ""}
    json.dump(answers, sys.stdout, default=str)


main()
