# SPDX-License-Identifier: Apache-2.0
"""python -m llm.embed, by a tiny seeded network with a tokenizer of as many words."""

import json
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
import transformers
from llm.embed import _cli
from llm.text._oracle import OnnxRuntime
from words import WORDS, write_tokenizer

SENTENCES = ["w5 w80 w12", "w9", "w5 w80 w13 w44"]
IDS = [[5, 80, 12], [9], [5, 80, 13, 44]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A float encoder, what embed makes of it, a decoder, sentences and tokenizers."""
    path = tmp_path_factory.mktemp("embed")
    onnx.save(transformers.make("bert"), path / "float.onnx")
    onnx.save(transformers.make("gpt2"), path / "decoder.onnx")
    write_tokenizer(path / "tokenizer.json")
    write_tokenizer(path / "large.json", WORDS + ["more"])
    (path / "not.json").write_text("{}")
    (path / "sentences.txt").write_text("\n".join(SENTENCES) + "\n\n")
    (path / "more.txt").write_text("w7 w8 w9 w10 w11\nw30 w31\n w60 w61 w62\n")
    (path / "empty.txt").write_text("\n")
    (path / "large.txt").write_text("w7\nmore w3\n")
    assert embed(path, "float.onnx", "--calibrate", "more.txt", "--quantized", "quantized.onnx", "--device", "tlm") == 0
    return path


def embed(folder, *arguments):
    words = [str(folder / word) if word.endswith((".onnx", ".json", ".txt")) else word for word in arguments]
    has = any(word.startswith("--sentence") for word in words)
    return _cli.main(words if has else [*words, "--sentences", str(folder / "sentences.txt")])


def report_of(folder, *arguments):
    assert embed(folder, *arguments, "--json", "report.json") == 0
    return json.loads((folder / "report.json").read_text())


def vectors(path):
    """ONNX Runtime's."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.add_session_config_entry("session.x64quantprecision", "1")  # without VNNI, sums saturate else
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    found = []
    for ids in IDS:
        given = np.array([ids], np.int64)
        hidden = session.run(None, {"input_ids": given, "attention_mask": np.ones_like(given),
                                    "position_ids": np.arange(len(ids))[None]})[0]
        mean = hidden[0].mean(axis=0, dtype=np.float64)
        found.append(mean / np.sqrt((mean * mean).sum()))
    return np.array(found)


def test_vectors_are_what_onnxruntime_gives(folder, capsys):
    report = report_of(folder, "quantized.onnx", "--compare")
    wanted = vectors(folder / "quantized.onnx")
    sentences = report["sentences"]
    assert [sentence["text"] for sentence in sentences] == SENTENCES
    assert [sentence["tokens"] for sentence in sentences] == [3, 1, 4]
    assert np.allclose([sentence["vector"] for sentence in sentences], wanted, rtol=0, atol=1e-12)
    assert all(sentence["cycles"] == sentence["predicted_cycles"] > 0 for sentence in sentences)
    assert all(sentence["device_share"] == 1 for sentence in sentences), "attention, too"
    total = report["total"]
    assert total["cycles"] == sum(sentence["cycles"] for sentence in sentences)
    assert (total["compared_values"], total["differing_values"]) == (transformers.WIDTH * 8, 0)
    printed = capsys.readouterr().out
    near = wanted @ wanted.T
    assert f"  3{near[2][0]:6.2f}{near[2][1]:6.2f}  1.00\n" in printed
    assert f"{sentences[2]['cycles']:,}" in printed
    assert "VERIFIED: every layer's values, cycles and bytes; every output is ONNX Runtime's" in printed


def test_a_float_network_is_quantized_first_and_compared(folder, capsys):
    report = report_of(folder, "float.onnx", "--calibrate", "more.txt", "--quantized", "again.onnx", "--device", "tlm")
    assert (folder / "again.onnx").read_bytes() == (folder / "quantized.onnx").read_bytes()
    of_float, quantized = vectors(folder / "float.onnx"), vectors(folder / "again.onnx")
    wanted = (of_float * quantized).sum(axis=1)
    found = [sentence["cosine_of_float"] for sentence in report["sentences"]]
    assert np.allclose(found, wanted, rtol=0, atol=1e-12)
    assert 0.9 < min(found) and max(found) < 0.99999
    assert f"{found[1]:10.3f}\n" in capsys.readouterr().out
    multiplied = {node.op_type for node in onnx.load(folder / "again.onnx").graph.node}
    assert {"DequantizeLinear", "MatMul"} <= multiplied


@pytest.mark.parametrize(("arguments", "message"), [
    (["none.onnx"], "none.onnx"),
    (["not.json"], "is not an ONNX model"),
    (["decoder.onnx"], "nothing is known for its input"),
    (["quantized.onnx", "--tokenizer", "none.json"], "there is no tokenizer"),
    (["quantized.onnx", "--tokenizer", "not.json"], "is no tokenizer.json"),
    (["quantized.onnx", "--tokenizer", "large.json", "--sentence", "more w3"], "is it this network's tokenizer?"),
    (["quantized.onnx", "--context", "3"], "a sentence has 4 tokens; the context has 3: 'w5 w80 w13 w44'"),
    (["quantized.onnx", "--sentence", "w5 " * (transformers.LONGEST + 1)], "521"),
    (["quantized.onnx", "--sentence", ""], "has no token"),
    (["quantized.onnx", "--sentences", "empty.txt"], "there is no sentence"),
    (["quantized.onnx", "--sentences", "none.txt"], "none.txt"),
    (["float.onnx", "--calibrate", "more.txt"], "belong together"),
    (["float.onnx", "--quantized", "x.onnx"], "belong together"),
    (["float.onnx", "--calibrate", "large.txt", "--quantized", "x.onnx", "--tokenizer", "large.json"],
     "is it this network's tokenizer?"),
    (["float.onnx", "--calibrate", "empty.txt", "--quantized", "x.onnx"], "empty.txt: there is no sentence"),
    (["quantized.onnx", "--array", "63"], "63"),
])
def test_bad_input_gets_one_line(folder, capsys, arguments, message):
    assert embed(folder, *arguments, "--device", "tlm") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("llm.embed: ")
    assert message in error


@pytest.mark.parametrize(("package", "arguments"), [("tokenizers", []), ("onnxruntime", ["--compare"])])
def test_a_missing_package_gets_one_line(folder, capsys, monkeypatch, package, arguments):
    monkeypatch.setitem(sys.modules, package, None)
    assert embed(folder, "quantized.onnx", *arguments) == 2
    error = capsys.readouterr().err
    assert f"pip install {package}" in error
    assert error.count("\n") == 1


def test_a_differing_value_is_told(folder, capsys, monkeypatch):
    compare = OnnxRuntime.compare

    def flipped(self, feed, outputs):
        outputs = {name: array.copy() for name, array in outputs.items()}
        outputs["last_hidden_state"].view(np.uint32).flat[3] ^= 1
        return compare(self, feed, outputs)

    monkeypatch.setattr(OnnxRuntime, "compare", flipped)
    assert embed(folder, "quantized.onnx", "--device", "tlm", "--compare") == 1
    printed = capsys.readouterr().out
    assert "1 VALUES DIFFER" in printed
    assert "MISMATCH: 3 values differ from ONNX Runtime's" in printed
    assert "VERIFIED" not in printed
