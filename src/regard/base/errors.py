"""Errors that a user can fix: one sentence that says what is wrong and what to do.

Raised where input is checked. The command line and the app print these; anything else is a bug in regard and is
reported as one. Each is also the built-in error that people would catch.
"""

from __future__ import annotations


class UserError(ValueError):
    """Input that cannot be used."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else type(self).__name__


class TooLongError(UserError):
    """A text with more tokens than the model takes; truncating it would help."""

    def __init__(self, message: str, tokens: int, limit: int) -> None:
        super().__init__(message)
        self.tokens, self.limit = tokens, limit


class MissingFileError(UserError, FileNotFoundError):
    """A file, folder or model that does not exist."""


class FileThereError(UserError, FileExistsError):
    """A file or folder that would be overwritten."""


class OutOfRangeError(UserError, IndexError):
    """A layer, head, part or position that does not exist."""


class UnknownNameError(UserError, KeyError):
    """A name that is not known."""


class WrongTypeError(UserError, TypeError):
    """An argument of the wrong type, or one that is not accepted."""


class MissingPackageError(UserError, ModuleNotFoundError):
    """A package that is not installed."""
