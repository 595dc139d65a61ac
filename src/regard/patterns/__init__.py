"""Patterns: what each head does with one input, in words, with the numbers behind it."""

from regard.patterns.cautions import warnings_for
from regard.patterns.definitions import NAMES, PATTERNS
from regard.patterns.findings import head_report, patterns
from regard.patterns.neurons import Neurons, neurons_of
from regard.patterns.saved import SavedRule, add_rule, names, remove_rule, saved_rules
from regard.patterns.table import Finding, Patterns, SiteMeasures

__all__ = [
    "NAMES",
    "PATTERNS",
    "Finding",
    "Neurons",
    "Patterns",
    "SavedRule",
    "SiteMeasures",
    "add_rule",
    "head_report",
    "names",
    "neurons_of",
    "patterns",
    "remove_rule",
    "saved_rules",
    "warnings_for",
]
