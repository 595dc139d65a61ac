"""Films of training: they change nothing, show what the atlas measures, survive a kill and go on after it."""

import json

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

import regard
from regard import callbacks
from regard.app.studies import studies
from regard.base.errors import UserError
from regard.callbacks import WatchHeads
from regard.studies.film.births import births_of, sentences_of
from regard.studies.film.frames import Frame, stored
from regard.studies.film.logs import scalars_of
from regard.studies.film.page import film_table, spread
from regard.studies.film.probe import small_maps
from regard.transformer.induction import LENGTH, repeated_batch, repeated_texts, word_tokenizer
from regard.transformer.training import adam, learn

TOKENIZER = word_tokenizer()
TEXTS = repeated_texts(16, TOKENIZER)


def new_model(dropout=0.3):
    torch.manual_seed(0)
    drops = {"resid_pdrop": dropout, "embd_pdrop": dropout, "attn_pdrop": dropout}
    sizes = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_inner": 8, "n_positions": LENGTH}
    return GPT2LMHeadModel(GPT2Config(vocab_size=258, bos_token_id=0, eos_token_id=0, **sizes, **drops))


def trained(steps, watch=None, model=None, begin=0):
    """A model after some steps of a plain loop, watched or not."""
    model = model or new_model()
    model.train()
    model.transformer.h[1].eval()  # a user's own choice, which must stay
    optimizer = adam(model, 1e-2)
    torch.manual_seed(1)
    watcher = watch(model) if watch else None
    for n in range(begin, steps):
        ids, labels = repeated_batch(4, n)
        loss = learn(model, optimizer, model(input_ids=ids, labels=labels, use_cache=False).loss)
        if watcher is not None:
            watcher.step(n + 1, loss)
    return model, watcher


def watching(folder, **options):
    return lambda model: WatchHeads(folder, TEXTS, model=model, tokenizer=TOKENIZER, **{"every": 1, **options})


def bits(model):
    return {name: value.numpy().tobytes() for name, value in model.state_dict().items()}


def hooks(model):
    return [len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules()]


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """A folder with a finished film, the model it was made of, and its watcher."""
    folder = tmp_path_factory.mktemp("film") / "film"
    model, watcher = trained(4, watching(folder))
    flags = [module.training for module in model.modules()]
    state = torch.get_rng_state()
    watcher.close()
    return folder, model, watcher, flags, state


def test_training_is_the_same_bit_for_bit_with_and_without_the_watcher(film):
    _, watched, _, flags, state = film
    plain, _ = trained(4)
    assert torch.equal(torch.get_rng_state(), state)
    assert bits(plain) == bits(watched)
    assert [module.training for module in plain.modules()] == flags
    assert hooks(plain) == hooks(watched)
    gradients = [(one.grad, other.grad) for one, other in zip(plain.parameters(), watched.parameters(), strict=True)]
    assert all(torch.equal(one, other) for one, other in gradients)


class CtrlC(TrainerCallback):
    """Somebody stops training after step 3."""

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == 3:
            raise KeyboardInterrupt


def trainer_of(folder, *callbacks):
    ids, labels = repeated_batch(16, 0)
    data = [{"input_ids": row, "labels": wanted} for row, wanted in zip(ids, labels, strict=True)]
    options = {"max_steps": 4, "per_device_train_batch_size": 4, "save_steps": 2, "logging_steps": 1, "seed": 3}
    quiet = {"report_to": [], "disable_tqdm": True, "use_cpu": True}
    args = TrainingArguments(str(folder), **options, **quiet)
    return Trainer(new_model(), args, train_dataset=data, processing_class=TOKENIZER, callbacks=list(callbacks))


def test_the_trainer_is_watched_stopped_and_resumed_and_learns_the_same(tmp_path):
    plain = trainer_of(tmp_path / "plain")
    plain.train()
    film = tmp_path / "film"
    with pytest.raises(KeyboardInterrupt):
        trainer_of(tmp_path / "run", WatchHeads(film, TEXTS, every=1), CtrlC()).train()
    assert [frame.step for frame in stored(film)] == [0, 1, 2, 3]
    resumed = trainer_of(tmp_path / "run", WatchHeads(film, TEXTS, every=1))
    resumed.train(resume_from_checkpoint=True)  # after step 2
    frames = stored(film)
    assert [frame.step for frame in frames] == [0, 1, 2, 3, 4]
    # the Trainer logs a step's loss after the step has ended: it is that of the next frame
    assert [frame.loss is None for frame in frames] == [True, True, False, True, False]
    assert frames[2].loss > 4
    assert bits(resumed.model) == bits(plain.model)
    assert (film / "report.html").is_file()


def test_a_frame_shows_what_the_atlas_measures(film, tmp_path):
    folder, model, *_ = film
    corpus = tmp_path / "texts.jsonl"
    corpus.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    found = regard.study.atlas(regard.load((model, TOKENIZER)), corpus).tables["What every head does when awake"]
    found = found[found["by"] == "weights"].set_index(["layer", "head", "measure"])["value"]
    last = stored(folder)[-1]
    compared = []
    for head in last.heads:
        for name, (value, low, high) in head["lifts"].items():
            assert value == pytest.approx(found[head["layer"], head["head"], name], abs=1e-4)
            assert low <= value + 1e-4 and value <= high + 1e-4
            compared.append((head["layer"], head["head"], name))
        assert head["rest"] == pytest.approx(1 - found[head["layer"], head["head"], "awake"], abs=1e-4)
    known = found.dropna().drop(["awake", "related word"], level="measure").index  # frames ask of no word embedding
    assert sorted(compared) == sorted(known)
    assert {"previous token", "induction"} < set(known.get_level_values("measure"))


def test_frames_have_steps_and_losses(film):
    frames = stored(film[0])
    assert [frame.step for frame in frames] == [1, 2, 3, 4]
    assert all(frame.loss > 4 for frame in frames)


def test_training_that_goes_on_keeps_the_frames_before_and_takes_later_ones_again(film, tmp_path):
    folder = tmp_path / "film"
    model, _ = trained(3, watching(folder))  # killed: never closed
    loss = stored(folder)[2].loss
    trained(4, watching(folder), model=model, begin=1)  # from the checkpoint of step 1
    frames = stored(folder)
    assert [frame.step for frame in frames] == [1, 2, 3, 4]
    assert frames[2].loss != loss


def test_a_film_is_not_lost_by_accident(film):
    folder, model, *_ = film
    with pytest.raises(UserError, match="holds a film of 4 frames, and training begins at step 0; pass restart=True"):
        watching(folder)(model).step(0)
    with pytest.raises(UserError, match="different probe texts"):
        WatchHeads(folder, [*TEXTS, "deba"], model=model, tokenizer=TOKENIZER).step(4)
    assert len(stored(folder)) == 4


def test_what_is_missing_is_said(film, tmp_path):
    with pytest.raises(UserError, match="at least 16 probe texts"):
        WatchHeads(tmp_path, TEXTS[:3], model=film[1], tokenizer=TOKENIZER).step(0)
    with pytest.raises(UserError, match="pass the model and its tokenizer"):
        WatchHeads(tmp_path, TEXTS).step(0)
    with pytest.raises(UserError, match="every must be at least 1"):
        WatchHeads(tmp_path, TEXTS, every=0)


def test_by_default_watching_takes_at_most_four_hundredths_of_the_time_of_training(monkeypatch, tmp_path):
    clock = [0.0]
    monkeypatch.setattr(callbacks.time, "perf_counter", lambda: clock[0])
    watcher = WatchHeads(tmp_path, TEXTS, model=new_model(), tokenizer=TOKENIZER)
    taken = []

    def take(step):
        clock[0] += 2.5  # seconds of a frame
        taken.append(step)
        watcher._reel.frames.append(Frame(step, None, []))

    monkeypatch.setattr(watcher, "_take", take)
    for step in range(4001):
        watcher.step(step)
        clock[0] += 1  # of a step
    assert watcher.seconds == 2.5 * (len(taken) - 1)
    assert watcher.seconds <= 0.04 * 4001
    assert watcher.seconds > 0.035 * 4001


def test_frames_lie_further_apart_as_training_goes_on(monkeypatch, tmp_path):
    watcher = WatchHeads(tmp_path, TEXTS, model=new_model(), tokenizer=TOKENIZER)
    monkeypatch.setattr(watcher, "_take", lambda step: watcher._reel.frames.append(Frame(step, None, [])))
    monkeypatch.setattr(callbacks, "SHARE", 1e9)
    for step in range(20_001):
        watcher.step(step)
    steps = [frame.step for frame in watcher.frames]
    assert steps[:3] == [0, 10, 20]
    assert steps[-1] - steps[-2] >= 190


def made(step, *names):
    lift = {name: [0.5, 0.4, 0.6] for name in ("induction", "previous token")}
    head = {"kind": "decoder", "layer": 0, "head": 1, "rest": 0.25, "names": list(names), "lifts": lift}
    return Frame(step, None, [head])


def test_a_head_is_born_when_it_gets_a_name_that_it_keeps():
    frames = [made(0, "previous token"), made(10, "induction"), made(20), made(30, "induction", "previous token")]
    frames.append(made(40, "induction", "previous token"))
    found = births_of(frames)
    assert [(one["name"], one["step"]) for one in found] == [("induction", 30), ("previous token", 30)]
    assert sentences_of(found)[0] == (
        "Head 0.1 finds what followed the same token before (induction) from step 30 on: lift 0.50 (0.40–0.60)."
    )


def test_a_name_from_the_start_was_not_born():
    found = births_of([made(0, "induction"), made(10, "induction")])
    assert [one["step"] for one in found] == [None]
    assert sentences_of(found) == []


def test_scalars_count_names_and_have_the_highest_lift():
    found = scalars_of(made(10, "induction"))
    assert found["regard/heads named/induction"] == 1
    assert found["regard/heads named/previous token"] == 0
    assert found["regard/highest lift/induction"] == 0.5
    assert found["regard/resting/decoder 0"] == 0.25


def test_tensorboard_reads_the_numbers_back(film):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    folder = film[0]
    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    scalars = events.Scalars("regard/highest lift/induction")
    frames = stored(folder)
    assert [one.step for one in scalars] == [1, 2, 3, 4]
    expected = [max(head["lifts"]["induction"][0] for head in frame.heads) for frame in frames]
    assert [one.value for one in scalars] == pytest.approx(expected, abs=1e-6)


def test_the_app_lists_a_film_among_the_studies(film):
    folder = film[0]
    (record,) = studies(folder.parent)["studies"]
    assert record["study"] == "film"
    assert record["report"] == "/studies/film/report.html"
    assert record["inputs"] == 16


def test_the_table_has_a_row_per_step_head_and_pattern(film):
    frames = stored(film[0])
    table = film_table(frames)
    assert len(table) == sum(len(head["lifts"]) for frame in frames for head in frame.heads)
    assert set(table.groupby(["step", "layer", "head"]).size()) == {len(frames[0].heads[0]["lifts"])}
    assert set(table["step"]) == {1, 2, 3, 4}
    np.testing.assert_array_equal(table["named"], False)


def test_a_page_has_frames_evenly_chosen():
    frames = [Frame(step, None, []) for step in range(1000)]
    chosen = [frame.step for frame in spread(frames, 11)]
    assert chosen == [0, 100, 200, 300, 400, 500, 599, 699, 799, 899, 999]


def test_small_maps_keep_the_largest_of_each_block_and_say_where_it_rests():
    attention = torch.zeros(1, 64, 64)
    attention[0, 0, 0], attention[0, 10, 4], attention[0, 11, 5] = 1.0, 0.25, 0.5
    awake = torch.ones(64, 64, dtype=torch.bool)
    awake[:, 0] = False
    found = small_maps(attention, awake)
    assert found.shape == (1, 32, 32)
    assert found[0, 0, 0] == 128 + 127
    assert found[0, 5, 2] == 64
    assert np.count_nonzero(found) == 2


def test_sequences_begin_again_and_only_what_can_be_known_is_asked():
    ids, labels = repeated_batch(16, 3)
    assert ids.shape == labels.shape == (16, LENGTH)
    for row, wanted in zip(ids.tolist(), labels.tolist(), strict=True):
        period = next(p for p in range(1, LENGTH) if row[1:-p] == row[1 + p :])
        assert 12 <= period < 32
        assert len(set(row[1 : 1 + period])) == period
        assert wanted == [-100] * (1 + period) + row[1 + period :]
    assert torch.equal(repeated_batch(16, 3)[0], ids)
    assert not torch.equal(repeated_batch(16, 4)[0], ids)
