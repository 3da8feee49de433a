"""What stands around a run's records: spans of traces, dashboards, and where logs go."""

from __future__ import annotations

from typing import Final

from pydantic import model_validator

from rlopt.request.values.kinds import Name, Share, WholeOrZero, refuse
from rlopt.request.values.quantities import Cash, Size
from rlopt.strict import Strict
from rlopt.units import Money

DEFAULT_SPAN_BYTES: Final = 500.0
"""Bytes of one span, an assumption: what pages that size stores of traces reckon with (learnsystemdesign.in, problem
distributed-tracing, scale: 0.5 kB in binary form, 1.2 kB as JSON; k8scalc.com, Tempo calculator: 500 B)."""


class Traces(Strict):
    """Spans that a run records, by the step."""

    spans_per_step: WholeOrZero = 0
    """Spans that one step yields before sampling."""
    sample_rate: Share = 1.0
    """Share of the spans that is kept."""
    bytes_per_span: Size = DEFAULT_SPAN_BYTES
    """Stored size of one span, in bytes; 500 B when left out, an assumption."""

    @property
    def bytes_per_step(self) -> float:
        """Bytes that one step writes."""
        return self.spans_per_step * self.sample_rate * self.bytes_per_span


class Dashboards(Strict):
    """Live views of a run, paid for as long as it takes and its logs are kept."""

    panels: WholeOrZero = 0
    """Dashboards or panels that are billed."""
    users: WholeOrZero = 0
    """People who are billed for looking at them."""
    price: Cash
    """Price of one panel, and of one user, for a month of 730 h."""
    user_price: Cash | None = None
    """Price of one user for a month where it is not that of a panel."""

    @model_validator(mode="after")
    def _fits(self) -> Dashboards:
        if not self.panels and not self.users:
            message = "neither panels nor users are counted"
            raise refuse(message, "panels or users of 1 or more", "add panels: 3")
        if self.user_price is not None and not self.users:
            message = "user_price is given and no users are counted"
            raise refuse(message, "user_price with users of 1 or more", "add users: 2")
        return self

    @property
    def of_a_user(self) -> Money:
        """Price of one user for a month."""
        return self.price if self.user_price is None else self.user_price


class LogsTo(Strict):
    """The logging service that takes a run's logs, wherever the run is."""

    provider: Name
    """Provider of the service."""
    region: Name
    """Region of the service: logs of another region or provider leave as traffic."""
