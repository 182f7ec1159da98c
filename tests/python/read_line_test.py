# SPDX-License-Identifier: Apache-2.0
"""What scripts/models/read-line.py makes of networks' outputs, and what it refuses. The networks themselves are fetched; a seeded
one of recognition's kind is among those of transformers_test.py."""

import importlib.machinery
import importlib.util
import pathlib
import sys

import numpy as np
import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/models/read-line.py"
loader = importlib.machinery.SourceFileLoader("read_line", str(SCRIPT))
read_line = importlib.util.module_from_spec(importlib.util.spec_from_loader("read_line", loader))
loader.exec_module(read_line)


@pytest.mark.parametrize(("numbers", "text"), [
    ([1, 1, 0, 1, 2, 2], "aab"), ([0, 0], ""), ([3, 1, 3, 2, 3], "a b"), ([2, 2, 2], "b"), ([0, 1, 0, 0, 2, 0], "ab"),
])
def test_equal_neighbours_are_one_character_unless_a_blank_parts_them(numbers, text):
    shares = np.zeros((1, len(numbers), 4), np.float32)
    shares[0, range(len(numbers)), numbers] = 1
    assert read_line.decode(shares, ["", "a", "b", " "]) == text


def test_a_box_is_larger_than_the_core_that_was_found():
    shares = np.zeros((1, 1, 32, 64), np.float32)
    assert read_line.box(shares, (64, 32)) is None
    shares[0, 0, 10:14, 20:40] = 0.5
    # 1.6 x 80 / 48 = 2.67 on each side.
    assert read_line.box(shares, (64, 32)) == (17, 7, 42, 16)
    assert read_line.box(shares, (128, 32)) == (34, 7, 85, 16)
    shares[0, 0, 0, 0] = 0.4
    assert read_line.box(shares, (64, 32))[:2] == (0, 0)


def test_a_photo_is_the_same_again_and_shows_its_line():
    (one, where), (again, _) = read_line.photo("Hello"), read_line.photo("Hello")
    assert one.tobytes() == again.tobytes() != read_line.photo("Hullo")[0].tobytes()
    values = np.asarray(one.convert("L"), np.float32)
    left, top, right, bottom = where
    inside = values[top:bottom, left:right].copy()
    values[top:bottom, left:right] = 200
    assert inside.min() < 90 < values.min()
    turned = read_line.photo("Hello", turned=True)[0]
    assert np.asarray(turned.crop(where).convert("L")).min() > 100, "the line is elsewhere"


def test_pixels_are_blue_first_and_of_the_networks_sizes():
    image = read_line.photo("Hello")[0].crop((0, 0, 100, 70))
    assert read_line.for_detection(image).shape == (1, 3, 64, 96)
    assert read_line.of_height_48(image).shape == (1, 3, 48, 69)
    beginning = read_line.for_direction(image)
    assert beginning.shape == (1, 3, 48, 192)
    assert (beginning[..., 69:] == 0).all()
    paper = read_line.of_height_48(image)[0, :, 0, 0]
    assert paper[0] < paper[2], "the paper is yellowish"


@pytest.mark.parametrize(("arguments", "message"), [
    (["none.png"], "none.png"), ([str(SCRIPT)], "cannot identify image file"), (["--text", " "], "--text has no character"),
])
def test_bad_input_gets_one_line(capsys, arguments, message):
    assert read_line.main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("read-line: ") and message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("package", ["gemm64", "onnxruntime", "PIL"])
def test_a_missing_package_gets_one_line(capsys, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert read_line.main([]) == 2
    error = capsys.readouterr().err
    assert package in error and "see --help" in error
    assert error.count("\n") == 1
