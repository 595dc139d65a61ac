"""Vectors in 16 bits: half the memory, and what that costs is measured and said."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from typer.testing import CliRunner

import regard
from regard.capture import keeping
from regard.cli import app
from regard.printing.patterns import as_record
from regard.trace.trace import Trace
from regard.views import encode, header_of
from tests.tiny import saved

TEXT = "the cat sat on the mat ."


@pytest.fixture(params=[0, 1 << 20])
def copying(monkeypatch, request):
    """Small operations, too, are copied while the model runs; or not."""
    monkeypatch.setattr(keeping, "_LARGE", request.param)


def kept(trace):
    return [getattr(site, name) for site in trace.sites for name in ("q", "k", "v")]


@pytest.mark.usefixtures("copying")
@pytest.mark.parametrize("family", ["bert", "llama"])
def test_half_the_memory_is_kept_and_the_error_of_scores_is_known(request, family):
    model = request.getfixturevalue(family)
    exact, half = model.trace(TEXT), model.trace(TEXT, half=True)
    assert all(array.dtype == np.float16 for array in kept(half))
    assert sum(array.nbytes for array in kept(half)) * 2 == sum(array.nbytes for array in kept(exact))
    errors = [
        np.sqrt(np.mean((_products(one, head) - _products(other, head)) ** 2))
        for one, other in zip(exact.sites, half.sites, strict=True)
        for head in range(one.heads)
    ]
    assert half.facts["half"] == pytest.approx(max(errors), rel=1e-2) and max(errors) > 0
    assert "half" not in exact.facts
    for layer in exact.layers():
        np.testing.assert_allclose(half.attention(layer), exact.attention(layer), atol=8 * half.facts["half"])


def _products(site, head):
    q, k = site.q[head].astype(np.float32), site.k[site.group(head)].astype(np.float32)
    return q @ k.T * site.scale


def test_numbers_that_16_bits_cannot_hold_stay_as_they_are(llama):
    module = deepcopy(llama.module)
    module.model.layers[0].self_attn.v_proj.weight.data *= 1e8
    trace = regard.load((module, llama.tokenizer)).trace(TEXT, half=True)
    assert trace.sites[0].v.dtype == np.float32 and np.abs(trace.sites[0].v).max() > 65504
    assert trace.sites[0].q.dtype == np.float16


def test_lists_and_switched_off_heads_are_kept_in_half_too(llama):
    traces = llama.trace([TEXT, "a dog"], half=True, ablate="0.1")
    assert len(traces) == 2 and all("half" in one.facts and one.facts["ablated"] for one in traces)
    assert all(array.dtype == np.float16 for one in traces for array in kept(one))


def test_it_is_said_beside_what_heads_do_in_pages_and_in_files(llama, tmp_path):
    trace = llama.trace(TEXT, half=True)
    said = f"are off by {trace.facts['half']:.1g}"
    assert any(said in sentence for sentence in as_record(trace, trace.patterns())["warnings"])
    for report in (None, False):
        header = header_of(encode(trace, report=report))
        assert "half" in [one["code"] for one in header["coded"]] and said in " ".join(header["cautions"])
    again = Trace.load(trace.save(tmp_path / "half.safetensors"))
    assert again.facts["half"] == trace.facts["half"] and again.sites[0].q.dtype == np.float16
    np.testing.assert_array_equal(again.attention(1), trace.attention(1))


def test_the_command_line_says_it(llama, tmp_path):
    folder = saved(llama, tmp_path / "llama")
    found = CliRunner().invoke(app, ["trace", "ab cab", "-m", str(folder), "--half", "-o", str(tmp_path / "t")])
    assert found.exit_code == 0 and "are kept in 16 bits" in found.stdout
    assert regard.Trace.load(tmp_path / "t").sites[0].k.dtype == np.float16
