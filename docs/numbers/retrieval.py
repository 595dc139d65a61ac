"""Retrieval heads of SmolLM2: scores, needles by length and depth, and what is left without these heads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blocks import Blocks, side_by_side, span, table

MODEL, CORPUS = "SmolLM2-135M-Instruct", "literature/1661_the_adventures_of_sherlock_holmes.txt"
LENGTHS, PARAGRAPHS = (128, 256, 512), 480  # about 40 haystacks
NAMED = 10


def measure(data: Path) -> dict[str, Any]:
    """The study over paragraphs of a novel, and its figures."""
    from regard import study

    result = study.retrieval(MODEL, data / CORPUS, unit="paragraph", limit=PARAGRAPHS, lengths=LENGTHS)
    side_by_side([result.figure("scores"), result.figure("answers")], "retrieval.png")
    return {
        "judged": "the digits of the code",
        "lengths": list(LENGTHS),
        "haystacks": result.meta["tally"]["inputs"],
        "removed": result.meta["removed"],
        "heads": result.table.head(NAMED).to_dict("records"),
        "cells": result.tables["Answers by length and depth"].to_dict("records"),
        "ways": result.tables["Without heads"].to_dict("records"),
        "findings": result.findings,
    }


def blocks(found: dict[str, Any]) -> Blocks:
    """What the study says, and what is left without heads, by length."""
    lengths = ", ".join(map(str, found["lengths"]))
    opening = (
        f"{MODEL}, {found['haystacks']} haystacks of `{CORPUS}`, each at lengths {lengths}. A needle counts as answered "
        f"if every token of {found['judged']} is the model's first choice."
    )
    rows = [
        [
            row["length"],
            row["model"],
            span(row["answered"], row["low"], row["high"], 2),
            "" if row["model"] == "whole" else span(row["change"], row["change_low"], row["change_high"], 2),
            "" if row["model"] == "whole" else span(row["log_change"], row["log_low"], row["log_high"], 2),
        ]
        for row in found["ways"]
    ]
    columns = ["length", "model", "needles answered", "change, paired", "log probability of the code's tokens, change"]
    told = f"{opening} {' '.join(found['findings'])}\n\n{table(columns, rows)}"
    return {"how-to/which-heads-retrieve.md": {"retrieval": told}}
