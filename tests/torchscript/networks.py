# SPDX-License-Identifier: Apache-2.0
"""Networks of the tests' own."""
import torch
from torch import nn


class BlockedLinear(nn.Module):
    """A Linear layer as products of blocks of 64x64, smaller ones at the ends."""

    def __init__(self, linear: nn.Linear, block: int = 64):
        super().__init__()
        self.weight = linear.weight
        self.bias = linear.bias
        self.block = block

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        columns = torch.split(x, self.block, 1)
        results = []
        for rows in torch.split(self.weight, self.block, 0):
            blocks = torch.split(rows, self.block, 1)
            total = torch.mm(columns[0], blocks[0].t())
            for k in range(1, len(blocks)):
                total = total + torch.mm(columns[k], blocks[k].t())
            results.append(total)
        return torch.cat(results, 1) + self.bias


class BlocksOfModules(nn.Module):
    """The same, where each block is a Linear layer of its own."""

    def __init__(self, linear: nn.Linear, block: int = 64):
        super().__init__()
        self.block = block
        self.rows = nn.ModuleList()
        for first in range(0, linear.out_features, block):
            row = nn.ModuleList()
            for k in range(0, linear.in_features, block):
                weight = linear.weight[first:first + block, k:k + block]
                part = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
                part.weight = nn.Parameter(weight.detach().clone())
                row.append(part)
            self.rows.append(row)
        self.bias = linear.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        columns = torch.split(x, self.block, 1)
        results = []
        for row in self.rows:
            parts = []
            for k, block in enumerate(row):
                parts.append(block(columns[k]))
            results.append(torch.stack(parts).sum(0))
        return torch.cat(results, 1) + self.bias


def cut_linear_layers(module, kind=BlockedLinear):
    """Replaces each Linear layer by its blocks."""
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, kind(child))
        else:
            cut_linear_layers(child, kind)
    return module


def randomize(network):
    """No two tensors are alike, and values neither vanish nor explode."""
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
                module.weight.uniform_(0.8, 1.2)
                module.bias.normal_(0, 0.1)
                module.running_mean.normal_(0, 0.1)
                module.running_var.uniform_(0.8, 1.2)
            elif isinstance(module, (nn.Conv2d, nn.Linear)) and module.bias is not None:
                module.bias.normal_(0, 0.01)
    return network
