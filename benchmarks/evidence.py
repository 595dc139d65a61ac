"""Evidence on planted facts: how often each measure finds the sentence that an answer came from, and what it costs.

    python benchmarks/evidence.py [--cases 200] [--ablated 40] [--seconds 420] [--file evidence.jsonl] [--json]

A case is ten sentences in random order: 4 of a novel, 4 facts ("The code of the blue box is 7431."), and 2 that have
the words of the question but no answer ("What is the code of the blue box?", "The box is blue."). The question asks for
one of the codes, in the model's chat template. Only cases that SmolLM2-135M-Instruct answers right count. A measure is
right if its first sentence is the planted one. Beside the measures stand

  ablations   ContextCite's estimator (Cohen-Wang et al. 2024): the context with a random half of its sentences,
              32 times, and a lasso (alpha 0.01) of the answer's log odds on which sentences were there
  words       the sentence with the largest share of its words in question and answer: no model at all; of several
              that are equal, one at random
  chance      one of 10

Answers are generated eight cases at a time. Ablations are slow, so only the first cases that are answered right have
them, after all others are done. Intervals are 95 %, exact for shares. Times are process time on one thread, medians of
the ratio over cases. Cases are written to the file as they are done; a run stops after so many seconds, and the next
one goes on from there.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import torch

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
MODEL = "SmolLM2-135M-Instruct"
FILLERS, FACTS, TRAPS, ABLATIONS = 4, 4, 2, 32
SENTENCES = FILLERS + FACTS + TRAPS
TOGETHER = 8  # cases whose answers are generated in one batch
LONGEST = 20  # tokens of an answer
METHODS = ("attention", "contribution", "worth", "words")
COLOURS = "red blue green black white yellow brown grey pink orange purple silver".split()
THINGS = "box door key bag boat lamp chair table cup book car house".split()
FASTER = 10  # times: the least by which evidence must be cheaper than 32 ablations


def main() -> None:
    """Run cases, print what is known so far, and fail where evidence is not cheap enough."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--ablated", type=int, default=40, help="cases that are also ablated, the first answered right")
    parser.add_argument("--seconds", type=float, default=420)
    parser.add_argument("--file", type=Path, default=Path("evidence.jsonl"))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    run(given)
    done = read(given.file)
    found = summary(done)
    print(json.dumps(found, indent=1) if given.json else told(found))
    sys.exit(0 if found["ratio"] >= FASTER else f"evidence is only {found['ratio']:.1f} times cheaper")


def read(path: Path) -> dict[int, dict[str, Any]]:
    """Cases that are done, by number; a later line adds to an earlier one."""
    done: dict[int, dict[str, Any]] = {}
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        case = json.loads(line)
        done.setdefault(case["number"], {}).update(case)
    return done


def run(given: argparse.Namespace) -> None:
    """Run cases, then ablations, until the time is over."""
    import regard

    done, start = read(given.file), time.monotonic()
    left = [number for number in range(given.cases) if number not in done]
    model, fillers = regard.load(MODEL), novel()

    def over() -> bool:
        return time.monotonic() - start > given.seconds

    for first in range(0, len(left), TOGETHER):
        if over():
            return
        some = [planted(fillers, number) for number in left[first : first + TOGETHER]]
        for case, said in zip(some, answers(model, some), strict=True):
            keep(given.file, one_case(model, case, said))
    right = [case for case in read(given.file).values() if case["right"]][: given.ablated]
    for found in right:
        if "ablations" not in found and not over():
            case = planted(fillers, found["number"])
            keep(given.file, {"number": case.number, **ablated(model, case, found["answer"])})


def keep(path: Path, found: dict[str, Any]) -> None:
    """Write what is known of a case."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(found) + "\n")
    print(found, file=sys.stderr, flush=True)


def novel() -> list[str]:
    """Sentences of 40 to 120 characters without quotation marks."""
    from regard.corpus.readers.prose import sentence_spans

    text = (DATA / "literature" / "1661_the_adventures_of_sherlock_holmes.txt").read_text("utf-8")
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", re.sub(r"\s+", " ", text[5000:]))
    return [
        one
        for one in sentences
        if 40 < len(one) < 120 and not re.search('["“”_*]', one) and len(sentence_spans(one)) == 1
    ]


@dataclass(frozen=True)
class Case:
    """Sentences, which of them is asked for, the question, and the code."""

    number: int
    sentences: list[str]
    place: int
    question: str
    code: str

    @property
    def prompt(self) -> str:
        return " ".join(self.sentences)


def planted(fillers: list[str], number: int) -> Case:
    """A case, drawn until it reads as the sentences it is made of."""
    from regard.corpus.readers.prose import sentence_spans

    for attempt in count():
        draw = random.Random(number if attempt == 0 else f"{number}.{attempt}")
        pairs = draw.sample([(colour, thing) for colour in COLOURS for thing in THINGS], FACTS)
        codes = draw.sample(range(1000, 10000), FACTS)
        facts = [f"The code of the {a} {b} is {code}." for (a, b), code in zip(pairs, codes, strict=True)]
        colour, thing = pairs[0]
        question = f"What is the code of the {colour} {thing}?"
        sentences = [*draw.sample(fillers, FILLERS), *facts, question, f"The {thing} is {colour}."]
        draw.shuffle(sentences)
        text = " ".join(sentences)
        if [text[start:end] for start, end in sentence_spans(text)] == sentences:
            break
    return Case(number, sentences, sentences.index(facts[0]), question, str(codes[0]))


def answers(model: Any, cases: list[Case]) -> list[str]:
    """What the model says to each case, greedily, generated in one batch padded on the left."""
    from regard.models.answering import written_prompt
    from regard.models.generation import generate_all

    engine, tokenizer = model._engine, model.tokenizer
    rows = [tokenizer(written_prompt(engine, case.prompt, case.question, True)[0])["input_ids"] for case in cases]
    longest, pad = max(map(len, rows)), tokenizer.pad_token_id
    ids = torch.tensor([[pad] * (longest - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    made = generate_all(model.module, ids, mask, LONGEST, pad)
    return [tokenizer.decode(row[longest:], skip_special_tokens=True) for row in made]


def one_case(model: Any, case: Case, said: str) -> dict[str, Any]:
    """Whether the model answers right and, if so, which measures find the planted sentence, and their time."""
    from regard.ablation.evidence import evidence

    right = re.findall(r"\d{4}", said)[:1] == [case.code]
    found: dict[str, Any] = {"number": case.number, "right": right}
    if not right:
        return found
    answer = said[: said.index(case.code) + len(case.code)]
    start = time.process_time()
    made = evidence(model, case.prompt, answer, question=case.question, chat=True, check=False)
    seconds = time.process_time() - start
    assert [one.text for one in made.sentences] == case.sentences, "sentences are read as they were planted"
    own = case.sentences[case.place]
    found |= {by: made.ranked(by)[0].text == own for by in METHODS if by != "words"}
    words = shared_words(case.sentences, f"{case.question} {answer}", case.number) == case.place
    return found | {"words": words, "answer": answer, "seconds": seconds}


def ablated(model: Any, case: Case, answer: str) -> dict[str, Any]:
    """Whether ablations find the planted sentence, and their time."""
    start = time.process_time()
    weights = ablations(model, case.sentences, case.question, answer, case.number)
    seconds = time.process_time() - start
    return {"ablations": int(weights.argmax()) == case.place and bool(weights.max() > 0), "ablation seconds": seconds}


def ablations(model: Any, sentences: list[str], question: str, answer: str, seed: int) -> np.ndarray:
    """(S,) weights of sentences by ContextCite's estimator."""
    from sklearn.linear_model import Lasso
    from sklearn.preprocessing import StandardScaler

    from regard.models.answering import written_prompt

    kept = np.random.default_rng(seed).random((ABLATIONS, len(sentences))) < 0.5
    ids = model.tokenizer(answer, add_special_tokens=False)["input_ids"]
    odds = []
    for row in kept:
        context = " ".join(one for one, there in zip(sentences, row, strict=True) if there) or "."
        text, _ = written_prompt(model._engine, context, question, True)
        whole = torch.tensor([model.tokenizer(text)["input_ids"] + ids])
        logits = model._engine.run({"input_ids": whole, "logits_to_keep": len(ids) + 1}).logits[0, :-1]
        logs = logits.float().log_softmax(-1).gather(-1, torch.tensor(ids)[:, None]).sum().double()
        odds.append(float(logs - torch.log(-torch.expm1(logs.clamp(max=-1e-9)))))
    scaler = StandardScaler()
    fit = Lasso(alpha=0.01).fit(scaler.fit_transform(kept.astype(float)), np.array(odds) / len(ids))
    return fit.coef_ / scaler.scale_ * len(ids)


def shared_words(sentences: list[str], text: str, seed: int) -> int:
    """The sentence with the largest share of its words in a text; of several, one at random."""
    wanted = set(re.findall(r"\w+", text.lower()))
    shares = [len(wanted & (own := set(re.findall(r"\w+", one.lower())))) / max(1, len(own)) for one in sentences]
    best = [place for place, share in enumerate(shares) if share == max(shares)]
    return random.Random(seed).choice(best)


def summary(done: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Accuracies with intervals over cases; on ablated cases beside those of ablations, and the ratio of times."""
    right = [case for case in done.values() if case["right"]]
    ablated = [case for case in right if "ablations" in case]
    ratios = [case["ablation seconds"] / case["seconds"] for case in ablated]
    return {
        "cases": len(done),
        "right": len(right),
        "chance": 1 / SENTENCES,
        "methods": {name: accuracy([case[name] for case in right]) for name in METHODS},
        "ablated": len(ablated),
        "beside ablations": {name: accuracy([case[name] for case in ablated]) for name in (*METHODS, "ablations")},
        "differences": {
            name: paired([case[name] for case in ablated], [case["ablations"] for case in ablated]) for name in METHODS
        },
        "ratio": statistics.median(ratios) if ratios else float("nan"),
        "ratios": [min(ratios), max(ratios)] if ratios else [],
        "seconds": statistics.median(case["seconds"] for case in right) if right else float("nan"),
    }


def accuracy(hits: list[bool]) -> list[float]:
    """The share of hits, and the ends of its exact (Clopper-Pearson) interval: a bootstrap of 30 of 30 has none."""
    from scipy.stats import binomtest

    ends = binomtest(sum(hits), len(hits)).proportion_ci(method="exact")
    return [sum(hits) / len(hits), float(ends.low), float(ends.high)]


def paired(one: list[bool], other: list[bool]) -> dict[str, int]:
    """How many cases only the one gets right, and only the other."""
    return {
        "only": sum(a > b for a, b in zip(one, other, strict=True)),
        "not": sum(a < b for a, b in zip(one, other, strict=True)),
    }


def told(found: dict[str, Any]) -> str:
    """What was found, in lines."""
    lines = [f"{found['right']} of {found['cases']} cases answered right; chance {found['chance']:.3f}"]
    for name, numbers in found["methods"].items():
        lines.append("{:13}{:.3f} [{:.3f}, {:.3f}]".format(name, *numbers))
    lines.append(f"{found['ablated']} of them also ablated:")
    for name, numbers in found["beside ablations"].items():
        line = "{:13}{:.3f} [{:.3f}, {:.3f}]".format(name, *numbers)
        if name in found["differences"]:
            line += "   right where ablations are not: {only}, the other way round: {not}".format(
                **found["differences"][name]
            )
        lines.append(line)
    times = " ({:.1f} to {:.1f})".format(*found["ratios"]) if found["ratios"] else ""
    lines.append(f"32 ablations take {found['ratio']:.1f} times as long{times}; evidence {found['seconds']:.2f} s")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
