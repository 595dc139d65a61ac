"""Where the server finds a model by its name: in a package, a folder, the cache of downloaded models, or on the hub.

Enters: a name. Leaves: what `regard.load` takes, after a download where one is needed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from regard.base.errors import MissingFileError
from regard.models.hub import why_not_asked
from regard.models.packaged import PACKAGED
from regard.trace.sentences import refusal

_HUB = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?", re.ASCII)
_FILES = re.compile(r"[^/]*\.(json|txt|model|spm|jinja|tiktoken)|model(-[^/]*)?\.safetensors")  # no code, no pickles
_OWN = "translator"  # comes with regard


def is_hub_name(name: str) -> bool:
    """Whether a name is looked up on the hub, and never as a path on this machine."""
    return _HUB.fullmatch(name) is not None and name not in PACKAGED and name != _OWN


def snapshot(name: str) -> Path | None:
    """The folder of a completely downloaded model; the hub is not asked."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError, HfHubHTTPError, OSError):
        return None
    return folder if _is_whole(folder) else None


def fetch(name: str, offline: bool) -> Path:
    """The folder of a hub model, downloaded if necessary."""
    folder = snapshot(name)
    return _download(name, offline) if folder is None else folder


def downloaded_bytes(name: str) -> int | None:
    """Bytes of a hub model that have been downloaded so far."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    blobs = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=name, repo_type="model") / "blobs"
    return _total(blobs.glob("*")) or None


def _download(name: str, offline: bool) -> Path:
    """File by file, in this thread: the hub's own thread pool would keep the server from stopping."""
    from huggingface_hub import HfApi, hf_hub_download

    why = why_not_asked(name, offline)
    if why is not None:
        raise MissingFileError(why)
    try:
        files = [file for file in HfApi().list_repo_files(name) if _FILES.fullmatch(file)]
        places = [Path(hf_hub_download(name, file)) for file in files]
    except Exception as error:  # from whichever library speaks HTTP
        raise MissingFileError(refusal("hub_error", name=name, why=str(error).splitlines()[0])) from None
    if not places:
        raise MissingFileError(refusal("hub_empty", name=name))
    return places[0].parent


def _is_whole(folder: Path) -> bool:
    """Whether a folder has weights, and every file that its weight index names."""
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return any(folder.glob("*.safetensors")) or any(folder.glob("*.bin")) or any(folder.glob("*.gguf"))
    return all((folder / file).is_file() for file in json.loads(index.read_text())["weight_map"].values())


def _total(paths: Iterable[Path]) -> int:
    total = 0
    for path in paths:
        try:
            total += path.stat().st_size
        except OSError:  # renamed when complete
            continue
    return total
