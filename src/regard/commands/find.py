"""`regard find`: heads that follow a rule, over a corpus.

Enters: a rule, and a corpus or a study's folder. Leaves: heads in order, and texts in which the first one does it.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from regard.commands.progress import counting
from regard.commands.shared import Json, Loading, ModelName, err, expand_options, out


@expand_options
def find(  # long because of its options and their descriptions
    rule: Annotated[str, typer.Argument(help="Which keys are meant for which query, in quotes.", show_default=False)],
    corpus: Annotated[
        str,
        typer.Argument(
            help="A corpus (text, JSONL, TSV, CSV, CoNLL-U), or a study's folder: its corpus and model.",
            show_default=False,
        ),
    ],
    *,
    model: ModelName = None,
    limit: Annotated[int, typer.Option(help="Read only the first N inputs.", min=1, metavar="N")] = 1_000,
    top: Annotated[int, typer.Option(help="Heads to print.", min=1, metavar="K")] = 10,
    unit: Annotated[
        str | None,
        typer.Option(help="What an input of plain text is: line, paragraph or sentence.", show_default="line"),
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option("--format", help="text, jsonl, tsv, csv, conllu or dataset, if the ending is misleading."),
    ] = None,
    save: Annotated[
        str | None, typer.Option(help="Save the rule under a name: it is a pattern from then on.", metavar="NAME")
    ] = None,
    as_json: Json = False,
    loading: Loading,
) -> None:
    """Find the heads of a model that follow a rule, ranked over a corpus.

    A rule says which keys are meant for which query:

    - regard find 'offset = -1' corpus.txt (the previous token)

    - regard find 'key is punctuation and offset > 0' corpus.txt -m bert-base-uncased

    - regard find 'key ~ /^[0-9]+$/ and not same position' corpus.txt

    - regard find 'same word and other segment' pairs.tsv

    - regard find induction regard-atlas (a study's folder)

    - regard find 'query is PRON and key is NOUN and offset < 0' trees.conllu

    - regard find 'key is head of query by nsubj' trees.conllu --json

    - regard find 'offset = -2' corpus.txt --save 'two back' (a pattern from then on; see regard rules)

    Every term of a rule is explained in docs/reference/rules.md, a worked case in docs/how-to/find-heads.md.
    """
    from regard.patterns.rules import parse_rule
    from regard.patterns.saved import add_rule, named_rule, rules_file

    parsed = parse_rule(rule)
    if save is not None:
        named_rule(save, rule)  # before anything runs, and before torch is imported

    from regard.printing.found import as_record, found_report
    from regard.studies.find.asking import find_in, source_for

    given = {"limit": limit, "unit": unit, "format": file_format}
    source, named = source_for(parsed, corpus, {name: value for name, value in given.items() if value is not None})
    loaded = loading.load(model or named)
    with counting(source) as report:
        found = find_in(parsed, source, loaded, report=report)
    if save is not None:
        kept = add_rule(save, rule)
        err.print(f"regard: saved as {kept.name!r} in {rules_file()}", markup=False, soft_wrap=True)
    if as_json:
        out.print_json(json.dumps(as_record(found, top), ensure_ascii=False))
        return
    for part in found_report(found, top):
        out.print(part, soft_wrap=isinstance(part, str))
