"""Spanning trees of many weight matrices at once, and how many of their edges are true.

Enters: weights between the words of sentences, (B, N, W, W) of N heads. Leaves: (B, N) counts of true edges.
"""

from __future__ import annotations

import torch


def spanning_hits(weights: torch.Tensor, nodes: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
    """(B, N) how many edges of the maximum spanning trees are among the true ones.

    Prim's algorithm, one step for all trees together: the heaviest edge from what is in the tree to what is not.

    Parameters
    ----------
    weights
        (B, N, W, W), symmetric.
    nodes
        (B, W) booleans: the words that are joined.
    edges
        (B, W, W) booleans: the true edges, both ways.
    """
    batch, count, words, _ = weights.shape
    flat = weights.reshape(batch * count, words, words)
    every = torch.arange(batch * count, device=weights.device)
    owner = every // count  # the sentence of each tree
    first = nodes.to(torch.int8).argmax(dim=-1)[owner]  # (M,) M = B N trees, each begun at its first word
    waiting = nodes[owner]  # (M, W) words that are not in the tree yet
    waiting[every, first] = False
    hidden = torch.finfo(weights.dtype).min
    heaviest = flat[every, first].masked_fill(~waiting, hidden)  # (M, W) weight of the best edge into the tree
    parent = first[:, None].repeat(1, words)  # (M, W) where that edge begins
    hits = torch.zeros(batch * count, device=weights.device)
    for _ in range(int(nodes.sum(dim=-1).max()) - 1 if batch else 0):
        weight, word = heaviest.max(dim=-1)
        hits += edges[owner, parent[every, word], word] & (weight > hidden)
        waiting[every, word] = False
        row = flat[every, word]
        nearer = (row > heaviest) & waiting
        heaviest = torch.where(nearer, row, heaviest)
        heaviest[every, word] = hidden
        parent = torch.where(nearer, word[:, None], parent)
    return hits.reshape(batch, count)
