"""Two processes of the gloo kind give what one gives for the same batch."""

import os
import socket

import pytest
import torch
from torch import nn

from train.config import Objective
from train.objectives import losses
from train.ranks import GlobalBatchNorm, mean_over_ranks, over_ranks

N, D = 24, 6
CASES = {
    "vicreg": Objective(anticollapse="vicreg"),
    "sigreg": Objective(anticollapse="sigreg"),
    "next-token": Objective(kind="next-token", beside_tokens=1.0),
}


def head() -> nn.Sequential:
    torch.manual_seed(0)
    return over_ranks(nn.Sequential(nn.Linear(D, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 4)))


def rows() -> torch.Tensor:
    """First views, then second ones, far from what the terms want."""
    first = torch.randn(N, D, generator=torch.Generator().manual_seed(1)) * 0.5 + 0.3
    noise = torch.randn(N, D, generator=torch.Generator().manual_seed(2))
    return torch.cat([first, first + 0.1 * noise])


def share(rank: int, ranks: int) -> torch.Tensor:
    """This process's images: the same rows of both views."""
    mine = slice(rank * N // ranks, (rank + 1) * N // ranks)
    return torch.cat([view[mine] for view in rows().chunk(2)])


def losses_and_gradient(objective: Objective, table: torch.Tensor):
    """Of a projection head, whose gradients are averaged over processes as accelerate does it."""
    projector = head()
    projected = projector(table)
    total, count = projected.square().sum(), torch.tensor(float(len(table)))
    entropy = mean_over_ranks(total) / mean_over_ranks(count)  # as a mean over tokens is taken
    found = losses(objective, projected, projected.chunk(2)[0], entropy, seed=5)
    found["loss"].backward()
    gradient = torch.cat([mean_over_ranks(p.grad).flatten() for p in projector.parameters()])
    norm = next(m for m in projector if isinstance(m, GlobalBatchNorm))
    values = {name: float(value.detach()) for name, value in found.items()}
    return values, gradient, norm.running_mean, norm.running_var


def process(rank: int, ranks: int, port: int, folder) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=ranks)
    found = {name: losses_and_gradient(case, share(rank, ranks)) for name, case in CASES.items()}
    torch.save(found, folder / f"{rank}.pt")
    torch.distributed.destroy_process_group()


@pytest.fixture(scope="module")
def of_two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(process, (2, port, folder), nprocs=2)
    return [torch.load(folder / f"{rank}.pt") for rank in (0, 1)]


@pytest.mark.parametrize("case", CASES)
def test_two_processes_give_the_losses_and_gradients_of_one(of_two, case):
    values, gradient, mean, var = losses_and_gradient(CASES[case], rows())
    for rank in (0, 1):
        found, their_gradient, their_mean, their_var = of_two[rank][case]
        assert found == pytest.approx(values, rel=1e-4)
        assert torch.allclose(their_gradient, gradient, rtol=1e-3, atol=1e-5)
        assert torch.allclose(their_mean, mean, atol=1e-6)
        assert torch.allclose(their_var, var, atol=1e-6)
    assert torch.equal(of_two[0][case][1], of_two[1][case][1])


def test_one_process_needs_no_group():
    table = torch.ones(3, 2)
    assert mean_over_ranks(table) is table
    plain = nn.BatchNorm1d(2)
    ours = over_ranks(nn.Sequential(nn.BatchNorm1d(2)))
    rows_ = torch.randn(9, 2, generator=torch.Generator().manual_seed(0))
    assert torch.equal(ours(rows_), plain(rows_))
    assert ours.state_dict().keys() == nn.Sequential(plain).state_dict().keys()
