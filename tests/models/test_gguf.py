"""GGUF files: dequantised once, kept, and never trusted when damaged; their bars go where ours go."""

import os
import pty
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
import transformers
from tokenizers import pre_tokenizers

import regard
from regard.commands.doctor import examine
from regard.models import gguf
from tests.conftest import need
from tests.processes import spawned, warm_python

TEXT = "the cat sat"


def write_gguf(path, *, seed=0):
    """A tiny Llama in 8 bits: two layers of four heads, bytes and one merge as its vocabulary."""
    writer_of = pytest.importorskip("gguf")
    rng = np.random.default_rng(seed)
    tokens = ["<|endoftext|>", *sorted(pre_tokenizers.ByteLevel.alphabet()), "th"]
    writer = writer_of.GGUFWriter(str(path), "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(32)
    writer.add_block_count(2)
    writer.add_feed_forward_length(64)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(8)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([3] + [1] * (len(tokens) - 1))
    writer.add_token_merges(["t h"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)

    def put(name, rows, columns):
        eight = writer_of.GGMLQuantizationType.Q8_0
        blocks = writer_of.quants.quantize(rng.normal(0, 0.3, (rows, columns)).astype(np.float32), eight)
        writer.add_tensor(f"{name}.weight", blocks, raw_dtype=eight)

    put("token_embd", len(tokens), 32)
    writer.add_tensor("output_norm.weight", np.ones(32, np.float32))
    for layer in range(2):
        for name, rows, columns in (
            *(("attn_q", 32, 32), ("attn_k", 16, 32), ("attn_v", 16, 32), ("attn_output", 32, 32)),
            *(("ffn_gate", 64, 32), ("ffn_up", 64, 32), ("ffn_down", 32, 64)),
        ):
            put(f"blk.{layer}.{name}", rows, columns)
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", np.ones(32, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    return write_gguf(tmp_path / "tiny.gguf")


@pytest.fixture
def once(file, monkeypatch):
    """A file that was loaded, and can be dequantised no more."""
    first = regard.load(file)

    def again(*_args, **_options):
        raise AssertionError("the file was dequantised again")

    monkeypatch.setattr("transformers.modeling_gguf_pytorch_utils.load_gguf_checkpoint", again)
    monkeypatch.setattr("transformers.quantizers.quantizer_gguf.load_gguf_state_dict", again, raising=False)
    return file, first


def kept():
    (folder,) = gguf.cache().iterdir()
    return folder


def test_the_second_start_reads_the_same_model_without_dequantising(once):
    file, first = once
    second = regard.load(file)
    assert type(first.module) is type(second.module) and first.name == second.name
    before, after = first.module.state_dict(), second.module.state_dict()
    assert before.keys() == after.keys() and all(torch.equal(before[name], after[name]) for name in before)
    settings = [{**model.config.to_dict(), "transformers_version": None} for model in (first, second)]
    assert settings[0] == settings[1]
    one, other = first.trace(TEXT), second.trace(TEXT)
    assert one.sides["text"].tokens == other.sides["text"].tokens
    np.testing.assert_array_equal(one.attention(1, 3), other.attention(1, 3))


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "checksums.json"])
def test_a_damaged_copy_is_made_anew(file, name):
    first = regard.load(file)
    damaged = kept() / name
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    second = regard.load(file)
    weights = first.module.state_dict()
    assert all(torch.equal(weights[name], weight) for name, weight in second.module.state_dict().items())
    assert gguf.whole(kept())


def test_a_copy_that_lost_a_file_is_made_anew(file):
    regard.load(file)
    (kept() / "tokenizer.json").unlink()
    assert regard.load(file).trace(TEXT).sides["text"].texts[0] == "th"


def test_who_waits_for_another_process_finds_its_copy(once, tmp_path):
    file, first = once
    place, elsewhere, found = kept(), tmp_path / "elsewhere", []
    with gguf.one_at_a_time(place):  # as a process that dequantises the file
        place.rename(elsewhere)
        waiting = threading.Thread(target=lambda: found.append(regard.load(file)))
        waiting.start()
        waiting.join(0.5)
        assert waiting.is_alive()
        elsewhere.rename(place)
    waiting.join(60)
    (second,) = found
    np.testing.assert_array_equal(first.trace(TEXT).attention(1, 3), second.trace(TEXT).attention(1, 3))


def test_another_file_of_the_same_name_is_another_model(once):
    file, _ = once
    write_gguf(file, seed=1)
    with pytest.raises(regard.base.errors.UserError, match="dequantised again"):
        regard.load(file)


def test_another_precision_is_kept_on_its_own(file):
    whole = regard.load(file, dtype=torch.float32)
    assert regard.load(file, dtype=torch.bfloat16).module.dtype == torch.bfloat16
    assert regard.load(file, dtype=torch.float32).module.dtype == whole.module.dtype == torch.float32


def test_a_model_loads_where_nothing_can_be_kept(file, tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("a file, not a folder")
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "taken"))
    assert regard.load(file).trace(TEXT).sides["text"].texts[0] == "th"


def test_the_copy_unused_for_longest_goes_first(file, tmp_path, monkeypatch):
    regard.load(file)
    first = kept()
    regard.load(write_gguf(tmp_path / "second.gguf", seed=1))
    os.utime(first / "checksums.json", (1, 1))
    monkeypatch.setattr(gguf, "LIMIT", gguf.size() + 1)
    regard.load(write_gguf(tmp_path / "third.gguf", seed=2))
    assert sorted(folder.name.split("-")[0] for folder in gguf.cache().iterdir()) == ["second", "third"]


def test_the_doctor_says_what_the_copies_take(file):
    regard.load(file)
    assert examine()["cache"] == f"{gguf.size() / 1e6:.0f} MB of dequantised GGUF files" and gguf.size() > 1e5


def test_a_dequantised_model_can_be_saved(file, tmp_path):
    regard.load(file).module.save_pretrained(tmp_path / "plain")
    assert transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "plain").dtype == torch.float32


LOAD = "import sys, regard; regard.load(sys.argv[1])"


@pytest.mark.slow
def test_nothing_is_written_to_standard_error_where_it_is_a_file(file, tmp_path):
    said = tmp_path / "stderr.txt"
    with said.open("wb") as stream:
        subprocess.run([*warm_python(), "-W", "ignore", "-c", LOAD, str(file)], stderr=stream, check=True)
    assert said.read_text() == ""


@pytest.mark.slow
def test_in_a_terminal_the_bars_of_others_are_part_of_our_line(file):
    need(hasattr(os, "openpty"), "needs a terminal")
    ours, theirs = pty.openpty()
    slow = (  # a bar of another library inside ours, long enough to be drawn
        "import sys, time, regard, regard.models.loading as l, tqdm.auto\n"
        "own = l._model\n"
        "def slow(*a, **o):\n"
        "    for _ in tqdm.auto.tqdm(range(8), desc='Converting tensors...'): time.sleep(0.2)\n"
        "    return own(*a, **o)\n"
        "l._model = slow\n"
    )
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = [sys.executable, "-W", "ignore", "-c", slow + LOAD, str(file)]
    with spawned(command, stderr=theirs, env=environment) as child:
        os.close(theirs)
        said = b""
        while chunk := _read(ours):
            said += chunk
    assert child.returncode == 0
    assert "loading the model: Converting tensors" in said.decode() and "it/s" not in said.decode()


def _read(terminal):
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the other end is closed
        return b""
