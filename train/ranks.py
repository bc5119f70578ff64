"""Means over all processes that gradients pass through, so that losses see the whole batch."""

import torch
from torch import Tensor, nn
from torch.distributed import ReduceOp, all_reduce, get_world_size, is_available, is_initialized


def world() -> int:
    return get_world_size() if is_available() and is_initialized() else 1


class SumOverRanks(torch.autograd.Function):
    @staticmethod
    def forward(_context, values: Tensor) -> Tensor:
        total = values.clone()
        all_reduce(total, ReduceOp.SUM)
        return total

    @staticmethod
    def backward(_context, gradient: Tensor) -> Tensor:
        total = gradient.clone()
        all_reduce(total, ReduceOp.SUM)
        return total


def mean_over_ranks(values: Tensor) -> Tensor:
    """The mean of a tensor over processes, in value and gradient; itself where there is one.

    Every process computes the same loss from it. Its gradient is then the number of processes
    times the own share, and data-parallel training takes the mean over processes: what comes out
    is one process's gradient of the whole batch.
    """
    return values if world() == 1 else SumOverRanks.apply(values) / world()


class GlobalBatchNorm(nn.BatchNorm1d):
    """Batch normalisation over the rows of all processes, on any device.

    PyTorch's SyncBatchNorm does this on GPUs only.
    """

    def forward(self, rows: Tensor) -> Tensor:
        if not self.training or world() == 1:
            return super().forward(rows)
        rows = rows.float()
        mean = mean_over_ranks(rows.mean(0))
        variance = mean_over_ranks((rows - mean).square().mean(0))
        count = len(rows) * world()
        with torch.no_grad():
            self.num_batches_tracked += 1
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * count / (count - 1), self.momentum)
        return (rows - mean) * (variance + self.eps).rsqrt() * self.weight + self.bias


def over_ranks(head: nn.Sequential) -> nn.Sequential:
    """The same head with its batch norms taken over all processes; names of weights stay."""
    return nn.Sequential(
        *(GlobalBatchNorm(m.num_features) if isinstance(m, nn.BatchNorm1d) else m for m in head)
    )
