"""What one head and the embeddings add to later keys, in plain torch, family by family."""

from __future__ import annotations

import torch
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb


def seen_by(module, parts):
    """What entered and left some parts of a model: name -> (input, output); to be filled by a run."""
    seen = {}

    def keep(name):
        return lambda _m, args, kwargs, out: seen.update({name: (args[0] if args else None, out)})

    handles = [part.register_forward_hook(keep(name), with_kwargs=True) for name, part in parts.items()]
    return seen, handles


@torch.no_grad()
def run(module, parts, **inputs):
    seen, handles = seen_by(module, parts)
    module(**inputs)
    for handle in handles:
        handle.remove()
    return seen


def frozen_layernorm(norm, total, part):
    """A part of a sum on its way through a LayerNorm whose statistics are those of the whole; without the bias."""
    sigma = (total.var(-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
    return norm.weight * (part - part.mean(-1, keepdim=True)) / sigma


def frozen_rms(weight, eps, total, part):
    return weight * part / (total.square().mean(-1, keepdim=True) + eps).sqrt()


def of_head(outputs, projection, head, heads):
    """(T, d_model): what one head adds through W_O."""
    width = outputs.shape[-1] // heads
    part = torch.zeros_like(outputs)
    chosen = slice(head * width, (head + 1) * width)
    part[..., chosen] = outputs[..., chosen]
    weight = projection.weight if type(projection).__name__ == "Conv1D" else projection.weight.T
    return part @ weight


@torch.no_grad()
def bert_keys(module, ids, head, heads=3):
    """(T, H, d) what head 0.`head` adds to the keys of layer 1, through both norms on the way."""
    first, second = module.encoder.layer[0], module.encoder.layer[1]
    seen = run(
        module,
        {"o": first.attention.output.dense, "a": first.attention.output.LayerNorm, "b": first.output.LayerNorm},
        input_ids=ids,
    )
    part = of_head(seen["o"][0][0], first.attention.output.dense, head, heads)
    part = frozen_layernorm(first.attention.output.LayerNorm, seen["a"][0][0], part)
    part = frozen_layernorm(first.output.LayerNorm, seen["b"][0][0], part)
    return (part @ second.attention.self.key.weight.T).reshape(len(part), heads, -1)


@torch.no_grad()
def gpt2_keys(module, ids, head, heads=3):
    first, second = module.transformer.h[0], module.transformer.h[1]
    seen = run(module, {"o": first.attn.c_proj, "n": second.ln_1}, input_ids=ids)
    part = of_head(seen["o"][0][0], first.attn.c_proj, head, heads)
    part = frozen_layernorm(second.ln_1, seen["n"][0][0], part)
    width = part.shape[-1]
    return (part @ second.attn.c_attn.weight)[:, width : 2 * width].reshape(len(part), heads, -1)


@torch.no_grad()
def rotary_keys(module, ids, head, heads):
    """Llama and Gemma 2: RMSNorm, keys turned by position; Gemma's gain is 1 + weight, and it norms what heads add."""
    first, second = module.model.layers[0], module.model.layers[1]
    gemma = module.config.model_type.startswith("gemma")
    norms = {"n": second.input_layernorm, "p": first.post_attention_layernorm}
    seen = run(module, {"o": first.self_attn.o_proj, **norms}, input_ids=ids)
    part = of_head(seen["o"][0][0], first.self_attn.o_proj, head, heads)
    eps = module.config.rms_norm_eps
    if gemma:
        part = frozen_rms(1 + first.post_attention_layernorm.weight, eps, seen["p"][0][0], part)
    gain = second.input_layernorm.weight + (1 if gemma else 0)
    part = frozen_rms(gain, eps, seen["n"][0][0], part)
    attention = second.self_attn
    keys = (part @ attention.k_proj.weight.T).reshape(1, len(part), -1, attention.head_dim).transpose(1, 2)
    cos, sin = module.model.rotary_emb(part[None], torch.arange(len(part))[None])
    turned = apply_rotary_pos_emb(keys, keys, cos, sin)[1]
    return turned[0].transpose(0, 1).repeat_interleave(heads // keys.shape[1], dim=1)
