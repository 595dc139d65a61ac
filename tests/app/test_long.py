"""4,096 tokens on a decoder: the first layer at once, the others when they are looked at."""

from __future__ import annotations

import numpy as np

import regard
from regard.views import decode, header_of


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
