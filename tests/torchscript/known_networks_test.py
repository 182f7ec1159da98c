# SPDX-License-Identifier: Apache-2.0
"""torchvision's networks: the figures and outputs of .pt files are those of the ONNX files."""
import unittest

import numpy
import torch
from torch import nn

from harness import TorchScriptTest, script
from networks import cut_linear_layers, randomize

models = script("export-models")

SHAPE = "x=1x3x224x224"
# What is known of them from elsewhere: parameters, MACs, and where known bytes of weights and of
# activations, of leaves and as hooks on all modules count them.
KNOWN = {
    "alexnet": (61_100_840, 714_188_480, 244_361_984, 4_392_864, 4_437_728),
    "googlenet": (6_624_904, 1_498_376_192, None, None, None),
    "vgg16": (138_357_544, 15_470_264_320, None, None, None),
    "resnet50": (25_557_032, 4_089_184_256, None, None, None),
    "mobilenet_v2": (3_504_872, 300_774_272, None, None, None),
}


def hooked_bytes(network, image):
    """Bytes that forward hooks see: of modules without others inside, and of all."""
    sums = [0, 0]

    def hook(module, _, output):
        tensors = output if isinstance(output, tuple) else [output]
        size = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
        sums[0] += size if not list(module.children()) else 0
        sums[1] += size

    handles = [module.register_forward_hook(hook) for module in network.modules()]
    with torch.no_grad():
        network(image)
    for handle in handles:
        handle.remove()
    return tuple(sums)


def weight_bytes(network):
    return sum(parameter.numel() * parameter.element_size()
               for name, parameter in network.named_parameters() if "weight" in name)


def kinds(report):
    """How many nodes there are of each operator; how constants are written is the file's affair."""
    return {kind: of_kind["nodes"] for kind, of_kind in report["operators"].items()
            if kind not in ("Constant", "Identity")}


class KnownNetworks(TorchScriptTest):
    def check(self, name):
        parameters, macs, weights, leaves, hooks = KNOWN[name]
        network = randomize(models.NETWORKS[name][0]()).eval()
        image = torch.randn(1, 3, 224, 224)
        with torch.no_grad():
            expected = network(image)
        counted = hooked_bytes(network, image)
        (self.folder / "net.onnx").write_bytes(models.onnx_bytes(network, 13, True, False))
        onnx = self.analyze("net.onnx")
        onnx_output = self.run_network("net.onnx", image)
        (self.folder / "net.onnx").unlink()
        for how in ("scripted", "traced"):
            with self.subTest(how=how):
                file = self.save(network, how + ".pt", how, image)
                report = self.analyze(file, "--input-shape", SHAPE)
                total, modules = report["total"], report["modules"]
                self.assertEqual(total["parameters"], parameters)
                self.assertEqual(modules["parameters"], parameters)
                self.assertEqual(total["macs"], macs)
                self.assertEqual(modules["macs"], macs)
                self.assertEqual(modules["weight_bytes"], weight_bytes(network))
                self.assertEqual((modules["leaf_bytes"],
                                  modules["leaf_bytes"] + modules["container_bytes"]), counted)
                if weights:
                    self.assertEqual(total["weight_bytes"], weights)
                    self.assertEqual(modules["weight_bytes"], weights)
                    self.assertEqual(modules["leaf_bytes"], leaves)
                    self.assertEqual(modules["leaf_bytes"] + modules["container_bytes"], hooks)
                # All sums, the predicted cycles, and each layer by its name.
                self.assertEqual(total, onnx["total"])
                self.assertEqual(report["array"], onnx["array"])
                self.assertEqual(kinds(report), kinds(onnx))
                for key in ("leaf_bytes", "container_bytes"):
                    self.assertEqual(modules[key], onnx["modules"][key], key)
                self.assertEqual(
                    [(layer["name"], layer["macs"], layer["activation_bytes"])
                     for layer in report["layers"]],
                    [(layer["name"], layer["macs"], layer["activation_bytes"])
                     for layer in onnx["layers"] if layer["operator"] != "Constant"])
                output = self.run_network(file, image)
                self.assertTrue(numpy.array_equal(output, onnx_output))
                self.assert_close(output, expected)
                (self.folder / file).unlink()

    def test_alexnet(self):
        self.check("alexnet")

    def test_googlenet(self):
        self.check("googlenet")

    def test_vgg16(self):
        self.check("vgg16")

    def test_resnet50(self):
        self.check("resnet50")

    def test_mobilenet_v2(self):
        self.check("mobilenet_v2")

    def test_frozen_networks_have_their_normalisation_merged(self):
        network = randomize(models.NETWORKS["mobilenet_v2"][0]()).eval()
        frozen = torch.jit.freeze(torch.jit.script(network))
        torch.jit.run_frozen_optimizations(frozen)
        frozen.save(str(self.folder / "frozen.pt"))
        report = self.analyze("frozen.pt", "--input-shape", SHAPE)
        self.assertEqual(kinds(report), {"Conv": 52, "Clip": 35, "Add": 10, "Flatten": 1,
                                         "GlobalAveragePool": 1, "Gemm": 1})
        self.assertEqual(report["total"]["traffic_bytes"], 119_445_696)
        self.assertEqual(report["total"]["macs"], 300_774_272)

    def test_alexnet_in_blocks_of_64(self):
        network = models.NETWORKS["alexnet"][0]().eval()
        file = self.save(cut_linear_layers(network), "blocks.pt", "scripted")
        report = self.analyze(file, "--input-shape", SHAPE)
        self.assertEqual(report["total"]["parameters"], 61_100_840)
        self.assertEqual(report["modules"]["parameters"], 61_100_840)
        self.assertEqual(report["modules"]["weight_bytes"], 244_361_984)
        self.assertEqual(report["total"]["macs"], 714_188_480)
        self.assertEqual(report["modules"]["macs"], 714_188_480)
        self.assertEqual(report["modules"]["leaf_bytes"], 4_392_864)
        self.assertEqual(
            report["modules"]["leaf_bytes"] + report["modules"]["container_bytes"], 4_437_728)
        products = report["operators"].get("MatMul", {"nodes": 0})["nodes"]
        products += report["operators"].get("Gemm", {"nodes": 0})["nodes"]
        self.assertEqual(products, 9_216 + 4_096 + 1_024)

    def test_tile_writes_onnx(self):
        network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(400, 200),
                                nn.ReLU(), nn.Linear(200, 10)).eval()
        image = torch.randn(1, 3, 12, 12)
        with torch.no_grad():
            expected = network(image)
        file = self.save(network, "net.pt", "scripted")
        self.program("tile", file, "-o", "tiled.onnx", "--input-shape", "input=1x3x12x12")
        report = self.analyze("tiled.onnx")
        self.assertEqual(report["operators"]["MatMul"]["nodes"], 7 * 4 + 4 * 1)
        self.assert_close(self.run_network("tiled.onnx", image), expected)


if __name__ == "__main__":
    unittest.main()
