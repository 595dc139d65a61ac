"""The same by hand: copies of a model whose weights are edited so that a head is off."""

from copy import deepcopy

import torch

TEXTS = ["the cat sat on the mat .", "a dog"]


def copied(model):
    return deepcopy(model.module).eval()


def attentions(module, kind="encoder"):
    """(W_O, W_Q) of each layer, as modules, for the tiny models of the fixtures."""
    if hasattr(module, "transformer"):  # GPT-2
        return [(block.attn.c_proj, block.attn.c_attn) for block in module.transformer.h]
    if hasattr(module, "encoder") and hasattr(module.encoder, "layer"):  # BERT
        return [(layer.attention.output.dense, layer.attention.self.query) for layer in module.encoder.layer]
    if hasattr(module, "shared"):  # T5
        stack = module.encoder if kind == "encoder" else module.decoder
        place = {"encoder": 0, "decoder": 0, "cross": 1}[kind]
        found = [block.layer[place] for block in stack.block]
        found = [layer.EncDecAttention if kind == "cross" else layer.SelfAttention for layer in found]
        return [(layer.o, layer.q) for layer in found]
    return [(layer.self_attn.o_proj, layer.self_attn.q_proj) for layer in module.model.layers]


def transposed(linear):
    return type(linear).__name__ == "Conv1D"


@torch.no_grad()
def zeroed(module, layer, head, width, kind="encoder"):
    """No output of the head reaches W_O's product."""
    output, _ = attentions(module, kind)[layer]
    part = slice(head * width, (head + 1) * width)
    (output.weight[part] if transposed(output) else output.weight[:, part]).zero_()


@torch.no_grad()
def uniform(module, layer, head, width, kind="encoder"):
    """All scores of the head are 0: its q is."""
    _, query = attentions(module, kind)[layer]
    part = slice(head * width, (head + 1) * width)
    (query.weight[:, part] if transposed(query) else query.weight[part]).zero_()
    if query.bias is not None:
        query.bias[part] = 0


@torch.no_grad()
def constant(module, layer, head, mean, kind="encoder"):
    """The head's output is `mean` (e,) everywhere: what W_O makes of it becomes part of its bias."""
    output, _ = attentions(module, kind)[layer]
    width = len(mean)
    part = slice(head * width, (head + 1) * width)
    weight = output.weight[part] if transposed(output) else output.weight[:, part].T  # (e, d_model)
    added = torch.as_tensor(mean) @ weight
    zeroed(module, layer, head, width, kind)
    bias = added if output.bias is None else output.bias + added
    output.bias = torch.nn.Parameter(bias)


def padded(model):
    """Inputs of two texts of different length, targets too."""
    targets = ["the mat", "a cat sat on it"] if model.is_encoder_decoder else None
    return model._engine.collate([model._engine.encode(text) for text in TEXTS], targets)


def result(module, model, inputs, book):
    """What a module says at real positions, (n, d)."""
    with torch.no_grad():
        found = module(**inputs)
    hidden = found.logits if "logits" in found else found.last_hidden_state
    return hidden[torch.from_numpy(book.keep["decoder" if model.is_encoder_decoder else "text"])]
