#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the network of `make -C scripts/models accuracy` on Fashion-MNIST and writes it as an ONNX file.

Needs Debian's python3-torch (`scripts/setup/setup.sh models`) and dataset-fashion-mnist. The images of the
training set are looked at; the figure for the test set is only printed. A few minutes on two
cores; the same seed on another machine gives a network that is as good, not the same numbers.
"""
import argparse
import gzip
import os
import struct
import sys
import time

DATA = "/usr/share/datasets/fashion-mnist"
OUTPUT = os.path.join(os.path.dirname(__file__), "..", "..", "tests", "data", "fashion_cnn.onnx")
BATCH = 128


def read_idx(path):
    """An idx file of unsigned bytes as a tensor."""
    import torch
    with gzip.open(path) as file:
        data = file.read()
    rank = data[3]
    shape = struct.unpack(f">{rank}I", data[4:4 + 4 * rank])
    return torch.frombuffer(bytearray(data[4 + 4 * rank:]), dtype=torch.uint8).reshape(shape)


def read_set(folder, name):
    """Images in [0, 1] as [images, 1, 28, 28], and their labels."""
    images = read_idx(os.path.join(folder, f"{name}-images-idx3-ubyte.gz"))
    labels = read_idx(os.path.join(folder, f"{name}-labels-idx1-ubyte.gz"))
    return images[:, None].float() / 255, labels.long()


def make_network():
    """Channels of 64, or fewer where there is one tile of K anyway: what the 64x64 array likes. No
    layer but the first, of nine taps, leaves much of a tile empty."""
    from torch import nn

    def conv(inputs, outputs):
        return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
                nn.MaxPool2d(2)]

    return nn.Sequential(*conv(1, 32), *conv(32, 64), *conv(64, 64), nn.Flatten(), nn.Dropout(0.3),
                         nn.Linear(576, 128), nn.ReLU(), nn.Dropout(0.3), nn.Linear(128, 10))


def varied(images, random):
    """The images, half of them mirrored, each moved by a pixel or two at most."""
    import torch
    mirrored = torch.rand(len(images), generator=random) < 0.5
    images = torch.where(mirrored[:, None, None, None], images.flip(3), images)
    down, right = (int(torch.randint(0, 5, (1,), generator=random)) for _ in range(2))
    return torch.nn.functional.pad(images, (2, 2, 2, 2))[:, :, down:down + 28, right:right + 28]


def right(network, images, labels):
    import torch
    network.eval()
    with torch.no_grad():
        return sum(int((network(images[at:at + 1000]).argmax(1) == labels[at:at + 1000]).sum())
                   for at in range(0, len(images), 1000))


def train(network, images, labels, epochs, random):
    import torch
    batches = len(images) // BATCH
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.004, epochs * batches)
    loss_of = torch.nn.CrossEntropyLoss(label_smoothing=0.05)
    begin = time.monotonic()
    for epoch in range(epochs):
        network.train()
        order = torch.randperm(len(images), generator=random)
        for batch in order[:batches * BATCH].reshape(batches, BATCH):
            loss = loss_of(network(varied(images[batch], random)), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(f"epoch {epoch + 1} of {epochs}: loss {float(loss):.3f}, {time.monotonic() - begin:.0f} s",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=DATA, help="folder of the idx files (default %(default)s)")
    parser.add_argument("--epochs", type=int, default=12, help="times through the training set (default %(default)s)")
    parser.add_argument("--output", default=OUTPUT, help="the ONNX file (default tests/data/fashion_cnn.onnx)")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("train-fashion: needs Debian's python3-torch; scripts/setup/setup.sh models installs it", file=sys.stderr)
        return 1
    torch.manual_seed(1)
    images, labels = read_set(options.data, "train")
    network = make_network()
    train(network, images, labels, options.epochs, torch.Generator().manual_seed(2))
    images, labels = read_set(options.data, "t10k")
    print(f"right on the test set: {right(network, images, labels)} of {len(images)}")
    torch.onnx.export(network, images[:1], options.output, opset_version=13, input_names=["image"],
                      output_names=["scores"], dynamic_axes={"image": {0: "batch"}, "scores": {0: "batch"}})
    print(f"{options.output}: {os.path.getsize(options.output):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
