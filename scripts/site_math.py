"""Formulas of the documentation as drawings in the page: no script, no font and no request of another host.

A fence marked ``math`` holds one formula a line, and ``$`...` `` one inside a sentence, both in the notation of TeX.
They are set by matplotlib's own mathematics text. The notation stays in the page for those who cannot see it.
"""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import Any

from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextToPath

EM = 1000
"""Units of a drawing to the size of the letters around it."""
_INLINE = re.compile(r"\$<code>([^<]+)</code>\$")
_DRAWN = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}


@lru_cache(maxsize=1024)
def drawing(formula: str) -> str:
    """The formula as an SVG element that takes the colour and size of the text around it.

    Raises ValueError where the notation is not understood.
    """
    text, size = f"${formula}$", EM / TextToPath.FONT_SCALE
    setter, font = TextToPath(), FontProperties(size=TextToPath.FONT_SCALE, math_fontfamily="stix")
    width, height, depth = (value * size for value in setter.get_text_width_height_descent(text, font, ismath=True))
    vertices, codes = setter.get_text_path(font, text, ismath=True)
    steps = []
    for points, code in Path(vertices, codes).iter_segments(simplify=False, curves=True):
        pairs = points.reshape(-1, 2) * (size, -size)
        closed = code == Path.CLOSEPOLY
        steps.append(_DRAWN[code] + ("" if closed else " ".join(f"{x:.0f} {y:.0f}" for x, y in pairs)))
    said = html.escape(formula, quote=True)
    return (
        f'<svg class="formula" role="img" aria-label="{said}" '
        f'viewBox="0 {depth - height:.0f} {width:.0f} {height:.0f}" '
        f'style="width:{width / EM:.3f}em;height:{height / EM:.3f}em;vertical-align:{-depth / EM:.3f}em">'
        f'<path d="{"".join(steps)}"/></svg>'
    )


def fence(source: str, *_: Any, **__: Any) -> str:
    """A block of formulas, one a line, for a fence marked ``math``."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    large = [line.replace(r"\frac", r"\dfrac") for line in lines]
    return '<div class="formulas">' + "".join(f"<p>{drawing(line)}</p>" for line in large) + "</div>"


def with_drawings(page: str) -> str:
    """A page's HTML with the formulas of its sentences drawn; Markdown has made code between dollar signs of them."""
    return _INLINE.sub(lambda found: drawing(html.unescape(found[1])), page)
