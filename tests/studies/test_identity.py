"""A checkpoint is continued by the run it belongs to, or refused: nothing else is ever added to its sums."""

import io
import json
import os
import random
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from transformers import BertModel

import regard
from regard.base.files import write_atomic
from regard.corpus import engine
from regard.corpus.checkpoint import load_checkpoint
from regard.corpus.identity import model_identity
from regard.corpus.readers.source import Source
from regard.studies.ablation.study import AblationMap
from regard.studies.atlas.study import Atlas
from regard.studies.change.study import Change
from regard.studies.folder import CHECKPOINT, LOCK
from tests.studies.conftest import SMALL, THREE, write_corpus
from tests.tiny import tiny_bert

pytestmark = pytest.mark.usefixtures("small_windows")


def stop(*_):
    raise KeyboardInterrupt


def interrupted(model, corpus, folder, **options):
    """A folder with the checkpoint of a run that was interrupted after its first window."""
    with pytest.raises(KeyboardInterrupt):
        regard.study.atlas(model, corpus, output=folder, report=stop, **options)
    return folder


@pytest.fixture
def text(tmp_path):
    return write_corpus(tmp_path / "text.txt", THREE)


@pytest.fixture
def folder(bert, text, tmp_path):
    return interrupted(bert, text, tmp_path / "out")


def refused(model, corpus, folder, why, **options):
    before = (folder / CHECKPOINT).read_bytes()
    with pytest.raises(ValueError, match=why):
        regard.study.atlas(model, corpus, output=folder, resume=True, **options)
    assert (folder / CHECKPOINT).read_bytes() == before


# -- other runs ------------------------------------------------------------------------------------------------


def test_other_weights_of_the_same_name_and_shape_are_refused(folder, text, wordpiece):
    refused(tiny_bert(wordpiece, seed=1), text, folder, "to a different run: model weights was")


def test_one_changed_weight_is_refused(folder, text, wordpiece):
    model = tiny_bert(wordpiece)
    with torch.no_grad():
        model.module.encoder.layer[1].output.dense.bias[3] += 1e-6
    refused(model, text, folder, "model weights was")


def test_another_precision_is_refused(folder, text, wordpiece):
    model = tiny_bert(wordpiece)
    model.module.double()
    refused(model, text, folder, "model dtype was 'float32' and is now 'float64'")


def test_another_configuration_of_the_same_weights_is_refused(folder, text, wordpiece):
    refused(tiny_bert(wordpiece, num_attention_heads=6), text, folder, "model configuration was")


def test_another_tokenizer_is_refused(bert, folder, text, wordpiece):
    said = json.loads(wordpiece.backend_tokenizer.to_str())
    words = said["model"]["vocab"]
    words["cat"], words["dog"] = words["dog"], words["cat"]
    other = Tokenizer.from_str(json.dumps(said))
    swapped = type(wordpiece)(tokenizer_object=other, model_max_length=64, **wordpiece.special_tokens_map)
    refused(regard.load((bert.module, swapped)), text, folder, "model tokenizer was")


def test_a_tokenizer_that_lets_less_through_is_refused(bert, folder, text, wordpiece):
    shorter = type(wordpiece)(
        tokenizer_object=wordpiece.backend_tokenizer, model_max_length=10, **wordpiece.special_tokens_map
    )
    refused(regard.load((bert.module, shorter)), text, folder, "model limit was 64 and is now 10")


def test_a_tokenizer_with_another_special_token_or_side_is_refused(bert, folder, text, wordpiece):
    for change in ({"sep_token": "[MASK]"}, {"padding_side": "left"}):
        given = {**wordpiece.special_tokens_map, "model_max_length": 64, **change}
        other = type(wordpiece)(tokenizer_object=wordpiece.backend_tokenizer, **given)
        refused(regard.load((bert.module, other)), text, folder, "model tokenizer was")


def test_heads_that_are_switched_off_are_another_run(bert, folder, text):
    with bert.ablate("0.1"):
        refused(bert, text, folder, "model ablated was None")


def test_an_edited_corpus_is_refused_also_behind_what_was_read(bert, folder, text):
    state = text.stat()
    lines = text.read_text().splitlines()
    lines[-1] = lines[-1].replace("the", "a") if "the" in lines[-1] else lines[-1].replace("a ", "the ")
    text.write_text("\n".join(lines) + "\n")
    os.utime(text, ns=(state.st_atime_ns, state.st_mtime_ns))
    refused(bert, text, folder, "corpus content was")


def test_another_corpus_of_the_same_name_is_refused(bert, folder, tmp_path):
    (tmp_path / "other").mkdir()
    refused(bert, write_corpus(tmp_path / "other" / "text.txt", THREE, seed=5), folder, "corpus content was")


def test_the_same_corpus_at_another_place_is_the_same(bert, folder, text, tmp_path):
    moved = text.rename(tmp_path / "moved.txt")
    done = []
    regard.study.atlas(bert, moved, output=folder, resume=True, report=lambda tally, _: done.append(tally.examples))
    assert done[0] == 2 * SMALL  # not from the start


def test_another_version_of_the_study_is_refused(bert, folder, text, monkeypatch):
    monkeypatch.setattr(Atlas, "version", Atlas.version + 1)
    refused(bert, text, folder, f"version was {Atlas.version - 1} and is now {Atlas.version}")


def test_another_beginning_of_standard_input_is_refused(bert, text, tmp_path, monkeypatch):
    def given(data):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))

    data = text.read_bytes()
    given(data)
    folder = interrupted(bert, "-", tmp_path / "out")
    for other in (data.replace(b"cat", b"dog", 1), data[:300]):
        given(other)
        refused(bert, "-", folder, "does not begin with the examples that the checkpoint")
    given(data)
    regard.study.atlas(bert, "-", output=folder, resume=True)
    regard.study.atlas(bert, text, output=tmp_path / "whole")
    assert (folder / "result.parquet").read_bytes() == (tmp_path / "whole" / "result.parquet").read_bytes()


def test_a_second_model_and_a_reference_corpus_belong_to_the_run(bert, wordpiece, text, tmp_path):
    held = Change(other=bert).holds()
    assert held == Change(other=tiny_bert(wordpiece)).holds() != Change(other=tiny_bert(wordpiece, seed=1)).holds()
    study = AblationMap(source=Source(str(text)), reference=Source(str(write_corpus(tmp_path / "mean.txt", 5))))
    before = study.holds()
    write_corpus(tmp_path / "mean.txt", 6)
    assert study.holds() != before


def test_weights_that_a_checkpoint_lacks_are_the_same_in_every_process(bert, tmp_path):
    module = BertModel(bert.config, add_pooling_layer=False)
    module.save_pretrained(tmp_path)
    bert.tokenizer.save_pretrained(tmp_path)
    first, second = (model_identity(regard.load(tmp_path)) for _ in range(2))
    assert first == second


# -- what an unfinished run left ---------------------------------------------------------------------------------


def test_a_checkpoint_is_not_thrown_away_unasked(bert, folder, text):
    before = (folder / CHECKPOINT).read_bytes()
    with pytest.raises(ValueError, match=r"continue it \(--resume\), discard it \(--restart\)"):
        regard.study.atlas(bert, text, output=folder)
    assert (folder / CHECKPOINT).read_bytes() == before


def test_a_restart_begins_anew(bert, folder, text):
    done = []
    regard.study.atlas(bert, text, output=folder, restart=True, report=lambda tally, _: done.append(tally.examples))
    assert done[0] == SMALL and not (folder / CHECKPOINT).exists()


def test_both_resume_and_restart_are_refused(bert, folder, text):
    with pytest.raises(ValueError, match="choose one"):
        regard.study.atlas(bert, text, output=folder, resume=True, restart=True)


def test_a_missing_corpus_leaves_no_folder(bert, tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        regard.study.atlas(bert, tmp_path / "nothing.txt", output=tmp_path / "some" / "where")
    empty = tmp_path / "empty.txt"
    empty.write_text("\n")
    with pytest.raises(ValueError, match="no example"):
        regard.study.atlas(bert, empty, output=tmp_path / "some" / "where")
    assert not (tmp_path / "some").exists()


# -- damage ------------------------------------------------------------------------------------------------------


def test_any_flipped_bit_is_refused(bert, folder, text):
    path, mine = folder / CHECKPOINT, engine.identity(Atlas(), bert, engine.Run(Source(str(text))))
    whole = path.read_bytes()
    header = int.from_bytes(whole[:8], "little") + 8
    chooser = random.Random(0)
    places = [chooser.randrange(8 * header) for _ in range(150)]
    places += [chooser.randrange(8 * header, 8 * len(whole)) for _ in range(150)]
    for place in places:
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(ValueError, match=r"damaged|not a checkpoint") as error:
            load_checkpoint(path, mine)
        assert "\n" not in str(error.value)
    path.write_bytes(whole)
    assert load_checkpoint(path, mine).tally.examples == SMALL


def test_a_cut_checkpoint_is_refused_in_one_sentence(bert, folder, text):
    whole = (folder / CHECKPOINT).read_bytes()
    for length in (0, 4, 8, 100, len(whole) // 2, len(whole) - 1):
        (folder / CHECKPOINT).write_bytes(whole[:length])
        refused(bert, text, folder, r"is not a checkpoint or is damaged .*--restart")


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    seen, sync = [], os.fsync

    def watched(descriptor):
        seen.append((Path(f"/proc/self/fd/{descriptor}").readlink().name, (tmp_path / "name").exists()))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    write_atomic(tmp_path / "name", lambda temporary: Path(temporary).write_bytes(b"x"))
    (first, named_then), (second, named_at_last) = seen
    assert first.startswith(".name.") and not named_then
    assert second == tmp_path.name and named_at_last


# -- processes ---------------------------------------------------------------------------------------------------


def test_saving_a_model_does_not_make_it_another(wordpiece, tmp_path):
    model = tiny_bert(wordpiece)
    before = model_identity(model)
    model.module.save_pretrained(tmp_path / "saved")
    assert model_identity(model) == before


def test_the_lock_of_a_dead_process_is_taken_over(bert, text, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / LOCK).write_text('{"process": 1, "host": "elsewhere", "since": "long ago"}')
    regard.study.atlas(bert, text, output=tmp_path / "out", limit=10)
    assert not (tmp_path / "out" / LOCK).exists()
