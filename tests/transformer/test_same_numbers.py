"""The readable model is the real thing: it computes what other implementations compute."""

import pytest
import torch
from torch import nn
from transformers import (
    AlbertConfig,
    AlbertForMaskedLM,
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForPreTraining,
    CamembertConfig,
    CamembertForMaskedLM,
    DistilBertConfig,
    DistilBertForMaskedLM,
    ElectraConfig,
    ElectraForMaskedLM,
    MarianConfig,
    MarianMTModel,
    RobertaConfig,
    RobertaForMaskedLM,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
)

from regard.transformer.config import Config
from regard.transformer.model import Attention, Bert, DecoderLayer, EncoderLayer, Stack, Translator, attention
from regard.transformer.weights import from_hugging_face

SENTENCES = ["I went to the store.", "At the store, I bought fresh strawberries, and then I went home."]


def small(family, **more):
    return family(
        vocab_size=50, d_model=24, encoder_layers=2, decoder_layers=3, encoder_attention_heads=3,
        decoder_attention_heads=3, encoder_ffn_dim=40, decoder_ffn_dim=40, max_position_embeddings=32,
        pad_token_id=1, bos_token_id=0, eos_token_id=2, decoder_start_token_id=1, forced_eos_token_id=None, **more,
    )  # fmt: skip


@pytest.mark.models
def test_hidden_states_of_the_default_model_are_the_same_in_every_layer(minilm):
    inputs = minilm.tokenizer(SENTENCES, padding=True, return_tensors="pt")
    ours = from_hugging_face(minilm.module)
    states = []
    for layer in ours.encoder.layers:
        layer.register_forward_hook(lambda _module, _args, out: states.append(out))
    with torch.no_grad():
        theirs = minilm.module(**inputs, output_hidden_states=True).hidden_states
        ours(**inputs)
    real = inputs["attention_mask"].bool()
    for mine, other in zip(states, theirs[1:], strict=True):
        torch.testing.assert_close(mine[real], other[real], atol=1e-5, rtol=0)


def test_both_heads_of_bert_are_the_same():
    torch.manual_seed(0)
    config = BertConfig(vocab_size=60, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40)
    theirs = BertForPreTraining(config).eval()
    ours = from_hugging_face(theirs)
    ids, types = torch.randint(5, 60, (3, 9)), torch.tensor([[0] * 4 + [1] * 5] * 3)
    with torch.no_grad():
        expected = theirs(ids, token_type_ids=types)
        states = ours(ids, token_type_ids=types)
    torch.testing.assert_close(ours.masked_words(states), expected.prediction_logits, atol=1e-5, rtol=0)
    torch.testing.assert_close(ours.next_sentence(states), expected.seq_relationship_logits, atol=1e-5, rtol=0)


SIZES = {
    "vocab_size": 60, "hidden_size": 24, "num_hidden_layers": 4, "num_attention_heads": 3, "intermediate_size": 40,
    "max_position_embeddings": 32,
}  # fmt: skip


@pytest.mark.parametrize(
    ("family", "config"),
    [
        (RobertaForMaskedLM, RobertaConfig(**SIZES, type_vocab_size=1)),
        (XLMRobertaForMaskedLM, XLMRobertaConfig(**SIZES)),
        (CamembertForMaskedLM, CamembertConfig(**SIZES)),
        (DistilBertForMaskedLM, DistilBertConfig(vocab_size=60, dim=24, n_layers=4, n_heads=3, hidden_dim=40)),
        (ElectraForMaskedLM, ElectraConfig(**SIZES, embedding_size=24)),
        (ElectraForMaskedLM, ElectraConfig(**SIZES, embedding_size=12)),
        (AlbertForMaskedLM, AlbertConfig(**SIZES, embedding_size=12)),
        (AlbertForMaskedLM, AlbertConfig(**SIZES, embedding_size=24, num_hidden_groups=2, hidden_act="gelu")),
    ],
    ids=lambda value: value.model_type if hasattr(value, "model_type") else "",
)
def test_every_hidden_state_and_logit_of_a_relative_of_bert_is_the_same(family, config):
    torch.manual_seed(0)
    theirs = family(config).eval()
    for parameter in theirs.parameters():  # far from where the library starts, so that every part counts
        parameter.data += 0.3 * torch.randn_like(parameter)
    ours = from_hugging_face(theirs)
    ids = torch.randint(5, 60, (2, 9))
    real = torch.tensor([[1] * 9, [1] * 6 + [0] * 3])
    ids[~real.bool()] = config.pad_token_id
    states = []
    for layer in dict.fromkeys(ours.encoder.layers):  # a shared layer is there several times
        layer.register_forward_pre_hook(lambda _module, args: states.append(args[0]))
    with torch.no_grad():
        expected = theirs(ids, attention_mask=real, output_hidden_states=True)
        final = ours(ids, real)
    seen = real.bool()
    for mine, other in zip([*states, final], expected.hidden_states, strict=True):
        torch.testing.assert_close(mine[seen], other[seen], atol=1e-5, rtol=0)
    torch.testing.assert_close(ours.masked_words(final)[seen], expected.logits[seen], atol=2e-5, rtol=1e-5)


def test_a_shared_layer_is_there_once():
    ours = from_hugging_face(AlbertForMaskedLM(AlbertConfig(**SIZES, embedding_size=12)))
    assert len({id(layer) for layer in ours.encoder.layers}) == 1
    with pytest.raises(ValueError, match="layers can only be repeated in an encoder"):
        Config(distinct=1)


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (BertConfig(**SIZES, is_decoder=True), "set up as a decoder"),
        (BertConfig(**SIZES, hidden_act="tanh"), "the activation tanh is not among"),
    ],
)
def test_a_bert_that_is_another_machine_is_refused_in_a_sentence(config, told):
    with pytest.raises(ValueError, match=told):
        from_hugging_face(BertForPreTraining(config))


@pytest.mark.parametrize(
    ("family", "config"),
    [
        (MarianMTModel, small(MarianConfig, activation_function="swish", scale_embedding=True)),
        (BartForConditionalGeneration, small(BartConfig, activation_function="gelu")),
    ],
)
def test_logits_of_a_tiny_marian_and_bart_are_the_same(family, config):
    torch.manual_seed(0)
    theirs = family(config).eval()
    theirs.final_logits_bias.normal_()
    ours = from_hugging_face(theirs)
    source, target = torch.randint(3, 50, (2, 7)), torch.randint(3, 50, (2, 6))
    real = torch.tensor([[1] * 7, [1] * 5 + [0] * 2])
    with torch.no_grad():
        expected = theirs(source, attention_mask=real, decoder_input_ids=target).logits
        torch.testing.assert_close(ours(source, target, real), expected, atol=1e-5, rtol=0)


def copy_attention(ours: Attention, theirs: nn.MultiheadAttention) -> None:
    for part, weight, bias in zip(
        (ours.query, ours.key, ours.value), theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True
    ):
        part.weight.data, part.bias.data = weight.clone(), bias.clone()
    ours.output.load_state_dict(theirs.out_proj.state_dict())


def copy_layer(ours, theirs) -> None:
    copy_attention(ours.self_attention, theirs.self_attn)
    norms = [ours.self_norm, ours.feed_norm]
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        norms.insert(1, ours.cross_norm)
    for i, norm in enumerate(norms, 1):
        norm.norm.load_state_dict(getattr(theirs, f"norm{i}").state_dict())
    ours.feed_forward.widen.load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward.narrow.load_state_dict(theirs.linear2.state_dict())


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # torch says that it takes no shortcut here
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_torch_transformer_with_copied_weights_agrees(norm, activation):
    torch.manual_seed(0)
    theirs = nn.Transformer(24, 3, 2, 2, 40, 0.0, activation, batch_first=True, norm_first=norm == "pre").eval()
    if norm == "post":  # torch adds a norm at the end that the published model does not have
        theirs.encoder.norm = theirs.decoder.norm = None
    config = Config(width=24, heads=3, layers=2, decoder_layers=2, hidden=40, norm=norm, activation=activation)
    encoder, decoder = Stack(config, EncoderLayer, 2).eval(), Stack(config, DecoderLayer, 2).eval()
    for mine, other in ((encoder, theirs.encoder), (decoder, theirs.decoder)):
        for layer, reference in zip(mine.layers, other.layers, strict=True):
            copy_layer(layer, reference)
    source, target = torch.randn(2, 7, 24), torch.randn(2, 5, 24)
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    with torch.no_grad():
        expected = theirs(source, target, tgt_mask=~causal)
        found = decoder(target, encoder(source, None), causal, None, None)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def test_the_formula_written_out_is_what_the_fused_kernel_computes():
    torch.manual_seed(0)
    q, k, v = torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 8)
    mask = torch.rand(5, 7) > 0.4
    mask[:, 0] = True
    expected = nn.functional.scaled_dot_product_attention(q, k, v, mask)
    torch.testing.assert_close(attention(q, k, v, mask), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("position", ["learned", "sinusoidal"])
def test_gradients_are_those_of_finite_differences(norm, position):
    torch.manual_seed(0)
    config = Config(
        vocabulary=11, width=8, heads=2, layers=1, decoder_layers=1, hidden=12, dropout=0.0,
        norm=norm, position=position, activation="gelu", embedding_norm=True,
    )  # fmt: skip
    model = Translator(config).double()
    source, target = torch.tensor([[4, 5, 6]]), torch.tensor([[2, 7, 8]])
    names = [name for name, _ in model.named_parameters()]

    def loss(*values):
        logits = torch.func.functional_call(model, dict(zip(names, values, strict=True)), (source, target))
        return nn.functional.cross_entropy(logits[0], torch.tensor([7, 8, 3]), label_smoothing=0.1)

    values = tuple(value.detach().requires_grad_() for _, value in model.named_parameters())
    assert torch.autograd.gradcheck(loss, values, fast_mode=True)


def test_a_model_of_another_family_is_refused_in_a_sentence_that_names_those_that_work(gpt2):
    with pytest.raises(ValueError, match="a gpt2 model cannot be opened step by step; these types can: bert, roberta"):
        from_hugging_face(gpt2.module)


def test_bert_names_its_family_for_regard():
    assert Bert(Config(decoder_layers=0)).config.model_type == "regard-bert"
