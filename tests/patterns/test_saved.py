"""Rules saved under a name: the file, and that they count as patterns in every view."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import regard
from regard import Trace
from regard.base.errors import UserError
from regard.patterns import add_rule, names, patterns, remove_rule, saved_rules
from regard.patterns.following import follow
from regard.patterns.rules import parse_rule
from regard.patterns.saved import COLOURS, MOST, rules_file
from regard.trace.heads import parse_heads
from regard.views.wire import encode, header_of


@pytest.fixture
def text(bert):
    return bert.trace("the cat sat on the mat . the dog went to the store ; i bought fresh straw .")


@pytest.fixture
def planted():
    """A text of twelve words, a head that looks evenly and one that looks one token back."""
    even = np.tril(np.ones((12, 12))) / np.arange(1, 13)[:, None]
    back = np.eye(12, k=-1) + np.eye(12) * (np.arange(12) == 0)[:, None]
    return Trace.from_maps(np.stack([even, back])[None], list("abcdefghijkl"), causal=True)


def test_a_rule_is_saved_replaced_and_removed():
    assert saved_rules() == () and not rules_file().exists()
    assert [add_rule("two back", "offset  =  -2").colour, add_rule("Vorwärts", "offset = 2").colour] == [*COLOURS[:2]]
    assert [rule.record for rule in saved_rules()] == json.loads(rules_file().read_text())["rules"]
    assert names()[:2] == ("two back", "Vorwärts") and "previous token" in names()
    assert add_rule("two back", "offset = -3").record == {
        "name": "two back",
        "rule": "offset = -3",
        "colour": COLOURS[0],
    }
    assert [rule.text for rule in saved_rules()] == ["offset = -3", "offset = 2"]
    remove_rule("two back")
    assert [rule.name for rule in saved_rules()] == ["Vorwärts"]
    with pytest.raises(UserError, match="there is no rule 'two back'; there are Vorwärts"):
        remove_rule("two back")


def test_rules_that_are_saved_at_once_are_all_kept():
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: add_rule(f"rule {number}", f"offset = -{number}"), range(1, 17)))
    assert {rule.name for rule in saved_rules()} == {f"rule {number}" for number in range(1, 17)}


def test_a_broken_file_is_one_sentence_and_heads_are_named_without_it(planted):
    rules_file().parent.mkdir(parents=True, exist_ok=True)
    rules_file().write_text("{")
    for ask in (saved_rules, lambda: add_rule("two back", "offset = -2"), lambda: remove_rule("two back")):
        with pytest.raises(UserError, match=r"is no file of saved rules .* mend it, or remove the file"):
            ask()
    with pytest.warns(UserWarning, match="heads are named without saved rules"):
        found = patterns(planted)
    assert found and rules_file().read_text() == "{"


def test_a_folder_that_cannot_be_written_is_said_in_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("REGARD_RULES", str(tmp_path / "file" / "rules.json"))
    with pytest.raises(UserError, match=r"cannot be written .*; name another file in REGARD_RULES"):
        add_rule("two back", "offset = -2")


@pytest.mark.parametrize(
    "name",
    ["", " ", "<b>x</b>", "[red]x", "2.9", "a, b", "x" * 41, "a\nb\x07", "itself", "Induction", "entropy", "none"],
)
def test_names_that_could_be_mistaken_are_refused(name):
    with pytest.raises(UserError, match=r"choose another|is no name for a rule"):
        add_rule(name, "offset = 1")
    assert not rules_file().exists()


def test_a_rule_that_cannot_be_read_is_not_saved():
    with pytest.raises(UserError, match="cannot be read at 10"):
        add_rule("mine", "offset = x")
    assert not rules_file().exists()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "is no file of saved rules"),
        ('{"rules": [1]}', "is no file of saved rules"),
        ('{"rules": [{"name": "a", "rule": "offset ="}]}', "has a rule that cannot be used"),
        ('{"rules": [{"name": "a", "rule": "offset = 1", "colour": "url(x)"}]}', "is no colour"),
        (json.dumps({"rules": 2 * [{"name": "a", "rule": "offset = 1"}]}), "two of one name"),
        (json.dumps({"rules": [{"name": f"a{n}", "rule": "offset = 1"} for n in range(MOST + 1)]}), "more than"),
    ],
)
def test_a_broken_file_is_said_in_a_sentence(content, why):
    rules_file().parent.mkdir(parents=True, exist_ok=True)
    rules_file().write_text(content)
    with pytest.raises(UserError, match=why):
        saved_rules()


def test_no_more_than_a_few_are_kept():
    for number in range(MOST):
        add_rule(f"rule {chr(97 + number % 26)}{number}", f"offset = {number}")
    with pytest.raises(UserError, match="no more are kept"):
        add_rule("one more", "offset = 1")


def test_a_saved_rule_is_a_pattern_with_the_numbers_of_its_twin(planted):
    add_rule("mine", "offset = -1 and same segment")
    found = planted.patterns()
    plain, mine = (
        [(f.layer, f.head, f.score, f.mass, f.chance, f.hits, f.rows, f.rest) for f in found if f.pattern == name]
        for name in ("previous token", "mine")
    )
    assert mine == plain and len(mine) == 1
    for site in found.measured:
        for one, other in zip(site.awake["mine"], site.awake["previous token"], strict=True):
            np.testing.assert_allclose(one, other)
    assert found.names[0] == "mine"
    assert patterns(planted, rules=()).names[0] == "previous token"


def test_a_rule_names_heads_for_every_view(planted):
    add_rule("mine", "offset = -1")
    found = planted.patterns()
    named = found.strongest("mine", 100)
    assert [(f.layer, f.head) for f in named] == [(0, 1)] and "mine 1, previous token 1" in repr(found)
    assert parse_heads("mine", {("encoder", 0): 2}, found) == (("encoder", 0, 1),)
    header = header_of(encode(planted, report=found))
    first = [one[0] for site in header["sites"] for one in site["patterns"] if one and one[0]["name"] == "mine"]
    assert len(first) == len(named) and {one["colour"] for one in first} == {COLOURS[0]}
    assert first[0]["sentence"].startswith("attends to keys for which offset = -1 in ")


def test_what_needs_a_tree_is_not_available_on_plain_text(text, command):
    add_rule("subjects", "key is head of query by nsubj")
    found = text.patterns()
    assert "treebank" in found.missing["subjects"] and "subjects" in found.worth_saying
    assert not found.strongest("subjects")


def test_the_commands(command, tmp_path):
    assert "No rule is saved" in command("rules", "list").stdout
    made = command("rules", "add", "two back", "offset = -2")
    assert made.returncode == 0 and "two back: offset = -2" in made.stdout
    assert command("rules", "add", "subjects", "relation is nsubj").returncode == 0
    listed = command("rules", "list").stdout
    assert "two back: offset = -2" in listed and "subjects: relation is nsubj  (needs a treebank)" in listed
    assert json.loads(command("rules", "list", "--json").stdout)["rules"][0]["colour"] == COLOURS[0]
    wrong = command("rules", "add", "x", "offset = ")
    assert wrong.returncode == 2 and wrong.stderr.endswith("^\n")
    assert command("rules", "remove", "two back").stdout == "removed two back: offset = -2\n"


def test_following_is_what_the_pattern_reads(text):
    found = follow(text, parse_rule("offset = -1 and same segment"))
    measured = {(site.layer, head): site for site in text.patterns().measured for head in site.heads}
    assert len(found.heads) == len(measured)
    for one in found.heads:
        site = measured[one.layer, one.head]
        reading = site.awake["previous token"]
        place = site.heads.index(one.head)
        expected = [getattr(reading, name)[place] for name in ("lift", "share", "chance", "rows")]
        assert [one.lift, one.share, one.chance, one.rows] == pytest.approx(expected, abs=1e-4)
        query, key, mass = one.best
        assert mass == pytest.approx(text.attention(one.layer, one.head)[query, query - 1], abs=1e-4)
        assert (
            key
            == np.where(
                [token.special for token in text.side().tokens], -1, text.attention(one.layer, one.head)[query]
            ).argmax()
        )
    assert [one.lift for one in found.heads] == sorted((one.lift for one in found.heads), reverse=True)


def test_following_says_why_it_cannot(text, bart):
    assert "treebank" in follow(text, parse_rule("query is NOUN")).missing["encoder"]
    assert follow(text, parse_rule('key is "zebra"')).missing["encoder"].code == "no_target"
    crossing = follow(bart.trace("the cat sat", target="the dog sat"), parse_rule("offset = -1"))
    assert crossing.missing["cross"].code == "two_texts" and {one.kind for one in crossing.heads} <= {
        "encoder",
        "decoder",
    }


def test_regard_has_no_saved_rules_unless_somebody_saved_them():
    assert regard.patterns.saved_rules() == ()
