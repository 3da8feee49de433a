"""Files to facts and requests, with every complaint at once and its place."""

from __future__ import annotations
