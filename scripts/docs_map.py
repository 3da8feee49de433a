"""The map of the code: a picture of the rooms by floor, and a table that says what each room holds.

Both come from what the suite checks anyway, the floors declared in pyproject.toml, and from each room's first words,
so that neither can drift. `docs/map.md` holds the table between two marks, CONTRIBUTING.md the floors in short; the
picture is a file of its own.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "map.md"
PICTURE = ROOT / "docs" / "assets" / "map.svg"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"

FLOW: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("request", ("reading", "request", "facts"), "what is asked, what is known"),
    ("problem", ("market", "pools", "problem"), "every way to serve a part"),
    ("columns", ("columns",), "parts put together"),
    ("search", ("search",), "what can win, by bounds"),
    ("program", ("program", "solvers"), "the best, proven"),
    ("plan", ("assembly", "answers"), "the column as a plan"),
    ("audit", ("assembly", "rules", "costs"), "recomputed, no solver"),
    ("reports", ("reports", "exporters"), "words, files"),
)
"""The way of a request: what comes into being, the rooms that make it, and what it is. Every room stands on a floor."""

GROUPS: dict[str, str] = {
    "cli": "asked: the command line over the public functions",
    "studies": "questions: cheapest, frontier, explanation, rest of a run",
    "search": "the heart: what can win, the proof, the plan, the audit",
    "fitting": "from outside: measurements, price lists, files, launchers",
    "rules": "what a plan must keep, costs and says",
    "columns": "every way to run the job: parts, priced and joined",
    "estimates": "physics: bytes and seconds; algorithms; solvers",
    "facts": "ground: records and words that know nothing else",
}
"""What floors have in common, by the first room of the uppermost of them."""

WIDTH, MARGIN, ROW, BOX = 1080, 24, 40, 30
FLOOR_TOP = 214
LETTER = 7.6
"""Width of a letter of the boxes' font, in the picture's units; generous, so that no name leaves its box."""
STYLE = """
svg { --card: #ffffff; --ink: #1f2430; --soft: #5b6270;
  --box: #eef1fb; --edge: #6f7fc4; --way: #fdf0dc; --way-edge: #b0761a; }
@media (prefers-color-scheme: dark) {
  svg { --card: #1e2129; --ink: #eceff6; --soft: #aeb6c6;
    --box: #2b3350; --edge: #8d9cdf; --way: #46351c; --way-edge: #e0a64d; }
}
text { font-family: system-ui, sans-serif; fill: var(--ink); font-size: 13px; }
.soft { fill: var(--soft); font-size: 11.5px; }
.head { font-size: 15px; font-weight: 600; }
.room { fill: var(--box); stroke: var(--edge); }
.way { fill: var(--way); stroke: var(--way-edge); }
.edge { fill: none; stroke: var(--edge); }
.arrow { stroke: var(--way-edge); stroke-width: 1.6; fill: none; }
""".strip()


def floors() -> list[list[str]]:
    """Rooms of each floor, from the roof down, as pyproject.toml declares them; optional rooms that exist count too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "floors")
    names = [[name.strip(" ()") for name in re.split(r"[|:]", layer)] for layer in layers]
    return [[name for name in floor if _module(name).is_file()] for floor in names]


def _module(room: str) -> Path:
    folder = ROOT / "optimizer" / "rlopt" / room
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


def holds(room: str) -> str:
    """What a room says of itself: the first paragraph of its docstring, on one line, ready for a table."""
    text = ast.get_docstring(ast.parse(_module(room).read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|")


def map_pages() -> dict[Path, str]:
    """The picture, and the two pages with the tables of rooms as they are now."""
    return {
        PICTURE: picture(),
        PAGE: _filled(PAGE, "rooms", table()),
        CONTRIBUTING: _filled(CONTRIBUTING, "floors", short()),
    }


def _filled(page: Path, mark: str, text: str) -> str:
    """A page with what stands between two marks written anew."""
    opening, closing = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    whole = page.read_text(encoding="utf-8")
    return f"{whole.split(opening)[0]}{opening}\n\n{text}\n{closing}{whole.split(closing)[1]}"


def short() -> str:
    """The floors with the names of their rooms alone, from the roof down."""
    found = floors()
    rows = [
        f"| {len(found) - number} | {' · '.join(f'`{room}`' for room in floor)} |" for number, floor in enumerate(found)
    ]
    return "\n".join(["| floor | rooms |", "|---:|---|", *rows, ""])


def table() -> str:
    """Floors counted from the ground, as a table of rooms."""
    found = floors()
    rows = [
        f"| {len(found) - number} | `{room}` | {holds(room)} |" for number, floor in enumerate(found) for room in floor
    ]
    return "\n".join(["| floor | room | holds |", "|---:|---|---|", *rows, ""])


def picture() -> str:
    """The way of a request above, the floors below, as one drawing for light and dark pages."""
    found = floors()
    height = FLOOR_TOP + ROW * len(found) + MARGIN + 8
    listed = "; ".join(f"floor {len(found) - n}: {', '.join(floor)}" for n, floor in enumerate(found))
    way = ", then ".join(f"{name} ({', '.join(rooms)})" for name, rooms, _ in FLOW)
    told = escape(f"A request becomes {way}. Rooms import downwards only. From the roof: {listed}.")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-labelledby="map-title map-desc">',
        '<title id="map-title">The rooms of rlopt by floor, and the way of a request through them</title>',
        f'<desc id="map-desc">{told}</desc>',
        f"<style>\n{STYLE}\n</style>",
        f'<rect width="{WIDTH}" height="{height}" rx="10" style="fill: var(--card)"/>',
        *_way(),
        f'<text class="head" x="{MARGIN}" y="{FLOOR_TOP - 14}">'
        "The floors: a room imports from floors below its own only</text>",
        *_house(found),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _way() -> list[str]:
    width = (WIDTH - 2 * MARGIN) / len(FLOW)
    drawn = [
        '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="6" refY="4" orient="auto">'
        '<path class="arrow" d="M1 1 L6 4 L1 7"/></marker></defs>',
        f'<text class="head" x="{MARGIN}" y="38">The way of a request</text>',
    ]
    for number, (name, rooms, what) in enumerate(FLOW):
        left, middle = MARGIN + number * width, MARGIN + number * width + (width - 18) / 2
        drawn += [
            f'<rect class="way" x="{left:.1f}" y="56" width="{width - 18:.1f}" height="44" rx="6"/>',
            f'<text x="{middle:.1f}" y="83" text-anchor="middle">{number + 1} {name}</text>',
            *_lines(middle, 117, ", ".join(rooms)),
            *_lines(middle, 150, what),
        ]
        if number:
            drawn.append(f'<path class="arrow" marker-end="url(#tip)" d="M{left - 17:.1f} 78 H{left - 2:.1f}"/>')
    return drawn


def _lines(x: float, y: int, text: str, most: int = 17) -> list[str]:
    """A short text in lines of some letters, centred."""
    lines = [""]
    for word in text.split():
        fits = len(lines[-1]) + len(word) < most
        lines[-1:] = [f"{lines[-1]} {word}".strip()] if fits else [lines[-1], word]
    return [
        f'<text class="soft" x="{x:.1f}" y="{y + 14 * n}" text-anchor="middle">{line}</text>'
        for n, line in enumerate(lines)
    ]


def _house(found: list[list[str]]) -> list[str]:
    """Floors as rows of boxes, a bracket beside those that have something in common."""
    steps = {room: number + 1 for number, (_, rooms, _) in reversed(list(enumerate(FLOW))) for room in rooms}
    drawn, widest = [], 0.0
    for number, floor in enumerate(found):
        top = FLOOR_TOP + number * ROW
        drawn.append(f'<text class="soft" x="{MARGIN}" y="{top + 20}">{len(found) - number}</text>')
        left = float(MARGIN + 36)
        for room in floor:
            label = f"{room} ({steps[room]})" if room in steps else room
            width = LETTER * len(label) + 24
            style = "way" if room in steps else "room"
            drawn += [
                f'<rect class="{style}" x="{left:.1f}" y="{top}" width="{width:.1f}" height="{BOX}" rx="5"/>',
                f'<text x="{left + width / 2:.1f}" y="{top + 20}" text-anchor="middle">{label}</text>',
            ]
            left += width + 12
        widest = max(widest, left)
    starts = [number for number, floor in enumerate(found) if GROUPS.keys() & set(floor)]
    for number, after in zip(starts, [*starts[1:], len(found)], strict=True):
        top, end = FLOOR_TOP + number * ROW, FLOOR_TOP + after * ROW - ROW + BOX
        words = next(GROUPS[room] for room in found[number] if room in GROUPS)
        drawn += [
            f'<path class="edge" d="M{widest:.1f} {top} h6 V{end} h-6"/>',
            f'<text x="{widest + 18:.1f}" y="{(top + end) / 2 + 5:.0f}">{words}</text>',
        ]
    return drawn
