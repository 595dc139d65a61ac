"""Finding and loading models: by hub name, folder or GGUF file, or from Python packages.

Enters: what a user typed. Leaves: a transformers model and its tokenizer, or one sentence about what is wrong.
"""

from __future__ import annotations

import inspect
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.base.errors import MissingFileError, UserError
from regard.models import gguf
from regard.models.hearing import heard_input
from regard.models.hub import leaving_it_alone, why_not_asked
from regard.models.lines import read_weights
from regard.models.making import making
from regard.models.missing import NoTokenizer, missing_package
from regard.models.packaged import PACKAGED, is_line_reader, is_whisper, packaged_path
from regard.models.progress import err, working
from regard.models.smiles import smiles_tokenizer
from regard.models.whisper import read_whisper
from regard.trace.sentences import Message, refusal

_LIBRARIES = ("transformers", "tokenizers", "safetensors", "huggingface_hub")


def load_pretrained(
    source: str,
    *,
    tokenizer: Any,
    revision: str | None,
    dtype: Any,
    trust_remote_code: bool,
    allow_pickle: bool,
    offline: bool,
) -> tuple[Any, Any]:
    """The model and its tokenizer (or its processor of images or sounds), as the checkpoint was saved."""
    if is_whisper(source) and tokenizer is None:
        if not allow_pickle:  # it is another file than the one that is known
            raise UserError(refusal("pickled", name=source))
        with making, quiet():
            return _unpack(Path(source), dtype, lambda: read_whisper(Path(source)))
    if is_line_reader(source) and tokenizer is None:
        with making, quiet(), _plain_errors(source, allow_pickle, None):
            return read_weights(Path(source), dtype)
    place, options, why = _locate(source, offline, revision=revision, trust_remote_code=trust_remote_code)
    with making, quiet(), leaving_it_alone(offline), _plain_errors(source, allow_pickle, why):
        if tokenizer is None and (Path(place) / options.get("gguf_file", "")).is_file():
            file = Path(place) / options["gguf_file"]
            return _unpack(file, dtype, lambda: _dequantised(place, options, dtype))
        with _seeded():
            model = _model(place, options, dtype, allow_pickle)
        if tokenizer is None or isinstance(tokenizer, str):
            where, options = (place, options) if tokenizer is None else (tokenizer, {})
            tokenizer = _with_extractor(model, _tokenizer(where, options), where, options)
            tokenizer = _with_pictures(model, where, options, tokenizer)
    return model, tokenizer


def _with_pictures(model: Any, place: str, options: dict[str, Any], tokenizer: Any) -> Any:
    """The processor for texts and pictures of a model that reads both, where there is one; else the tokenizer."""
    import transformers

    takes = inspect.signature(model.forward).parameters
    if "pixel_values" not in takes or not hasattr(tokenizer, "convert_ids_to_tokens"):
        return tokenizer
    try:
        found = transformers.AutoProcessor.from_pretrained(place, **options)
    except Exception:  # transformers raises anything for a folder without one, or without a library that it needs
        return tokenizer
    return found if hasattr(found, "image_processor") and hasattr(found, "tokenizer") else tokenizer


def _unpack(file: Path, dtype: Any, read: Callable[[], tuple[Any, Any]]) -> tuple[Any, Any]:
    """The model and tokenizer that a file is read as: from regard's cache, which the first load fills."""
    folder = gguf.folder_of(file, dtype)
    if not gguf.whole(folder):
        with gguf.one_at_a_time(folder):
            if not gguf.whole(folder):
                model, tokenizer = read()
                if not isinstance(tokenizer, NoTokenizer):
                    gguf.keep(folder, model, tokenizer)
                return model, tokenizer
    model = _model(str(folder), {}, dtype, allow_pickle=False)
    tokenizer = _with_extractor(model, _tokenizer(str(folder), {}), str(folder), {})
    model.config.name_or_path = str(file.parent)
    return model, tokenizer


def _dequantised(place: str, options: dict[str, Any], dtype: Any) -> tuple[Any, Any]:
    """The model and tokenizer of a GGUF file, read from the file itself."""
    with gguf.read_once():
        return gguf.plain(_model(place, options, dtype, allow_pickle=False)), _tokenizer(place, options)


@contextmanager
def _seeded() -> Iterator[None]:
    """Fix the random numbers: weights that a checkpoint lacks are drawn, and must be the same every time."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def load_classifier(
    source: str, labels: Sequence[str], *, trust_remote_code: bool, allow_pickle: bool, offline: bool
) -> tuple[Any, Any]:
    """A model with a new, untrained head for these labels, in 32 bits, and its tokenizer."""
    import transformers

    place, options, why = _locate(source, offline, revision=None, trust_remote_code=trust_remote_code)
    with making, quiet(), leaving_it_alone(offline), _plain_errors(source, allow_pickle, why):
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            place,
            id2label=dict(enumerate(labels)),
            label2id={label: number for number, label in enumerate(labels)},
            problem_type="single_label_classification",
            ignore_mismatched_sizes=True,  # a head for other labels is replaced
            dtype="float32",
            **({} if allow_pickle or "gguf_file" in options else {"use_safetensors": True}),
            **options,
        )
        return model, _tokenizer(place, options)


def _locate(source: str, offline: bool, **wanted: Any) -> tuple[str, dict[str, Any], Message | None]:
    """Where a model is loaded from, the loading options, and why the hub is not asked, if it is not."""
    place, options = _place(source)
    options |= wanted
    why = None if Path(place).exists() else why_not_asked(source, offline)
    if why is not None:
        options["local_files_only"] = True
    return place, options, why


def _place(source: str) -> tuple[str, dict[str, Any]]:
    """The folder (or hub name) to load from, and the GGUF file inside it if there is one."""
    path = Path(source)
    if path.suffix == ".gguf":
        return str(path.parent), {"gguf_file": path.name}
    if path.is_file():
        raise UserError(refusal("not_a_folder", name=str(path)))
    if path.is_dir() and not (path / "config.json").exists():
        files = sorted(path.glob("*.gguf"))
        if not files:
            raise MissingFileError(refusal("empty_folder", name=str(path)))
        return str(path), {"gguf_file": files[0].name}
    return source, {}


def _model(place: str, options: dict[str, Any], dtype: Any, allow_pickle: bool) -> Any:
    import transformers

    if (Path(place) / "regard_pruned.json").is_file():
        from regard.models.pruned import load_pruned

        return load_pruned(place, dtype)
    config = transformers.AutoConfig.from_pretrained(place, **options)
    names = getattr(config, "architectures", None) or []
    known = [getattr(transformers, name) for name in names if hasattr(transformers, name)]
    fallback = transformers.AutoModelForCausalLM if "gguf_file" in options else transformers.AutoModel
    loader = fallback if options.get("trust_remote_code") or not known else known[0]
    if "gguf_file" in options or allow_pickle:
        safe: dict[str, Any] = {}
    else:
        safe = {"use_safetensors": True}
    if not (options.get("trust_remote_code") and hasattr(config, "auto_map")):
        options = {key: value for key, value in options.items() if key != "trust_remote_code"}
    return loader.from_pretrained(place, dtype=dtype or "auto", **safe, **options).eval()


def _tokenizer(place: str, options: dict[str, Any]) -> Any:
    """The tokenizer of a text model, the image processor of a vision model, or why there is none."""
    import transformers

    if any(entry.smiles and packaged_path(name) == Path(place) for name, entry in PACKAGED.items()):
        return smiles_tokenizer(Path(place))
    warnings.filterwarnings("ignore", "Recommended: pip install sacremoses")  # Marian's, for odd punctuation
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, **options)
        if _has_vocabulary(tokenizer, Path(place), options):
            return tokenizer
        why, package = "its folder has no tokenizer files", ""
    except Exception as error:  # the tokenizers library raises Exception itself
        why, package = _reason(error).split(". ")[0], missing_package(error)
    try:
        return transformers.AutoImageProcessor.from_pretrained(place, **options)
    except Exception:
        return NoTokenizer(why, package)


@dataclass(frozen=True)
class Hearing:
    """What a speech model hears with and, if it writes, its tokenizer."""

    feature_extractor: Any
    tokenizer: Any


def _with_extractor(model: Any, tokenizer: Any, place: str, options: dict[str, Any]) -> Any:
    """The tokenizer, together with the feature extractor of a speech model."""
    import transformers

    if heard_input(model) is None:
        return tokenizer
    try:
        extractor = transformers.AutoFeatureExtractor.from_pretrained(place, **options)
    except Exception:  # a folder without one: samples as they are
        return tokenizer
    return Hearing(extractor, tokenizer if hasattr(tokenizer, "convert_ids_to_tokens") else None)


def _has_vocabulary(tokenizer: Any, place: Path, options: dict[str, Any]) -> bool:
    """Whether a tokenizer was read from files: without any, transformers makes one with an empty vocabulary."""
    if not place.is_dir() or "gguf_file" in options or not tokenizer.vocab_files_names:
        return True
    kinds = ("tokenizer.*", "vocab*", "*.model", "*.spm", "*.tiktoken", "*.txt", "tekken.json")
    return any(True for kind in kinds for _ in place.glob(kind))


@contextmanager
def _plain_errors(source: str, allow_pickle: bool, why: Message | None) -> Iterator[None]:
    """Replace errors of transformers and the hub with one sentence that says what to do."""
    try:
        yield
    except (UserError, MemoryError):
        raise
    except OSError as error:
        text = str(error)
        if not allow_pickle and ("safetensors" in text and "found in" in text):
            raise UserError(refusal("pickled", name=source)) from None
        if Path(source).exists():
            raise UserError(refusal("unread_folder", name=source, why=_first_line(text))) from None
        raise MissingFileError(why or refusal("absent", name=source)) from None
    except Exception as error:  # a damaged file makes the libraries that read it raise anything
        if not _is_theirs(error):
            raise
        if "trust_remote_code" in str(error) or "custom code" in str(error):
            raise UserError(refusal("own_code", name=source)) from None
        raise UserError(refusal("unread", name=source, why=_reason(error))) from error


def _is_theirs(error: Exception) -> bool:
    """Whether a library that reads model files raised it; otherwise it is a bug of ours, and has to show as one."""
    frames = traceback.walk_tb(error.__traceback__)
    places = [_package(frame.f_globals.get("__name__", "")) for frame, _ in frames]
    innermost = [place for place in places if place in ("regard", *_LIBRARIES)][-1:]
    return innermost != ["regard"] or _package(type(error).__module__) in _LIBRARIES


def _package(module: str) -> str:
    return module.partition(".")[0]


def _reason(error: Exception) -> str:
    """A library's message, in one line; with the error's name where the message alone says little."""
    plain = isinstance(error, (OSError, ValueError, ImportError))
    return _first_line(str(error) if plain else f"{type(error).__name__}: {error}")


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason given")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' warnings while a model loads, and show its progress bars as ours."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    if err.is_jupyter:
        logging.disable_progress_bar()
    try:
        with working("loading the model"):
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
