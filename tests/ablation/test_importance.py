"""Importance: every example's own gradient by a factor at each head's output, against finite differences."""

from copy import deepcopy

import pytest
import torch

from regard.capture import outputs
from regard.capture.gates import gate_gradients

TEXTS = ["the cat sat on the mat .", "a dog went to the store", "it !"]


def losses(module, inputs):
    """(B,) a loss that depends on every real position of a row."""
    output = module(**inputs)
    states = output[0] if "logits" not in output else output.logits
    real = inputs["attention_mask"][..., None]
    weights = torch.linspace(-1, 1, states.shape[-1], dtype=states.dtype)
    return ((states * weights) ** 2 * real).sum((1, 2)) / real.sum((1, 2))


# Llama's norms compute in 32 bits whatever the weights are: steps must be larger, and are less exact
@pytest.mark.parametrize(("name", "step", "near"), [("bert", 1e-5, 1e-5), ("gpt2", 1e-5, 1e-5), ("llama", 3e-3, 2e-3)])
def test_gradients_are_those_of_finite_differences_for_each_example_alone(name, step, near, sharp):
    model = sharp(name)
    module = deepcopy(model.module).double()
    inputs = model._engine.collate([model._engine.encode(text) for text in TEXTS])[0]
    found = gate_gradients(module, model._engine.plan(), model._engine.places(), lambda: losses(module, inputs))
    assert set(found) == set(model.layout())
    for (kind, layer), heads in model.layout().items():
        assert found[kind, layer].shape == (len(TEXTS), heads)
        for row in range(len(TEXTS)):
            for head in range(heads):
                at = []
                for factor in (1 + step, 1 - step):

                    def scaled(_place, out, _call, factor=factor, row=row, head=head):
                        changed = out.clone()
                        changed[row, :, head] *= factor
                        return changed

                    with (
                        torch.no_grad(),
                        outputs(module, model._engine.plan(), model._engine.places(), scaled, [(kind, layer)]),
                    ):
                        at.append(losses(module, inputs))
                slope = (at[0] - at[1]) / (2 * step)  # (B,)
                torch.testing.assert_close(found[kind, layer][row, head], slope[row], rtol=near, atol=near)
                others = [n for n in range(len(TEXTS)) if n != row]
                assert not slope[others].any()  # an example's factor is its own


def test_nothing_stays_on_the_model(bert):
    inputs = bert._engine.collate([bert._engine.encode(text) for text in TEXTS])[0]
    before = bert._engine.run(inputs).last_hidden_state
    gate_gradients(bert.module, bert._engine.plan(), bert._engine.places(), lambda: losses(bert.module, inputs))
    assert all(parameter.grad is None for parameter in bert.module.parameters())
    assert torch.equal(bert._engine.run(inputs).last_hidden_state, before)
    assert not torch.is_grad_enabled() or bert._engine.run(inputs).last_hidden_state.grad_fn is None
