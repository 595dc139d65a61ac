"""Conversations: turns as segments, and replayed answers equal to what generation with a cache attended to."""

from copy import deepcopy

import numpy as np
import pytest
import torch

from regard.base.errors import TooLongError
from regard.models.conversation import contents_in, conversation_of, lay_out
from regard.patterns import warnings_for
from tests.models.talkers import CHAT, FAMILIES, NAMED, WRAPPED, text_of

TOLERANCE = 1e-5


def stepped(module, ids, count):
    """(layers of) (H, rows, keys) maps of the last tokens, as a model computes them one by one with a cache."""
    before = module.config._attn_implementation
    module.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            first = module(torch.tensor([ids[:-count]]), use_cache=True, output_attentions=True)
            steps, cache = [first.attentions], first.past_key_values
            for token in ids[-count:]:
                out = module(torch.tensor([[token]]), past_key_values=cache, use_cache=True, output_attentions=True)
                steps.append(out.attentions)
                cache = out.past_key_values
    finally:
        module.set_attn_implementation(before)
    whole = []
    for layer in range(len(first.attentions)):
        maps = np.zeros((first.attentions[layer].shape[1], len(ids), len(ids)), np.float32)
        start = 0
        for step in steps:
            part = step[layer][0].numpy()  # of a window, the cache may hold the last keys alone
            end = start + part.shape[1]
            maps[:, start:end, end - part.shape[2] : end] = part
            start = end
        whole.append(maps)
    return whole


@pytest.mark.parametrize("family", FAMILIES)
def test_a_replayed_answer_has_the_maps_of_cached_generation(talker, family):
    model = talker(family)
    trace = model.trace(messages=CHAT, generate=24, temperature=1.0, seed=5)
    ids, answer = [token.id for token in trace.tokens], trace.segments[-1]
    assert answer.name == "answer" and answer.end - answer.start > 5
    own = stepped(model.module, ids, answer.end - answer.start)
    assert trace.layers() == tuple(range(len(own)))
    for layer, maps in enumerate(own):
        np.testing.assert_allclose(trace.attention(layer), maps, atol=TOLERANCE)
    assert max(maps[:, 20:].max() for maps in own) > 0.3  # attention that could be wrong
    again = model.trace(messages=CHAT, target=ids[answer.start :])
    for layer in trace.layers():
        np.testing.assert_array_equal(again.attention(layer), trace.attention(layer))


def test_windows_hide_what_is_too_far_away(talker):
    trace = talker("mistral").trace(messages=CHAT, generate=8)
    assert (np.tril(trace.attention(1, 0), -7) == 0).all()


def test_turns_are_segments_and_the_answer_is_what_the_model_wrote(talker):
    trace = talker().trace(messages=CHAT, generate=4)
    assert [one.name for one in trace.segments] == ["user", "assistant", "user 2", "answer"]
    assert text_of(trace, "user") == "<user>the cat?<|endoftext|>\n"
    assert text_of(trace, "assistant") == "<model>sat.<|endoftext|>\n"
    assert text_of(trace, "user 2") == "<user>on?<|endoftext|>\n<model>"
    assert [token.segment for token in trace.tokens] == [
        n for n, one in enumerate(trace.segments) for _ in range(one.start, one.end)
    ]
    assert trace.facts["chat"] == "template" and not any(
        "template" in one for one in warnings_for([], facts=trace.facts)
    )


def test_without_an_answer_the_model_is_about_to_give_one(talker):
    trace = talker().trace(messages=CHAT)
    assert [one.name for one in trace.segments] == ["user", "assistant", "user 2"]
    assert text_of(trace, "user 2").endswith("<model>")


def test_an_answer_at_the_end_is_replayed_with_what_closes_it(talker):
    trace = talker().trace(messages=CHAT[:2])
    assert text_of(trace, "answer") == "sat.<|endoftext|>"
    assert trace.tokens[-1].special and text_of(trace, "user") == "<user>the cat?<|endoftext|>\n<model>"
    replayed = talker().trace(messages=CHAT[:1], target="sat.<|endoftext|>")
    assert [token.id for token in replayed.tokens] == [token.id for token in trace.tokens]


def test_a_system_message_inside_the_users_has_its_own_segment(talker):
    model = talker(template=WRAPPED)
    trace = model.trace(
        messages=[{"role": "system", "content": "be brief"}, *CHAT, {"role": "assistant", "content": "mat"}]
    )
    assert [one.name for one in trace.segments] == ["system", "user", "assistant", "user 2", "answer"]
    assert text_of(trace, "system") == "<|endoftext|>[I]be brief"
    assert text_of(trace, "user") == "//the cat?[/I]"
    assert text_of(trace, "assistant") == " sat.<|endoftext|>"
    assert text_of(trace, "answer") == " mat<|endoftext|>"


def test_what_a_template_refuses_is_said_in_its_words(talker):
    with pytest.raises(ValueError, match=r"chat template refuses this conversation: no system here"):
        talker().trace(messages=[{"role": "system", "content": "be brief"}, *CHAT])


def test_calls_of_tools_and_their_results_are_turns(talker):
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        CHAT[0],
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "on the mat"},
    ]
    trace = talker().trace(messages=messages)
    assert [one.name for one in trace.segments] == ["user", "assistant", "tool"]
    assert text_of(trace, "assistant") == "<model>look()<|endoftext|>\n"
    assert text_of(trace, "tool") == "<tool>on the mat<|endoftext|>\n<model>"


def test_without_a_template_messages_are_plain_text_and_that_is_said(talker):
    trace = talker(template=None).trace(messages=[{"role": "system", "content": "be brief"}, *CHAT], generate=2)
    assert [one.name for one in trace.segments] == ["system", "user", "assistant", "user 2", "answer"]
    assert text_of(trace, "system") == "system: be brief"
    assert text_of(trace, "user 2") == "\nuser: on?\nassistant:"
    assert [said.code for said in warnings_for([], facts=trace.facts)] == ["faithful", "plain_chat"]


def test_parts_of_a_message_are_joined(talker):
    parts = [{"type": "text", "text": "the "}, {"type": "text", "text": "cat?"}]
    trace = talker().trace(messages=[{"role": "user", "content": parts}])
    assert text_of(trace, "user") == "<user>the cat?<|endoftext|>\n<model>"


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([], "no messages"),
        ("hello", "must be a list"),
        ([{"role": "robot", "content": "a"}], "choose from system"),
        ([{"role": "user"}], "must be a text"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "only text can be traced"),
        ([{"role": "assistant", "content": "a"}], "the message that it answers"),
    ],
)
def test_what_is_wrong_with_messages_is_said(talker, messages, said):
    with pytest.raises(ValueError, match=said):
        talker().trace(messages=messages)


def test_what_does_not_go_together_is_refused(talker, bert):
    with pytest.raises(ValueError, match="ends with an answer"):
        talker().trace(messages=CHAT[:2], generate=3)
    with pytest.raises(ValueError, match="pass no target beside it"):
        talker().trace(messages=CHAT[:2], target="mat")
    with pytest.raises(ValueError, match="either a text or messages"):
        talker().trace("the cat", messages=CHAT)
    with pytest.raises(ValueError, match="either a target"):
        talker().trace("the cat", target="sat", generate=3)
    with pytest.raises(ValueError, match="needs a causal language model"):
        bert.trace(messages=CHAT)
    with pytest.raises(TooLongError, match="leave out its first messages"):
        talker().trace(messages=[{"role": "user", "content": "a" * 300}])
    with pytest.raises(ValueError, match="does not know"):
        talker().trace("the cat", target=[5000])


def test_a_pair_with_an_answer_is_a_prompt(talker):
    trace = talker().trace("the cat", "a dog", target=" sat")
    assert [(one.name, one.start, one.end) for one in trace.segments] == [("prompt", 0, 13), ("answer", 13, 17)]
    assert [token.segment for token in trace.tokens] == [0] * 13 + [1] * 4


def test_heads_can_be_switched_off_and_judged_in_a_conversation(talker):
    model = talker()
    plain = model.trace(messages=CHAT, target="sat")
    without = model.trace(messages=CHAT, target="sat", ablate="0.1")
    assert np.abs(plain.attention(1) - without.attention(1)).max() > 1e-4
    judged = model.trace(messages=CHAT, target="sat", worth={"check": 0})
    assert judged.facts["worth"]["position"] == plain.segments[-1].start - 1
    assert judged.facts["worth"]["name"] == "s"


@pytest.mark.models
def test_smollm_reads_its_own_template_from_gguf(smollm):
    messages = [{"role": "user", "content": "What is the capital of France?"}]
    trace = smollm.trace(messages=messages, generate=16)
    assert [one.name for one in trace.segments] == ["system", "user", "answer"]
    assert text_of(trace, "system").startswith("<|im_start|>system\nYou are a helpful AI assistant named SmolLM")
    assert (
        text_of(trace, "user") == "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"
    )
    assert "Paris" in text_of(trace, "answer")
    own = smollm.tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=True)["input_ids"]
    assert [token.id for token in trace.tokens][: len(own)] == list(own)
    given = [{"role": "system", "content": "Answer in one word."}, *messages]
    assert text_of(smollm.trace(messages=given), "system") == "<|im_start|>system\nAnswer in one word.<|im_end|>\n"


@pytest.mark.models
def test_smollm_replayed_from_a_log_is_what_it_said(smollm):
    messages = [{"role": "user", "content": "What is the capital of France?"}]
    said = smollm.trace(messages=messages, generate=40)
    assert said.tokens[-1].text == "<|im_end|>"
    content = text_of(said, "answer").removesuffix("<|im_end|>")
    again = smollm.trace(messages=[*messages, {"role": "assistant", "content": content}])
    assert [token.id for token in again.tokens] == [token.id for token in said.tokens]
    assert [one.name for one in again.segments] == [one.name for one in said.segments]


@pytest.mark.parametrize("template", [WRAPPED, NAMED, None])
def test_the_text_of_each_message_is_found_in_the_prompt(bytelevel, template):
    """Also where it begins with a space, and where the same was said before."""
    tokenizer = deepcopy(bytelevel)
    tokenizer.chat_template = template
    spoken = [*CHAT, {"role": "assistant", "content": " a mat "}, {"role": "user", "content": "the cat?"}]
    laid = lay_out(tokenizer, conversation_of(spoken))
    places = contents_in(laid, spoken)
    for message, place in zip(spoken, places, strict=True):
        assert laid.prompt[place.start : place.stop].strip() == message["content"].strip()
    assert places[0].stop < places[-1].start
