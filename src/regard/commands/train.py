"""`regard train`: a small Transformer from your own text, a classifier from an existing model, an induction head.

Enters: files of text, sentence pairs or labelled examples. Leaves: checkpoints; folders for the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.commands.shared import Loading, ModelName, err, expand_options, out, size_of

app = typer.Typer(help="Train a small Transformer on your own text, or fine-tune a classifier.", no_args_is_help=True)
Checkpoint = Annotated[Path, typer.Option("--output", "-o", help="Checkpoint to write.")]
Epochs = Annotated[int, typer.Option(help="Passes over the data.", min=1)]
Rate = Annotated[float, typer.Option(help="The highest learning rate.")]
Warmup = Annotated[int, typer.Option(help="Steps until the highest learning rate.", min=0)]
Vocabulary = Annotated[int, typer.Option(help="Number of word pieces.", min=100)]
Seed = Annotated[int, typer.Option(help="The same seed gives the same weights.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue a stopped run.")]
PROBES = 16  # rows of words that an induction head is watched with
Threads = Annotated[int | None, typer.Option(help="Processor cores to use.", min=1)]


@dataclass
class TrainOptions:
    """Options for training from scratch; the defaults make the built-in translator."""

    output: Checkpoint = Path("translator.safetensors")
    epochs: Epochs = 9
    rate: Rate = 2e-3
    warmup: Warmup = 400
    vocabulary: Vocabulary = 5000
    seed: Seed = 0
    resume: Resume = False
    threads: Threads = None

    def run(self, train: Callable[..., Path], data: Path, then: str) -> None:
        """Train on a file, and say how to try the checkpoint."""
        options = vars(self).copy()
        _threads(options.pop("threads"))
        path = train(data, **options, console=err)
        out.print(f"\nmodel: [bold]{path}[/bold] ({size_of(path)}); try: {then} --model {path}")


@dataclass
class TrainingBert(TrainOptions):
    """The same options, with defaults for a small BERT."""

    output: Checkpoint = Path("bert.safetensors")
    epochs: Epochs = 10
    rate: Rate = 3e-4
    warmup: Warmup = 200
    vocabulary: Vocabulary = 8000


@app.command("translator")
@expand_options
def train_translator_command(
    *,
    data: Annotated[Path, typer.Option(help="Sentence pairs, one per line: source TAB target.", exists=True)],
    training: TrainOptions,
) -> None:
    """Train an encoder-decoder on sentence pairs; the defaults make the built-in translator."""
    from regard.transformer.translator import train_translator

    training.run(train_translator, data, 'regard walk "Hello!"')


@app.command("bert")
@expand_options
def train_bert_command(
    *,
    data: Annotated[Path, typer.Option(help="Plain text, one sentence or paragraph per line.", exists=True)],
    training: TrainingBert,
) -> None:
    """Train a small BERT on plain text: hidden words, and whether one line follows another."""
    from regard.transformer.bert import train_bert

    training.run(train_bert, data, 'regard view "Some text."')


@app.command("classifier")
@expand_options
def train_classifier_command(
    *,
    data: Annotated[Path, typer.Option(help="Labelled examples: TSV, CSV or JSONL.", exists=True)],
    dev: Annotated[
        Path | None,
        typer.Option(help="Examples that decide which epoch is best.", exists=True, show_default="a tenth of the data"),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write.")] = Path("classifier"),
    model: ModelName = None,
    text: Annotated[str | None, typer.Option(help="Column with the text.", metavar="COL")] = None,
    pair: Annotated[str | None, typer.Option(help="Column with the second sentence.", metavar="COL")] = None,
    label: Annotated[str, typer.Option(help="Column with the label.", metavar="COL")] = "label",
    epochs: Epochs = 3,
    rate: Rate = 1e-4,
    patience: Annotated[int, typer.Option(help="Epochs without a gain after which to stop.", min=1)] = 1,
    length: Annotated[int, typer.Option(help="Most tokens per input; longer inputs are cut.", min=4)] = 128,
    limit: Annotated[int | None, typer.Option(help="Use only the first N examples.", min=1, metavar="N")] = None,
    seed: Seed = 0,
    threads: Threads = None,
    loading: Loading,
) -> None:
    """Fine-tune an encoder to predict labels; every command loads the folder with --model."""
    from regard.ablation.classifier import train_classifier

    _threads(threads)
    folder = train_classifier(
        data,
        output,
        dev=dev,
        model=model,
        text=text,
        pair=pair,
        label=label,
        epochs=epochs,
        rate=rate,
        patience=patience,
        length=length,
        limit=limit,
        seed=seed,
        console=err,
        device=loading.device,
        trust_remote_code=loading.trust_remote_code,
        allow_pickle=loading.allow_pickle,
        offline=loading.offline,
    )
    out.print(f"\nmodel: [bold]{folder}[/bold]; try: regard study ablation {dev or data} --model {folder}")


@app.command("induction")
def train_induction_command(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write: the model, and film/.")] = Path(
        "induction"
    ),
    steps: Annotated[int, typer.Option(help="Steps of training.", min=1)] = 600,
    rate: Rate = 3e-3,
    warmup: Warmup = 100,
    layers: Annotated[int, typer.Option(help="Layers; one alone cannot learn it.", min=1)] = 2,
    every: Annotated[int, typer.Option(help="Steps between two frames of the film.", min=1)] = 10,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Train a small decoder on rows of words that begin again, and film its heads: watch an induction head be born."""
    from regard.callbacks import WatchHeads
    from regard.studies.film.births import births_of, sentences_of
    from regard.transformer.induction import repeated_texts, train_induction

    _threads(threads)
    film = output / "film"

    def watch(model: Any, tokenizer: Any) -> Callable[[int, float | None], Any]:
        texts = repeated_texts(PROBES, tokenizer)
        watched.append(WatchHeads(film, texts, model=model, tokenizer=tokenizer, every=every, restart=True))
        return watched[0].step

    watched: list[WatchHeads] = []
    folder, loss = train_induction(
        output, steps=steps, rate=rate, warmup=warmup, layers=layers, seed=seed, console=err, watch=watch
    )
    page = watched[0].close()
    for sentence in sentences_of(births_of(watched[0].frames)):
        out.print(sentence, highlight=False, markup=False)
    out.print(f"\nmodel: [bold]{folder}[/bold], loss {loss:.3f}; film: [bold]{page}[/bold]")
    out.print(f"try: regard serve --studies {folder} --model {folder}")


def _threads(count: int | None) -> None:
    if count is not None:
        import torch

        torch.set_num_threads(count)
