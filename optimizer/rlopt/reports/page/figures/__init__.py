"""Charts as the plotting library's own documents: plain maps of ``data`` and ``layout``.

Colours are names of CSS variables, ``var(--ink)``, which the page puts in when it draws: so one document serves light,
dark and print. Text goes through the language in use; numbers are finished texts of `rlopt.reports.words`.
"""

from __future__ import annotations

from typing import Any

Figure = dict[str, Any]
