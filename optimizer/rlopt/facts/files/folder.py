"""Reads the catalogs: the files of one folder become one frozen record. Nothing else reads a file of theirs."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from rlopt.data_dir import catalogs_dir
from rlopt.facts import Catalog, Nodes, Offer, Operations, Provenance
from rlopt.facts.files import devices as things
from rlopt.facts.files import offers as market
from rlopt.facts.files import stated
from rlopt.facts.files.calibration import calibration
from rlopt.facts.files.cells import Row, date, records, rows
from rlopt.facts.files.measured import measured_names
from rlopt.facts.files.speeds import storage_speed


def load_catalog(folder: Path | None = None) -> Catalog:
    """Read all catalogs of a folder; a folder is read once per process.

    Parameters
    ----------
    folder
        Where the files stand; the shipped catalogs by default.

    Raises
    ------
    InputError
        When a file is missing or a row can't be read; names file and line.
    """
    return _load((folder or catalogs_dir()).resolve())


@lru_cache(maxsize=8)
def _load(folder: Path) -> Catalog:
    sources = dict(records(folder, "sources.csv", lambda row: (row["key"], row["source"])))
    places = tuple(row for _, row in rows(folder, "regions.csv"))
    countries = {(row["provider"], row["region"]): row["country"] for row in places if row["country"]}
    device_rows = tuple(row for _, row in rows(folder, "devices.csv"))
    shapes = {shape.key: shape for shape in records(folder, "shapes.csv", lambda row: market.shape(row, sources))}

    def offer(row: Row) -> Offer:
        return market.offer(row, sources, shapes, countries)

    devices = records(folder, "devices.csv", lambda row: things.device(row, sources))
    models = records(folder, "models.csv", lambda row: things.model(row, sources))
    return Catalog(
        offers=records(folder, "offers.csv", offer),
        zone_offers=records(folder, "zone_offers.csv", offer),
        shapes=shapes,
        cpu_offers=records(folder, "cpu_offers.csv", lambda row: market.cpu_offer(row, sources, countries)),
        devices={device.name: device for device in devices},
        families=things.families(device_rows),
        models={model.name: model for model in models},
        aliases=dict(records(folder, "model_aliases.csv", lambda row: (row["alias"], row["name"]))),
        missing_models=_missing(folder),
        storage=records(folder, "storage.csv", lambda row: market.storage_tier(row, sources)),
        traffic=records(folder, "traffic.csv", lambda row: market.traffic(row, sources)),
        logs=records(folder, "logging.csv", lambda row: market.log_price(row, sources)),
        caches=records(folder, "caches.csv", lambda row: market.cache_price(row, sources)),
        commitments=records(folder, "commitments.csv", lambda row: market.commitment(row, sources)),
        reliability=records(folder, "reliability.csv", lambda row: things.failure_rate(row, sources)),
        countries=countries,
        reference_regions={row["provider"]: row["reference_region"] for row in places if row["reference_region"]},
        provenance=records(folder, "provenance.csv", _provenance),
        left_out=dict(records(folder, "left_out.csv", lambda row: (row["reason"], int(row["rows"])))),
        calibration=calibration(folder / "calibration"),
        operations=stated.constants(folder / "operations.yaml", Operations),
        nodes=stated.constants(folder / "nodes.yaml", Nodes),
        launchers=stated.launchers(folder / "launchers.yaml"),
        stores=stated.stores(folder / "stores.yaml"),
        skypilot=stated.skypilot(folder / "skypilot.yaml"),
        measured=measured_names(folder / "measured"),
        speeds={one.id: one for one in records(folder, "storage_speed.csv", lambda row: storage_speed(row, sources))},
    )


def _missing(folder: Path) -> dict[str, str]:
    """Spellings of models that lack a fact, to that lack."""
    found: dict[str, str] = {}
    for _, row in rows(folder, "models_left_out.csv"):
        for spelling in filter(None, (row["name"], row["hf_id"], row["hf_id"].rpartition("/")[2])):
            found[spelling.lower()] = row["lacks"]
    return found


def _provenance(row: Row) -> Provenance:
    return Provenance(row["name"], date(row["as_of"]), int(row["rows"]), row["source"])
