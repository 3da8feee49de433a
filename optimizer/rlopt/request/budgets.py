"""Budgets: one amount for the whole bill, or a map of the total and of dimensions of the bill."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo, ValidatorFunctionWrapHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from rlopt.request.values.quantities import Cash, Price
from rlopt.strict import Strict
from rlopt.units import Money


class Budgets(Strict):
    """Most that the whole bill and its dimensions may come to, all trials."""

    total: Cash | None = None
    """The whole bill."""
    compute: Cash | None = None
    """GPU and CPU machines."""
    storage: Cash | None = None
    """Data, checkpoints, logs at rest."""
    network: Cash | None = None
    """Traffic between zones, regions and clouds."""
    cache: Cash | None = None
    """Fast stores."""
    logging: Cash | None = None
    """Metrics and sampled text."""
    operations: Cash | None = None
    """Failures, idle time and people."""
    data: Cash | None = None
    """Labels, cleaning, versions."""

    def parts(self) -> dict[str, Money]:
        """Give the dimensions that have a budget of their own, the total left out."""
        pairs = ((name, getattr(self, name)) for name in type(self).model_fields if name != "total")
        return {name: money for name, money in pairs if money is not None}


class _BudgetKind:
    """Reads an amount as the total and a map as `Budgets`; what an amount gave stays `Money`."""

    def read(self, value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Money | Budgets:
        """Return money or budgets."""
        is_map = isinstance(value, Budgets) or (isinstance(value, Mapping) and set(value) != {"amount", "currency"})
        read: Money | Budgets = handler(value) if is_map else Price().read(value, info)
        return read

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        anything = core_schema.simple_ser_schema("any")
        inner = handler.generate_schema(Budgets)
        return core_schema.with_info_wrap_validator_function(self.read, inner, serialization=anything)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [Price().schema(), handler(schema)]}


Budget = Annotated[Money | Budgets, _BudgetKind()]
