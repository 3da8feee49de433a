"""From plans to one self-contained HTML page.

Every text goes through a template that escapes it; maps of data stand in blocks that no browser runs. The page's policy
forbids all requests, and all scripts but those whose fingerprints it names.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from rlopt import __version__
from rlopt.answers.plan import Frontier, Plan
from rlopt.language import current, tr
from rlopt.reports.page.blocks import linked
from rlopt.reports.page.choice import Choice, choices
from rlopt.reports.page.figures.frontier import frontier_figure
from rlopt.reports.page.speeds import speeds
from rlopt.reports.page.view import Given, views

if TYPE_CHECKING:
    from jinja2 import Environment

LANGUAGE_TAGS: Final = {"en": "en", "zh": "zh-Hans"}
SCRIPTS: Final = ("charts.js", "page.js")
"""In the order in which they run."""


def page(plan: Plan, given: Given, curve: Frontier | None = None) -> str:
    """Lay an answer out as a page, in the language in use.

    Parameters
    ----------
    plan
        What is shown first, whatever its status.
    given
        The request.
    curve
        Other proven plans to choose from.

    Returns
    -------
    str
        The whole document; the same answer gives the same page.
    """
    points = [] if curve is None else curve.points
    chosen = choices(plan, points, None if curve is None else curve.knee) if plan.cost is not None else []
    several = len(chosen) > 1
    shown = views(chosen or [Choice(0, plan)])
    first = next(view for view in shown if view.number == 0)
    figures = {"plans": {view.number: view.figures for view in shown}}
    library = _library()
    scripts = [_asset(name) for name in SCRIPTS]
    return (
        _templates()
        .get_template("page.html.j2")
        .render(
            language=LANGUAGE_TAGS[current()],
            title=tr(f"Plan for {plan.job}") if plan.job else tr("Plan"),
            job=plan.job,
            tags=plan.tags,
            views=shown,
            first=first,
            speeds=speeds(chosen) if several else None,
            figures=figures | ({"frontier": frontier_figure(chosen)} if several else {}),
            given=given,
            style=_asset("page.css"),
            scripts=scripts,
            library=library.packed,
            library_name=library.name,
            policy=_policy([*scripts, library.text]),
            version=__version__,
        )
    )


def _policy(scripts: Sequence[str]) -> str:
    """Content security policy: nothing is fetched, and only these scripts run."""
    prints = [b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") for text in scripts]
    allowed = " ".join(f"'sha256-{one}'" for one in prints)
    rules = ("default-src 'none'", f"script-src {allowed}", "style-src 'unsafe-inline'", "img-src data:")
    return "; ".join((*rules, "base-uri 'none'", "form-action 'none'"))


class _Library:
    """The plotting library as it ships with its Python package, packed for the page."""

    def __init__(self) -> None:
        data = files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
        self.text = data.decode("utf-8")
        self.packed = b64encode(gzip.compress(data, mtime=0)).decode("ascii")
        self.name = self.text[:200].partition("plotly.js ")[2].split()[0].strip("*/")


@cache
def _library() -> _Library:
    return _Library()


@cache
def _asset(name: str) -> str:
    return files("rlopt.reports.page").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("rlopt.reports.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["tr"] = tr
    made.filters["linked"] = linked
    made.filters["data"] = _data
    return made


def _data(value: Any) -> str:
    """JSON that may stand inside a script element whatever texts it holds."""
    from markupsafe import Markup

    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return Markup(text)  # every mark that could end the element is written as an escape
