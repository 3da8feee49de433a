"""What one's own timings changed, for the terminal: constants, predictions beside the log, the plan of what is left."""

from __future__ import annotations

from rich.console import RenderableType

from rlopt.answers.recalibration import Going, LogRead, MovedConstant, Recalibration, StageSeconds, Switching
from rlopt.reports import words
from rlopt.reports.layout import bullets, heading, paragraph, table
from rlopt.reports.text.diff import difference_report

SECONDS = ("stage of a step", "logged", "predicted before", "predicted now")
CONSTANTS = ("what", "from", "to", "because")
MOST_STAYED = 8
MEANINGS = {
    "train": "{}: updates and scoring, times",
    "sample": "{}: generation, times",
    "step_s": "{}: driver, reward and data of a step, s",
    "switch_s": "{}: sleep and wake of the engine, s",
    "images_s": "{}: images of a step, s",
    "fixed_s": "{}: hand-over of weights, fixed part, s",
    "gb_s": "{}: hand-over of weights, GB/s",
    "score_train": "scoring beside updates, times",
    "exposed_share": "share of the shorter side that is waited for",
    "generation_train": "{} GPUs: updates and scoring, times",
    "generation_sample": "{} GPUs: generation, times",
    "engine_factor": "{} training stack, times",
    "device_factor": "{}, times",
    "device": "{}: generation, times",
}
"""Constants in words, by the last name of their path or the one before; the other of the two is put in."""


def calibration_report(found: Recalibration) -> list[RenderableType]:
    """Lay the answer out for the terminal."""
    parts: list[RenderableType] = [paragraph(headline(found), style="bold")]
    parts += [*heading("Read"), bullets([text for log in found.logs for text in _read(log)])]
    if found.stages:
        parts += [
            *heading("Seconds of a step"),
            table(SECONDS, [_seconds(one) for one in found.stages], right=SECONDS[1:]),
        ]
    if found.errors:
        columns = ("rows of", "rows", "median error before", "now")
        shares = [(one.kind, f"{one.rows:,}", f"{one.before:.1%}", f"{one.after:.1%}") for one in found.errors]
        parts += [*heading("Errors on the rows themselves"), table(columns, shares, right=columns[1:])]
    if found.framework:
        parts += [*heading("Constants"), paragraph(f"The loop counts with the constants of {found.framework}.")]
    if found.moved:
        parts += [] if found.framework else heading("Constants")
        parts.append(table(CONSTANTS, [_moved(one) for one in found.moved], right=CONSTANTS[1:3]))
    if found.stayed:
        parts.append(bullets([_stayed(found.stayed)]))
    if found.bands:
        widths = ("80 % of cases lie within", "before", "now")
        bands = [(one.what, f"±{one.before:.0%}", f"±{one.after:.0%}") for one in found.bands]
        parts += [*heading("How far predictions may be off"), table(widths, bands, right=widths[1:])]
    if found.notes:
        parts += [*heading("Worth knowing"), bullets(found.notes)]
    parts += _left(found)
    return parts


def headline(found: Recalibration) -> str:
    """One sentence on the step's time, or on how many constants moved."""
    step = next((one for one in found.stages if one.stage == "step"), None)
    moved = words.count(len(found.moved), "constant")
    if step is None:
        return f"{found.name}: {moved} moved."
    off = step.logged / step.before - 1.0
    slower = f"{abs(off):.0%} {'slower' if off > 0 else 'faster'} than predicted"
    pace = "as fast as predicted" if abs(off) < 0.005 else slower
    return f"A step takes {words.seconds(step.logged)}, {pace}; {moved} moved."


def _read(log: LogRead) -> list[str]:
    texts = [f"{log.name} ({log.format}): {log.used}"]
    texts += [f"{count} left out: {reason}" for reason, count in log.left_out.items() if reason != "restarts"]
    if log.left_out.get("restarts"):
        texts.append(f"{words.count(log.left_out['restarts'], 'restart')} in it")
    for reason, count in log.skipped.items():
        line = log.first_skipped.get(reason)
        texts.append(f"{words.count(count, 'line')} of no use, the first at {log.name}:{line}: {reason}")
    return texts


def _seconds(one: StageSeconds) -> tuple[str, ...]:
    return (one.stage, *(words.seconds(value) for value in (one.logged, one.before, one.after)))


def _moved(one: MovedConstant) -> tuple[str, ...]:
    held = "; a physical bound holds it" if one.at_bound else ""
    return (meaning(one.constant), f"{one.before:.4g}", f"{one.after:.4g}", f"{one.because}{held}")


def meaning(constant: str) -> str:
    """A constant in words, by its dotted name."""
    for name, what in MEANINGS.items():
        before, inside, after = constant.partition(f".{name}.")
        if inside:
            return what.format(after)
        if constant.endswith(f".{name}"):
            return what.format(before.removesuffix(f".{name}").split(".", 2)[-1])
    return constant


def _stayed(names: list[str]) -> str:
    shown = "; ".join(meaning(name) for name in names[:MOST_STAYED])
    more = f"; and {len(names) - MOST_STAYED} more" if len(names) > MOST_STAYED else ""
    return f"the timings say nothing of {shown}{more}: as shipped, as all else is"


def _left(found: Recalibration) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if found.steps_done is not None and found.steps_left is not None:
        spent = [] if found.hours_spent is None else [words.hours(found.hours_spent)]
        spent += [] if found.usd_spent is None else [f"about {words.usd(found.usd_spent)} of machines"]
        parts += heading("What is left")
        text = f"{found.steps_done} steps are done in {' and '.join(spent)}, {found.steps_left} are left."
        parts.append(paragraph(f"{text} What is spent is shown, not optimised: no decision changes it."))
    if found.going_on is not None:
        parts.append(paragraph(_going(found.going_on)))
        if found.switching is not None:
            parts.append(paragraph(_switching(found.switching)))
    elif found.plan is not None and found.steps_left:
        parts.append(paragraph("The machines that run cannot be held for the rest: see rlopt evaluate."))
    if found.difference is not None:
        parts += heading("How the plan changes")
        parts += difference_report(found.difference)
    elif found.plan is not None and found.plan.cost is None:
        parts.append(paragraph("No plan keeps the limits at this pace: rlopt explain says what would help."))
    return parts


def _going(one: Going) -> str:
    steps = words.count(one.steps, "step")
    return (
        f"Going on: {words.usd(one.usd)} and {words.hours(one.hours)} for {steps} at the logged pace, machines at "
        f"{words.usd(one.usd_per_hour)} an hour, no new start."
    )


def _switching(one: Switching) -> str:
    move = "inside the same place" if one.transfer_usd == 0.0 else "at a price nobody states"
    if one.transfer_usd:
        move = f"for {words.usd(one.transfer_usd)}"
    text = (
        f"Switching: {words.usd(one.usd)} and {words.hours(one.hours)}, a new start of {words.hours(one.start_hours)} "
        f"included; a checkpoint of {one.moved_gb:,.0f} GB moves {move}."
    )
    later = f"{words.hours(abs(one.later_hours))} {'later' if one.later_hours > 0.0 else 'sooner'}"
    if one.worth:
        return f"{text} Switch: it saves {words.usd(one.saves_usd)} and is done {later}."
    if one.saves_usd > 0.0:
        saved = words.usd(one.saves_usd)
        return f"{text} Stay: it would save {saved}, less than predictions can tell, and be done {later}."
    return f"{text} Stay: it saves no money and is done {later}."
