"""What a head writes: the logits that it adds directly."""

import io
import json

import numpy as np
import pytest
import torch
from rich.console import Console
from transformers import BertLMHeadModel

from regard.base.errors import UserError
from regard.models.writes import Writes, WrittenFrom, WrittenWord, writes
from regard.printing.split import writes_report
from regard.trace.heads import Head
from tests.models.split_by_hand import frozen_layernorm, frozen_rms, of_head, run
from tests.models.test_why import LETTERS, TEXT, lively_of  # noqa: F401 (a fixture)
from tests.tiny import saved, tiny_bert


@torch.no_grad()
def by_hand(model, ids, head, heads):
    """(T, V) logits that head 1.`head` adds through the last norm, against their mean."""
    module = model.module
    if module.config.model_type == "gpt2":
        projection, norm = module.transformer.h[1].attn.c_proj, module.transformer.ln_f
        seen = run(module, {"o": projection, "n": norm}, input_ids=ids)
        part = frozen_layernorm(norm, seen["n"][0][0], of_head(seen["o"][0][0], projection, head, heads))
    else:
        layer, norm, eps = module.model.layers[1], module.model.norm, module.config.rms_norm_eps
        gemma = module.config.model_type.startswith("gemma")
        projection, after = layer.self_attn.o_proj, layer.post_attention_layernorm
        seen = run(module, {"o": projection, "n": norm, "p": after}, input_ids=ids)
        part = of_head(seen["o"][0][0], projection, head, heads)
        if gemma:
            part = frozen_rms(1 + after.weight, eps, seen["p"][0][0], part)
        part = frozen_rms(norm.weight + (1 if gemma else 0), eps, seen["n"][0][0], part)
    logits = part @ module.lm_head.weight.T
    return logits - logits.mean(-1, keepdim=True)


@pytest.mark.parametrize(("family", "heads"), [("gpt2", 3), ("llama", 4), ("gemma2", 4)])
def test_what_a_head_writes_is_that_of_plain_torch(lively_of, family, heads):  # noqa: F811
    model = lively_of(family)
    ids = torch.tensor([[token.id for token in model.trace(LETTERS).tokens]])
    logits = by_hand(model, ids, 2, heads)[5].numpy()
    found = model.writes(LETTERS, "1.2", 5, top=len(logits))
    assert found.error <= 1e-4
    assert [word.id for word in found.promoted] == np.argsort(-logits).tolist()
    np.testing.assert_allclose([word.logit for word in found.promoted], np.sort(logits)[::-1], atol=1e-4)
    assert found.demoted[0] == found.promoted[-1]


@pytest.mark.parametrize("family", ["gpt2", "llama", "gemma2", "gemma3", "bart"])
def test_components_add_up_to_the_model_s_own_logit(lively_of, family):  # noqa: F811
    model = lively_of(family)
    more = {"target": "a dog went"} if family == "bart" else {}
    found = writes(model, TEXT if more else LETTERS, "decoder:1.1", 2, **more)
    assert found.error <= 1e-4
    total = sum(share for _, share in found.components)
    assert total == pytest.approx(found.predicted.logit, abs=1e-4 * abs(found.predicted.logit) + 1e-5)


def test_sources_add_up_to_what_the_head_writes(lively_of):  # noqa: F811
    model = lively_of("llama")
    found = model.writes("abc", "1.3", 2, top=300)
    assert sorted(one.position for one in found.sources) == [0, 1, 2]
    sums = np.zeros(len(found.promoted))
    for one in found.sources:
        for word in one.promoted:
            sums[word.id] += word.logit
        order = [word.id for word in one.promoted]
        assert one.rank == order.index(model.trace("abc").tokens[one.position].id)
    np.testing.assert_allclose(sums[[word.id for word in found.promoted]], [w.logit for w in found.promoted], atol=1e-4)


def test_models_without_a_linear_map_to_words_are_refused(bert, wordpiece):
    masked = tiny_bert(wordpiece, BertLMHeadModel, is_decoder=True)
    for model in (bert, masked):
        with pytest.raises(UserError) as refused:
            model.writes(TEXT, "1.1")
        assert refused.value.args[0].code in ("writes_none", "split_sum")


def test_the_command_prints_promoted_and_demoted_words(command, tmp_path, lively_of):  # noqa: F811
    folder = saved(lively_of("gpt2"), tmp_path / "model")
    done = command("writes", LETTERS, "--model", folder, "--head", "1.1", width=140)
    assert done.returncode == 0, done.stderr
    assert "what 1.1 writes at d@10" in done.stdout and "promotes" in done.stdout and "all it read" in done.stdout
    record = json.loads(command("writes", LETTERS, "--model", folder, "--head", "1.1", "--json", "-n", 3).stdout)
    assert len(record["promoted"]) == 3 and record["error"] < 1e-4
    wrong = command("writes", LETTERS, "--model", folder)
    assert wrong.returncode == 2 and "--head 18.6" in wrong.stderr


def test_an_induction_head_writes_the_word_that_it_reads(smollm):
    found = smollm.writes("The cat sat on the mat. The cat sat", "18.6")
    assert found.promoted[0].token == " on" and found.sources[0].token == " on"
    assert found.sources[0].rank == 0 and found.error < 1e-4


def test_the_first_word_is_told_with_what_raises_it_and_what_lowers_it():
    def read(position, weight, logit):
        words = (WrittenWord("w", 1, logit),)
        return WrittenFrom(position, f"t{position}", weight, 0, words, words)

    parts = (("MLP 1", -7.97), ("1.0", 4.0), ("1.1", 3.5), ("MLP 0", 0.5), ("1.2", 0.25), ("0.1", 0.2), ("0.0", -0.1))
    words = (WrittenWord("a", 0, 1.0),)
    sources = (read(0, 0.7, 2.0), read(1, 0.05, 0.001), read(2, 0.25, 0.001))
    first = WrittenWord(" on", 3, 0.38)
    found = Writes("m", Head("decoder", 1, 1), "1.1", 2, "t", words, words, sources, first, parts, 0.0)
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(*writes_report(found), sep="\n")
    told = console.export_text()
    assert "raised most by 1.0 +4.00, 1.1 +3.50, MLP 0 +0.50, 1.2 +0.25" in told
    assert "lowered most by MLP 1 -7.97, 0.0 -0.10; the other 1 parts +0.20" in told
    assert "t0@0" in told and "t2@2" in told  # much weight that writes nothing is worth a line
    assert "t1@1" not in told and "1 other token moves no word by 0.01; weight 0.050" in told


def test_predictions_are_made_at_the_one_position(lively_of):  # noqa: F811
    model, seen = lively_of("llama"), []
    model.trace(LETTERS)  # the survey of a model runs once
    hook = model.module.lm_head.register_forward_hook(lambda _module, _args, out: seen.append(out.shape[1]))
    model.writes(LETTERS, "1.1", 4)
    hook.remove()
    assert seen and set(seen) == {1}
