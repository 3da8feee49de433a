"""``rlopt catalog refresh``: public prices fetched anew, the only command that uses the network."""

from __future__ import annotations

import click

from rlopt.cli import exits, options
from rlopt.cli.output import print_report, print_text, to_json


@click.command(short_help="Fetch public prices anew.")
@click.option("--provider", metavar="NAME", help="Prices of this provider only.")
@click.option("--from", "address", metavar="URL", help="Fetch from this address instead; needs --provider.")
@click.option("--accept", "accepted", metavar="NAME", multiple=True, help="Take a list that was refused. Repeatable.")
@click.option("--dry-run", is_flag=True, help="Fetch and judge, and keep nothing.")
@options.as_json
def refresh(provider: str | None, address: str | None, accepted: tuple[str, ...], dry_run: bool, as_json: bool) -> int:
    """Fetch public prices anew. A list that looks wrong is refused with a report, and the old prices stay.

    Exit code 5: some prices could not be renewed, those from before stay in use.

    \b
    Example:
      rlopt catalog refresh --provider lambda
      rlopt catalog refresh --provider lambda --accept gpuhunt-lambda
    """
    from rlopt.cli import prices_text
    from rlopt.cli.progress import working
    from rlopt.facts.files.folder import load_catalog
    from rlopt.pricelists.files import today
    from rlopt.pricelists.refresh import refresh as fetch_anew
    from rlopt.pricelists.sources import PriceSource, sources_of

    if address is not None and provider is None:
        message = "--from needs --provider: whose prices are they?"
        raise click.UsageError(message)
    sources = sources_of(provider) if address is None else (PriceSource(str(provider), "own", address),)
    names = {one.name for one in sources}
    unknown = [name for name in accepted if name not in names]
    if unknown:
        message = f"--accept {unknown[0]}: no such list is fetched here; it is one of {', '.join(sorted(names))}"
        raise click.UsageError(message)
    with working("fetching prices"):
        outcomes = fetch_anew(sources, load_catalog(), accepted, address, dry_run)
    if as_json:
        print_text(to_json({"lists": [prices_text.outcome_record(one) for one in outcomes]}))
    else:
        print_report(*prices_text.outcomes_report(outcomes, today()))
    return exits.KEPT_OLD if any(one.kept for one in outcomes) else exits.DONE
