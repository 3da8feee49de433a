"""``rlopt init``: a request to start from."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import exits, options
from rlopt.cli.output import print_text, write_file
from rlopt.language import tr
from rlopt.words import AlgorithmName


@click.command()
@click.option(
    "--algorithm",
    type=click.Choice([name.value for name in AlgorithmName]),
    default="grpo",
    show_default=True,
    help="What the job trains with.",
)
@click.option(
    "--model",
    metavar="MODEL",
    help="The model to train: a name of the catalog (default: one that suits the algorithm).",
)
@options.output("the request")
@click.option("--force", is_flag=True, help="Overwrite FILE when it exists.")
def init(algorithm: str, model: str | None, output: Path | None, force: bool) -> int:
    """Write a commented request that solves as it is.

    \b
    Example:
      rlopt init --algorithm grpo --model Qwen/Qwen2.5-7B-Instruct -o constraints.yaml
    """
    from rlopt import api
    from rlopt.workloads import algorithm as known_algorithm

    if output is not None and output.exists() and not force:
        message = f"{output} exists; choose another name or add --force"
        raise click.UsageError(message)
    known_algorithm(algorithm)
    text = api.init_text(algorithm, model)
    if output is None:
        print_text(text)
        return exits.DONE
    write_file(output, text)
    click.echo(tr(f"wrote {output}; next: rlopt solve {output}"), err=True)
    return exits.DONE
