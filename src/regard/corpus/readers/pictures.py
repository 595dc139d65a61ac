"""A folder of pictures as a corpus: one example per file, in the order of their names.

Enters: a folder. Leaves: Examples with the path of a picture as a field; files that cannot be read are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from regard.base.errors import MissingFileError, UserError
from regard.corpus.readers.source import Example, Problems, Source
from regard.models.images import SUFFIXES, read_picture

IMAGE = "image"  # the field of an example that has its file


def read_pictures(source: Source, problems: Problems) -> Iterator[Example]:
    """The pictures of a folder and those below it; each is opened once here, so that a bad one stops nothing later."""
    folder = Path(source.place)
    problems.what = "files"
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        try:
            read_picture(path)
        except UserError as error:
            problems.add(name, str(error).replace(str(path), name))
            continue
        yield Example(0, name, fields={IMAGE: str(path)})


def check_folder(folder: Path) -> None:
    """Raise if there is no such folder, or no picture in it."""
    if not folder.is_dir():
        raise MissingFileError(f"{folder} is no folder; name one of images")
    if not any(_files(folder)):
        raise MissingFileError(f"the corpus {folder} is a folder without images; name a file, or a folder of images")


def _files(folder: Path) -> Iterator[Path]:
    """Files that are named as pictures are, folder by folder; hidden ones are left out."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        elif path.suffix.lower() in SUFFIXES and path.is_file():
            yield path
