"""One model is made at a time.

Enters: nothing. Leaves: a lock to hold while transformers makes a model.

While it makes one, transformers changes what all threads share: it swaps functions of its own for others
(`PreTrainedModel.tie_weights` among them) and sets torch's default type, and puts back what it found. A model made
meanwhile in another thread would lack its tied weights, and two that overlap would leave the swapped functions behind.
"""

from __future__ import annotations

import threading

making = threading.RLock()
