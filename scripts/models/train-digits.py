#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the network of digits that the page of `make web` runs, and writes it, quantized, to sim/web/page/digits.json.

Needs NumPy and scikit-learn, which brings the data: 1,797 digits of 8 by 8 pixels with values from 0 to 16 (E. Alpaydin
and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, CC BY 4.0). Layers: a 3x3
convolution to 8 channels, a 3x3 one with stride 2 to 16, and a 4x4 one that gives ten values. Zero points are 0; ReLU is
the lower bound of the results.
"""
import json
import os

import numpy
from sklearn.datasets import load_digits

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAYERS = [(1, 8, 3, 1, 1), (8, 16, 3, 2, 1), (16, 10, 4, 1, 0)]  # channels in and out, kernel, stride, padding
STEPS, BATCH, RATE = 1500, 64, 4e-3


def columns(x, kernel, stride, pad):
    """[batch, rows, columns, channels] as [batch, out rows, out columns, channels * kernel * kernel]."""
    x = numpy.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    size = (x.shape[1] - kernel) // stride + 1
    taps = [x[:, i:i + stride * size:stride, j:j + stride * size:stride] for i in range(kernel) for j in range(kernel)]
    return numpy.stack(taps, axis=-1).reshape(x.shape[0], size, size, -1)


def back(grad, shape, kernel, stride, pad):
    """The transpose of columns()."""
    x = numpy.zeros((shape[0], shape[1] + 2 * pad, shape[2] + 2 * pad, shape[3]))
    size = grad.shape[1]
    grad = grad.reshape(shape[0], size, size, shape[3], kernel * kernel)
    for tap in range(kernel * kernel):
        i, j = divmod(tap, kernel)
        x[:, i:i + stride * size:stride, j:j + stride * size:stride] += grad[..., tap]
    return x[:, pad:shape[1] + pad, pad:shape[2] + pad]


def forward(x, weights):
    kept = []
    for index, ((w, b), (_, _, kernel, stride, pad)) in enumerate(zip(weights, LAYERS)):
        taken = columns(x, kernel, stride, pad)
        out = taken @ w.T + b
        kept.append((x.shape, taken, out))
        x = out if index + 1 == len(LAYERS) else numpy.maximum(out, 0)
    return x.reshape(len(x), -1), kept


def shifted(x, random):
    """Each digit by a pixel or none, so that a drawn one need not be centred well."""
    moved = numpy.zeros_like(x)
    for i, one in enumerate(x):
        dy, dx = random.integers(-1, 2, 2)
        moved[i] = numpy.roll(one, (dy, dx), (0, 1))
    return moved


def train(x, y, random):
    weights = [[random.normal(0, (2 / (c * k * k)) ** 0.5, (o, c * k * k)), numpy.zeros(o)] for c, o, k, _, _ in LAYERS]
    moments = [[[numpy.zeros_like(p), numpy.zeros_like(p)] for p in layer] for layer in weights]
    for step in range(1, STEPS + 1):
        chosen = random.integers(0, len(x), BATCH)
        scores, kept = forward(shifted(x[chosen], random), weights)
        odds = numpy.exp(scores - scores.max(1, keepdims=True))
        grad = odds / odds.sum(1, keepdims=True)
        grad[numpy.arange(BATCH), y[chosen]] -= 1
        grad = (grad / BATCH).reshape(kept[-1][2].shape)
        for index in reversed(range(len(LAYERS))):
            (_, _, kernel, stride, pad), (shape, taken, out) = LAYERS[index], kept[index]
            if index + 1 != len(LAYERS):
                grad = grad * (out > 0)
            grads = [numpy.tensordot(grad, taken, ((0, 1, 2), (0, 1, 2))), grad.sum((0, 1, 2))]
            below = back(grad @ weights[index][0], shape, kernel, stride, pad) if index else None
            for p, g, m in zip(weights[index], grads, moments[index]):
                m[0] += 0.1 * (g - m[0])
                m[1] += 0.001 * (g * g - m[1])
                p -= RATE * (1 - step / STEPS) * m[0] / (1 - 0.9**step) / ((m[1] / (1 - 0.999**step)) ** 0.5 + 1e-8)
            grad = below
    return weights


def main():
    data = load_digits()
    x = (data.images / 16)[..., None]
    order = numpy.random.default_rng(1).permutation(len(x))
    x, y = x[order], data.target[order]
    fit, test = slice(0, 1500), slice(1500, None)
    weights = train(x[fit], y[fit], numpy.random.default_rng(2))
    _, kept = forward(x[fit], weights)
    layers, scale = [], 1 / 112  # of the input: 7 for each of 16 grey values
    activations = numpy.rint(x[test] / scale)
    for index, ((w, b), (_, _, kernel, stride, pad)) in enumerate(zip(weights, LAYERS)):
        last = index + 1 == len(LAYERS)
        steps = numpy.abs(w).max(1) / 127
        out = (numpy.abs(kept[index][2]) if last else numpy.maximum(kept[index][2], 0)).max() / 127
        quantized = numpy.rint(w / steps[:, None]).astype(int)
        bias = numpy.rint(b / (steps * scale)).astype(int)
        factor = (steps * scale / out).astype(numpy.float32)
        sums = columns(activations, kernel, stride, pad) @ quantized.T + bias
        activations = numpy.clip(numpy.rint(sums * factor), -128 if last else 0, 127)
        layers.append({"weights": quantized.tolist(), "bias": bias.tolist(), "scale": [float(f"{one:.9g}") for one in factor],
                       "kernel": kernel, "stride": stride, "pad": pad, "low": -128 if last else 0})
        scale = out
    right = (activations.reshape(len(activations), -1).argmax(1) == y[test]).mean()
    print(f"{100 * right:.1f} % of {len(y[test])} digits that it was not trained with, in int8")
    samples = [(x[test][numpy.flatnonzero(y[test] == digit)[0], ..., 0] * 16).astype(int).tolist() for digit in range(10)]
    with open(os.path.join(ROOT, "sim", "web", "page", "digits.json"), "w", encoding="utf-8") as file:
        json.dump({"layers": layers, "samples": samples}, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
