"""What heads do as a table, as JSON, and drawn in a terminal."""

import io
import json
import re

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text

from regard.patterns.entries import PATTERN_COLOURS
from regard.patterns.telling import telling
from regard.printing.patterns import as_csv, as_record, report
from tests.patterns.maps import shifted, trace_of

from ..conftest import ARTICLE


def test_the_table_goes_to_pandas_and_csv():
    found = trace_of(shifted(-1)).patterns()
    frame = found.to_pandas()
    assert list(frame["pattern"]) == ["previous token"]
    header, line = as_csv(found).splitlines()
    assert header.startswith("kind,layer,head,pattern,score,mass,chance")
    assert ",previous token," in line


def test_the_record_is_json_and_speaks_words(bert):
    trace = bert.trace(*ARTICLE)
    record = json.loads(json.dumps(as_record(trace, trace.patterns())))
    assert set(record) == {"facts", "tokens", "findings", "heads", "gains", "missing", "warnings"}


def printed(found, *, width=100, **options):
    console = Console(width=width, file=io.StringIO(), **options)
    for part in report(found, console):
        console.print(part)
    return console.file.getvalue()


def test_the_report_draws_every_head_without_colour():
    text = printed(trace_of(shifted(-1), *[np.full((15, 15), 1 / 15)] * 11).patterns(), color_system=None)
    assert "layer 0  p  ·" in text
    assert "p = previous token 1" in text
    assert "attends to the previous token in 10 of 10 rows" in text


def test_a_wide_terminal_names_each_heads_pattern_in_the_map():
    found = trace_of(shifted(-1), np.full((15, 15), 1 / 15)).patterns()
    assert re.search("layer 0  previous token +·", printed(found, width=100, color_system=None))
    assert re.search("layer 0  previous … +·", printed(found, width=32, color_system=None))


@pytest.mark.parametrize("heads", [3, 12, 20, 32, 64, 128])
@pytest.mark.parametrize("width", [80, 200])
def test_no_line_is_wider_than_the_terminal(heads, width):
    found = trace_of(*[shifted(-1)] * heads).patterns()
    console = Console(width=width, file=io.StringIO(), color_system=None)
    lines = [part for part in report(found, console) if isinstance(part, Text)]
    assert max(line.cell_len for line in lines if "layer" in line.plain) <= width
    drawn = "".join(line.plain for line in lines if line.plain.startswith(" layer 0"))
    assert drawn.count("previous" if width // heads > 15 else "p") == heads


def test_the_most_telling_heads_are_different_heads():
    both = np.zeros((15, 15))
    both[:, 0], both[np.arange(1, 15), np.arange(14)] = 0.5, 0.5  # one head that rests and looks back
    found = trace_of(both, shifted(1), shifted(-1) * 0.6 + 0.4 / 15).patterns()
    heads = [(f.layer, f.head) for f in telling(found, 3)]
    assert len(set(heads)) == len(heads) == 3


def test_the_report_draws_blocks_in_the_colour_of_the_pattern():
    text = printed(trace_of(*[shifted(-1)] * 12).patterns(), color_system="truecolor", force_terminal=True)
    red, green, blue = bytes.fromhex(PATTERN_COLOURS["previous token"].removeprefix("#"))
    assert f"38;2;{red};{green};{blue}m██" in text


def test_the_most_telling_heads_are_of_different_patterns():
    rest = np.zeros((15, 15))
    rest[:, 0] = 1
    found = trace_of(rest, shifted(-1), shifted(1)).patterns()
    assert [f.pattern for f in telling(found)][:2] == ["previous token", "next token"]


def test_of_the_heads_of_a_pattern_the_most_telling_one_is_that_whose_map_shows_it():
    rests = shifted(-1) * 0.1
    rests[:, 0] += 0.9  # awake it looks back without exception, and it hardly ever is
    spread = shifted(-1) * 0.8 + 0.2 / 15
    found = trace_of(rests, spread).patterns()
    back = {f.head: f for f in found if f.pattern == "previous token"}
    assert back[0].score > back[1].score and back[0].rest > 0.8
    assert next(f.head for f in telling(found) if f.pattern == "previous token") == 1
