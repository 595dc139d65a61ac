"""From tokens to words: maps and masks of a trace at word level.

Enters: sites, and the token positions that make up each word. Leaves: sites whose queries and keys are words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from regard.trace.mask import Mask
from regard.trace.sentences import reason
from regard.trace.site import Site

Groups = list[list[int]]  # the positions of each word, in order


def word_sites(sites: Sequence[Site], groups: Mapping[str, Groups], rows: str) -> tuple[Site, ...]:
    """The sites over words; `groups` are the words of each side, `rows` is "mean" or "first"."""
    masks: dict[object, Mask] = {}  # one for all layers that share it
    found = []
    for site in sites:
        table, queries, keys = site.mask.table, groups[site.query_side], groups[site.key_side]
        place = (site.query_side, site.key_side, site.mask.left, site.mask.right, None if table is None else id(table))
        if place not in masks:
            masks[place] = _word_mask(site, queries, keys, rows)
        found.append(_word_site(site, queries, keys, rows, masks[place]))
    return tuple(found)


def _word_site(site: Site, queries: Groups, keys: Groups, rows: str, mask: Mask) -> Site:
    """The word-level maps of a site; a side whose positions have no words keeps them."""
    starts = np.array([group[0] for group in keys])
    maps = np.empty((site.heads, len(queries), len(keys)), np.float32)
    for index in range(site.heads):
        columns = np.add.reduceat(site.attention(index), starts, axis=1)  # sum over the attended word
        firsts = np.array([group[0] for group in queries])
        if rows == "first":
            maps[index] = columns[firsts]
        else:
            sizes = np.array([len(group) for group in queries])
            maps[index] = np.add.reduceat(columns, firsts, axis=0) / sizes[:, None]
    return Site(
        kind=site.kind,
        layer=site.layer,
        part=site.part,
        path=site.path,
        query_side=site.query_side,
        key_side=site.key_side,
        head_ids=site.head_ids,
        mask=mask,
        maps=maps,
        no_norms=reason("merged_words"),
    )


def _word_mask(site: Site, queries: Groups, keys: Groups, rows: str) -> Mask:
    """What words may see: a word is visible if one of its tokens is visible to any token of the row's word."""
    whole = np.arange(site.queries), np.arange(site.keys)
    tables = [site.mask.allowed(*whole, head) for head in range(site.mask_heads)]
    if tables[0] is None:
        return Mask()
    firsts, starts = (np.array([group[0] for group in groups]) for groups in (queries, keys))
    seen = np.logical_or.reduceat(np.stack([t for t in tables if t is not None]), starts, axis=2)  # (H or 1, Q, words)
    by_word = seen[:, firsts] if rows == "first" else np.logical_or.reduceat(seen, firsts, axis=1)
    return Mask.from_table(by_word)
