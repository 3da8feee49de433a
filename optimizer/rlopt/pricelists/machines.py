"""From a stated price to a machine: one that the catalogs know, or, in one's own list, one that the row describes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rlopt.facts import Catalog, Shape
from rlopt.pricelists.cells import CellError
from rlopt.pricelists.contract import StatedPrice

_JOINTS = re.compile(r"[\s_-]+")
MOST_NAMED = 6


@dataclass(frozen=True, slots=True)
class KnownMachines:
    """Known machines by provider, by their names, and by GPU."""

    catalog: Catalog
    providers: Mapping[str, str]
    """Lower-case name to the catalogs' own spelling."""
    by_name: Mapping[tuple[str, str], tuple[Shape, ...]]
    by_gpu: Mapping[tuple[str, str, int], tuple[Shape, ...]]

    @classmethod
    def of(cls, catalog: Catalog) -> KnownMachines:
        """Sort the machines of a catalog."""
        names: dict[tuple[str, str], dict[str, Shape]] = defaultdict(dict)
        cards: dict[tuple[str, str, int], list[Shape]] = defaultdict(list)
        for shape in catalog.shapes.values():
            cards[shape.provider, shape.device, shape.gpus].append(shape)
            for spelling in _spellings(shape):
                names[shape.provider, spelling][shape.key] = shape
        by_name = {key: tuple(found.values()) for key, found in names.items()}
        providers = {shape.provider.lower(): shape.provider for shape in catalog.shapes.values()}
        return cls(catalog, providers, by_name, {key: tuple(found) for key, found in cards.items()})

    def find(self, row: StatedPrice, own: bool) -> Shape:
        """Find the machine of a price; ``own``: rows may describe machines that no catalog knows.

        Raises
        ------
        CellError
            When there is none, several, or the row contradicts what is known of it.
        """
        provider = self.providers.get(row.provider.lower(), row.provider)
        devices = self._devices(row, own)
        if row.instance_type:
            found = self._named(row, provider, devices)
            if found is not None:
                return found
        elif devices is not None and row.gpus is not None:
            found = self._by_gpu(row, provider, devices)
            if found is not None:
                return found
        if own:
            return self._described(row, provider, devices)
        reason = "a machine that no catalog knows: its links, memory and network are not stated"
        raise CellError(row.columns.get("instance_type", ""), row.instance_type, reason)

    def _devices(self, row: StatedPrice, own: bool) -> frozenset[str] | None:
        """GPU types that the row's word may mean; None where it has none that is known."""
        if not row.gpu:
            return None
        word = row.gpu.lower()
        exact = next((name for name in self.catalog.devices if name.lower() == word), None)
        if exact is not None and (own or word not in self.catalog.families):
            return frozenset((exact,))
        if word in self.catalog.families:
            return frozenset(self.catalog.families[word])
        if own:
            near = ", ".join(sorted(self.catalog.families)[:MOST_NAMED])
            reason = f"no GPU that the catalogs know, such as {near}: see rlopt catalog list devices"
            raise CellError("gpu", row.gpu, reason)
        return None

    def _named(self, row: StatedPrice, provider: str, devices: frozenset[str] | None) -> Shape | None:
        found = self.by_name.get((provider, row.instance_type)) or self.by_name.get(
            (provider, _plain(row.instance_type))
        )
        if not found:
            return None
        fits = [
            one
            for one in found
            if (row.gpus is None or one.gpus == row.gpus) and (devices is None or one.device in devices)
        ]
        if len(fits) == 1:
            return _extended(fits[0], row)
        if fits:
            reason = f"stands for {len(fits)} machines: {_list(one.instance_type for one in fits)}"
            raise CellError(row.columns.get("instance_type", ""), row.instance_type, reason)
        known = found[0]
        column = "gpus" if row.gpus is not None and known.gpus != row.gpus else "gpu"
        value = str(row.gpus) if column == "gpus" else row.gpu
        reason = f"{row.instance_type} of {provider} is known to have {known.gpus} x {known.device}"
        raise CellError(row.columns.get(column, column), value, reason)

    def _by_gpu(self, row: StatedPrice, provider: str, devices: frozenset[str]) -> Shape | None:
        found = [one for device in sorted(devices) for one in self.by_gpu.get((provider, device, row.gpus or 0), ())]
        if len(found) > 1:
            reason = (
                f"{provider} rents out several such machines: name one of {_list(one.instance_type for one in found)}"
            )
            raise CellError(row.columns.get("instance_type", ""), "", reason)
        return _extended(found[0], row) if found else None

    def _described(self, row: StatedPrice, provider: str, devices: frozenset[str] | None) -> Shape:
        """A machine that no catalog knows, from what its row says; nothing is made up."""
        if devices is None:
            raise CellError("gpu", "", f"no catalog knows {row.instance_type or 'this machine'}: name its GPU")
        if len(devices) > 1:
            raise CellError("gpu", row.gpu, f"stands for several GPUs: name one of {_list(sorted(devices))}")
        if row.gpus is None:
            raise CellError("gpus", "", "is empty: how many GPUs has one machine?")
        stated = row.machine
        if row.gpus > 1 and stated.link is None:
            reason = "is empty: how are the GPUs of this machine joined? none, pcie, nvlink, nvswitch or nvl72"
            raise CellError("link", "", reason)
        (device,) = devices
        name = row.instance_type or f"{row.gpus}x {device}"
        return Shape(
            key=f"{provider}/{name}",
            provider=provider,
            instance_type=name,
            aliases=(),
            device=device,
            gpus=row.gpus,
            intra=stated.link or "none",
            vcpus=stated.vcpus,
            host_memory_gib=stated.host_memory_gib,
            local_disk_gib=stated.local_disk_gib,
            internode_gbps=stated.node_gbps,
            cluster="yes" if stated.node_gbps else "unknown",
            max_nodes=None,
            grade="list",
            notes="",
            source=row.source,
        )


def _extended(shape: Shape, row: StatedPrice) -> Shape:
    """A known machine with what the row states of it."""
    stated = row.machine
    changes: dict[str, object] = {
        "intra": stated.link,
        "vcpus": stated.vcpus,
        "host_memory_gib": stated.host_memory_gib,
        "local_disk_gib": stated.local_disk_gib,
        "internode_gbps": stated.node_gbps,
        "cluster": "yes" if stated.node_gbps else None,
    }
    known = {key: value for key, value in changes.items() if value is not None}
    return replace(shape, **known) if known else shape  # type: ignore[arg-type]


def _spellings(shape: Shape) -> set[str]:
    """Names of a machine; what price pages write of a single GPU of it is none."""
    names = {shape.instance_type, *(one for one in shape.aliases if not one.startswith("per-gpu"))}
    return names | {_plain(one) for one in names}


def _plain(name: str) -> str:
    return _JOINTS.sub("-", name.strip().lower())


def _list(names: Iterable[str]) -> str:
    shown = list(names)
    return ", ".join(shown[:MOST_NAMED]) + (" ..." if len(shown) > MOST_NAMED else "")
