"""Trace: the record of one input through one model, from which every attention map can be read exactly.

Enters: sides (tokens), sites (attention operations) and facts, from capture, a file, or maps made elsewhere.
Leaves: attention, scores, vectors and norms of any head, at token or word level.

Long on purpose: this is the class that people use, and most of its lines are documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from regard.base.errors import MissingPackageError, OutOfRangeError, UnknownNameError, UserError
from regard.trace.mask import Mask
from regard.trace.merging import word_sites
from regard.trace.rollout import rolled_out
from regard.trace.sentences import reason
from regard.trace.site import KINDS, Array, Positions, Site, positions, ranges
from regard.trace.tokens import Segment, Side, Token, merge_words, word_groups

if TYPE_CHECKING:
    from regard.patterns.neurons import Neurons
    from regard.patterns.norms import ClassNorms
    from regard.patterns.table import Patterns
    from regard.trace.showing import FigureOptions, PageOptions, ViewOptions
    from regard.views.figures import Picture
    from regard.views.widget import View


@dataclass(frozen=True, eq=False)
class Trace:
    """What one input did in one model: tokens, attention sites, and the facts of the run.

    Layers and heads count from 0. If a model has several kinds of attention (encoder, decoder, cross) and none
    is named, the first one is used. `sides` are its lists of tokens by name, `sites` its attention operations, `facts`
    say how it was made.

    Examples
    --------
    >>> maps = np.full((1, 2, 3, 3), 1 / 3)
    >>> trace = Trace.from_maps(maps, ["a", "b", "c"])
    >>> trace.attention(0, 1).shape
    (3, 3)
    """

    sides: Mapping[str, Side]
    sites: tuple[Site, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    # -- what is there -------------------------------------------------------------------------------------

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of attention in this trace, encoder first."""
        return tuple(kind for kind in KINDS if any(site.kind == kind for site in self.sites))

    def layers(self, kind: str | None = None) -> tuple[int, ...]:
        """The layer numbers of a kind of attention."""
        kind = self._kind(kind)
        return tuple(dict.fromkeys(site.layer for site in self.sites if site.kind == kind))

    def site(self, layer: int, *, kind: str | None = None, part: int = 0) -> Site:
        """The attention operation of a layer (windowed vision models have one part per window)."""
        kind = self._kind(kind)
        for site in self.sites:
            if (site.kind, site.layer, site.part) == (kind, layer, part):
                return site
        layers = self.layers(kind)
        if layer in layers:
            raise OutOfRangeError(f"layer {layer} of the {kind} has no part {part}; parts count from 0")
        raise OutOfRangeError(f"there is no {kind} layer {layer}; this trace holds layers {ranges(layers)}")

    def side(self, name: str | None = None) -> Side:
        """One list of tokens; the first side unless named."""
        if name is None:
            return next(iter(self.sides.values()))
        if name not in self.sides:
            raise UnknownNameError(f"there is no side {name!r}; this trace has {', '.join(self.sides)}")
        return self.sides[name]

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Tokens of the first side."""
        return self.side().tokens

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Segments of the first side."""
        return self.side().segments

    # -- reading -------------------------------------------------------------------------------------------

    def attention(
        self,
        layer: int,
        head: int | None = None,
        *,
        kind: str | None = None,
        part: int = 0,
        queries: Positions = None,
        keys: Positions = None,
    ) -> Array:
        """Attention of a head, or of all heads of a layer; rows sum to 1 (less where the model has a sink).

        Parameters
        ----------
        layer, head
            Which head, from 0; without a head, all heads of the layer.
        kind, part
            Which attention operation of the layer, where there are several.
        queries, keys
            Positions to compute: an integer, a slice or a list. Only that tile is computed.

        Returns
        -------
        (queries, keys) float32 array, or (heads, queries, keys) without `head`.
        """
        site = self.site(layer, kind=kind, part=part)
        return _of_heads(site, head, lambda index: site.attention(index, queries, keys))

    def scores(
        self,
        layer: int,
        head: int | None = None,
        *,
        kind: str | None = None,
        part: int = 0,
        queries: Positions = None,
        keys: Positions = None,
    ) -> Array:
        """(queries, keys) scores before softmax, scaled and biased; hidden keys are -inf.

        Without a head, (heads, queries, keys) of the layer.
        """
        site = self.site(layer, kind=kind, part=part)
        return _of_heads(site, head, lambda index: site.scores(index, queries, keys))

    def q(self, layer: int, head: int, *, kind: str | None = None, part: int = 0) -> Array:
        """(queries, d) vectors as they entered the dot product (after rotation and normalisation, if any)."""
        site = self.site(layer, kind=kind, part=part)
        return _vectors(site.q, site.index(head), site, "q")

    def k(self, layer: int, head: int, *, kind: str | None = None, part: int = 0) -> Array:
        """(keys, d) vectors of the key-value head that serves this head."""
        site = self.site(layer, kind=kind, part=part)
        return _vectors(site.k, site.group(site.index(head)), site, "k")

    def v(self, layer: int, head: int, *, kind: str | None = None, part: int = 0) -> Array:
        """(keys, d) vectors that the attention averages."""
        site = self.site(layer, kind=kind, part=part)
        return _vectors(site.v, site.group(site.index(head)), site, "v")

    def norms(self, layer: int, head: int | None = None, *, kind: str | None = None, part: int = 0) -> Array:
        """(keys,) lengths ||f(x_j)|| of what each key can add to the output through this head.

        Without a head, (heads, keys) of the layer.
        """
        site = self.site(layer, kind=kind, part=part)
        if site.norms is None:
            why = site.no_norms or reason("unrecorded")
            raise UserError(f"norms of layer {layer} are not available: {why}")
        return site.norms if head is None else site.norms[site.index(head)]

    def contributions(
        self,
        layer: int,
        head: int | None = None,
        *,
        kind: str | None = None,
        part: int = 0,
        queries: Positions = None,
        keys: Positions = None,
    ) -> Array:
        """(queries, keys) contributions ||alpha_ij f(x_j)|| of each key (Kobayashi et al. 2020).

        Without a head, (heads, queries, keys) of the layer.
        """
        site = self.site(layer, kind=kind, part=part)
        norms = self.norms(layer, kind=kind, part=part)[:, positions(keys, site.keys)]  # (H, K)
        return _of_heads(site, head, lambda index: site.attention(index, queries, keys) * norms[index])

    def worth(
        self,
        layer: int,
        head: int | None = None,
        *,
        kind: str | None = None,
        part: int = 0,
        queries: Positions = None,
        keys: Positions = None,
        how: str | None = None,
    ) -> Array:
        """(queries, keys) estimates of what each line adds to the model's output: m whole minus m with the line cut.

        m is the number in `facts["worth"]`: the log probability of a token or label, a score, a similarity. To first
        order, from one backward pass: how far that agrees with exact cuts is in `facts["worth"]["check"]`, and
        `Model.cut` is exact. Without a head, (heads, queries, keys) of the layer.

        Parameters
        ----------
        how
            "mask" hides the key, so that the row's other weights grow; "zero" takes out what the key adds. With
            "mask", lines of weight above 0.95 are NaN: only the exact cut tells. Without it, the way that the trace
            was made and checked for.
        """
        site = self.site(layer, kind=kind, part=part)
        how = how or str(self.facts.get("worth", {}).get("how", "mask"))
        return _of_heads(site, head, lambda index: site.worth(index, queries, keys, how))

    def rollout(self, by: str = "weights", *, kind: str | None = None) -> Array:
        """(tokens, tokens) from the last layer to the input: the product over layers of ½A + ½I, rows summing to 1.

        `by` is "weights", A the mean over heads, or "contributions", A the sum over heads of ‖αf(x)‖ (not the norm of
        their sum: heads that cancel each other both count), with rows made to sum to 1. One way to say which tokens a
        layer's position depends on, to be judged by deletion: `regard study deletion`.
        """
        if by not in ("weights", "contributions"):
            raise UserError(f"by must be 'weights' or 'contributions', not {by!r}")
        kind = self._kind(kind)
        if any(site.part or site.query_side != site.key_side for site in self.sites if site.kind == kind):
            raise UserError("rollout needs layers that look from a list of tokens to the same list; cross does not")
        read = self.attention if by == "weights" else self.contributions
        return rolled_out(read(layer, kind=kind).mean(axis=0) for layer in self.layers(kind))

    def gains(self) -> Array:
        """(n, n) nats by which key j helps to predict: token i, in masked models; the token after i, in causal ones.

        Negative where the token is likelier without j, NaN where nothing is asked; see `regard.models.predicting`.
        """
        side = self.side()
        if side.gains is None:
            raise UserError(f"it is not known which words predict which: {reason(side.no_gains)}")
        return side.gains

    def attribution(
        self, layer: int, head: int, *, kind: str | None = None, queries: Positions = None, keys: Positions = None
    ) -> dict[tuple[str, str], Array]:
        """Scores of the first layer split by their origin: (query part, key part) -> (queries, keys).

        Parts are word, position and segment embedding and a constant; the sum over all pairs is exactly the score.
        Pairs whose key part is the constant are equal along a row and cancel in the softmax.
        """
        site = self.site(layer, kind=kind)
        table = site.attribution(site.index(head), queries, keys)
        names = site.parts
        return {(a, b): table[i, j] for i, a in enumerate(names) for j, b in enumerate(names)}

    # -- deriving ------------------------------------------------------------------------------------------

    def select(
        self,
        *,
        kinds: Iterable[str] | None = None,
        layers: Iterable[int] | None = None,
        heads: Iterable[int] | None = None,
    ) -> Trace:
        """A trace of some layers and heads, which keep their numbers."""
        chosen_kinds = self.kinds if kinds is None else tuple(self._kind(kind) for kind in kinds)
        wanted = None if layers is None else tuple(layers)
        for kind in chosen_kinds:
            for layer in wanted or ():
                self.site(layer, kind=kind)
        sites = [s for s in self.sites if s.kind in chosen_kinds and (wanted is None or s.layer in wanted)]
        if heads is not None:
            numbers = tuple(heads)
            sites = [site.select(numbers) for site in sites]
        if not sites or any(not site.heads for site in sites):
            raise UserError("the selection is empty; choose at least one layer and one head")
        return replace(self, sites=tuple(sites))

    def words(self, *, rows: str = "mean") -> Trace:
        """The trace at word level: attention to a word is summed over its tokens, attention from it averaged.

        Parameters
        ----------
        rows
            "mean" averages the rows of a word's tokens (Clark et al. 2019); "first" takes the first token's row.
        """
        if rows not in ("mean", "first"):
            raise UserError(f"rows must be 'mean' or 'first', not {rows!r}")
        groups = {name: word_groups(side) for name, side in self.sides.items()}
        sides = {name: merge_words(side, groups[name]) for name, side in self.sides.items()}
        return Trace(sides, word_sites(self.sites, groups, rows), {**self.facts, "level": "word", "word_rows": rows})

    # -- what the heads do ---------------------------------------------------------------------------------

    def patterns(self, *, threshold: float | None = None, by: str = "weights") -> Patterns:
        """What each head does when awake: a table of (layer, head, pattern, score, evidence); see `regard.patterns`.

        `by` is "weights", where heads look, or "contributions", what arrives from there.
        """
        from regard.patterns import patterns

        return patterns(self, threshold=threshold, by=by)

    def neurons(self, layer: int, head: int, pattern: str | None = None, *, kind: str | None = None) -> Neurons:
        """Which neurons of a head produce a pattern ("previous token", "[SEP]", ...; its strongest unless given).

        One text has no intervals; `regard.patterns.neurons_of` takes many.
        """
        from regard.patterns import neurons_of

        return neurons_of([self], layer, head, pattern, kind=kind)

    def class_norms(self, *, kind: str | None = None) -> ClassNorms:
        """Per layer, the shares of [CLS], [SEP], punctuation and other tokens in attention and in contributions."""
        from regard.patterns.norms import class_norms

        return class_norms(self, kind=kind)

    # -- files, other sources, display ---------------------------------------------------------------------

    def to_xarray(
        self,
        what: str = "attention",
        *,
        layers: Iterable[int] | None = None,
        kind: str | None = None,
        part: int = 0,
    ) -> Any:
        """An xarray DataArray (layer, head, query, key) with token texts as coordinates.

        Nothing is computed before its numbers are needed, and then only the part that is chosen: `.sel(layer=3,
        head=2, query=5)` computes one row. More than 1 GB at once is refused.

        Parameters
        ----------
        what
            "attention", "scores", "contributions" or "worth", as the methods of these names.
        layers
            Which layers; all unless given.
        kind, part
            Which attention operation of the layers, where there are several.
        """
        from regard.trace.labelled import to_xarray

        return to_xarray(self, what, layers, kind, part)

    def save(self, path: str | Path) -> Path:
        """Write the trace to a safetensors file; it opens again without torch and without the model."""
        from regard.trace.file import save

        return save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """Read a trace that `save` wrote."""
        from regard.trace.file import load

        return cls(*load(path))

    @classmethod
    def from_maps(
        cls,
        maps: Any,
        tokens: Sequence[str] | Mapping[str, Sequence[str]],
        *,
        key_tokens: Sequence[str] | None = None,
        kind: str = "encoder",
        segments: Sequence[Segment] = (),
        tokenizer: Any = None,
        causal: bool | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> Trace:
        """A trace of attention maps made elsewhere (torch, numpy, JAX, TensorFlow, nested lists).

        Parameters
        ----------
        maps
            (layers, heads, queries, keys), a sequence of (heads, queries, keys) or (1, heads, queries, keys)
            arrays, or a mapping from kind ("encoder", "decoder", "cross") to these: also the outputs of a model of
            transformers that was called with output_attentions=True. A layer may be a saved module output that has
            maps in it, as nnsight's are.
        tokens
            Token texts; for a mapping of maps, a mapping with "encoder" and "decoder" token texts. Word pieces are
            recognised by tokenizer marks (##berries, Ġthe, ▁the, a space in front); without, each token is a word.
        key_tokens
            Token texts of the keys, where they differ from the queries'.
        kind
            The kind of attention of a single array of maps.
        segments
            Labelled ranges of the first side's tokens; unless given, two sentences are told apart by [SEP], or by
            </s></s>. Without those, what is asked about the other sentence is n/a.
        tokenizer
            The tokenizer of the tokens, as returned by its `convert_ids_to_tokens`: words, special tokens and parts of
            characters are then exact.
        causal
            Whether queries see no later key. Unless given, maps count as causal if none looks ahead and, for kind
            "encoder", all together look at every earlier key, as a softmax does.
        """
        from regard.trace.maps import of_maps

        sides, sites = of_maps(maps, tokens, key_tokens, kind, tuple(segments), tokenizer=tokenizer, causal=causal)
        return cls(sides, sites, dict(facts or {}))

    @classmethod
    def from_transformer_lens(
        cls,
        cache: Any,
        tokens: Sequence[str] | Mapping[str, Sequence[str]],
        *,
        tokenizer: Any = None,
        example: int = 0,
        facts: Mapping[str, Any] | None = None,
    ) -> Trace:
        """A trace of an `ActivationCache` of TransformerLens, or of any mapping with its names.

        q, k and v are kept where they give the same maps as the cache has (after rotation, if any); maps alone
        otherwise, as with ALiBi. Norms are n/a: a cache has no weights.

        Parameters
        ----------
        cache
            What `run_with_cache` returned second.
        tokens
            Token texts, such as `model.to_str_tokens(text)`; for an encoder-decoder, by side.
        tokenizer
            As in `from_maps`.
        example
            Which one of a batch.
        """
        from regard.trace.cached import of_cache

        return cls(*of_cache(cache, tokens, tokenizer, example), dict(facts or {}))

    @classmethod
    def from_headvis(cls, folder: str | Path, sequence: int | None = None) -> Trace:
        """A trace of one sequence of a HeadVis tree, such as `regard export` writes.

        It holds those heads that have the sequence; weights that the tree leaves out are 0.

        Parameters
        ----------
        folder
            The tree: config.json, heads/L0H0.json, ...
        sequence
            Its sequence_id; the one that most heads have, unless given.
        """
        from regard.trace.cached import of_headvis

        return cls(*of_headvis(folder, sequence), {"captured": "a HeadVis tree; weights that it leaves out are 0"})

    def view(self, view: str | None = None, **first: Unpack[ViewOptions]) -> View:
        """Interactive views in a notebook; the widget's `selection` says what is chosen, `select` changes it.

        Parameters
        ----------
        view
            What to open with, one of those of `static/views.json`: "heads" (the default), "atlas" and so on; "sound" is
            the default where words were heard in one.
        **first
            `kind`, `layer` and `heads` selected first (otherwise the head with the clearest pattern); `report`,
            `measures` and `vectors` as in `regard.views.encode`.
        """
        try:
            from regard.views.widget import View
        except ModuleNotFoundError as error:
            raise MissingPackageError(
                f"views in a notebook need {error.name}; run: pip install 'regard[notebook]'"
            ) from None
        return View(self, view=view, **first)

    def save_html(self, path: str | Path, **options: Unpack[PageOptions]) -> Path:
        """Write the views as one HTML page that needs no network; see `regard.views.html.save_html`."""
        from regard.views.html import save_html

        return save_html(self, path, **options)

    def figure(self, view: str = "heads", **options: Unpack[FigureOptions]) -> Picture:
        """Draw a view for a paper; `.save("name.svg")` writes SVG, PDF or PNG. See `regard.views.figures.figure`."""
        from regard.views.figures import figure

        return figure(self, view, **options)

    def __repr__(self) -> str:
        name = self.facts.get("model", "maps")
        kinds = ", ".join(f"{kind} {len(self.layers(kind))}x{self._heads(kind)}" for kind in self.kinds)
        lengths = ", ".join(str(len(side)) for side in self.sides.values())
        return f"<Trace {name}: {lengths} tokens, {kinds} heads, {self.facts.get('tier', 'maps given')}>"

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from regard.printing.tables import trace_table

        yield trace_table(self)

    def _ipython_display_(self) -> None:
        from regard.views.cells import display_trace

        display_trace(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from regard.views.cells import still_bundle

        return still_bundle(self)

    def _display_(self) -> Any:
        """What marimo shows."""
        from regard.views.cells import view_of

        return view_of(self) or self._repr_mimebundle_()["text/html"]

    def _heads(self, kind: str) -> str:
        counts = sorted({site.heads for site in self.sites if site.kind == kind})
        return "-".join(map(str, counts))

    def _kind(self, kind: str | None) -> str:
        if kind is None:
            return self.kinds[0]
        if kind not in self.kinds:
            raise UserError(f"there is no {kind!r} attention in this trace; it has {', '.join(self.kinds)}")
        return kind


def _of_heads(site: Site, head: int | None, read: Callable[[int], Array]) -> Array:
    """The result of `read` for a head, or for all heads of the site."""
    if head is None:
        return np.stack([read(index) for index in range(site.heads)])
    return read(site.index(head))


def _vectors(array: Array | None, index: int, site: Site, name: str) -> Array:
    if array is None:
        raise UserError(f"{name} of layer {site.layer} is not available: this trace does not contain it")
    return np.asarray(array[index])


__all__ = ["KINDS", "Mask", "Segment", "Side", "Site", "Token", "Trace"]
