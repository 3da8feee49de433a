"""``rlopt validate``: predictions against measurements."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import exits, options
from rlopt.cli.output import print_report, print_text, to_json, write_bytes, write_file
from rlopt.cli.progress import working
from rlopt.language import tr


def _picture(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """Refuse a picture that could not be drawn or saved before any work is done."""
    if value is not None and value.suffix.lower() not in (".png", ".svg"):
        message = f"{value.name} names no kind of picture; end it in .png or .svg"
        raise click.BadParameter(message, ctx, param)
    return options.writable(ctx, param, value)


@click.command(short_help="Hold predictions against measured runs.")
@click.argument("csv", type=click.Path(path_type=Path), metavar="CSV")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    callback=options.writable,
    help="Save every prediction as CSV, one row per measured value.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    callback=_picture,
    help="Draw predicted against measured, as .png or .svg.",
)
@options.as_json
def validate(csv: Path, out: Path | None, plot: Path | None, as_json: bool) -> int:
    """Hold predictions against measured runs: how far off, for what, and what cannot be predicted.

    The columns tell what was measured: tokens_per_s_per_gpu or step_time_s (training),
    output_tokens_per_s_total (generation), step_time_s beside a column K (RL steps),
    peak_mem_gib and result = fits or oom (memory). A row that cannot be predicted is reported with the reason.

    \b
    Example:
      rlopt validate measurements.csv --out predictions.csv --plot calibration.png
    """
    _refuse_overwriting(csv, out, plot)
    from rlopt import api
    from rlopt.measured.predictions import FAULT, predict_table
    from rlopt.measured.records import document, to_csv
    from rlopt.measured.rows import read_table

    table = read_table(csv)
    facts = api.catalog()
    calibration = facts.calibration
    with working(f"predicting {len(table.rows):,} rows of {csv.name}"):
        found = document(table, predict_table(table, facts, calibration), calibration)
        picture = None if plot is None else _drawn(found["predictions"], plot)
    if out is not None:
        write_file(out, to_csv(found["predictions"]))
    if plot is not None and picture is not None:
        write_bytes(plot, picture)
    if as_json:
        print_text(to_json(found))
    else:
        from rlopt.reports.text.accuracy import accuracy_report

        print_report(*accuracy_report(found))
    faults = sum(one["reason"].startswith(FAULT) for one in found["predictions"])
    if faults:
        click.echo(tr(f"warning: {faults} rows met {FAULT}, not of your file; see their reasons"), err=True)
    return exits.DONE


def _drawn(records: list[dict[str, object]], plot: Path) -> bytes:
    from rlopt.reports.accuracy_plot import calibration_plot

    return calibration_plot(records, plot.suffix.lower().removeprefix("."))


def _refuse_overwriting(csv: Path, out: Path | None, plot: Path | None) -> None:
    places = [path.resolve() for path in (csv, out, plot) if path is not None]
    if len(set(places)) < len(places):
        message = "CSV, --out and --plot must be different files"
        raise click.UsageError(message)
