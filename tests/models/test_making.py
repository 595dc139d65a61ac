"""Models that are made in several threads at once are whole, and leave transformers as it was."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import transformers
from transformers import BertForMaskedLM

import regard
from tests.tiny import saved, tiny_bert


def test_models_loaded_in_two_threads_keep_their_tied_weights(wordpiece, tmp_path):
    folder = saved(tiny_bert(wordpiece, BertForMaskedLM), tmp_path / "tied")
    tie, start = transformers.PreTrainedModel.tie_weights, Barrier(2)

    def load(_):
        start.wait()
        made = [regard.load(str(folder)).module for _ in range(4)]
        return [one.cls.predictions.decoder.weight is one.bert.embeddings.word_embeddings.weight for one in made]

    try:
        with ThreadPoolExecutor(2) as threads:
            assert all(all(tied) for tied in threads.map(load, range(2)))
        assert transformers.PreTrainedModel.tie_weights is tie
    finally:
        transformers.PreTrainedModel.tie_weights = tie
