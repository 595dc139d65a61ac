"""`regard train`: a small Transformer from your own text.

Enters: files of text or sentence pairs. Leaves: checkpoints.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regard.commands.shared import err, out, size_of

app = typer.Typer(help="Train a small Transformer on your own text.", no_args_is_help=True)
Epochs = Annotated[int, typer.Option(help="How often the whole data is read.", min=1)]
Rate = Annotated[float, typer.Option(help="The highest learning rate.")]
Warmup = Annotated[int, typer.Option(help="Steps until the highest learning rate.", min=0)]
Vocabulary = Annotated[int, typer.Option(help="Pieces of words.", min=100)]
Seed = Annotated[int, typer.Option(help="The same seed gives the same weights.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where a stopped run stands.")]
Threads = Annotated[int | None, typer.Option(help="Processor cores to use.", min=1)]


@app.command("translator")
def train_translator_command(
    data: Annotated[Path, typer.Option(help="Sentence pairs: source TAB target, one a line.", exists=True)],
    output: Annotated[Path, typer.Option("--output", "-o", help="The checkpoint.")] = Path("translator.safetensors"),
    epochs: Epochs = 9,
    rate: Rate = 2e-3,
    warmup: Warmup = 400,
    vocabulary: Vocabulary = 5000,
    seed: Seed = 0,
    resume: Resume = False,
    threads: Threads = None,
) -> None:
    """Train an encoder-decoder on sentence pairs; the defaults make the embedded translator."""
    from regard.transformer.translator import train_translator

    _threads(threads)
    path = train_translator(
        data,
        output,
        epochs=epochs,
        rate=rate,
        warmup=warmup,
        vocabulary=vocabulary,
        seed=seed,
        resume=resume,
        console=err,
    )
    out.print(f'\nmodel: [bold]{path}[/bold] ({size_of(path)}); try: regard walk "Hello!" --model {path}')


@app.command("bert")
def train_bert_command(
    data: Annotated[Path, typer.Option(help="Plain text, a sentence or paragraph a line.", exists=True)],
    output: Annotated[Path, typer.Option("--output", "-o", help="The checkpoint.")] = Path("bert.safetensors"),
    epochs: Epochs = 10,
    rate: Rate = 1e-3,
    warmup: Warmup = 200,
    vocabulary: Vocabulary = 8000,
    seed: Seed = 0,
    resume: Resume = False,
    threads: Threads = None,
) -> None:
    """Train a small BERT on plain text: hidden words, and whether one line follows another."""
    from regard.transformer.bert import train_bert

    _threads(threads)
    path = train_bert(
        data,
        output,
        epochs=epochs,
        rate=rate,
        warmup=warmup,
        vocabulary=vocabulary,
        seed=seed,
        resume=resume,
        console=err,
    )
    out.print(f'\nmodel: [bold]{path}[/bold] ({size_of(path)}); try: regard view "Some text." --model {path}')


def _threads(count: int | None) -> None:
    if count is not None:
        import torch

        torch.set_num_threads(count)
