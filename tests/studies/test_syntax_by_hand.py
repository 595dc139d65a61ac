"""Counts of syntax equal those of traces read by hand and of other programs."""

import numpy as np
import pytest
import torch
from scipy.sparse.csgraph import minimum_spanning_tree

from regard.corpus.aligning import word_pieces
from regard.corpus.batches import Item
from regard.corpus.readers.source import Example, Problems, Source
from regard.corpus.readers.treebank import ROOT, tree_field, trees
from regard.studies.probe.trees import tree_of as probe_tree
from regard.studies.spanning import spanning_hits
from regard.studies.syntax.counts import ALL, Counted
from regard.studies.syntax.reduce import DIRECTIONS, OFFSETS, Parsed
from regard.studies.syntax.stanford import stanford
from tests.corpus.trees import read_trees
from tests.studies.store_trees import summed


def word_map(attention, pieces, words):
    """(W, W) of one head's map, by loops."""
    found = np.zeros((words, words))
    for query in range(words):
        for key in range(words):
            mine = attention[np.ix_(pieces == query, pieces == key)]
            found[query, key] = mine.sum(axis=1).mean() if (pieces == query).any() else 0
    return found


def tree_edges(weights, nodes):
    """Edges of a maximum spanning tree by another program."""
    heavy = weights[np.ix_(nodes, nodes)]
    chosen = minimum_spanning_tree(1 + heavy.max() - heavy)
    return {frozenset((nodes[a], nodes[b])) for a, b in zip(*chosen.nonzero(), strict=True)}


def by_hand(model, path):
    """(relation, kind, layer, direction, head) -> right guesses, and the true edges of each head's tree."""
    hits, trees = {}, {}
    for sentence in read_trees(Source(str(path))):
        trace = model.trace(sentence.text)
        for site in trace.sites:
            if model.is_encoder_decoder and site.kind != "encoder":
                continue
            for head in range(site.heads):
                pieces = word_pieces(model._engine.encode(sentence.text).side.tokens, sentence.spans)
                words = word_map(site.attention(head).astype(np.float64), pieces, len(sentence.words))
                np.fill_diagonal(words, 0)
                present = {int(piece) for piece in pieces if piece >= 0}
                for index, word in enumerate(sentence.words):
                    if index not in present or (word.head != ROOT and word.head not in present):
                        continue
                    for direction, row in zip(DIRECTIONS, (words[index], words[:, index]), strict=True):
                        right = row.max() > 0 and int(row.argmax()) == word.head
                        place = (word.relation, site.kind, site.layer, direction, head)
                        hits[place] = hits.get(place, 0) + right
                nodes = [n for n in sorted(present) if sentence.words[n].upos != "PUNCT"]
                true = {frozenset((n, sentence.words[n].head)) for n in nodes if sentence.words[n].head in nodes}
                place = (site.kind, site.layer, head)
                trees[place] = trees.get(place, 0) + len(true & tree_edges(words + words.T, nodes))
    return hits, trees


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "bart"])
def test_counts_equal_those_of_traces_read_by_hand(name, store, request):
    model = request.getfixturevalue(name)
    counted = Counted(summed(model, store))
    hits, trees = by_hand(model, store)
    judged = {name for name, one in counted.relations.items() if one.total}
    assert judged == {relation for relation, *_ in hits} | {ALL}
    for relation, kind, layer, direction, head in hits:
        place = counted.places.index((kind, layer, head, direction))
        found = counted.relations[relation].hits[..., place].sum()
        assert found == hits[relation, kind, layer, direction, head], (relation, kind, layer, direction, head)
    assert dict(zip(counted.heads, counted.trees.hits.sum(axis=(0, 1)).tolist(), strict=True)) == trees


def test_offsets_and_chains_are_counted_by_hand(store, bert):
    counted = Counted(summed(bert, store))
    nsubj = counted.relations["nsubj"]  # "I" is 3 before "go", "it" and "cat" and "dog" 1 before their verbs
    assert nsubj.total == 3  # "I" has no piece: the tiny tokenizer knows only small letters
    assert dict(zip(OFFSETS, nsubj.offsets.sum(axis=(0, 1)).tolist(), strict=True))[1] == 3
    det = counted.relations["det"]
    assert det.total == 4 and det.offsets[..., OFFSETS.index(1)].sum() == 4
    assert counted.relations["root"].offsets.sum() == 0


def test_the_first_piece_alone_is_another_reading(store, gpt2):
    mean, first = summed(gpt2, store), summed(gpt2, store, rows="first")
    assert any(not np.array_equal(mean[name], first[name]) for name in mean.arrays if "/hits/" in name)
    np.testing.assert_array_equal(mean["relation/nsubj"], first["relation/nsubj"])


def test_spanning_trees_have_the_edges_of_another_program():
    torch.manual_seed(0)
    weights = torch.rand(3, 4, 9, 9)
    weights = weights + weights.transpose(-1, -2)
    nodes = torch.ones(3, 9, dtype=torch.bool)
    nodes[1, [0, 4, 8]] = nodes[2, 1:] = False  # some words left out; one word alone
    true = torch.rand(3, 9, 9) < 0.4
    true = (true | true.transpose(-1, -2)) & nodes[:, None] & nodes[:, :, None]
    found = spanning_hits(weights, nodes, true)
    for sentence in range(3):
        for head in range(4):
            kept = torch.nonzero(nodes[sentence])[:, 0].tolist()
            edges = tree_edges(weights[sentence, head].numpy(), kept) if len(kept) > 1 else set()
            assert found[sentence, head] == sum(bool(true[sentence][tuple(edge)]) for edge in map(tuple, edges))


def test_relations_have_stanford_names():
    assert [stanford(name) for name in ("obj", "nsubj:pass", "nmod:poss", "obl:arg", "clf")] == [
        "dobj",
        "nsubjpass",
        "poss",
        "prep + pobj, under a verb",
        "none",
    ]


def test_syntax_and_probes_leave_out_the_same_words_as_punctuation(bert):
    """A tag without its relation, a relation without its tag, a subtype, and a word that is neither."""
    told = "the DET det , PUNCT dep cat X punct ? _ punct:x sat VERB root".split()
    words = list(zip(told[::3], told[1::3], told[2::3], strict=True))
    rows = [f"{n}\t{w}\t_\t{tag}\t_\t_\t{0 if r == 'root' else 5}\t{r}\t_\t_" for n, (w, tag, r) in enumerate(words, 1)]
    lines = [(n, line) for n, line in enumerate(["# text = the , cat ? sat", *rows, ""], 1)]
    [sentence] = trees(iter(lines), "made up", Problems())
    example = Example(0, sentence.text, fields={"tree": tree_field(sentence)})
    parsed = Parsed(Item(0, bert._engine.encode(sentence.text), example))
    probed = probe_tree(0, sentence, range(len(words)))
    assert (~parsed.joined).tolist() == probed.punctuation.tolist() == [False, True, True, True, False]
