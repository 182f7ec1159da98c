#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the graphs of well-known networks as ONNX files, for tests/data without their weights.

Needs Debian's python3-torch and python3-torchvision (`scripts/setup/setup.sh models`), and their python3.
No trained weights are involved, so nothing is downloaded and the graphs are the same every time.
"""
import argparse
import io
import os
import sys
import warnings

FOLDER = os.path.join(os.path.dirname(__file__), "..", "..", "tests", "data")
KEEP_BYTES = 64  # tensors up to this size stay: shapes, axes, bounds


# ------------------------------------------------------------------------------------- the networks


def torchvision_network(name, **options):
    import torchvision
    return lambda: getattr(torchvision.models, name)(weights=None, **options)


def caffe_googlenet():
    """Inception v1 as Caffe's bvlc_googlenet has it, and the model zoo's googlenet-12 after it: 5x5
    convolutions, local response normalisation, biases, and pooling windows that may hang over."""
    import torch
    from torch import nn

    def conv(inputs, outputs, size, stride=1):
        return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2), nn.ReLU())

    class Inception(nn.Module):
        def __init__(self, inputs, one, reduce3, three, reduce5, five, pool):
            super().__init__()
            self.branches = nn.ModuleList([
                conv(inputs, one, 1),
                nn.Sequential(conv(inputs, reduce3, 1), conv(reduce3, three, 3)),
                nn.Sequential(conv(inputs, reduce5, 1), conv(reduce5, five, 5)),
                nn.Sequential(nn.MaxPool2d(3, 1, 1), conv(inputs, pool, 1))])

        def forward(self, x):
            return torch.cat([branch(x) for branch in self.branches], 1)

    def halve():
        return nn.MaxPool2d(3, 2, ceil_mode=True)

    class OneNode(torch.autograd.Function):
        """Exported as the operator that it is, instead of the thirty that it is made of."""
        @staticmethod
        def forward(_, x):
            return nn.functional.local_response_norm(x, 5)

        @staticmethod
        def symbolic(graph, x):
            return graph.op("LRN", x, size_i=5).setType(x.type())

    class Normalize(nn.Module):
        def forward(self, x):
            return OneNode.apply(x)

    return nn.Sequential(
        conv(3, 64, 7, 2), halve(), Normalize(),
        conv(64, 64, 1), conv(64, 192, 3), Normalize(), halve(),
        Inception(192, 64, 96, 128, 16, 32, 32), Inception(256, 128, 128, 192, 32, 96, 64), halve(),
        Inception(480, 192, 96, 208, 16, 48, 64), Inception(512, 160, 112, 224, 24, 64, 64),
        Inception(512, 128, 128, 256, 24, 64, 64), Inception(512, 112, 144, 288, 32, 64, 64),
        Inception(528, 256, 160, 320, 32, 128, 128), halve(),
        Inception(832, 256, 160, 320, 32, 128, 128), Inception(832, 384, 192, 384, 48, 128, 128),
        nn.AvgPool2d(7, count_include_pad=False), nn.Flatten(), nn.Dropout(0.4),
        nn.Linear(1024, 1000), nn.Softmax(1))


def mobilenet_with_computed_shape():
    """MobileNetV2 as the model zoo's mobilenetv2-10 has it: the batch is open, and the shape before
    the last layer is computed by operators of the graph."""
    import torch
    import torchvision
    network = torchvision.models.mobilenet_v2(weights=None)

    class Flatten(torch.autograd.Function):
        """Exported as older exporters did it, the -1 of the new shape lying in an initializer."""
        @staticmethod
        def forward(_, x, rest):
            return x.reshape(x.shape[0], -1)

        @staticmethod
        def symbolic(graph, x, rest):
            first = graph.op("Constant", value_t=torch.tensor(0))
            batch = graph.op("Gather", graph.op("Shape", x), first, axis_i=0)
            batch = graph.op("Unsqueeze", batch, axes_i=[0])
            return graph.op("Reshape", x, graph.op("Concat", batch, rest, axis_i=0))

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.features = network.features
            self.classifier = network.classifier
            self.register_buffer("rest", torch.tensor([-1]))

        def forward(self, x):
            x = torch.nn.functional.adaptive_avg_pool2d(self.features(x), 1)
            return self.classifier(Flatten.apply(x, self.rest))

    return Network()


def yolo_head():
    """A detector as YOLO is built: blocks whose parts are concatenated, a coarse map that is enlarged and
    joined with a finer one, SiLU throughout, and three maps of Sigmoids."""
    import torch
    from torch import nn

    class Conv(nn.Module):
        def __init__(self, inputs, outputs, size=1, stride=1):
            super().__init__()
            self.conv = nn.Conv2d(inputs, outputs, size, stride, size // 2)

        def forward(self, x):
            x = self.conv(x)
            return x * torch.sigmoid(x)

    class Block(nn.Module):
        def __init__(self, inputs, outputs, add=True):
            super().__init__()
            half = outputs // 2
            self.left, self.right = Conv(inputs, half), Conv(inputs, half)
            self.deep = nn.Sequential(Conv(half, half, 3), Conv(half, half, 3))
            self.join, self.add = Conv(3 * half, outputs), add

        def forward(self, x):
            left = self.left(x)
            deep = self.deep(left)
            return self.join(torch.cat([self.right(x), left, left + deep if self.add else deep], 1))

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.fine = nn.Sequential(Conv(3, 16, 3, 2), Conv(16, 32, 3, 2), Block(32, 32),
                                      Conv(32, 64, 3, 2), Block(64, 64))
            self.middle = nn.Sequential(Conv(64, 128, 3, 2), Block(128, 128))
            self.coarse = nn.Sequential(Conv(128, 256, 3, 2), Block(256, 256))
            self.up = nn.Upsample(scale_factor=2)
            self.middle_up, self.fine_up = Block(384, 128, add=False), Block(192, 64, add=False)
            self.fine_down, self.middle_down = Conv(64, 64, 3, 2), Conv(128, 128, 3, 2)
            self.middle_out, self.coarse_out = Block(192, 128, add=False), Block(384, 256, add=False)
            self.heads = nn.ModuleList([nn.Conv2d(channels, 85, 1) for channels in (64, 128, 256)])

        def forward(self, x):
            fine = self.fine(x)
            middle = self.middle(fine)
            coarse = self.coarse(middle)
            middle = self.middle_up(torch.cat([self.up(coarse), middle], 1))
            fine = self.fine_up(torch.cat([self.up(middle), fine], 1))
            middle = self.middle_out(torch.cat([self.fine_down(fine), middle], 1))
            coarse = self.coarse_out(torch.cat([self.middle_down(middle), coarse], 1))
            return tuple(torch.sigmoid(head(x)) for head, x in zip(self.heads, (fine, middle, coarse)))

    return Network()


# name: (how to make it, opset, does the graph in tests/data keep batch normalisation and dropout as
# operators of their own, as in training, is the batch open). With weights a network is for inference:
# the first is merged into convolutions, the second left out.
NETWORKS = {
    "alexnet": (torchvision_network("alexnet"), 13, True, False),
    "googlenet": (torchvision_network("googlenet", aux_logits=False, init_weights=False),
                  13, True, False),
    "mobilenet_v2": (torchvision_network("mobilenet_v2"), 13, False, False),
    "mobilenet_v3_large": (torchvision_network("mobilenet_v3_large"), 13, False, False),
    "vgg16": (torchvision_network("vgg16"), 13, False, True),
    "resnet50": (torchvision_network("resnet50"), 13, True, True),
    "googlenet_caffe": (caffe_googlenet, 12, True, False),
    "mobilenet_v2_shape": (mobilenet_with_computed_shape, 10, False, True),
    "yolo_head": (yolo_head, 13, False, False),
}


def export(name, for_inference=False):
    """The network as the bytes of an ONNX file, with random weights."""
    import torch
    make, opset, as_trained, open_batch = NETWORKS[name]
    torch.manual_seed(0)
    network = make().eval()
    with torch.no_grad():
        # Tensors of equal values would be merged into one. Matrices and kernels are random as they are.
        for tensor in [*network.parameters(), *network.buffers()]:
            if tensor.is_floating_point() and tensor.dim() < 2:
                tensor.uniform_(0.01, 0.02)
    return onnx_bytes(network, opset, as_trained and not for_inference, open_batch)


def onnx_bytes(network, opset, as_trained, open_batch):
    """A network for one image of 224x224 as the bytes of an ONNX file."""
    import torch
    if as_trained:
        for module in network.modules():
            if isinstance(module, torch.nn.Dropout):
                module.train()
    mode = torch.onnx.TrainingMode
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network, torch.zeros(1, 3, 224, 224), file, opset_version=opset,
            input_names=["input"], output_names=["output"],
            dynamic_axes={"input": {0: "batch"}, "output": {0: "batch"}} if open_batch else None,
            training=mode.PRESERVE if as_trained else mode.EVAL,
            do_constant_folding=not as_trained)
    return file.getvalue()


# --------------------------------------------------------------------------- files without weights


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def encode(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def fields(message):
    """Number, type, value and the bytes as they stand, of each field of a protobuf message."""
    at = 0
    while at < len(message):
        begin = at
        tag, at = varint(message, at)
        if tag & 7 == 2:
            size, at = varint(message, at)
            value, at = message[at:at + size], at + size
        elif tag & 7 == 0:
            value, at = varint(message, at)
        else:
            size = {1: 8, 5: 4}[tag & 7]
            value, at = message[at:at + size], at + size
        yield tag >> 3, value, message[begin:at]


def changed(message, changes):
    """The message with each field in `changes` handed through its function; None drops it."""
    out = bytearray()
    for number, value, whole in fields(message):
        if number in changes:
            value = changes[number](value)
            if value is None:
                continue
            whole = encode(number << 3 | 2) + encode(len(value)) + value
        out += whole
    return bytes(out)


def without_weights(model):
    """ModelProto.graph is field 7, its initializers field 5, their raw_data field 9."""
    def drop_large(data):
        return data if len(data) <= KEEP_BYTES else None
    return changed(bytes(model), {
        7: lambda graph: changed(graph, {5: lambda tensor: changed(tensor, {9: drop_large})})})


# --------------------------------------------------------------------------------------------- main


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/models/export-models.py", description=__doc__.partition("\n")[0],
        epilog="networks: " + " ".join(NETWORKS))
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help="default: all of them")
    parser.add_argument("--weights", action="store_true",
                        help="keep the weights, which are random, and export for inference; the files are large")
    parser.add_argument("--folder", default=FOLDER, help="where to write (default: tests/data)")
    options = parser.parse_args()
    for name in options.networks:
        if name not in NETWORKS:
            parser.error(f"no network is called '{name}'; use one of {' '.join(NETWORKS)}")
    try:
        import torch, torchvision  # noqa: F401
    except ImportError as error:
        print(f"export-models: {error}; install Debian's python3-torch and python3-torchvision",
              file=sys.stderr)
        return 1
    os.makedirs(options.folder, exist_ok=True)
    for name in options.networks or NETWORKS:
        model = export(name, for_inference=options.weights)
        if not options.weights:
            model = without_weights(model)
        path = os.path.normpath(os.path.join(options.folder, name + ".onnx"))
        with open(path, "wb") as file:
            file.write(model)
        print(f"export-models: wrote {path}, {len(model):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
