"""Trace files: round trips, and files that are not whole or not ours."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

from regard.trace.trace import Trace


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


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    maps = np.random.default_rng(0).dirichlet(np.ones(5), (2, 3, 5)).astype(np.float32)
    trace = Trace.from_maps(maps, list("abcde"), facts={"model": "tiny"})
    return trace.save(tmp_path_factory.mktemp("whole") / "trace.safetensors").read_bytes()


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_flipped_bit_is_one_sentence(whole, tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "flipped.safetensors"
    damaged = bytearray(whole)
    damaged[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(damaged)
    said = loaded_or_said(path)
    if isinstance(said, Trace):  # a bit that says nothing: the checksum's own name, white space
        same(said, Trace.load(write(path, whole)))
    else:
        assert re.match(r"is (not a trace file or is damaged|a damaged|a safetensors)|has trace format", said)


def loaded_or_said(path):
    try:
        return Trace.load(path)
    except ValueError as error:
        return str(error).removeprefix(f"{path} ")


def write(path, content):
    path.write_bytes(content)
    return path


@given(st.data())
@settings(deadline=None)
def test_a_file_that_ends_anywhere_is_one_sentence(whole, tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "short.safetensors"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(ValueError, match="is not a trace file or is damaged"):
        Trace.load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header.pop("facts"),
        lambda header: header["sites"][0].update(query_side="nobody"),
        lambda header: header["sides"][0]["tokens"].pop(),
        lambda header: header["sites"][0]["arrays"].update(maps=None),
        lambda header: header.update(sides=3),
    ],
)
def test_a_header_that_does_not_fit_is_one_sentence(whole, tmp_path, change):
    path = write(tmp_path / "old.safetensors", whole)
    with safe_open(path, framework="numpy") as file:
        header, arrays = json.loads(file.metadata()["trace"]), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change(header)
    save_file(arrays, path, {"format": "regard-trace", "version": "1", "trace": json.dumps(header)})  # no checksum
    with pytest.raises(ValueError, match=r"damaged trace file: .* while reading its header"):
        Trace.load(path)


def test_files_of_before_have_no_checksum_and_open(whole, tmp_path):
    path = write(tmp_path / "old.safetensors", whole)
    with safe_open(path, framework="numpy") as file:
        metadata, arrays = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    del metadata["checksum"]
    save_file(arrays, path, metadata)
    same(Trace.load(path), Trace.load(write(tmp_path / "new.safetensors", whole)))


def test_a_token_may_hold_half_a_character(tmp_path):
    trace = Trace.from_maps(np.full((1, 1, 2, 2), 0.5), ["\ud83d", "b"])
    same(trace, Trace.load(trace.save(tmp_path / "half.safetensors")))


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
