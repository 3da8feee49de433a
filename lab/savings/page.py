"""Tables of docs/savings.md: rows of measurements/published_runs.csv as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median

from lab.pages import NOT_UNDERSTOOD, markdown, percent
from lab.savings import words as prose

Line = Mapping[str, str]
FAR = 0.5
"""Hours off by more than this share are explained one by one."""
SAME = 0.005
"""Bills closer than this share are called equal."""


def number(line: Line, column: str) -> float | None:
    """A cell as a number; None where it is empty."""
    return float(line[column]) if line[column] else None


def usd(value: float | None) -> str:
    """Whole dollars, with cents below 100."""
    return "–" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def hours(value: float | None) -> str:
    """Hours to three digits."""
    return "–" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def saved(plan: float | None, other: float | None) -> float | None:
    """1 − plan / other; None where one is missing, 0 where they are equal but for rounding."""
    if plan is None or not other:
        return None
    share = 1.0 - plan / other
    return 0.0 if abs(share) < SAME else share


def name(line: Line) -> str:
    """Example and row in short."""
    return f"{line['id'][:2]} {line['row']}".strip()


def same_job(line: Line) -> bool:
    """Whether the published job is the example's."""
    return line["match"].startswith("same job")


def against_configuration(line: Line) -> float | None:
    """What the plan saves against the configuration."""
    return saved(number(line, "plan_usd"), number(line, "configuration_usd"))


def same_limits(line: Line) -> float | None:
    """What the cheapest plan under the configuration's limits saves against it."""
    return saved(number(line, "unlimited_usd"), number(line, "configuration_usd"))


def against_real(line: Line) -> float | None:
    """What the plan saves against the rent really paid, for the same job."""
    return saved(number(line, "plan_usd"), number(line, "real_usd")) if same_job(line) else None


def share(value: float | None) -> str:
    """A saving, with its sign where it is a loss."""
    return "equal" if value == 0.0 else percent(value)


def page(lines: Sequence[Line]) -> str:
    """The whole page."""
    parts = [prose.HEAD, "## In short\n", _short(lines), prose.CONFIGURATIONS, _configurations(lines)]
    parts += [prose.REAL, _real(lines), prose.LOSSES, _losses(lines), prose.OFF, _far(lines)]
    parts += [prose.HELD, _held(lines), prose.LEFT_OUT, _left_out(lines)]
    return "\n".join(part for part in parts if part)


def _short(lines: Sequence[Line]) -> str:
    rows = []
    for title, values in (
        ("plan against the published configuration", [against_configuration(line) for line in lines]),
        ("the same, under the same limits", [same_limits(line) for line in lines]),
        ("plan's whole bill against GPU rent really paid", [against_real(line) for line in lines]),
        ("the same, hours predicted within a factor of two", [against_real(line) for line in lines if _near(line)]),
    ):
        known = [value for value in values if value is not None]
        if known:
            counts = [sum(value > 0 for value in known), known.count(0.0), sum(value < 0 for value in known)]
            rows.append((title, *(str(count) for count in (len(known), *counts)), share(median(known))))
    text = markdown(("", "runs", "cheaper", "equal", "dearer", "median saved"), rows, 5)
    examples = len({line["id"] for line in lines})
    return f"{len(lines)} published runs of {examples} examples.\n\n{text}"


def _configurations(lines: Sequence[Line]) -> str:
    rows = [
        (
            name(line),
            line["run"],
            usd(number(line, "configuration_usd")),
            _plan(line),
            share(against_configuration(line)),
            usd(number(line, "unlimited_usd")),
            share(same_limits(line)),
        )
        for line in lines
        if line["configuration_usd"]
    ]
    columns = ("", "published run", "configuration, USD", "plan, USD", "saved", "same limits, USD", "saved")
    return markdown(columns, rows, 5)


def _bound(line: Line) -> str:
    return "≤ " if line["hours_are"] == "upper bound" else ""


def _ratio(line: Line) -> float | None:
    predicted, published = number(line, "configuration_hours"), number(line, "published_hours")
    return predicted / published if predicted and published and same_job(line) else None


def _near(line: Line) -> bool:
    ratio = _ratio(line)
    return ratio is not None and 1.0 - FAR <= ratio <= 1.0 / (1.0 - FAR)


def _plan(line: Line) -> str:
    """The plan's bill, or that there is none."""
    return usd(number(line, "plan_usd")) if line["plan_usd"] or not line["plan_what"] else line["plan_what"]


def _real(lines: Sequence[Line]) -> str:
    rows = []
    for line in lines:
        if not (line["published_hours"] or line["real_usd"]):
            continue
        ratio, loose = _ratio(line), "H100 assumed: " if "GPU not stated" in line["run"] else ""
        rows.append(
            (
                name(line),
                line["run"],
                f"{line['hours_are']}; {loose}{line['price']}" if line["price"] else line["hours_are"],
                f"{_bound(line)}{hours(number(line, 'published_hours'))}",
                hours(number(line, "configuration_hours")),
                "–" if ratio is None else f"{ratio:.2f}",
                f"{_bound(line)}{usd(number(line, 'real_usd'))}",
                _plan(line),
                share(against_real(line)) if same_job(line) else "other job",
            )
        )
    columns = (
        "",
        "published run",
        "took, h",
        "predicted, h",
        "ratio",
        "really paid, USD",
        "plan, USD",
        "saved",
        "basis",
    )
    return markdown(columns, rows, 0)


def _losses(lines: Sequence[Line]) -> str:
    found = [f"- {text}\n" for line in lines for text in (_lost_on_model(line), _lost_on_real(line)) if text]
    return "".join(found) or prose.NO_LOSS


def _lost_on_model(line: Line) -> str:
    value = against_configuration(line)
    if value is None or value >= 0:
        return ""
    plan, other = usd(number(line, "plan_usd")), usd(number(line, "configuration_usd"))
    why = [f"the example does not allow it ({_keys(line['lifted'])})"] if line["lifted"] else []
    why += [f"it stands on {line['assumed']}, which the catalog does not offer"] if line["assumed"] else []
    ours = usd(number(line, "unlimited_usd"))
    return (
        f"**{name(line)}**, {line['run']}: the plan costs {plan} USD, the configuration {other} USD, because "
        f"{' and '.join(why)}. Under the same limits the plan is {line['unlimited_what']} for {ours} USD."
    )


def _lost_on_real(line: Line) -> str:
    value = against_real(line)
    if value is None or value >= 0:
        return ""
    plan, rent = number(line, "plan_usd") or 0.0, number(line, "plan_gpu_usd") or 0.0
    text = (
        f"**{name(line)}**, {line['run']}: the plan costs {usd(plan)} USD ({line['plan_what']}; GPU rent "
        f"{usd(rent)}, all else {usd(plan - rent)}), the run paid {usd(number(line, 'real_usd'))} USD of rent at "
        f"{line['price']} a GPU-hour."
    )
    if line["lifted"]:
        text += f" The example does not allow that run ({_keys(line['lifted'])})."
    return text


def _keys(cell: str) -> str:
    return ", ".join(f"`{key}`" for key in cell.split("; "))


def _far(lines: Sequence[Line]) -> str:
    rows = []
    for line in lines:
        ratio = _ratio(line)
        if ratio is not None and not _near(line):
            why = prose.FAR.get((line["id"], line["row"]), NOT_UNDERSTOOD)
            rows.append((name(line), line["run"], f"{ratio:.2f}", why))
    return markdown(("", "published run", "predicted / published", "what is known"), rows, 0) if rows else "None.\n"


def _held(lines: Sequence[Line]) -> str:
    said: dict[str, Callable[[str], str]] = {
        "freed": lambda text: f"free though stated: {text}",
        "assumed": str,
        "differs": str,
    }
    rows = []
    for line in lines:
        if line["configuration_usd"]:
            notes = "; ".join(words(line[column]) for column, words in said.items() if line[column])
            rows.append((name(line), line["match"], line["configuration_what"], _lifted(line), notes or "–"))
    return markdown(("", "match", "priced as", "lifted", "to know"), rows, 0)


def _lifted(line: Line) -> str:
    return _keys(line["lifted"]) if line["lifted"] else "nothing"


def _left_out(lines: Sequence[Line]) -> str:
    rows = [(name(line), line["match"], line["run"], line["reason"]) for line in lines if line["reason"]]
    return markdown(("", "match", "published run", "why not"), rows, 0) if rows else "None.\n"
