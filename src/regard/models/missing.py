"""What takes a tokenizer's place where there is none, and says why.

Enters: the error of whoever wanted to load one. Leaves: a sentence with the way out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from regard.base.errors import MissingPackageError, UserError

# How tokenizers of transformers ask for a package.
_ASKS = (r"need to install ([\w-]+)", r"requires the ([\w-]+) library", r"The ([\w-]+) dictionary is not installed")


@dataclass(frozen=True)
class NoTokenizer:
    """Why there is none, if known, and the package that it needs, if that alone is missing."""

    why: str = ""
    package: str = ""

    def error(self, name: str) -> UserError:
        """What is said when a text is to be read."""
        if self.package:
            return MissingPackageError(f"the tokenizer of {name} needs {self.package}; run: pip install {self.package}")
        way_out = "load it as (model, tokenizer), or call trace_inputs with its inputs"
        return UserError(f"{name} has no tokenizer{self.aside}; {way_out}")

    @property
    def aside(self) -> str:
        """The reason in brackets."""
        return f" ({self.why})" if self.why else ""


def missing_package(error: BaseException) -> str:
    """The package that a tokenizer asks for, as pip calls it; empty if that is not what is wrong."""
    if not isinstance(error, ImportError):
        return ""
    found = next((match for words in _ASKS if (match := re.search(words, str(error)))), None)
    name = found.group(1) if found else (error.name or "")
    return name.lower().replace("_", "-")
