"""Tiny models that answer, with templates of their own."""

from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
)

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 32,
}
FAMILIES = {
    "gpt2": (GPT2LMHeadModel, GPT2Config, {"n_embd": 24, "n_layer": 2, "n_head": 3, "n_positions": 256}),
    "llama": (LlamaForCausalLM, LlamaConfig, {**SIZES, "max_position_embeddings": 256}),
    "mistral": (MistralForCausalLM, MistralConfig, {**SIZES, "max_position_embeddings": 256, "sliding_window": 7}),
    "gemma2": (
        Gemma2ForCausalLM,
        Gemma2Config,
        {
            **SIZES,
            "head_dim": 8,
            "max_position_embeddings": 256,
            "sliding_window": 9,
            "attn_logit_softcapping": 5.0,
            "query_pre_attn_scalar": 8,
        },
    ),
}
# What the user says is wrapped, and holds what the system says (as in Llama 2 and Mistral).
WRAPPED = (
    "{% if messages[0]['role'] == 'system' %}"
    "{% set start = messages[0]['content'] + '//' %}{% set rest = messages[1:] %}"
    "{% else %}{% set start = '' %}{% set rest = messages %}{% endif %}<|endoftext|>"
    "{% for m in rest %}{% if m['role'] == 'user' %}[I]{% if loop.first %}{{ start }}{% endif %}{{ m['content'] }}[/I]"
    "{% else %}{{ ' ' + m['content'] | trim }}<|endoftext|>{% endif %}{% endfor %}"
)
# Every turn is named; a system message is refused, answers are the model's (as in Gemma, but with tools).
NAMED = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system here') }}{% endif %}"
    "{% for m in messages %}<{{ 'model' if m['role'] == 'assistant' else m['role'] }}>"
    "{% for call in m['tool_calls'] or [] %}{{ call['function']['name'] }}(){% endfor %}"
    "{{ m['content'] }}<|endoftext|>\n{% endfor %}{% if add_generation_prompt %}<model>{% endif %}"
)
CHAT = [
    {"role": "user", "content": "the cat?"},
    {"role": "assistant", "content": "sat."},
    {"role": "user", "content": "on?"},
]


def text_of(trace, name):
    """What is written in a segment."""
    (segment,) = [one for one in trace.segments if one.name == name]
    return "".join(token.text for token in trace.tokens[segment.start : segment.end])
