"""One page that holds a whole answer: it needs no network, and nothing else beside it."""

from rlopt.reports.page.given import Given
from rlopt.reports.page.render import page

__all__ = ["Given", "page"]
