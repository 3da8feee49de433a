"""``rlopt catalog``: look at the facts that plans rest on."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import exits, options
from rlopt.cli.output import print_report, print_text, to_json
from rlopt.cli.release import refuse

SHELVES = ("offers", "devices", "models")


@click.group()
def catalog() -> None:
    """Look at prices, GPUs and models, each with its source.

    \b
    Example:
      rlopt catalog list
      rlopt catalog show H100-SXM
    """


@catalog.command("list", short_help="Count the offers, or list one shelf.")
@click.argument("shelf", type=click.Choice(SHELVES), required=False)
@click.option("--provider", metavar="NAME", help="Offers of this provider only.")
@click.option("--region", metavar="NAME", help="Offers in this region only.")
@click.option("--gpu", metavar="NAME", help="This GPU type or family only.")
@click.option("--pricing", type=click.Choice(("on_demand", "spot", "reserved")), help="Offers paid this way only.")
@options.as_json
def list_(
    shelf: str | None,
    provider: str | None,
    region: str | None,
    gpu: str | None,
    pricing: str | None,
    as_json: bool,
) -> int:
    """Count the offers by provider, grade, confidence and age, or list one shelf.

    \b
    Example:
      rlopt catalog list
      rlopt catalog list offers --gpu H100 --pricing spot
    """
    from rlopt import api
    from rlopt.reports import catalog_records, catalog_text

    filters = {"provider": provider, "region": region, "gpu": gpu, "pricing": pricing}
    facts = api.catalog()
    offers = catalog_records.matching_offers(facts, **filters)
    if shelf is None:
        if as_json:
            print_text(to_json(catalog_records.counts(facts, offers)))
        else:
            print_report(*catalog_text.counts_report(facts, offers))
        return exits.DONE
    records = catalog_records.shelf(facts, shelf, offers, gpu)
    if as_json:
        print_text(to_json(records))
    else:
        print_report(*catalog_text.shelf_report(shelf, records))
    return exits.DONE


@catalog.command()
@click.argument("name", metavar="NAME")
@options.as_json
def show(name: str, as_json: bool) -> int:
    """Show one offer, machine, GPU or model with its source.

    \b
    Example:
      rlopt catalog show Qwen/Qwen2.5-7B-Instruct
    """
    from rlopt import api
    from rlopt.reports import catalog_records, catalog_text

    records = catalog_records.look_up(api.catalog(), name)
    if as_json:
        print_text(to_json(records))
    else:
        print_report(*catalog_text.records_report(records))
    return exits.DONE


@catalog.command("import", short_help="Bring in your own prices (not yet).")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE")
def import_(file: Path) -> int:
    """Bring in a price list of your own (not in this release yet).

    \b
    Example:
      rlopt catalog import prices.csv
    """
    refuse("rlopt catalog import", "name your price list under choices.offers in the request")


@catalog.command()
@click.option("--provider", metavar="NAME", help="Prices of this provider only.")
def refresh(provider: str | None) -> int:
    """Fetch prices anew (not in this release yet).

    \b
    Example:
      rlopt catalog refresh --provider lambda
    """
    refuse("rlopt catalog refresh", "prices carry the date they were read; see rlopt catalog list")
