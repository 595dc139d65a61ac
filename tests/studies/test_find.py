"""Heads that follow a rule: the numbers by plain loops, known heads of real models, and what a user meets."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import regard
from regard.base.errors import UserError
from regard.patterns import add_rule, saved_rules
from regard.patterns.definitions import PATTERNS
from regard.studies.find.ranking import COLUMNS
from tests.studies import by_hand
from tests.studies.planted import planted_model, write_planted

TEXT_RULES = {  # what holds of two tokens of a text, as plain Python
    "offset = -1": lambda q, k, tokens: k == q - 1,
    'key is "the" and offset < 0': lambda q, k, tokens: tokens[k].text == "the" and k < q,
    "same word and not same position": lambda q, k, tokens: (
        k != q and tokens[k].text == tokens[q].text and tokens[q].text.isalpha()
    ),
}


def sums_by_hand(model, path, holds):
    """{(half, layer, head): [mass, awake, expected, rows]}: the definition, one row after the other."""
    found = {}
    for number, trace in enumerate(by_hand.traces(model, path)):
        tokens = trace.side().tokens
        ordinary = [place for place, token in enumerate(tokens) if not token.special]
        for site in trace.sites:
            maps, seen = by_hand.maps(site), by_hand.seen(site)
            for q in ordinary:
                visible = [k for k in range(len(tokens)) if seen[q, k]]
                free = [k for k in visible if k in ordinary and not (site.kind == "decoder" and k == visible[0])]
                targets = [k for k in free if holds(q, k, tokens)]
                if not targets or len(targets) / len(free) >= 0.5:
                    continue
                for head in range(site.heads):
                    awake = maps[head, q, free].sum()
                    row = [maps[head, q, targets].sum(), awake, awake * len(targets) / len(free), 1]
                    place = number % 2, site.layer, head
                    found[place] = found.get(place, np.zeros(4)) + row
    return found


def lift_of(sums):
    share, chance = sums[0] / sums[1], sums[2] / sums[1]
    return share, chance, np.clip((share - chance) / (1 - chance), 0, 1)


@pytest.mark.parametrize("rule", TEXT_RULES)
def test_the_numbers_are_those_of_plain_loops(sharp, corpus, rule):
    model = sharp("bert")
    table = regard.find(rule, corpus, model).table
    expected = sums_by_hand(model, corpus, TEXT_RULES[rule])
    assert tuple(table) == COLUMNS and len(table) == 6
    for row in table.itertuples():
        even, odd = (expected[half, row.layer, row.head] for half in (0, 1))
        share, chance, lift = lift_of(even + odd)
        assert row.rows == (even + odd)[3]
        assert (row.share, row.chance, row.lift) == pytest.approx((share, chance, lift), abs=1e-5)
        assert (row.chosen, row.held_out) == pytest.approx((lift_of(even)[2], lift_of(odd)[2]), abs=1e-5)
        assert row.awake == pytest.approx((even + odd)[1] / (even + odd)[3], abs=1e-5)
        assert not row.low > row.high
    assert table["chosen"].is_monotonic_decreasing


@pytest.mark.parametrize(("rule", "name"), [("offset = -1", "previous token"), ("induction", "induction")])
def test_a_rule_that_is_a_pattern_has_its_lift_in_the_atlas(llama, corpus, rule, name):
    table = regard.find(rule, corpus, llama).table.set_index(["layer", "head"]).sort_index()
    atlas = regard.study.atlas(llama, corpus).tables["What every head does when awake"]
    mine = atlas[(atlas["measure"] == name) & (atlas["by"] == "weights")].set_index(["layer", "head"]).sort_index()
    assert name in {pattern.name for pattern in PATTERNS}
    for one, other in (("lift", "value"), ("low", "low"), ("high", "high"), ("share", "share"), ("rows", "rows")):
        np.testing.assert_allclose(table[one], mine[other], atol=1e-6)


def test_a_planted_head_is_found_by_its_relation_and_shown(tmp_path):
    model, trees = planted_model(), write_planted(tmp_path / "planted.conllu", 120)
    found = regard.find("key is head of query by nsubj", trees, model)
    first, second = found.table.itertuples()
    assert (first.head, round(first.lift, 3), round(first.held_out, 3)) == (0, 1, 1) and second.lift < 0.4
    examples = found.tables["Examples"]
    assert len(examples) == 5 and (examples["attention"] > 0.999).all()
    for row in examples.itertuples():
        assert row.text[slice(*row.query_at)] == row.query and row.text[slice(*row.key_at)] == row.key
        assert row.query[0] == "d" and row.key == row.query.replace("d", "h")
    assert examples[["query", "key"]].drop_duplicates().shape[0] == 5
    left = regard.find("offset = -1", trees, model).table.iloc[0]
    assert (left["head"], round(left["lift"], 3)) == (1, 1)


def test_few_texts_have_no_interval_and_one_has_nothing_held_out(bert, corpus):
    few = regard.find("offset = -1", corpus, bert, limit=4)
    assert few.table["low"].isna().all() and few.table["held_out"].notna().all()
    one = regard.find("offset = -1", regard_source(corpus, 3), bert)
    assert one.table["held_out"].isna().all() and (one.table["chosen"] == one.table["lift"]).all()
    assert any("Nothing is held out" in text for text in one.cautions)


def regard_source(corpus, number):
    """One text of a corpus."""
    path = corpus.with_name(f"one-{number}.txt")
    path.write_text(corpus.read_text("utf-8").splitlines()[number] + "\n", "utf-8")
    return path


def test_a_rule_that_says_little_is_said_to(bert, corpus):
    found = regard.find("offset >= -3", corpus, bert)
    assert any(text.startswith("The rule says little") for text in found.cautions)
    assert not any("says little" in text for text in regard.find("offset = 1", corpus, bert).cautions)


@pytest.mark.parametrize(
    ("family", "rule", "why"),
    [
        ("bert", "key is NOUN", "small.txt cannot answer key is NOUN: the rule asks for tags or relations of words"),
        ("bert", "key is not punctuation", "half or more of the keys are targets in every row"),
        ("bert", 'key is "zebra"', "no token has a target for this rule"),
        ("llama", "offset = 1", "no token has a target for this rule"),
        ("bert", "key is", "the rule cannot be read at 7"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_sentence(request, corpus, family, rule, why):
    with pytest.raises(UserError) as error:
        regard.find(rule, corpus, request.getfixturevalue(family))
    assert why in str(error.value)


def test_an_option_that_is_not_taken_is_named(bert, corpus):
    with pytest.raises(TypeError, match="find takes no top; it takes format, limit, pair"):
        regard.find("offset = 1", corpus, bert, top=3)


def test_kinds_of_attention_that_cannot_be_asked_are_named(t5, corpus):
    found = regard.find("offset = -1", corpus, t5, limit=3)
    assert set(found.table["kind"]) == {"encoder", "decoder"}
    assert "n/a for cross attention: queries and keys are positions in different texts." in found.cautions


def test_the_folder_of_a_study_names_corpus_and_model(command, bert_folder, corpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.txt").write_bytes(corpus.read_bytes())
    (tmp_path / "tiny-bert").symlink_to(bert_folder)
    regard.find("same word", "small.txt", str(bert_folder), limit=12).save("study")  # a study without figures
    done = command("find", "offset = -1", "study", "--limit", 9, "--top", 2, "--json")
    record = json.loads(done.stdout)
    assert (record["rule"], record["corpus"], record["inputs"]) == ("offset = -1", "small.txt", 9)
    assert record["model"] == "tiny-bert"
    assert [len(record["heads"]), len(record["examples"])] == [2, 5]
    (tmp_path / "small.txt").unlink()
    gone = command("find", "offset = -1", "study", "-m", bert_folder)
    assert gone.returncode == 2
    told = " ".join(gone.stderr.split())
    assert "study is a study of small.txt, which is neither where it was read nor here nor beside the study" in told
    assert "regard find RULE PATH/small.txt -m tiny-bert" in told


def test_the_corpus_of_a_study_is_found_where_it_was_read_and_no_path_is_in_the_folder(
    command, bert_folder, corpus, tmp_path, monkeypatch
):
    elsewhere = tmp_path / "elsewhere" / "secret"
    elsewhere.mkdir(parents=True)
    (elsewhere / "small.txt").write_bytes(corpus.read_bytes())
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    made = command("study", "tokens", elsewhere / "small.txt", "-m", bert_folder, "--limit", 20, "-o", "deep/study")
    assert made.returncode == 0
    kept = [path for path in Path("deep").rglob("*") if path.suffix in (".json", ".html")]
    assert kept and not any("secret" in path.read_text("utf-8") for path in kept)
    ask = ("find", "offset = -1", "deep/study", "-m", bert_folder, "--limit", 9, "--json")
    record = json.loads(command(*ask).stdout)
    assert (record["corpus"], record["inputs"]) == ("small.txt", 9)
    (elsewhere / "small.txt").unlink()
    assert "which is neither where it was read" in " ".join(command(*ask).stderr.split())


def test_the_command_prints_heads_and_marked_texts(command, bert_folder, corpus):
    done = command("find", "offset = -1", corpus, "-m", bert_folder, "--top", 3, width=120)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("offset = -1  tiny-bert, 24 inputs from small.txt")
    heading = next(n for n, line in enumerate(lines) if line.startswith("head "))
    assert lines[heading].split() == "head lift 95 % interval ranked by held out share chance rows awake".split()
    assert all(line.count(" – ") == 1 for line in lines[heading + 1 : heading + 4]) and lines[heading + 4] == ""
    marked = [line for line in lines if "«" in line and "»" in line and not line.startswith("Head")]
    assert len(marked) == 5 and all("[" in line for line in marked)
    bad = command("find", "offset -1", corpus, "-m", bert_folder)
    assert bad.returncode == 2 and bad.stderr.splitlines()[1:3] == ["  offset -1", "         ^"]


# -- known heads, which nothing in the code names ----------------------------------------------------------------


def top(found, count=5):
    return [f"{row.layer}.{row.head}" for row in found.table.head(count).itertuples()]


@pytest.mark.models
def test_neighbour_heads_of_minilm_come_first(minilm, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(SENTENCES), "utf-8")
    assert "0.2" in top(regard.find("offset = -1", path, minilm))
    assert "1.8" in top(regard.find("offset = 1", path, minilm))


@pytest.mark.models
def test_induction_heads_of_smollm_come_first(smollm, tmp_path):
    """Random tokens, twice: nothing but the first half says what comes next."""
    chooser = random.Random(0)
    known = [token for token in range(1000, 20000) if smollm.tokenizer.decode([token]).strip().isalpha()]
    lines = []
    for _ in range(6):
        half = " ".join(smollm.tokenizer.decode([token]).strip() for token in chooser.sample(known, 16))
        lines.append(f"{half} {half}")
    path = tmp_path / "repeated.txt"
    path.write_text("\n".join(lines), "utf-8")
    found = regard.find("induction", path, smollm)
    assert {"18.6", "17.3", "17.4"} <= set(top(found))
    assert (found.table["held_out"].head(3) > 0.5).all()


SENTENCES = [
    "The crew of the small ship had not seen land for eleven days, and the water was running out.",
    "She opened the window because the room was too warm, but the noise of the street kept her awake.",
    "In the morning the committee will decide whether the old bridge should be repaired or replaced.",
    "He bought three apples, a loaf of bread and some cheese at the market near the station.",
    "Most birds leave the island before winter, yet a few stay and live on what people give them.",
    "The teacher asked the children to write down everything they remembered about the journey.",
    "When the film ended nobody spoke, and the lights came on one after the other.",
    "A river that begins in the mountains carries sand and stones down to the sea.",
]


def test_saved_rules_are_patterns_of_the_atlas(sharp, corpus, tmp_path):
    llama = sharp("llama")
    add_rule("two back", "offset = -2")
    add_rule("subjects", "key is head of query by nsubj")
    made = regard.study.atlas(llama, corpus, output=tmp_path / "atlas")
    assert made.meta["settings"]["rules"] == {"two back": "offset = -2", "subjects": "key is head of query by nsubj"}
    table = made.tables["What every head does when awake"]
    mine = table[(table["measure"] == "two back") & (table["by"] == "weights")]
    expected = regard.find("offset = -2", corpus, llama).table.set_index(["layer", "head"]).sort_index()
    mine = mine.set_index(["layer", "head"]).sort_index()
    for one, other in (("lift", "value"), ("low", "low"), ("high", "high"), ("share", "share"), ("rows", "rows")):
        np.testing.assert_allclose(expected[one], mine[other], atol=1e-6)
    assert any(text.startswith("n/a: subjects (") and "treebank" in text for text in made.cautions)
    arriving = table[(table["measure"] == "two back") & (table["by"] == "contributions")]
    assert len(arriving) == len(mine) and not np.allclose(arriving["share"], mine["share"])


def test_a_saved_rule_names_heads_over_a_treebank_and_in_figures(tmp_path):
    trees = write_planted(tmp_path / "planted.conllu", 120)
    rule = add_rule("heads of subjects", "key is head of query by nsubj")
    made = regard.study.atlas(planted_model(), trees)
    named = made.tables["Named heads"]
    assert named[named["measure"] == rule.name]["head"].tolist() == [0]
    assert any("ead 0.0 follows the rule “heads of subjects”: 100% of its attention" in text for text in made.findings)
    records = made.example_options["report"]
    assert [one["patterns"][0].get("colour") for one in records] == [rule.colour, None]
    made.figure()  # has a colour for it


def test_a_rule_that_was_asked_can_be_saved(command, bert_folder, corpus):
    made = command("find", "offset = -2", corpus, "-m", bert_folder, "--save", "two back")
    assert made.returncode == 0 and "saved as 'two back'" in made.stderr
    assert [rule.record["rule"] for rule in saved_rules()] == ["offset = -2"]
    refused = command("find", "offset = -2", corpus, "-m", bert_folder, "--save", "<b>")
    assert refused.returncode == 2 and "is no name for a rule" in refused.stderr and not refused.stdout
