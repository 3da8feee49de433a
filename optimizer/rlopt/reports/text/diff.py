"""Two plans side by side, for the terminal and as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType

from rlopt.answers.difference import Change, Difference, Side
from rlopt.language import tr
from rlopt.reports import words
from rlopt.reports.layout import heading, paragraph, table

CENT = 0.005
MONEY = ("line of the bill", "A", "B", "B - A")
CHOICES = ("what", "A", "B")


def difference_report(found: Difference) -> list[RenderableType]:
    """Lay a difference out for the terminal."""
    parts: list[RenderableType] = [paragraph(headline(found), style="bold")]
    parts += [paragraph(f"A: {_told(found.a)}"), paragraph(f"B: {_told(found.b)}")]
    if found.more_usd is None:
        return parts
    if found.lines:
        parts += [*heading("Money"), table(MONEY, money(found), right=MONEY[1:])]
    for title, changes in (("Decisions", found.decisions), ("Machines", found.pools)):
        if changes:
            parts += [*heading(title), table(CHOICES, choices(changes), whole=CHOICES[:1])]
    return parts


def difference_markdown(found: Difference) -> str:
    """The same as Markdown."""
    parts = [f"**{tr(headline(found))}**", "", f"- A: {tr(_told(found.a))}", f"- B: {tr(_told(found.b))}"]
    if found.more_usd is None:
        return "\n".join(parts) + "\n"
    if found.lines:
        parts += ["", f"### {tr('Money')}", "", *_rows(MONEY, money(found), right=3)]
    for title, changes in (("Decisions", found.decisions), ("Machines", found.pools)):
        if changes:
            parts += ["", f"### {tr(title)}", "", *_rows(CHOICES, choices(changes))]
    return "\n".join(parts) + "\n"


def headline(found: Difference) -> str:
    """One sentence: what B costs and takes more or less than A."""
    if found.more_usd is None or found.more_hours is None:
        lacking = [name for name, side in (("A", found.a), ("B", found.b)) if side.total_usd is None]
        return f"{words.listed(lacking)} {'has' if len(lacking) == 1 else 'have'} no plan: there is nothing to compare."
    if not found.lines and not found.decisions and not found.pools:
        return "Both are the same plan at the same price."
    usd, hours = found.more_usd, found.more_hours
    money = "costs what A costs"
    if abs(usd) >= CENT:
        money = f"costs {words.usd(abs(usd))} {'more' if usd > 0 else 'less'} than A"
    if abs(hours) < CENT:
        return f"B {money} and takes as long."
    return f"B {money} and is done {words.hours(abs(hours))} {'later' if hours > 0 else 'sooner'}."


def _told(side: Side) -> str:
    if side.total_usd is None or side.expected_hours is None or side.confident_hours is None:
        if side.status == "infeasible":
            return f"{side.name}: no plan keeps its limits and floors; rlopt explain says what would help"
        return f"{side.name}: no plan was found in the time given; a longer --time-limit may find one"
    proof = "proven" if side.status == "optimal" else "not proven"
    return (
        f"{side.name}: {words.usd(side.total_usd)}, expected in {words.hours(side.expected_hours)}, "
        f"confident in {words.hours(side.confident_hours)}, {proof}"
    )


def money(found: Difference) -> list[tuple[str, ...]]:
    """Each line that changes by a cent, and what is left of the rest, so that the column adds up."""
    shown = [line for line in found.lines if abs(line.more_usd) >= CENT]
    rows: list[tuple[str, ...]] = [
        (f"{line.dimension}: {line.item}", words.usd(line.a_usd), words.usd(line.b_usd), _signed(line.more_usd))
        for line in shown
    ]
    rest = sum(line.more_usd for line in found.lines if line not in shown)
    if abs(rest) >= CENT:
        rows.append(("changes of less than a cent each", "", "", _signed(rest)))
    totals = (found.a.total_usd, found.b.total_usd)
    rows.append(("total", *("" if usd is None else words.usd(usd) for usd in totals), _signed(found.more_usd or 0.0)))
    return rows


def _signed(usd: float) -> str:
    return f"+{words.usd(usd)}" if usd > 0 else words.usd(usd)


def choices(changes: Sequence[Change]) -> list[tuple[str, ...]]:
    """One row for each choice that differs; what only one side has, a pool or a group of decisions, is one row."""
    rows: dict[str, tuple[str, ...]] = {}
    lone = _lone_groups(changes)
    for one in changes:
        key = one.key.partition(".")[2]
        pool = key.partition(".")[0]
        if f"{pool}.offer" in _alone_in(changes):
            rows[pool] = (pool, *(_pool(pool, changes, side) for side in ("a", "b")))
        elif pool in lone:
            rows[pool] = (pool, *(_group(pool, lone[pool], side) for side in ("a", "b")))
        else:
            rows[key] = (key, words.number(one.a), words.number(one.b))
    return list(rows.values())


def _alone_in(changes: Sequence[Change]) -> set[str]:
    """Keys of offers that only one of the two has: their pools are in one plan alone."""
    return {
        one.key.partition(".")[2]
        for one in changes
        if one.key.endswith(".offer") and None in (one.a, one.b) and one.key.startswith("pools.")
    }


def _lone_groups(changes: Sequence[Change]) -> dict[str, list[Change]]:
    """Groups of decisions of which only one side has any key: how samples are loaded, where nothing is."""
    groups: dict[str, list[Change]] = {}
    for one in changes:
        name, dot, _ = one.key.partition(".")[2].partition(".")
        if dot and one.key.startswith("decisions."):
            groups.setdefault(name, []).append(one)
    return {
        name: found
        for name, found in groups.items()
        if len(found) > 1 and (all(one.a is None for one in found) or all(one.b is None for one in found))
    }


def _group(name: str, changes: Sequence[Change], side: str) -> str:
    """What one side decides of a group in a few words: zeros say nothing."""
    own = [(one.key.removeprefix(f"decisions.{name}."), getattr(one, side)) for one in changes]
    return ", ".join(f"{key} {words.number(value)}" for key, value in own if value) or "none"


def _pool(name: str, changes: Sequence[Change], side: str) -> str:
    """A pool of one plan alone in a few words."""
    own = {one.key.removeprefix(f"pools.{name}."): getattr(one, side) for one in changes}
    if own.get("offer") is None:
        return "none"
    return f"{words.count(own['nodes'], 'node')} of {own['offer']}"


def _rows(columns: Sequence[str], rows: Sequence[Sequence[str]], right: int = 0) -> list[str]:
    marks = ["---" if i < len(columns) - right else "---:" for i in range(len(columns))]
    return [
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in map(tr, row))} |"
        for row in (columns, marks, *rows)
    ]
