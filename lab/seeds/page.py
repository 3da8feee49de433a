"""Write docs/seeds.md from docs/seeds.csv: what four texts on the cost of RL training name, and where it stands.

``python -m lab seeds`` writes the page. With ``--settle`` it first looks up every place that the table names:
a row of which one is missing becomes planned under "the whole bill", and a row that waited for that and misses
nothing any more becomes here. The suite fails when a row says here and a place is not there.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass, replace
from typing import Final

from lab import ROOT
from lab.seeds.places import reachable

TABLE: Final = ROOT / "docs" / "seeds.csv"
PAGE: Final = ROOT / "docs" / "seeds.md"
COLUMNS: Final = ("id", "text", "section", "item", "phrase", "status", "kind", "place", "note")
BETWEEN: Final = "; "
KINDS: Final = {
    "key": "a key of the request",
    "rule": "a limit or floor that every plan keeps, by its key",
    "cost": "a line of the bill, dimension/item",
    "decision": "what the program chooses, as a field of the plan",
    "report": "what the plan reports, as a field of it",
    "docs": "a passage of the documentation",
    "planned": "not there yet, or not all of it",
}
WHOLE_BILL: Final = "the whole bill"
GROUPS: Final = {
    WHOLE_BILL: "its key is read and its place is settled; plans do not count it yet",
    "every lever": "further stages, decisions and small items: loading, divergences, tiers for all data, teachers, "
    "value models, recovery, traces, pilots",
    "answers": "explanations and comparisons: targets, stress, review of bills, usage, knee of the frontier",
    "exports and living catalogs": "launcher files, own and refreshed prices",
    "portfolio": "several jobs at once, and jobs that come back",
}
STATEMENTS: Final = {
    "Parameter servers": "No training stack that plans are made for has parameter servers. Optimizer state is sharded "
    "over the GPUs that train (`pools.layout.sharding`), samplers get their weights in the stage `transfer`, and the "
    "CPU machines that steer a run are on the bill as `compute/pool control`.",
    "Low-priority machines": "Machines that a provider may take back are called spot, preemptible, low priority or "
    "interruptible. All are offers priced as `spot`, and each pool of them counts the reclaims of "
    "`catalogs/reliability.csv` for its provider and GPU, or the default there.",
    "Environments": "Tools and simulators on CPUs run on machines of their own, apart from the GPUs, as the pool "
    "`environment` with a line of its own on the bill. They are paid for as long as the run takes.",
    "Containers and functions": "A GPU is rented by the hour, as a machine or as a container on one. What is billed by "
    "the call or the second of a function could serve environments, tools and loading, never training or generation; "
    "the catalogs hold no such price, so no plan uses any.",
}
"""What is said in words because there is nothing to set, decide or pay."""

_HEAD = """# What four texts name, and where it stands

Written by `python -m lab seeds` from `docs/seeds.csv`; do not edit by hand.

Four Chinese texts on the cost of training policies, assistants and reward models name {total} cost items, levers and
risks. For each one, this page says where a request states it, a plan decides it, a bill shows it or a floor guards it.
The suite looks every place up: a key in the request's schema, a rule, line or value in plans of the example requests,
a field in the plan's schema, a heading in these pages. Figures in the texts are claims; none of them is used as a fact.

{counts}

Under *where*, an asterisk stands for a pool's name, and `=value` for a value that an example's request or plan holds
there.

| kind | is |
|---|---|
{kinds}

| planned | rows | is |
|---|---|---|
{groups}

## Said in words
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One item of a text: ``places`` are (kind, place) pairs."""

    id: str
    text: str
    section: str
    item: str
    phrase: str
    status: str
    places: tuple[tuple[str, str], ...]
    note: str

    @property
    def groups(self) -> list[str]:
        """What the item waits for."""
        return [place for kind, place in self.places if kind == "planned"]


def read(text: str) -> list[Row]:
    """Rows of the table.

    Raises
    ------
    ValueError
        Where a row has not as many kinds as places.
    """
    found = []
    for line in csv.DictReader(io.StringIO(text)):
        places = tuple(zip(line.pop("kind").split(BETWEEN), line.pop("place").split(BETWEEN), strict=True))
        found.append(Row(places=places, **line))
    return found


def written(rows: list[Row]) -> str:
    """The table of these rows."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        kinds, places = (BETWEEN.join(part) for part in zip(*row.places, strict=True))
        plain = {name: getattr(row, name) for name in COLUMNS if name not in ("kind", "place")}
        writer.writerow({**plain, "kind": kinds, "place": places})
    return file.getvalue()


def settled(row: Row) -> Row:
    """The row with the status that its places have today."""
    named = [pair for pair in row.places if pair[0] != "planned"]
    later = [group for group in row.groups if group != WHOLE_BILL]
    if not all(reachable(*pair) for pair in named):
        later.insert(0, WHOLE_BILL)
    places = (*named, *(("planned", group) for group in later))
    return replace(row, places=places, status="planned" if later else "here")


def page(rows: list[Row]) -> str:
    """The page of these rows."""
    waiting = Counter(group for row in rows for group in row.groups)
    head = _HEAD.format(
        total=len(rows),
        counts=_counts(rows),
        kinds="\n".join(f"| {kind} | {meaning} |" for kind, meaning in KINDS.items()),
        groups="\n".join(f"| {name} | {waiting[name]} | {is_} |" for name, is_ in GROUPS.items() if waiting[name]),
    )
    said = "\n".join(f"\n### {heading}\n\n{text}" for heading, text in STATEMENTS.items())
    tables = "\n".join(_table(text, [row for row in rows if row.text == text]) for text in _texts(rows))
    return f"{head}{said}\n{tables}"


def _texts(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(row.text for row in rows))


def _counts(rows: list[Row]) -> str:
    def line(name: str, part: list[Row]) -> str:
        here = sum(row.status == "here" for row in part)
        return f"| {name} | {len(part)} | {here} | {len(part) - here} |"

    lines = [line(text, [row for row in rows if row.text == text]) for text in _texts(rows)]
    return "\n".join(["| text | items | here | planned |", "|---|---|---|---|", *lines, line("all", rows)])


def _table(text: str, rows: list[Row]) -> str:
    lines = [f"| {row.id} | {row.section} | {row.item} | {row.phrase} | {row.status} | {_where(row)} |" for row in rows]
    head = ["| id | section | item | in the text | stands | where |", "|---|---|---|---|---|---|"]
    return "\n".join([f"\n## {text}\n", *head, *lines, ""])


def _where(row: Row) -> str:
    shown = []
    for kind, place in row.places:
        if kind == "docs":
            address, _, what = place.partition("=")
            label = what or address.partition("#")[2].replace("-", " ")
            shown.append(f"docs [{label}]({_link(address)})")
        else:
            shown.append(f"planned: {place}" if kind == "planned" else f"{kind} `{place}`")
    return "; ".join(shown) + (f" ({row.note})" if row.note else "")


def _link(address: str) -> str:
    name, _, anchor = address.partition("#")
    if ROOT / name == PAGE:
        return f"#{anchor}"
    return f"{name.removeprefix('docs/') if name.startswith('docs/') else f'../{name}'}#{anchor}"


def main(arguments: list[str]) -> int:
    """Write the page, and with ``--settle`` the table first."""
    rows = read(TABLE.read_text(encoding="utf-8"))
    PAGE.write_text(page(rows), encoding="utf-8")
    if "--settle" in arguments:
        now = [settled(row) for row in rows]
        for old, new in zip(rows, now, strict=True):
            if old != new:
                missing = [place for kind, place in new.places if kind != "planned" and not reachable(kind, place)]
                print(f"{new.id} {new.status}: {new.item}" + (f" (missing: {', '.join(missing)})" if missing else ""))
        TABLE.write_text(written(now), encoding="utf-8")
        PAGE.write_text(page(now), encoding="utf-8")
    return 0
