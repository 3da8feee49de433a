"""One page that holds a whole answer: it needs no network, and nothing else beside it."""

from rlopt.reports.page.render import page
from rlopt.reports.page.view import Given

__all__ = ["Given", "page"]
