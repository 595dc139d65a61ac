"""Capture: the only place that touches attention inside a model.

Enters: a torch module and its inputs. Leaves: operations (q, k, v or maps of a batch), recorded as Traces.
"""

from regard.capture.attribution import embedding_parts
from regard.capture.record import Book, Recorder
from regard.capture.stream import Layer, stream
from regard.capture.tiers import TIERS, Plan, capture, model_type

__all__ = [
    "TIERS",
    "Book",
    "Layer",
    "Plan",
    "Recorder",
    "capture",
    "embedding_parts",
    "model_type",
    "stream",
]
