"""``rlopt catalog``: look at the facts that plans rest on, and renew the prices among them."""

from __future__ import annotations

import click

from rlopt.cli import exits, options
from rlopt.cli.catalog_import import forget, import_
from rlopt.cli.catalog_refresh import refresh
from rlopt.cli.output import print_report, print_text, to_json
from rlopt.words import PricingKind

SHELVES = ("offers", "devices", "models")


@click.group()
def catalog() -> None:
    """Look at prices, GPUs and models, each with its source; bring in prices and renew them.

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
@click.option("--pricing", type=click.Choice([word.value for word in PricingKind]), help="Offers paid this way only.")
@options.as_json
def list_(
    shelf: str | None,
    provider: str | None,
    region: str | None,
    gpu: str | None,
    pricing: str | None,
    as_json: bool,
) -> int:
    """Count the offers by provider, grade, confidence and age, or list one shelf; last the prices you brought in.

    \b
    Example:
      rlopt catalog list
      rlopt catalog list offers --gpu H100 --pricing spot
    """
    from rlopt import api
    from rlopt.cli import prices_text
    from rlopt.reports import catalog_records
    from rlopt.reports.text import catalog as catalog_text

    filters = {"provider": provider, "region": region, "gpu": gpu, "pricing": pricing}
    facts = api.catalog()
    offers = catalog_records.matching_offers(facts, **filters)
    if shelf is None:
        brought = prices_text.brought_in(facts)
        if as_json:
            print_text(to_json(catalog_records.counts(facts, offers) | {"user_catalogs": brought}))
        else:
            print_report(*catalog_text.counts_report(facts, offers), *prices_text.brought_in_report(brought))
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
    from rlopt.reports import catalog_records
    from rlopt.reports.text import catalog as catalog_text

    records = catalog_records.look_up(api.catalog(), name)
    if as_json:
        print_text(to_json(records))
    else:
        print_report(*catalog_text.records_report(records))
    return exits.DONE


for _command in (import_, forget, refresh):
    catalog.add_command(_command)
