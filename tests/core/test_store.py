"""Trace files: round trips, and files that are not whole or not ours."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from regard.trace import Trace


def same(one, other):
    assert dict(one.facts) == dict(other.facts)
    assert one.sides.keys() == other.sides.keys()
    assert all(one.sides[n].tokens == other.sides[n].tokens for n in one.sides)
    assert all(one.sides[n].segments == other.sides[n].segments for n in one.sides)
    for a, b in zip(one.sites, other.sites, strict=True):
        assert (a.kind, a.layer, a.part, a.path, a.head_ids, a.mask.rule) == (
            b.kind,
            b.layer,
            b.part,
            b.path,
            b.head_ids,
            b.mask.rule,
        )
        for head in range(a.heads):
            np.testing.assert_array_equal(a.attention(head), b.attention(head))


@pytest.mark.parametrize("name", ["bert", "llama", "t5"])
def test_a_saved_trace_loads_as_it_was(name, request, tmp_path):
    model = request.getfixturevalue(name)
    trace = model.trace("the cat sat", target="a dog" if model.is_encoder_decoder else None)
    loaded = Trace.load(trace.save(tmp_path / "trace.safetensors"))
    same(trace, loaded)
    np.testing.assert_array_equal(trace.norms(0), loaded.norms(0))


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 6), st.text(max_size=8))
def test_maps_with_any_token_text_round_trip(tmp_path_factory, layers, heads, length, text):
    maps = np.random.default_rng(0).dirichlet(np.ones(length), (layers, heads, length)).astype(np.float32)
    trace = Trace.from_maps(maps, [text] * length)
    path = tmp_path_factory.mktemp("traces") / "maps.safetensors"
    same(trace, Trace.load(trace.save(path)))


def test_a_bias_shared_by_layers_is_written_once(t5, tmp_path):
    path = t5.trace("the cat sat", target="a dog").save(tmp_path / "t5.safetensors")
    size = int.from_bytes(path.read_bytes()[:8], "little")
    names = json.loads(path.read_bytes()[8 : 8 + size])
    assert sum(name.endswith("bias") for name in names) == 2  # encoder and decoder


def test_a_trace_opens_without_torch(bert, tmp_path):
    path = bert.trace("the cat").save(tmp_path / "trace.safetensors")
    code = (
        "import sys, regard; t = regard.Trace.load(sys.argv[1]); t.attention(1, 2); t.norms(0); "
        "assert 'torch' not in sys.modules and 'transformers' not in sys.modules; print(t)"
    )
    result = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert "encoder 2x3 heads" in result.stdout


def test_a_cut_file_is_called_damaged(bert, tmp_path):
    path = bert.trace("the cat").save(tmp_path / "trace.safetensors")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="is not a trace file or is damaged"):
        Trace.load(path)


def test_a_foreign_safetensors_file_is_told_apart(tmp_path):
    path = tmp_path / "weights.safetensors"
    save_file({"a": np.zeros(3)}, path)
    with pytest.raises(ValueError, match="is a safetensors file but not a regard trace"):
        Trace.load(path)


def test_any_other_file_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    with pytest.raises(ValueError, match="is not a trace file or is damaged"):
        Trace.load(path)
    with pytest.raises(FileNotFoundError, match="there is no trace file"):
        Trace.load(tmp_path / "nothing")


def test_a_newer_format_asks_for_an_upgrade(tmp_path):
    path = tmp_path / "new.safetensors"
    save_file({"a": np.zeros(3)}, path, {"format": "regard-trace", "version": "99", "trace": "{}"})
    with pytest.raises(ValueError, match=r"trace format 99.*upgrade regard"):
        Trace.load(path)


def test_a_damaged_header_is_one_sentence(tmp_path):
    path = tmp_path / "odd.safetensors"
    save_file(
        {"a": np.zeros(3)}, path, {"format": "regard-trace", "version": "1", "trace": '{"sides": [{}], "sites": []}'}
    )
    with pytest.raises(ValueError, match="damaged trace file"):
        Trace.load(path)


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(bert, tmp_path, monkeypatch):
    path = bert.trace("the cat").save(tmp_path / "trace.safetensors")
    before = path.read_bytes()

    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("safetensors.numpy.save_file", full)
    with pytest.raises(OSError, match="No space left"):
        bert.trace("a dog").save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
