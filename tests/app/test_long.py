"""4,096 tokens on a decoder: the first layer at once, the others when they are looked at."""

from __future__ import annotations

import numpy as np

import regard
from regard.views import decode, header_of
from regard.views.arrays import read


def test_a_long_input_comes_layer_by_layer(serve, long_llama):
    client, _ = serve(models=(str(long_llama),))
    text = ("the cat sat on the mat while it rained. " * 110)[:4096]
    client.post("/api/traces", json={"text": "the cat"})  # loaded
    answer = client.post("/api/traces", json={"text": text, "open": {"view": "matrix", "layer": 2, "heads": [1]}})
    assert answer.status_code == 200 and answer.headers["x-regard-whole"] == "0"
    header = header_of(answer.content)
    assert len(header["sides"][0]["text"]) == 4096
    assert [("q" in site, site["layer"]) for site in header["sites"]] == [(i == 2, i) for i in range(4)]
    assert "lse" in header["sites"][2] and len(answer.content) < 8_000_000

    name = answer.headers["x-regard-trace"]
    part = client.get(f"/api/traces/{name}/layers/decoder/3")
    assert len(part.content) < 8_000_000
    there, here = decode(part.content), regard.load(str(long_llama)).trace(text)
    rows, keys = slice(4000, 4010), slice(0, 4096)
    found = there.attention(3, 2, queries=rows, keys=keys)
    np.testing.assert_allclose(found, here.attention(3, 2, queries=rows, keys=keys), atol=1e-5)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-4)
    refused = client.get(f"/api/traces/{name}/report")
    assert refused.status_code == 413 and "too long" in refused.json()["message"]


def test_pictures_of_a_long_input_are_made_of_every_weight(serve, long_llama):
    client, _ = serve(models=(str(long_llama),))
    text = ("the cat sat on the mat while it rained. " * 110)[:4096]
    client.post("/api/traces", json={"text": "the cat"})
    name = client.post("/api/traces", json={"text": text}).headers["x-regard-trace"]
    answer = client.get(f"/api/traces/{name}/pictures/decoder/3")
    assert answer.status_code == 200 and len(answer.content) < 500_000
    (site,) = header_of(answer.content)["sites"]
    assert "q" not in site and "maps" not in site
    start = 8 + int.from_bytes(answer.content[:8], "little")
    found, size = read(site["blocks"], memoryview(answer.content)[start:]), site["block"]
    whole = regard.load(str(long_llama)).trace(text).attention(3, 2, queries=slice(4 * size, 5 * size))
    expected = np.array([whole[:, at : at + size].sum() / size for at in range(0, 4096, size)])
    np.testing.assert_allclose(found[2, 4], expected, rtol=2e-3, atol=1e-4)
    assert client.get(f"/api/traces/{name}/pictures/decoder/9").status_code == 404
