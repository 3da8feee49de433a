"""``rlopt catalog import`` and ``forget``: price files that somebody has."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import exits, options
from rlopt.cli.output import print_report, print_text, to_json
from rlopt.language import tr


@click.command("import", short_help="Bring in prices from a file.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE")
@click.option("--provider", metavar="NAME", help="Whose prices these are, where the file does not say it.")
@click.option("--name", metavar="NAME", help="What to keep them as. Default: the file's name.")
@click.option("--as-of", metavar="DATE", help="Day of the prices, where no row says it. Default: the file's own date.")
@click.option("--dry-run", is_flag=True, help="Say what would be kept, and keep nothing.")
@options.as_json
def import_(file: Path, provider: str | None, name: str | None, as_of: str | None, dry_run: bool, as_json: bool) -> int:
    """Bring in a SkyPilot catalog, a gpuhunt catalog or a price list of your own; its columns say which it is.

    Rows that cannot be used are counted and named. Plans use the prices from then on.

    \b
    Example:
      rlopt catalog import prices.csv
      rlopt catalog import vms.csv --provider lambda --as-of 2026-11-20
    """
    from rlopt.cli import prices_text
    from rlopt.facts.files.folder import load_catalog
    from rlopt.pricelists.files import keep, read_file

    shipped = load_catalog()
    found = read_file(file, provider, name, as_of, shipped)
    kept = None if dry_run else keep(found, shipped)
    if as_json:
        print_text(to_json(prices_text.list_record(found, kept)))
    else:
        print_report(*prices_text.list_report(found, kept))
    return exits.DONE


@click.command(short_help="Delete prices that were brought in.")
@click.argument("name", metavar="NAME")
def forget(name: str) -> int:
    """Delete a user catalog; plans use the shipped prices again.

    \b
    Example:
      rlopt catalog forget prices
    """
    from rlopt.pricelists import store

    with store.locked():
        store.forget(name)
    click.echo(tr(f"{name} is forgotten"))
    return exits.DONE
