"""Pictures and sounds that are none: one sentence with the way out, at once, on the command line and in Python."""

import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import regard
from regard.base.errors import UserError
from tests.media import BAD_PICTURES, BAD_SOUNDS, PEAK

CASES = [("image", name, *case) for name, case in BAD_PICTURES.items()]
CASES += [("audio", name, *case) for name, case in BAD_SOUNDS.items()]
CASES += [("image", "empty.png", b"", "is empty; copy or save it again")]
CASES += [("audio", "empty.wav", b"", "is empty; copy or record it again")]
CASES += [(kind, f"folder.{kind}", None, "is a folder; name one of its files") for kind in ("image", "audio")]


@pytest.fixture(params=CASES, ids=lambda case: case[1])
def bad(request, tmp_path):
    kind, name, data, words = request.param
    path = tmp_path / name
    path.mkdir() if data is None else path.write_bytes(data)
    return kind, path, words


@pytest.mark.parametrize("asked", ["view", "patterns"])
def test_the_command_line_says_it_before_a_model_is_loaded(command, bad, asked, monkeypatch):
    kind, path, words = bad
    monkeypatch.setattr("regard.models.load.load", None)
    ended = command(asked, f"--{kind}", path, width=400)
    assert ended.returncode == 2 and not ended.stdout
    (line,) = ended.stderr.strip().splitlines()
    assert line.startswith("regard: ") and path.name in line and words in line


@pytest.fixture(scope="module")
def seeing_and_hearing():
    from transformers import ViTConfig, ViTModel, Wav2Vec2Config, Wav2Vec2FeatureExtractor, Wav2Vec2Model

    sizes = {"hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 32}
    convolution = {"conv_dim": (8,), "conv_stride": (320,), "conv_kernel": (400,), "num_feat_extract_layers": 1}
    places = {"num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 2}
    hearing = Wav2Vec2Model(Wav2Vec2Config(**sizes, **convolution, **places)).eval()
    return {
        "image": regard.load(ViTModel(ViTConfig(image_size=32, patch_size=16, **sizes)).eval()),
        "audio": regard.load((hearing, Wav2Vec2FeatureExtractor())),
    }


def test_python_says_it_too(seeing_and_hearing, bad):
    kind, path, words = bad
    with pytest.raises(UserError) as refused:
        seeing_and_hearing[kind].trace(**{kind: path})
    said = str(refused.value)
    assert path.name in said and words in said and "\n" not in said


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted as Linux does")
def test_a_hundred_megapixels_cost_neither_memory_nor_a_model(tmp_path):
    path = tmp_path / "hundred.png"
    Image.fromarray(np.full((10_000, 10_000, 3), 99, np.uint8)).save(path, compress_level=1)
    script = (
        f"import sys; sys.argv = ['regard', 'view', '--image', {str(path)!r}]\n"
        "from regard.cli import main\n"
        "try: main()\n"
        f"except SystemExit as end: print(end.code, 'torch' in sys.modules, {PEAK})"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "over 64 megapixels" in run.stderr
    code, torch, peak = run.stdout.split()
    assert (code, torch) == ("2", "False") and int(peak) * 1024 < 150e6  # decoded, it would take 300 MB
