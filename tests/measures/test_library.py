"""What the measures do by hand for one library of arrays is what that library does."""

import torch

from regard.measures.library import log


def test_logarithms_of_tensors_are_torchs_and_keep_gradients():
    values = torch.rand(2, 3, 40, dtype=torch.float32, generator=torch.Generator().manual_seed(0)) + 1e-30
    assert torch.allclose(log(values), torch.log(values), rtol=1e-6, atol=1e-7)
    assert log(values.double()).dtype == torch.float64
    grown = values.clone().requires_grad_()
    log(grown).sum().backward()
    assert torch.allclose(grown.grad, 1 / values)
