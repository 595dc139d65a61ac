"""Capture: the only place that touches attention inside a model.

Enters: a torch module and its inputs. Leaves: operations (q, k, v or maps of a batch), recorded as Traces.
"""

from regard.capture.ablate import Ablation, Means
from regard.capture.attribution import embedding_parts
from regard.capture.cut import EdgeCut
from regard.capture.gradients import output_gradients
from regard.capture.outputs import Edit, Place, Places, layout_of, outputs, places_of
from regard.capture.record import Book, Recorder
from regard.capture.stream import Layer, stream
from regard.capture.tiers import TIERS, Plan, capture, model_type

__all__ = [
    "TIERS",
    "Ablation",
    "Book",
    "EdgeCut",
    "Edit",
    "Layer",
    "Means",
    "Place",
    "Places",
    "Plan",
    "Recorder",
    "capture",
    "embedding_parts",
    "layout_of",
    "model_type",
    "output_gradients",
    "outputs",
    "places_of",
    "stream",
]
