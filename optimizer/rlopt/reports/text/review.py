"""A bill beside its plan, for the terminal."""

from __future__ import annotations

from typing import Final, get_args

from rich.console import RenderableType

from rlopt.answers.review import MachineTime, Part, Review, ReviewLine, ReviewParts
from rlopt.reports import words
from rlopt.reports.layout import Fitting, bullets, heading, paragraph, table

CENT: Final = 0.005
PARTS: Final[tuple[Part, ...]] = get_args(Part)
MEANS: Final[dict[Part, str]] = {
    "trials": "more or fewer runs than planned",
    "throughput": "hours that the runs took beyond the planned ones",
    "price": "another price for the hours",
    "growth": "storage, traffic, logs and data beyond what the runs explain",
    "rest": "what nothing that the bill states explains",
}
DO: Final[dict[Part, str]] = {
    "trials": "state the runs that were needed as job.trials, or cut weak ones off early (limits.cut_off)",
    "throughput": "set measured step times beside the plan's (rlopt validate), and look for machines that wait",
    "price": "order from the offers that the plan names, or state what was paid (choices.discounts)",
    "growth": "state what is really kept: costs.keep_for, job.trajectory, job.text_log, job.metrics",
    "rest": "state trials, hours or gpu_hours, and price in the bill: they say more",
}
HOLDS: Final = "planned hours are those of all runs, with lost and idle ones, unless these stand in rows of their own"
NUMBERS: Final = ("planned", "billed", *PARTS)


def review_report(found: Review) -> list[RenderableType]:
    """Lay a review out: the verdict, the parts, each row, and what no row stands for."""
    parts: list[RenderableType] = [paragraph(headline(found), style="bold")]
    if found.largest is not None:
        parts.append(paragraph(f"Next time: {_do(found, found.largest)}."))
    shown = in_cents(found.parts, found.more_usd)
    rows: list[tuple[str, ...]] = [(name, _signed(shown[name]), MEANS[name]) for name in PARTS]
    rows.append(("in all", _signed(round(found.more_usd, 2)), ""))
    parts += [*heading("Billed minus planned"), table(("part", "USD", "is"), rows, right=("USD",))]
    narrow = (", ".join(_told(line)) for line in found.lines)
    wide = table(("row of the bill", *NUMBERS), [_row(line) for line in found.lines], right=NUMBERS)
    parts += [*heading("Row by row"), Fitting(wide, bullets(narrow), least_width=90)]
    behind = [_behind(line, line.machines) for line in found.lines if line.machines is not None]
    if behind:
        parts += [*heading("Hours of machines"), bullets([*behind, HOLDS])]
    if found.unbilled:
        gone = (f"{one.dimension}: {one.item}, planned {words.usd(one.usd)}" for one in found.unbilled)
        parts += [*heading("Planned, and in no row of the bill"), bullets(gone)]
    return parts


def headline(found: Review) -> str:
    """One sentence: how far the bill is from the plan, and what moved it most."""
    billed, planned = words.usd(found.billed_usd), words.usd(found.planned_usd)
    if found.largest is None:
        return f"{found.bill} came to what {found.plan} said: {billed}."
    way = "more" if found.more_usd > 0 else "less"
    part = in_cents(found.parts, found.more_usd)[found.largest]
    return (
        f"{found.bill} came to {billed}, {words.usd(abs(found.more_usd))} {way} than the {planned} of {found.plan}; "
        f"most by {found.largest} ({_signed(part)})."
    )


def _do(found: Review, largest: Part) -> str:
    """What to do next time; where the bill states all that can be stated, the rest is looked for in rows."""
    lacking = any(one.machines is not None and _lacking(one.machines) for one in found.lines)
    if largest != "rest" or lacking:
        return DO[largest]
    row = max(found.lines, key=lambda one: abs(one.parts.rest), default=None)
    gone = sum(one.usd for one in found.unbilled)
    if row is None or abs(row.parts.rest) < max(gone, CENT):
        return "see that all that was planned is billed somewhere: what no row holds stands at the end"
    return f"see what {_name(row)} holds ({_signed(row.parts.rest)}), and state it in the request so that it is planned"


def _lacking(one: MachineTime) -> list[str]:
    """Facts of a row of machines that the bill does not state."""
    known = ("trials", "gpu_hours" if one.unit == "GPU-h" else "hours", "price")
    return [name for name in known if name not in one.stated]


def in_cents(parts: ReviewParts, more_usd: float) -> dict[Part, float]:
    """The parts in whole cents that add up to the difference in whole cents.

    What rounding leaves goes to the rest, or to the largest part where there is no rest.
    """
    cents = {name: round(getattr(parts, name) * 100.0) for name in PARTS}
    taker: Part = "rest" if cents["rest"] else max(PARTS, key=lambda name: abs(cents[name]))
    cents[taker] += round(more_usd * 100.0) - sum(cents.values())
    return {name: value / 100.0 for name, value in cents.items()}


def _signed(usd: float) -> str:
    if abs(usd) < CENT:
        return words.usd(0.0)
    return f"+{words.usd(usd)}" if usd > 0 else words.usd(usd)


def _row(line: ReviewLine) -> tuple[str, ...]:
    shown = in_cents(line.parts, line.billed_usd - line.planned_usd)
    cells = ("" if abs(shown[name]) < CENT else _signed(shown[name]) for name in PARTS)
    return (_name(line), words.usd(line.planned_usd), words.usd(line.billed_usd), *cells)


def _told(line: ReviewLine) -> list[str]:
    name, planned, billed, *parts = _row(line)
    said = [f"{part} {cell}" for part, cell in zip(PARTS, parts, strict=True) if cell]
    return [f"{name}: planned {planned}", f"billed {billed}", *said]


def _name(line: ReviewLine) -> str:
    return f"{line.dimension}: {line.item}" if line.item else line.dimension


def _behind(line: ReviewLine, one: MachineTime) -> str:
    due = _time(one.planned, one.planned_trials, one.planned_usd_per_unit, one.unit)
    came = _time(one.billed, one.billed_trials, one.billed_usd_per_unit, one.unit)
    text = f"{_name(line)}: planned {due}, billed {came}"
    lacking = _lacking(one)
    if not lacking:
        return text
    follow = "they follow" if lacking[1:] else "it follows"
    return f"{text} ({words.listed(lacking)} not stated: as planned, or as {follow})"


def _time(hours: float, trials: float, usd: float, unit: str) -> str:
    return f"{words.number(trials)} × {words.number(hours / trials)} {unit} at {words.rate(usd)}"
