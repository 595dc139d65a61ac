"""Evidence as a page: the prompt with tint over its sentences, in the style of the reports.

Enters: an `Evidence`. Leaves: HTML whose texts are escaped; three switches choose the measure, without a script.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from regard.base.files import write_atomic
from regard.studies.article import digits, page

if TYPE_CHECKING:
    from regard.ablation.evidence import Evidence, EvidenceSentence, EvidenceToken

_MEANS = {
    "worth": (
        "Worth: what the answer's log probability would lose without the links to a token, in nats, to first order; "
        "orange where they work against the answer."
    ),
    "contribution": "Contribution: share of what arrives from the sentences in the rows that produce the answer.",
    "attention": "Attention: share of the weight that the rows which produce the answer give to the sentences.",
}
_STYLE = """
.tinted { white-space: pre-wrap; line-height: 2; max-width: 54rem; overflow-wrap: anywhere }
.tinted p { display: none; margin: 0 }
.pick { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin: 1rem 0 .3rem;
  border: 1px solid var(--rule); border-radius: 6px }
.pick label { cursor: pointer }
.tinted mark { color: inherit; border-radius: 2px;
  background: color-mix(in srgb, var(--accent) calc(var(--t) * 55%), transparent) }
.tinted mark.less { background: color-mix(in srgb, #e07b1a calc(var(--t) * 55%), transparent) }
.tinted .best { border-bottom: 2px solid var(--accent) }
.scale { display: inline-block; width: 8rem; height: .7rem; vertical-align: middle; border-radius: 2px;
  background: linear-gradient(to right, transparent, color-mix(in srgb, var(--accent) 55%, transparent)) }
"""


def save_page(found: Evidence, path: str | Path) -> Path:
    """Write the page, atomically."""
    target = Path(path)
    write_atomic(target, lambda place: Path(place).write_text(evidence_page(found), "utf-8"))
    return target


def evidence_page(found: Evidence) -> str:
    """The whole page."""
    measures = [name for name in _MEANS if getattr(found.sentences[0], name) is not None]
    best = found.ranked(found.best_measure)[0]
    title = f"Where “{found.answer}” came from"
    question = "" if found.question is None else f'<p class="quiet">{html.escape(found.question)}</p>'
    fetched = ", ".join(head.name for head in best.heads)
    lede = f"The best evidence, by {found.best_measure}: “{best.text}”" + (
        f", fetched by heads {fetched}." if fetched else "."
    )
    rules = "".join(
        f"body:has(#by-{name}:checked) .tinted .{name}, body:has(#by-{name}:checked) .said-{name} "
        f"{{ display: block }}\n"
        for name in measures
    )
    switches = "".join(
        f'<label><input type="radio" name="by" id="by-{name}"{" checked" if number == 0 else ""}> {name}</label>'
        for number, name in enumerate(measures)
    )
    texts = "".join(f'<p class="{name}">{"".join(_tinted(found, name))}</p>' for name in measures)
    said = "".join(
        f'<p class="quiet said said-{name}">{html.escape(_MEANS[name])} {_bar(found, name)}</p>' for name in measures
    )
    notes = "".join(f"<li>{html.escape(str(note))}</li>" for note in found.notes)
    body = (
        f"<style>{_STYLE}.said {{ display: none }}\n{rules}</style><h1>{html.escape(title)}</h1>{question}"
        f'<p class="lede">{html.escape(lede)}</p>'
        f'<p class="made">{html.escape(_made(found))}</p>'
        f'<fieldset class="pick"><legend class="quiet">tint by</legend>{switches}</fieldset>{said}'
        f'<div class="tinted">{texts}</div><h2>Sentences</h2>{_table(found, measures)}'
        f'<h2>Keep in mind</h2><ul class="cautions">{notes}'
        "<li>The rows that produce the answer were read. What the question's own words had already gathered from the "
        "prompt counts where they stand, not where it came from.</li></ul>"
    )
    return page(title, body)


def _made(found: Evidence) -> str:
    heads = "all heads" if found.heads is None else f"heads {', '.join(found.heads)}"
    return f"{found.model} · {heads} · log probability of the answer {sum(found.logs):.2f}"


def _most(found: Evidence, name: str) -> float:
    return max((abs(getattr(token, name)) for token in found.tint), default=0) or 1


def _bar(found: Evidence, name: str) -> str:
    return f'0 <span class="scale"></span> {digits(_most(found, name))} per token'


def _tinted(found: Evidence, name: str) -> Iterator[str]:
    """The prompt, each token tinted by its score; the best sentence is underlined."""
    most, best = _most(found, name), found.ranked(name)[0]
    done = 0
    for token in found.tint:
        start = max(done, token.start)
        yield html.escape(found.prompt[done:start])
        yield _mark(found.prompt[start : token.end], token, name, most, best)
        done = max(done, token.end)
    yield html.escape(found.prompt[done:])


def _mark(text: str, token: EvidenceToken, name: str, most: float, best: EvidenceSentence) -> str:
    value = getattr(token, name)
    kinds = [kind for kind, there in (("less", value < 0), ("best", best.start < token.end <= best.end)) if there]
    classed = f' class="{" ".join(kinds)}"' if kinds else ""
    return f'<mark{classed} style="--t:{abs(value) / most:.3f}" title="{digits(value)}">{html.escape(text)}</mark>'


def _table(found: Evidence, measures: list[str]) -> str:
    """Every sentence with its scores, as a table that sorts."""
    names = ["sentence", *measures, "chance", "fetched by"]
    text = {"sentence", "fetched by"}
    head = "".join(
        f'<th scope="col"{" class=text" if name in text else ""}><button type="button">{name}</button></th>'
        for name in names
    )
    rows = []
    for one in found.ranked(found.best_measure):
        values = [getattr(one, name) for name in (*measures, "chance")]
        cells = "".join(f'<td title="{value!r}">{digits(value)}</td>' for value in values)
        fetched = ", ".join(f"{head.name} ({head.attention:.2f})" for head in one.heads)
        rows.append(
            f'<tr><td class="text long">{html.escape(one.text)}</td>{cells}'
            f'<td class="text">{html.escape(fetched)}</td></tr>'
        )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
