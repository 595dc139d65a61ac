"""Figures for papers: the views as SVG, PDF or PNG, without a browser.

Enters: a Trace and what to draw. Leaves: a `Picture` that shows itself in a notebook and saves itself.

Long on purpose: the four figures share their labels, colours and captions, which are easier to follow in one place.
"""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.errors import MissingPackageError, UserError
from regard.files import write_atomic
from regard.patterns.entries import RESTING_PLACES, does_of
from regard.patterns.resting import rests_of
from regard.trace.lettering import plain, readable
from regard.trace.site import SURE, Array, Positions, Site, positions
from regard.trace.tokens import Token
from regard.trace.trace import Trace
from regard.views.frames import named_frames
from regard.views.report import report_of
from regard.views.themes import theme
from regard.views.wire import require_worth

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

FORMATS = ("svg", "pdf", "png")
FIGURES = ("heads", "matrix", "atlas", "neurons")
_INK, _QUIET = "#1c2230", "#5f6879"
_POSITIVE, _NEGATIVE = "#2b6fd6", "#e07b1a"
_MOST_TOKENS = 200  # labels beyond this cannot be read in a figure
_MOST_HEADS = 4096  # maps of an atlas
_MONO: dict[str, Any] = {"family": "monospace", "size": 7}
_RULE: dict[str, Any] = {"color": "#2457b8", "linewidth": 0.8}  # between prompt and answer
WIDTHS = {"column": 3.3, "page": 6.9}  # inches, of a journal's column and of its page
_SMALL = 3.5  # points of the smallest label
_RESTING = 0.55  # of the opacity of other lines: what rests stays in the background
_LEGEND = 12  # heads that a legend lists
_PAD = 0.15  # inches around a figure that is saved whole: a reader's own font may be a little wider
_INPUT = 90  # letters of the input in a caption


class Picture:
    """A finished figure. `figure` is the matplotlib figure, for those who want to change it.

    `whole` saves all that is drawn, also a legend that reaches beyond the figure's own size.
    """

    def __init__(self, figure: Figure, *, whole: bool = False) -> None:
        self.figure, self._whole = figure, whole

    def save(self, path: str | Path, *, dpi: int = 300) -> Path:
        """Write SVG, PDF or PNG, depending on the file's ending."""
        target = Path(path)
        ending = target.suffix.lower().lstrip(".")
        if ending not in FORMATS:
            raise UserError(
                f"a figure can be saved as {', '.join(FORMATS)}, not {target.suffix or 'a file without ending'!r}"
            )
        write_atomic(target, lambda temporary: Path(temporary).write_bytes(self._bytes(ending, dpi)))
        return target

    def _bytes(self, ending: str, dpi: int = 144) -> bytes:
        from matplotlib import rc_context

        buffer = io.BytesIO()
        # text stays text, and the same figure gives the same file
        settings = {"svg.fonttype": "none", "svg.hashsalt": "regard", "pdf.fonttype": 42}
        with rc_context(settings), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")  # a box is drawn, or SVG's reader has it
            stamp: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending, {})
            edge: dict[str, Any] = {"bbox_inches": "tight", "pad_inches": _PAD} if self._whole else {}
            self.figure.savefig(buffer, format=ending, dpi=dpi, metadata=stamp, **edge)
        return buffer.getvalue()

    def svg(self) -> bytes:
        """The figure as SVG."""
        return self._bytes("svg")

    def _repr_png_(self) -> bytes:
        return self._bytes("png")


def figure(
    trace: Trace,
    view: str = "heads",
    *,
    layer: int | None = None,
    head: int | None = None,
    heads: Sequence[int] | None = None,
    kind: str | None = None,
    query: int | None = None,
    queries: Positions = None,
    keys: Positions = None,
    contributions: bool = False,
    worth: bool = False,
    threshold: float = 0.0,
    title: str | None = None,
    width: str | float | None = None,
) -> Picture:
    """Draw one view of a trace.

    Parameters
    ----------
    view
        "heads" (lines between tokens), "matrix" (one map), "atlas" (all heads), "neurons" (how a score is made).
    layer, head, heads, kind
        Which attention; the first layer and all its heads unless given (matrix and neurons: head 0).
    query
        The query token whose scores `neurons` shows; by default the last one that is not special.
    queries, keys
        Positions to show; all unless given.
    contributions
        Show contributions ||alpha f(x)|| instead of the weights.
    worth
        Show what lines are worth instead: blue helps, orange works against; the trace must have been made with
        worth=True.
    threshold
        Leave out lines weaker than this share of the strongest.
    title
        The line above the figure, in place of one that says what it shows; model, input, layer and heads are always
        printed below it.
    width
        "column" (3.3 inches), "page" (6.9 inches) or inches; by default as wide as the tokens need.
    """
    drawers: dict[str, Callable[[_Job], Figure]] = {
        "heads": _heads,
        "matrix": _matrix,
        "atlas": _atlas,
        "neurons": _neurons,
    }
    if view not in drawers:
        raise UserError(f"there is no figure {view!r}; choose from {', '.join(drawers)}")
    if head is not None and heads is not None:
        raise UserError("pass head=... for one head or heads=[...] for several, not both")
    chosen = [head] if head is not None else None if heads is None else list(heads)
    if worth and (contributions or view == "neurons"):
        raise UserError("worth is shown in heads, matrix and atlas, in place of weights and of contributions")
    if worth:
        require_worth(trace)
    shown = "worth" if worth else "contributions" if contributions else "weights"
    job = _Job(trace, layer, chosen, kind, query, queries, keys, shown, threshold, _inches(width))
    drawn = drawers[view](job)
    _caption(drawn, job, view, title)
    return Picture(drawn)


def _inches(width: str | float | None) -> float | None:
    """A width in inches; None leaves it to the tokens."""
    if width is None:
        return None
    if isinstance(width, str):
        if width not in WIDTHS:
            raise UserError(f"a figure's width is {' or '.join(WIDTHS)} or a number of inches, not {width!r}")
        return WIDTHS[width]
    if not 1 <= width <= 40:
        raise UserError(f"a figure is between 1 and 40 inches wide, not {width}")
    return float(width)


class _Job:
    """What to draw, with defaults filled in and checked."""

    def __init__(
        self,
        trace: Trace,
        layer: int | None,
        heads: list[int] | None,
        kind: str | None,
        query: int | None,
        queries: Positions,
        keys: Positions,
        shown: str,
        threshold: float,
        width: float | None,
    ) -> None:
        self.trace, self.kind, self.width = trace, kind, width
        self.layer = trace.layers(kind)[0] if layer is None else layer
        self.site: Site = trace.site(self.layer, kind=kind)
        self.heads = list(self.site.head_ids) if heads is None else heads
        self.indices = [self.site.index(number) for number in self.heads]
        self.rows = positions(queries, self.site.queries)
        self.columns = positions(keys, self.site.keys)
        self.shown, self.threshold = shown, threshold
        self.query = query

    def map_of(self, head: int) -> Array:
        """(queries, keys) weights, contributions or worth to show."""
        if self.shown == "worth":
            return self.trace.worth(
                self.layer, head, kind=self.kind, queries=self.rows, keys=self.columns, how=self.judged["how"]
            )
        read = self.trace.contributions if self.shown == "contributions" else self.trace.attention
        return read(self.layer, head, kind=self.kind, queries=self.rows, keys=self.columns)

    @property
    def judged(self) -> dict[str, Any]:
        """What lines are judged by."""
        return dict(self.trace.facts["worth"])

    @property
    def quantity(self) -> str:
        """What the numbers are called."""
        if self.shown == "worth":
            return f"worth for {readable(self.judged['name'].strip())}"
        return "contribution ||αf(x)||" if self.shown == "contributions" else "attention weight"

    @property
    def query_tokens(self) -> list[Token]:
        return [self.trace.side(self.site.query_side).tokens[i] for i in self.rows]

    @property
    def key_tokens(self) -> list[Token]:
        return [self.trace.side(self.site.key_side).tokens[i] for i in self.columns]

    @property
    def rests(self) -> Array:
        """(queries, keys) where attention goes that has nothing to do."""
        return np.asarray(rests_of(self.trace, self.site)[np.ix_(self.rows, self.columns)])

    @property
    def divisions(self) -> tuple[int | None, int | None]:
        """The first query and key shown that the model wrote; None unless prompt and answer are both shown."""
        return self._division(self.site.query_side, self.rows), self._division(self.site.key_side, self.columns)

    def _division(self, side: str, shown: Array) -> int | None:
        segments = self.trace.side(side).segments
        start = next((segment.start for segment in segments if segment.name == "answer"), None)
        first = None if start is None else int(np.searchsorted(shown, start))
        return first if first is not None and 0 < first < len(shown) else None

    def check_length(self) -> None:
        longest = max(len(self.rows), len(self.columns))
        if longest > _MOST_TOKENS:
            raise UserError(
                f"{longest} tokens do not fit a figure with labels; choose up to {_MOST_TOKENS} with queries= and keys="
            )


def _new(width: float, height: float) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingPackageError("figures need matplotlib; run: pip install 'regard[figures]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def _lettering(room: float) -> dict[str, Any]:
    """Labels that fit into so many inches each."""
    return _MONO | {"size": max(_SMALL, min(7.0, 72 * room * 0.85))}


def _heads(job: _Job) -> Figure:
    """Two columns of tokens, a line per query and key; colour is the head, opacity the weight; what rests is grey."""
    job.check_length()
    longest = max(len(job.rows), len(job.columns))
    drawn = _new(job.width or 4.2, 1.6 + 0.17 * longest)
    axes = drawn.add_subplot()
    maps = [job.map_of(head) for head in job.heads]
    strongest = max(_farthest(m) for m in maps) or 1.0
    rests = job.rests
    for head, weights in zip(job.heads, maps, strict=True):
        share = weights / strongest
        if job.shown == "worth":
            _signed_lines(axes, share, job.threshold)
            continue
        seen = share > max(job.threshold, 0.005)
        axes.add_collection(_lines(share * _RESTING, seen & rests, _QUIET, linewidths=0.5, zorder=1))
        axes.add_collection(_lines(share, seen & ~rests, head_colour(head), linewidths=1.1, zorder=2))
    for x, side, tokens in ((-0.03, "right", job.query_tokens), (1.03, "left", job.key_tokens)):
        for y, token in enumerate(tokens):
            colour = _QUIET if token.special else _INK
            axes.text(x, y, _label(token), ha=side, va="center", color=colour, **_MONO)
    for x, side, name in ((-0.03, "right", "query"), (1.03, "left", "key")):
        axes.text(x, -1.1, name, ha=side, va="center", color=_QUIET, size=8)
    for first, near, far in zip(job.divisions, (-0.03, 1.03), (-0.75, 1.75), strict=True):
        if first is not None:
            axes.plot([near, far], [first - 0.5] * 2, **_RULE)
            side = "left" if far < near else "right"
            _parts(axes, (far, first - 0.5), side, across=False)
    named = job.heads[:_LEGEND]
    columns = 3 if (job.width or 4.2) < 5 else 8
    below = 2.2 + len(named) // columns  # rows that the legend takes
    axes.set(xlim=(-0.75, 1.75), ylim=(longest - 0.4 + below, -1.6))
    axes.axis("off")
    for handles, title, place in _keys(job, named, strongest, bool(rests.any())):
        legend = axes.legend(
            handles=handles, title=title, loc=place, ncols=min(columns, len(handles)), frameon=False,
            fontsize=6, title_fontsize=6, handlelength=1.2, columnspacing=0.8, labelcolor=_INK, borderaxespad=0,
        )  # fmt: skip
        legend.get_title().set_color(_QUIET)
        axes.add_artist(legend)
    return drawn


def _keys(job: _Job, named: list[int], strongest: float, resting: bool) -> Iterator[tuple[list[Any], str, str]]:
    """What colours and strengths of lines mean: handles, a title and a place for each legend."""
    from matplotlib.lines import Line2D

    if job.shown == "worth":
        signs = [
            Line2D([], [], color=_POSITIVE, linewidth=2, label="helps"),
            Line2D([], [], color=_NEGATIVE, linewidth=2, label="works against"),
            Line2D([], [], color=_QUIET, linewidth=0.6, linestyle="--", label="cut to know"),
        ]
        yield signs, "line", "lower left"
    else:
        marks = [Line2D([], [], color=head_colour(head), linewidth=2, label=f"{job.layer}.{head}") for head in named]
        if len(job.heads) > len(named):
            marks.append(Line2D([], [], linestyle="", label=f"and {len(job.heads) - len(named)} more"))
        if resting:
            marks.append(Line2D([], [], color=_QUIET, linewidth=0.8, label="resting"))
        yield marks, "head", "lower left"
    strengths = [
        Line2D([], [], color=_INK, alpha=x, linewidth=2, label=f"{x * strongest:.2g}") for x in (0.1, 0.5, 1.0)
    ]
    yield strengths, job.quantity, "lower right"


def _farthest(values: Array) -> float:
    """How far from 0 the known numbers go."""
    known = np.abs(values[~np.isnan(values)])
    return float(known.max()) if known.size else 0.0


def _signed_lines(axes: Axes, share: Array, threshold: float) -> None:
    """Lines that help and that work against, as opaque as their share; those not known grey and dashed."""
    known = np.nan_to_num(share)
    seen = np.abs(known) > max(threshold, 0.005)
    unknown = np.isnan(share)
    axes.add_collection(_lines(np.full(share.shape, 0.4), unknown, _QUIET, linewidths=0.5, linestyles="--", zorder=1))
    axes.add_collection(_lines(np.abs(known), seen & (known < 0), _NEGATIVE, linewidths=1.1, zorder=2))
    axes.add_collection(_lines(np.abs(known), seen & (known > 0), _POSITIVE, linewidths=1.1, zorder=2))


def _lines(share: Array, seen: Array, colour: str, **style: Any) -> LineCollection:
    """A line for each pair that is seen, as opaque as its share."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgb

    i, j = np.nonzero(seen)
    lines = np.stack([np.stack([np.zeros(len(i)), i], 1), np.stack([np.ones(len(j)), j], 1)], 1)
    colours = np.column_stack([np.tile(to_rgb(colour), (len(i), 1)), share[i, j]])
    return LineCollection(list(lines), colors=colours, capstyle="round", **style)


def _matrix(job: _Job) -> Figure:
    """One map: queries down, keys across."""
    job.check_length()
    across, down = len(job.columns), len(job.rows)
    width = job.width or max(3.0, 1.5 + 0.15 * across)
    cell = min(0.3, max(0.4, width - 1.5) / across)
    drawn = _new(width, max(2.6, 1.5 + cell * down))
    axes = drawn.add_subplot()
    weights = job.map_of(job.heads[0])
    rests = job.rests & (job.shown != "worth")
    if job.shown == "worth":
        top = _farthest(weights) or 1.0
        image = axes.imshow(weights, cmap=theme().signs, vmin=-top, vmax=top, interpolation="nearest")
        axes.patch.set(facecolor="#dfe3ea", hatch="////", edgecolor="#b8bfca")  # where only an exact cut tells
    else:
        top = float(weights[~rests].max(initial=0)) or float(weights.max(initial=0)) or 1.0
        scale: dict[str, Any] = {"vmin": 0, "vmax": top, "interpolation": "nearest"}
        image = axes.imshow(weights, cmap=theme().maps, **scale)
        axes.imshow(np.where(rests, weights, np.nan), cmap=_greys(), **scale)  # over it
    letters = _lettering(cell)
    axes.set_xticks(range(across), [_label(token) for token in job.key_tokens], rotation=90, **letters)
    axes.set_yticks(range(down), [_label(token) for token in job.query_tokens], **letters)
    _plain(axes)
    axes.set_xlabel("key", size=8, color=_QUIET)
    axes.set_ylabel("query", size=8, color=_QUIET)
    _divide(axes, *job.divisions, across - 0.6)
    grey = "; grey: resting" if rests.any() else ""
    _bar(drawn, image, axes, f"{job.quantity}{grey}")
    return drawn


def _greys() -> Any:
    """From the ground to a middle grey, for places where attention rests."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("resting", [theme().ground, "#878e9b"])


def _divide(axes: Any, row: int | None, column: int | None, right: float) -> None:
    """Rules between prompt and answer on a map, named where a causal map is empty."""
    if row is not None:
        axes.axhline(row - 0.5, **_RULE)
        _parts(axes, (right, row - 0.5), "right", across=False)
    if column is not None:
        axes.axvline(column - 0.5, **_RULE)
        _parts(axes, (column - 0.5, -0.4), "left", across=True)


def _parts(axes: Any, place: tuple[float, float], side: str, *, across: bool) -> None:
    """The names of prompt and answer at a rule: left and right of it, or above and below."""
    names = {"color": _RULE["color"], "size": 6}
    if across:
        axes.annotate("prompt", place, (-2, -2), textcoords="offset points", ha="right", va="top", **names)
        axes.annotate("answer", place, (2, -2), textcoords="offset points", ha="left", va="top", **names)
    else:
        axes.annotate("prompt", place, (0, 1), textcoords="offset points", ha=side, va="bottom", **names)
        axes.annotate("answer", place, (0, -1), textcoords="offset points", ha=side, va="top", **names)


def _bar(drawn: Figure, image: Any, axes: Any, name: str) -> Any:
    """A colour bar with ticks and a name."""
    bar = drawn.colorbar(image, ax=axes, shrink=0.8, aspect=30, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=6, length=0)
    bar.set_label(name, size=7, color=_QUIET)
    return bar


def _atlas(job: _Job) -> Figure:
    """All layers by all heads, each head a small map scaled to its own maximum."""
    kind = job.site.kind
    layers = job.trace.layers(kind)
    columns = max(site.heads for site in job.trace.sites if site.kind == kind)
    if len(layers) * columns > _MOST_HEADS:
        raise UserError(f"{len(layers) * columns:,} heads do not fit a figure; it holds up to {_MOST_HEADS:,}")
    size = 64 if len(layers) * columns <= 256 else 24
    gap = max(2, size // 16)
    step = size + gap
    whole = np.full((step * len(layers), step * columns), np.nan)
    for row, layer in enumerate(layers):
        site = job.trace.site(layer, kind=kind)
        for column in range(site.heads):
            small = pooled(site, column, size, job.judged["how"] if job.shown == "worth" else None)
            small = small if job.shown == "worth" else small / (float(small.max()) or 1.0)
            down, across = (np.arange(size) * length // size for length in small.shape)
            whole[row * step : row * step + size, column * step : column * step + size] = small[np.ix_(down, across)]
    width = job.width or 1.2 + 0.55 * columns
    cell = (width - 1.1) / columns
    drawn = _new(width, 1.5 + cell * len(layers))
    axes = drawn.add_subplot()
    if job.shown == "worth":
        _worth_atlas(drawn, axes, whole, job.quantity)
    else:
        image = axes.imshow(whole, cmap=theme().maps, vmin=0, vmax=1, interpolation="nearest")
        _bar(drawn, image, axes, "weight / the head's largest")
    axes.set_facecolor("#dfe3ea")  # shows where there is no map
    letters = _lettering(cell)
    numbers = job.trace.site(layers[0], kind=kind).head_ids
    names = [str(number) for number in numbers] if len(numbers) == columns else [str(i) for i in range(columns)]
    axes.set_xticks(step * np.arange(columns) + size / 2, names, **letters)
    axes.set_yticks(step * np.arange(len(layers)) + size / 2, [str(layer) for layer in layers], **letters)
    _plain(axes)
    grey = f"; grey: weight above {SURE}, only an exact cut tells" if job.shown == "worth" else ""
    axes.set_xlabel(f"head; in each map keys across, queries down{grey}", size=7, color=_QUIET)
    axes.set_ylabel("layer", size=7, color=_QUIET)
    named_frames(axes, job.trace, kind, lambda row, column: (column * step - 0.5, row * step - 0.5), size)
    return drawn


def _worth_atlas(drawn: Figure, axes: Axes, whole: Array, name: str) -> None:
    """Maps of both signs on one scale for all heads; its square root keeps small numbers in sight."""
    top = _farthest(whole) or 1.0
    roots = np.sign(whole) * np.sqrt(np.abs(whole) / top)
    image = axes.imshow(roots, cmap=theme().signs, vmin=-1, vmax=1, interpolation="nearest")
    bar = _bar(drawn, image, axes, name)
    shares = (-1.0, -0.1, 0.0, 0.1, 1.0)
    bar.set_ticks([np.sign(x) * abs(x) ** 0.5 for x in shares], labels=[f"{x * top:.2g}" for x in shares])


def pooled(site: Site, index: int, size: int = 64, cut: str | None = None) -> Array:
    """A map at most `size` cells wide: each cell is the largest weight it covers, so that no line is lost.

    With a way to cut, the worth that is farthest from 0; cells of which nothing is known are NaN.
    """
    values = site.attention(index) if cut is None else site.worth(index, how=cut)
    for axis in (0, 1):
        if values.shape[axis] > size:
            edges = np.linspace(0, values.shape[axis], size, endpoint=False).astype(int)
            most = np.fmax.reduceat(values, edges, axis=axis)
            least = most if cut is None else np.fmin.reduceat(values, edges, axis=axis)
            values = np.where(np.abs(least) > np.abs(most), least, most)
    return values


def _neurons(job: _Job) -> Figure:
    """For one query: q, and below it every k, q x k, the score and its softmax; blue positive, orange negative."""
    job.check_length()
    head = job.heads[0]
    query = _query(job)
    q = job.trace.q(job.layer, head, kind=job.kind)[query].astype(np.float32)
    k = job.trace.k(job.layer, head, kind=job.kind)[job.columns].astype(np.float32)
    scores = job.trace.scores(job.layer, head, kind=job.kind, queries=query, keys=job.columns)[0]
    weights = job.trace.attention(job.layer, head, kind=job.kind, queries=query, keys=job.columns)[0]
    drawn = _new(job.width or 7.2, 1.7 + 0.17 * len(job.columns))
    (top, *rest), grid = drawn.subplots(2, 4, width_ratios=[4, 4, 0.9, 0.9], height_ratios=[1, len(k)])
    for axes in rest:
        axes.set_axis_off()
    for axes, name, block in ((top, "", q[None]), (grid[0], "k", k), (grid[1], "q x k", q * k)):
        _signed(axes, block)
        axes.set_title(name, size=8, color=_QUIET)
    _signed(grid[2], np.where(np.isfinite(scores), scores, np.nan)[:, None])
    turned = 90 if drawn.get_figwidth() < 5 else 0
    grid[2].set_title("score", size=8, color=_QUIET, rotation=turned)
    image = grid[3].imshow(weights[:, None], cmap=theme().maps, vmin=0, vmax=1, aspect="auto")
    grid[3].set_title("weight", size=8, color=_QUIET, rotation=turned)
    for axes in (top, *grid):
        _plain(axes)
        axes.set(xticks=[], yticks=[])
    asking = job.trace.side(job.site.query_side).tokens[query]
    top.set_yticks([0], [f"q of {_label(asking)}"], **_MONO)
    grid[0].set_yticks(range(len(k)), [_label(token) for token in job.key_tokens], **_MONO)
    grid[0].set_ylabel("key", size=8, color=_QUIET)
    first = job.divisions[1]
    if first is not None:
        for axes in grid:
            axes.axhline(first - 0.5, **_RULE)
        _parts(grid[1], (q.size - 0.5, first - 0.5), "right", across=False)
    grid[0].set_xlabel("neuron (blue above 0, orange below)", size=7, color=_QUIET)
    _bar(drawn, image, grid[3], "weight")
    return drawn


def _signed(axes: Any, block: Array) -> None:
    """Numbers of both signs, zero in the middle of their colours."""
    limit = float(np.nanmax(np.abs(block))) or 1.0
    axes.imshow(block, cmap=theme().signs, vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")


def _query(job: _Job) -> int:
    if job.query is not None:
        return int(positions(job.query, job.site.queries)[0])
    tokens = job.trace.side(job.site.query_side).tokens
    plain = [i for i, token in enumerate(tokens) if not token.special]
    return plain[-1] if plain else len(tokens) - 1


def _caption(drawn: Figure, job: _Job, view: str, title: str | None) -> None:
    """What is shown above it; below, in small print, model, input and selection."""
    drawn.suptitle(plain(title or _title(job, view)), size=8 if drawn.get_figwidth() < 4 else 9, color=_INK)
    facts = job.trace.facts
    parts = [str(facts.get("model", "attention maps")), _input(job)]
    if view == "atlas":
        parts.append(f"{job.site.kind} layers")
    else:
        which = f"head {job.heads[0]}" if len(job.heads) == 1 or view != "heads" else f"heads {len(job.heads)}"
        parts.append(f"{job.site.kind} layer {job.layer} {which}")
    if view == "neurons":
        token = job.trace.side(job.site.query_side).tokens[_query(job)]
        parts.append(f"query {readable(token.text)}")
    if job.shown == "contributions" and view != "neurons":
        parts.append("contributions ||αf(x)||")
    if job.shown == "worth":
        parts += [job.quantity, _agreement(job.judged)]
    if "regard" in facts:
        parts.append(f"regard {facts['regard']}")
    lines = _wrapped([plain(part) for part in parts], drawn.get_figwidth())
    drawn.supxlabel("\n".join(lines), size=6, color=_QUIET)


def _agreement(judged: Mapping[str, Any]) -> str:
    """How far estimated worth agrees with exact cuts."""
    check = judged["check"]
    if check is None or check["spearman"] is None:
        return "estimate, not compared with exact cuts"
    doubtful = any(one["code"] == "worth_unreliable" for one in judged["coded"])
    doubt = ": not reliable here" if doubtful else ""
    return f"estimate; agrees with exact cuts: {check['spearman']:.2f} ({check['edges']} lines){doubt}"


def _title(job: _Job, view: str) -> str:
    first = f"{job.layer}.{job.heads[0]}"
    if view == "atlas":
        return "What the lines of every head are worth" if job.shown == "worth" else "Every head of the model"
    if job.shown == "worth":
        many = view == "heads" and len(job.heads) > 1
        return (
            f"What the lines of {f'{len(job.heads)} heads of layer {job.layer}' if many else f'head {first}'} are worth"
        )
    if view == "neurons":
        return f"How head {first} scores each key"
    if view == "heads" and len(job.heads) > 1:
        return f"Where {len(job.heads)} heads of layer {job.layer} look"
    if job.shown == "contributions":
        return f"What arrives through head {first}"
    does = _does(job)
    return f"Head {first} {does}" if does else f"Where head {first} looks"


def _does(job: _Job) -> str | None:
    """What a head that is shown whole does, where that has a name; one that always rests is better looked at."""
    if (len(job.rows), len(job.columns)) != (job.site.queries, job.site.keys):
        return None
    layer = job.trace.select(layers=[job.layer])
    report = report_of(layer)
    site = layer.site(job.layer, kind=job.kind)
    found = report.of(site)[site.index(job.heads[0])]["patterns"] if report else []
    names = [one["name"] for one in found if one["name"] not in RESTING_PLACES]
    return does_of(names[0]) if names else None


def _input(job: _Job) -> str:
    """The tokens that were read, as text; cut where it is long."""
    names = dict.fromkeys((job.site.query_side, job.site.key_side))
    texts = [" ".join(readable(token.text) for token in job.trace.side(name).tokens) for name in names]
    text = " | ".join(texts)
    return f"“{text if len(text) <= _INPUT else text[: _INPUT - 1] + '…'}”"


def _wrapped(parts: Sequence[str], width: float) -> list[str]:
    """Parts of a caption in lines of a width; a part stays whole where it fits a line."""
    most = int(width * 20)
    lines = [""]
    for part in parts:
        for piece in textwrap.wrap(part, most) or [""]:
            joined = f"{lines[-1]} · {piece}" if lines[-1] else piece
            if len(joined) <= most:
                lines[-1] = joined
            else:
                lines.append(piece)
    return lines


def head_colour(head: int) -> str:
    """The colour of a head in every view."""
    colours = theme().heads
    return colours[head % len(colours)]


def _label(token: Token) -> str:
    return plain(readable(token.text))


def _plain(axes: Axes) -> None:
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_color("#dfe3ea")
