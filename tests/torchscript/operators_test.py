# SPDX-License-Identifier: Apache-2.0
"""Small networks, scripted and traced, whose outputs are torch's."""
import unittest
from typing import Dict, List, Optional

import numpy
import torch
import torch.nn.functional as F
from torch import nn

from harness import TorchScriptTest
from networks import BlockedLinear, BlocksOfModules


class Function(nn.Module):
    """A module of one traced function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


IMAGE = (2, 6, 12, 10)
# The function, and the shape that it takes.
FUNCTIONS = {
    "relu": (torch.relu, IMAGE),
    "relu6": (F.relu6, IMAGE),
    "hardtanh": (lambda x: F.hardtanh(x, -0.5, 0.25), IMAGE),
    "clamp from below": (lambda x: x.clamp(min=-0.1), IMAGE),
    "clamp from above": (lambda x: x.clamp(max=0.1), IMAGE),
    "sigmoid": (torch.sigmoid, IMAGE),
    "tanh": (torch.tanh, IMAGE),
    "silu": (F.silu, IMAGE),
    "gelu": (F.gelu, IMAGE),
    "elu": (lambda x: F.elu(x, 0.7), IMAGE),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.2), IMAGE),
    "hardswish": (F.hardswish, IMAGE),
    "hardsigmoid": (F.hardsigmoid, IMAGE),
    "softmax": (lambda x: F.softmax(x, 1), IMAGE),
    "log_softmax": (lambda x: F.log_softmax(x, -1), IMAGE),
    "exp, sqrt, abs, neg": (lambda x: -torch.sqrt(torch.abs(torch.exp(x))), IMAGE),
    "floor and ceil": (lambda x: torch.floor(x * 3) + torch.ceil(x * 5), IMAGE),
    "powers": (lambda x: x ** 2 + (x + 3).pow(0.5), IMAGE),
    "scalars": (lambda x: (2 * x - 1) / 4 + (3 - x), IMAGE),
    "alpha": (lambda x: torch.add(x, x.sigmoid(), alpha=2) - torch.sub(x, 0.5, alpha=3), IMAGE),
    "broadcasting": (lambda x: x + x.mean((2, 3), True) * x.sum(1, True), IMAGE),
    "means": (lambda x: x.mean([2, 3]), IMAGE),
    "mean of all": (lambda x: x.mean().reshape(1, 1), IMAGE),
    "max_pool, ceil": (lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True), IMAGE),
    "max_pool, padded": (lambda x: F.max_pool2d(x, 3, 2, 1), IMAGE),
    "max_pool, dilated": (lambda x: F.max_pool2d(x, 3, 1, 0, 2), IMAGE),
    "avg_pool": (lambda x: F.avg_pool2d(x, 3, 2, 1), IMAGE),
    "avg_pool without padding counted": (
        lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), IMAGE),
    "avg_pool, oblong": (lambda x: F.avg_pool2d(x, (2, 5), (1, 5)), IMAGE),
    "adaptive pools": (lambda x: F.adaptive_avg_pool2d(x, (4, 5)), IMAGE),
    "global pools": (lambda x: F.adaptive_avg_pool2d(x, 1) + F.adaptive_max_pool2d(x, 1), IMAGE),
    "flatten": (lambda x: x.flatten(1), IMAGE),
    "flatten in the middle": (lambda x: x.flatten(1, 2), IMAGE),
    "view by sizes": (lambda x: x.view(x.size(0), -1), IMAGE),
    "reshape": (lambda x: x.reshape(4, 3, -1), IMAGE),
    "squeeze": (lambda x: x[:, :1].squeeze(1).unsqueeze(-1), IMAGE),
    "permute": (lambda x: x.permute(0, 2, 3, 1).contiguous(), IMAGE),
    "transpose": (lambda x: x.transpose(1, -1) * 2, IMAGE),
    "channel shuffle": (
        lambda x: x.view(-1, 2, 3, 12, 10).transpose(1, 2).contiguous().view(-1, 6, 12, 10), IMAGE),
    "chunk and cat": (lambda x: torch.cat(x.chunk(3, 1)[::-1], 1), IMAGE),
    "split": (lambda x: torch.cat([y * i for i, y in enumerate(x.split([1, 2, 3], 1))], 1), IMAGE),
    "stack": (lambda x: torch.stack([x, x * 2], 2), IMAGE),
    "slices": (lambda x: x[:, 1:5:2, -3:, :-1], IMAGE),
    "select": (lambda x: x[:, 2] + x[:, -1], IMAGE),
    "narrow": (lambda x: x.narrow(3, 2, 5), IMAGE),
    "expand": (lambda x: x[:, :, :1, :1].expand(2, 6, 3, 3) * 1.5, IMAGE),
    "pad": (lambda x: F.pad(x, (1, 2, 0, 3), value=0.5), IMAGE),
    "pad, reflected": (lambda x: F.pad(x, (1, 2, 3, 0), mode="reflect"), IMAGE),
    "pad, repeated": (lambda x: F.pad(x, (1, 2, 3, 0), mode="replicate"), IMAGE),
    "attention": (lambda x: torch.softmax(x @ x.transpose(-1, -2) / 3, -1) @ x, IMAGE),
    "batched products": (lambda x: torch.bmm(x, x.transpose(1, 2)), (3, 4, 5)),
    "local response": (lambda x: F.local_response_norm(x, 3), IMAGE),
    "to": (lambda x: x.to(torch.float32).clone().detach(), IMAGE),
}
# The module, and the shape that it takes.
MODULES = {
    "conv, padded and strided": (nn.Conv2d(6, 8, 3, 2, 1), IMAGE),
    "conv, grouped and dilated": (nn.Conv2d(6, 9, 3, padding=2, dilation=2, groups=3), IMAGE),
    "conv without bias": (nn.Conv2d(6, 4, (3, 1), bias=False), IMAGE),
    "conv, same size": (nn.Conv2d(6, 4, (4, 3), padding="same"), IMAGE),
    "conv, valid": (nn.Conv2d(6, 4, 3, padding="valid"), IMAGE),
    "transposed conv": (nn.ConvTranspose2d(6, 4, 3, 2, 1, 1), IMAGE),
    "conv of one dimension": (nn.Conv1d(4, 6, 3, padding=1), (2, 4, 9)),
    "batch norm": (nn.BatchNorm2d(6), IMAGE),
    "batch norm without parameters": (nn.BatchNorm2d(6, affine=False), IMAGE),
    "batch norm of rows": (nn.BatchNorm1d(6), (3, 6)),
    "layer norm": (nn.LayerNorm([12, 10]), IMAGE),
    "prelu": (nn.PReLU(6), IMAGE),
    "linear": (nn.Linear(7, 5), (3, 7)),
    "linear without bias": (nn.Linear(7, 5, bias=False), (3, 7)),
    "linear of three dimensions": (nn.Linear(7, 5), (2, 3, 7)),
    "dropout": (nn.Sequential(nn.Dropout(), nn.ReLU(inplace=True), nn.Dropout2d()), IMAGE),
    "blocked linear": (BlockedLinear(nn.Linear(150, 130)), (3, 150)),
    "blocks of modules": (BlocksOfModules(nn.Linear(150, 130)), (3, 150)),
}


class Branches(nn.Module):
    """Control flow that shapes, constants and types decide."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.scale = 2

    def forward(self, x: torch.Tensor, y: Optional[torch.Tensor] = None) -> Dict[str, torch.Tensor]:
        if self.training:
            raise ValueError("training")
        features: List[torch.Tensor] = []
        for layer in self.layers:
            x = layer(x)
            if x.dim() == 2 and x.size(0) < 10:
                features.append(x)
        i = 0
        while i < self.scale:
            x = F.relu(x, inplace=i == 0)
            i += 1
        if y is not None:
            x = x + y
        assert len(features) == 3
        return {"sum": features[0] + features[-1] + x}


class InPlace(nn.Module):
    """What is changed in place is seen through every name that it has."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        z = y
        y.relu_()
        z += 1
        z.mul_(x)
        return y - x


class Twice(nn.Module):
    """One module called twice."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(self.inner(x))


class Tied(nn.Module):
    """Two layers of the same weights."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)
        self.b.weight = self.a.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.b(self.a(x))


class Several(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor):
        return (x + y, [x - y, x]), None


class Operators(TorchScriptTest):
    def check(self, network, how, shape):
        x = torch.randn(shape)
        file = self.save(network, "net.pt", how, x)
        with torch.no_grad():
            expected = network(x.clone())
        self.assert_close(self.run_network(file, x), expected)

    def test_functions(self):
        for name, (function, shape) in FUNCTIONS.items():
            with self.subTest(name):
                self.check(Function(function), "traced", shape)

    def test_modules(self):
        for name, (module, shape) in MODULES.items():
            for how in ("scripted", "traced"):
                with self.subTest(name, how=how):
                    self.check(module, how, shape)

    def test_control_flow(self):
        network = Branches().eval()
        file = self.save(network, "net.pt", "scripted")
        x = torch.randn(3, 4)
        self.assert_close(self.run_network(file, x), network(x)["sum"])

    def test_changes_in_place(self):
        for how in ("scripted", "traced"):
            with self.subTest(how=how):
                self.check(InPlace(), how, (3, 4))

    def test_shared_modules_and_parameters(self):
        for network, parameters in ((Twice(), 20), (Tied(), 24)):
            for how in ("scripted", "traced"):
                with self.subTest(type(network).__name__, how=how):
                    self.check(network, how, (3, 4))
                    report = self.analyze("net.pt", "--input-shape", "x=3x4")
                    self.assertEqual(report["total"]["parameters"], parameters)
                    self.assertEqual(report["modules"]["parameters"], parameters)
                    self.assertEqual(report["total"]["macs"], 2 * 3 * 16)
                    self.assertEqual(report["modules"]["macs"], 2 * 3 * 16)

    def test_several_inputs_and_outputs(self):
        file = self.save(Several(), "net.pt", "scripted")
        x, y = torch.randn(2, 3), torch.randn(2, 3)
        numpy.save(self.folder / "x.npy", x.numpy())
        numpy.save(self.folder / "y.npy", y.numpy())
        self.program("run", "--model", file, "--input", "x=x.npy", "--input", "y=y.npy",
                     "--output", "output=a.npy", "--output", "output_1=b.npy",
                     "--output", "output_2=c.npy", "--device", "reference",
                     "--precision", "float32", "--allow-host-only")
        for name, expected in (("a", x + y), ("b", x - y), ("c", x)):
            self.assert_close(numpy.load(self.folder / f"{name}.npy"), expected)

    def test_batches(self):
        """More images than the shape says: translated for as many."""
        network = nn.Sequential(nn.Conv2d(3, 4, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 9, 5))
        file = self.save(network, "net.pt", "scripted")
        x = torch.randn(5, 3, 8, 8)
        self.assert_close(self.run_network(file, x), network(x))
        self.assert_close(self.run_network(file, x, "--batch", "2"), network(x))
        report = self.analyze(file, "--input-shape", "input=7x3x8x8")
        self.assertEqual(report["outputs"]["output"], "float32 7x5")

    def test_on_the_simulated_accelerator(self):
        network = nn.Sequential(nn.Linear(100, 70), nn.ReLU(), nn.Linear(70, 10)).eval()
        file = self.save(network, "net.pt", "scripted")
        x = torch.randn(4, 100)
        numpy.save(self.folder / "in.npy", x.numpy())
        said = self.program("run", "--model", file, "--input", "in.npy", "--output", "out.npy",
                            "--precision", "float32")
        self.assertIn("VERIFIED", said.stdout)
        self.assert_close(numpy.load(self.folder / "out.npy"), network(x))

    def test_quantized(self):
        network = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 5))
        file = self.save(network, "net.pt", "traced", torch.zeros(1, 3, 8, 8))
        numpy.save(self.folder / "in.npy", torch.randn(4, 3, 8, 8).numpy())
        self.program("quantize", file, "--calibrate", "in.npy", "--input-shape", "input=1x3x8x8",
                     "-o", "q.onnx")
        said = self.program("run", "--model", "q.onnx", "--input", "in.npy", "--device", "tlm")
        self.assertIn("VERIFIED", said.stdout)

    def test_modules_that_match(self):
        network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Sequential(nn.ReLU(), nn.MaxPool2d(2)))
        file = self.save(network, "net.pt", "scripted")
        report = self.analyze(file, "--input-shape", "input=1x3x8x8", "--modules", "1*")
        self.assertEqual([(entry["name"], entry["kind"], entry["outputs"], entry["output_bytes"])
                          for entry in report["modules"]["list"]],
                         [("1", "Sequential", ["1x4x3x3"], 144), ("1.0", "ReLU", ["1x4x6x6"], 576),
                          ("1.1", "MaxPool2d", ["1x4x3x3"], 144)])
        self.assertEqual(report["modules"]["leaf_bytes"], 576 + 576 + 144)
        self.assertEqual(report["modules"]["container_bytes"], 144 + 144)

    def test_outputs_of_modules_as_files(self):
        """As a forward hook sees them."""
        network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Sequential(nn.ReLU(), nn.MaxPool2d(2)))
        file = self.save(network, "net.pt", "scripted")
        x = torch.randn(1, 3, 8, 8)
        self.run_network(file, x, "--dump-activations", "/1/*=seen")
        self.assertEqual(sorted(path.name for path in (self.folder / "seen").iterdir()),
                         ["_1_1.0_Relu.npy", "_1_1.1_MaxPool.npy"])
        self.assert_close(numpy.load(self.folder / "seen" / "_1_1.0_Relu.npy"),
                          torch.relu(network[0](x)))


if __name__ == "__main__":
    unittest.main()
