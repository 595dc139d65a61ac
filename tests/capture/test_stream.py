"""Attention handed over layer by layer equals what a trace holds."""

import numpy as np
import pytest
from transformers import AlbertConfig, AlbertModel

from tests.tiny import made, tiny_bert


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "t5", "bart"])
def test_streamed_maps_and_norms_equal_the_trace(name, request):
    model = request.getfixturevalue(name)
    texts = ["the cat", "a dog went to the store ."]
    targets = ["a mat .", "it"] if model.is_encoder_decoder else None
    traces = model.trace(texts, target=targets)
    inputs, book = model._engine.collate([model._engine.encode(text) for text in texts], targets)
    seen = {}
    model._engine.stream(
        inputs, book, lambda layer: seen.update({(layer.kind, layer.layer): (layer.attention(), layer.norms())})
    )
    assert set(seen) == {(site.kind, site.layer) for site in traces[0].sites}
    for example, trace in enumerate(traces):
        for site in trace.sites:
            maps, norms = seen[site.kind, site.layer]
            for head in range(site.heads):
                found = maps[example, head, : site.queries, : site.keys].numpy()
                np.testing.assert_allclose(found, site.attention(head), atol=1e-5)
            np.testing.assert_allclose(norms[example, :, : site.keys].numpy(), site.norms, rtol=1e-3)


def test_padded_keys_get_nothing(bert):
    inputs, book = bert._engine.collate(
        [bert._engine.encode(text) for text in ("the cat", "a dog went to the store .")]
    )
    seen = []
    bert._engine.stream(inputs, book, lambda layer: seen.append(layer.attention()))
    assert all(float(maps[0, :, :4, 4:].max()) == 0 for maps in seen)


@pytest.mark.parametrize("asked", [False, True], ids=["new", "asked for all its layers before"])
def test_what_follows_the_last_attention_does_not_run(monkeypatch, wordpiece, asked):
    bert = tiny_bert(wordpiece)

    def broken(*_):
        raise AssertionError("ran on")

    inputs, book = bert._engine.collate([bert._engine.encode("the cat")])
    if asked:  # which leaves hooks on it
        assert bert.module(**inputs, output_hidden_states=True).hidden_states
    assert any(module._forward_hooks for module in bert.module.modules()) == asked
    seen, whole = [], []
    assert bert._engine.stream(inputs, book, lambda layer: whole.append(layer.layer), output=True) is not None
    monkeypatch.setattr(bert.module.encoder.layer[-1].output.dense, "forward", broken)
    assert bert._engine.stream(inputs, book, lambda layer: seen.append(layer.layer)) is None
    assert seen == whole == list(range(len(bert.module.encoder.layer)))
    with pytest.raises(AssertionError, match="ran on"):
        bert._engine.stream(inputs, book, seen.append, output=True)


def test_a_model_with_hooks_runs_to_its_end(bert):
    inputs, book = bert._engine.collate([bert._engine.encode("the cat")])
    ends = []
    hook = bert.module.encoder.layer[-1].register_forward_hook(lambda *_: ends.append(1))
    try:
        bert._engine.stream(inputs, book, lambda layer: None)
    finally:
        hook.remove()
    assert ends == [1]


def test_a_model_whose_layers_share_a_module_runs_to_its_end(wordpiece):
    config = AlbertConfig(
        vocab_size=len(wordpiece),
        embedding_size=12,
        hidden_size=24,
        num_hidden_layers=3,
        num_attention_heads=3,
        intermediate_size=32,
    )
    albert = made(AlbertModel, config, wordpiece)
    inputs, book = albert._engine.collate([albert._engine.encode("the cat")])
    seen = []
    albert._engine.stream(inputs, book, lambda layer: seen.append(layer.layer))
    assert albert._engine._plan.calls == ()
    assert seen == list(range(albert.config.num_hidden_layers))
