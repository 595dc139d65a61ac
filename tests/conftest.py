"""Fixtures: tiny random-weight models and tokenizers, the packaged models, the corpora beside the repository.

Long on purpose: what tests of several folders share stands in one list.
"""

from __future__ import annotations

import gc
import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from tests.processes import ONE_THREAD, warm_python

os.environ.update(ONE_THREAD)  # before numpy and torch are there, and for the processes that tests start
os.environ["REGARD_RULES"] = os.devnull + "/none"  # for fixtures that outlive a test: nobody's saved rules

import regard
from regard.models.packaged import packaged_path
from tests.order import LONG, REAL, SLOW, SLOW_MARKS
from tests.silent import Silent

gc.set_threshold(20_000)  # what is imported stays: it need not be looked through for garbage again and again

# Torch and transformers are imported by fixtures: the process that only hands tests to others does not need them.
if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

WORDS = ("the a cat dog sat on mat store i went to at bought fresh straw ##berries . , ? ! it un ##bel ##iev").split()
# The shell is the same engine without windows, which take most of the time where pages are opened and closed.
CHROMIUM = "chromium-headless-shell", "chromium", "google-chrome"
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ARTICLE = ("I went to the store.", "At the store, I bought fresh strawberries.")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where nothing slow is asked for, files that are slow as a whole are not even imported."""
    place = collection_path.relative_to(Path(__file__).parent).as_posix()
    return True if config.option.markexpr == "not slow" and place.startswith(SLOW) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, and begin with what takes longest; a file stays together, with the server it starts."""
    tests = Counter(item.path for item in items)

    def turn(item: pytest.Item) -> tuple[int, int, str]:
        place = item.path.relative_to(Path(__file__).parent).as_posix()
        real = REAL & set(getattr(item, "fixturenames", ()))
        if real or place.startswith(SLOW) or any(item.get_closest_marker(mark) for mark in SLOW_MARKS):
            item.add_marker(pytest.mark.slow)
        return LONG.index(place) if place in LONG else len(LONG), -tests[item.path], place

    items.sort(key=turn)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(specs: list[Any]) -> None:
    """All workers are forked from one process that has imported what takes long."""
    for spec in specs:
        spec.python = shlex.join(warm_python())


def pytest_sessionstart() -> None:
    """What test files import stays: it need not be looked through for garbage again and again, and later not at all."""
    gc.set_threshold(20_000)


def pytest_collection_finish() -> None:
    gc.freeze()


def need(there: bool, reason: str) -> None:
    """Skip where something optional is missing; in CI nothing is."""
    if not there:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> Iterator[None]:
    """Started in the background, tests ignore Ctrl-C and would hand that down to the children they send it to."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory) -> Iterator[None]:
    """No test knows the cache of whoever runs it; all workers share one, so that a real model is dequantised once."""
    base = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str((base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "cache"))
        yield


@pytest.fixture(autouse=True)
def own_rules(tmp_path_factory, monkeypatch) -> None:
    """No test knows the rules of whoever runs it; each that saves some has a file of its own."""
    monkeypatch.setenv("REGARD_RULES", str(tmp_path_factory.getbasetemp() / f"rules-{uuid4().hex}.json"))


@pytest.fixture
def silent() -> Iterator[Silent]:
    """A hub that never answers."""
    hub = Silent()
    yield hub
    hub.close()


@pytest.fixture
def command(monkeypatch, capsys) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`regard` in this process, which has imported all that takes time: what it printed, and its exit code."""
    from regard import cli
    from regard.commands.shared import err, out

    def run(*arguments: object, stdin: str = "", width: int = 80) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["regard", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        for console in (out, err):
            monkeypatch.setattr(console, "_width", width)
        capsys.readouterr()
        code: int | str | None = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        return subprocess.CompletedProcess(sys.argv, int(code), *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def corpora() -> Path:
    path = Path(__file__).resolve().parents[2] / "shared" / "data"
    need(path.is_dir(), "the corpora are not beside the repository (../shared/data)")
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One for all tests of a process: there cannot be two."""
    from playwright import sync_api

    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    need(found is not None, "needs Chromium")
    with sync_api.sync_playwright() as play:
        running = play.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def wordpiece() -> PreTrainedTokenizerFast:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocab = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])}
    backend = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        model_max_length=64,
    )


@pytest.fixture(scope="session")
def bytelevel() -> PreTrainedTokenizerFast:
    """A byte-level tokenizer without merges: every byte is a token."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {"<|endoftext|>": 0, **{letter: i + 1 for i, letter in enumerate(alphabet)}}
    backend = Tokenizer(models.BPE(vocab, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token="<|endoftext|>", bos_token="<|endoftext|>", model_max_length=64
    )


_shared: dict[str, tuple[regard.Model, list[int]]] = {}  # models of all tests, and the sums of their weights' bits


def shared(name: str, model: regard.Model) -> regard.Model:
    """A model of all tests, by the name of its fixture."""
    _shared[name] = model, _weight_sums(model)
    return model


def _weight_sums(model: regard.Model) -> list[int]:
    """Sums of the weights' bits, as whole numbers: no rounding hides a change, and a real model takes milliseconds."""
    import torch

    def bits(value: torch.Tensor) -> int:
        flat = value.detach().flatten().view(torch.uint8)
        if flat.storage_offset() % 8:
            flat = flat.clone()
        whole = len(flat) // 8 * 8
        return int(flat[:whole].view(torch.int64).sum()) + int(flat[whole:].sum())

    return [bits(value) for value in model.module.state_dict().values()]


@pytest.fixture(autouse=True)
def shared_models_unchanged(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that changes a model of all tests fails itself, not another one much later."""
    yield
    for name in _shared.keys() & set(request.fixturenames):  # others it cannot reach
        model, before = _shared[name]
        assert _weight_sums(model) == before, f"this test changed the {name} of all tests"


@pytest.fixture(scope="session")
def bert(wordpiece) -> regard.Model:
    from tests.tiny import tiny_bert

    return shared("bert", tiny_bert(wordpiece))


@pytest.fixture(scope="session")
def gpt2(bytelevel) -> regard.Model:
    from transformers import GPT2Config, GPT2LMHeadModel

    from tests.tiny import made

    config = GPT2Config(
        vocab_size=len(bytelevel), n_embd=24, n_layer=2, n_head=3, n_positions=64, bos_token_id=0, eos_token_id=0
    )
    return shared("gpt2", made(GPT2LMHeadModel, config, bytelevel))


@pytest.fixture(scope="session")
def llama(bytelevel) -> regard.Model:
    from tests.tiny import tiny_llama

    return shared("llama", tiny_llama(bytelevel))


@pytest.fixture(scope="session")
def t5(wordpiece) -> regard.Model:
    from transformers import T5Config, T5ForConditionalGeneration

    from tests.tiny import made

    config = T5Config(
        vocab_size=len(wordpiece),
        d_model=24,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_decoder_layers=3,
        num_heads=3,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=3,
    )
    return shared("t5", made(T5ForConditionalGeneration, config, wordpiece))


@pytest.fixture(scope="session")
def bart(wordpiece) -> regard.Model:
    from transformers import BartConfig, BartForConditionalGeneration

    from tests.tiny import made

    config = BartConfig(
        vocab_size=len(wordpiece),
        d_model=24,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=3,
        decoder_attention_heads=3,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=64,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        decoder_start_token_id=3,
        forced_eos_token_id=3,
    )
    return shared("bart", made(BartForConditionalGeneration, config, wordpiece))


def packaged(name: str) -> regard.Model:
    need(packaged_path(name) is not None, f"the package of {name} is not installed (make test installs it)")
    return regard.load(name)


@pytest.fixture(scope="session")
def minilm() -> regard.Model:
    return packaged("all-MiniLM-L6-v2")


@pytest.fixture(scope="session")
def smollm() -> regard.Model:
    return packaged("SmolLM2-135M-Instruct")


@pytest.fixture(scope="session")
def rxnmapper() -> regard.Model:
    return packaged("rxnmapper")


@pytest.fixture(scope="session")
def ocr() -> regard.Model:
    return packaged("pp-ocrv6-small")


@pytest.fixture(scope="session")
def sharp(request):
    """A function from the name of a fixture to its model with larger weights: it matters which heads are on."""
    from tests.tiny import enlarged

    found = {}

    def of(family):
        if family not in found:
            model = request.getfixturevalue(family)
            copied = regard.load((deepcopy(model.module), model.tokenizer))
            factor = 2 if family == "t5" else 8  # T5 does not scale its scores, and draws larger weights
            found[family] = enlarged(copied, factor)
        return found[family]

    return of
