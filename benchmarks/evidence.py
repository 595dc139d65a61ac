"""Evidence on planted facts: how often each measure finds the sentence that an answer came from, and what it costs.

    python benchmarks/evidence.py [--cases 200] [--seconds 420] [--file evidence.jsonl] [--json]

A case is 6 sentences of a novel and 4 facts ("The code of the blue box is 7431."), in random order; the question asks
for one of the codes, in the model's chat template. Only cases that SmolLM2-135M-Instruct answers right count. A
measure is right if its first sentence is the planted one. Beside the measures stand

  ablations   ContextCite's estimator (Cohen-Wang et al. 2024): the context with a random half of its sentences,
              32 times, and a lasso (alpha 0.01) of the answer's log odds on which sentences were there
  words       the sentence that shares most words with question and answer: no model at all
  chance      one of 10

Ablations are slow, so only one case in eight has them. Intervals are 95 %, exact for shares. Times are process time
on one thread, medians of the ratio over cases. Cases are written to the file as they are done; a run stops after so
many seconds, and the next one goes on from there.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import torch

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
MODEL = "SmolLM2-135M-Instruct"
FILLERS, FACTS, ABLATIONS = 6, 4, 32
METHODS = ("attention", "contribution", "worth", "words")
COLOURS = "red blue green black white yellow brown grey pink orange purple silver".split()
THINGS = "box door key bag boat lamp chair table cup book car house".split()
EVERY = 8  # cases of which one is also ablated
FASTER = 10  # times: the least by which evidence must be cheaper than 32 ablations


def main() -> None:
    """Run cases, print what is known so far, and fail where evidence is not cheap enough."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=420)
    parser.add_argument("--file", type=Path, default=Path("evidence.jsonl"))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    done = read(given.file)
    left = [number for number in range(given.cases) if number not in done]
    if left:
        done |= run(left, given.file, given.seconds)
    found = summary(done)
    print(json.dumps(found, indent=1) if given.json else told(found))
    sys.exit(0 if found["ratio"] >= FASTER else f"evidence is only {found['ratio']:.1f} times cheaper")


def read(path: Path) -> dict[int, dict[str, Any]]:
    """Cases that are done, by number."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {case["number"]: case for case in map(json.loads, lines)}


def run(numbers: list[int], path: Path, seconds: float) -> dict[int, dict[str, Any]]:
    """Run some cases until the time is over."""
    import regard

    model, fillers, start, found = regard.load(MODEL), novel(), time.monotonic(), {}
    for number in numbers:
        if time.monotonic() - start > seconds:
            break
        found[number] = one_case(model, fillers, number)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found[number]) + "\n")
        print(number, found[number], file=sys.stderr, flush=True)
    return found


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


def planted(fillers: list[str], number: int) -> tuple[list[str], int, str, str]:
    """The sentences of a case, which one is asked for, the question, and the code; drawn until they read as such."""
    from regard.corpus.readers.prose import sentence_spans

    for attempt in count():
        draw = random.Random(number if attempt == 0 else f"{number}.{attempt}")
        things = [(colour, thing) for colour in COLOURS for thing in THINGS]
        names = [" ".join(pair) for pair in draw.sample(things, FACTS)]
        codes = draw.sample(range(1000, 10000), FACTS)
        facts = [f"The code of the {name} is {code}." for name, code in zip(names, codes, strict=True)]
        sentences = draw.sample(fillers, FILLERS) + facts
        draw.shuffle(sentences)
        text = " ".join(sentences)
        if [text[start:end] for start, end in sentence_spans(text)] == sentences:
            break
    return sentences, sentences.index(facts[0]), f"What is the code of the {names[0]}?", str(codes[0])


def one_case(model: Any, fillers: list[str], number: int) -> dict[str, Any]:
    """Whether the model answers right and, if so, which measures find the planted sentence, and their times."""
    from regard.ablation.evidence import evidence
    from regard.models.answering import encode_answer, written_prompt

    sentences, place, question, code = planted(fillers, number)
    prompt = " ".join(sentences)
    row = encode_answer(model._engine, written_prompt(model._engine, prompt, question, True)[0], None, 20)
    said = "".join(token.text for token in row.side.tokens[row.side.segments[1].start :])
    right = re.findall(r"\d{4}", said)[:1] == [code]
    case: dict[str, Any] = {"number": number, "right": right}
    if not right:
        return case
    answer = said[: said.index(code) + len(code)]
    start = time.process_time()
    found = evidence(model, prompt, answer, question=question, chat=True, check=False)
    case["seconds"] = time.process_time() - start
    assert [one.text for one in found.sentences] == sentences, "sentences are read as they were planted"
    case |= {by: found.ranked(by)[0].text == sentences[place] for by in METHODS if by != "words"}
    if number % EVERY == 0:
        start = time.process_time()
        weights = ablations(model, sentences, question, answer, number)
        case["ablation seconds"] = time.process_time() - start
        case["ablations"] = int(weights.argmax()) == place and bool(weights.max() > 0)
    case["words"] = shared_words(sentences, f"{question} {answer}") == place
    return case


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


def shared_words(sentences: list[str], text: str) -> int:
    """The sentence with the largest share of its words in a text."""
    wanted = set(re.findall(r"\w+", text.lower()))
    shares = [len(wanted & (own := set(re.findall(r"\w+", one.lower())))) / max(1, len(own)) for one in sentences]
    return int(np.argmax(shares))


def summary(done: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Accuracies with intervals over cases; on ablated cases beside those of ablations, and the ratio of times."""
    right = [case for case in done.values() if case["right"]]
    ablated = [case for case in right if "ablations" in case]
    ratios = [case["ablation seconds"] / case["seconds"] for case in ablated]
    return {
        "cases": len(done),
        "right": len(right),
        "chance": 1 / (FILLERS + FACTS),
        "methods": {name: accuracy([case[name] for case in right]) for name in METHODS},
        "ablated": len(ablated),
        "beside ablations": {name: accuracy([case[name] for case in ablated]) for name in (*METHODS, "ablations")},
        "differences": {
            name: paired([case[name] for case in ablated], [case["ablations"] for case in ablated]) for name in METHODS
        },
        "ratio": statistics.median(ratios) if ratios else float("nan"),
        "ratios": [min(ratios), max(ratios)] if ratios else [],
        "seconds": statistics.median(case["seconds"] for case in right),
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
