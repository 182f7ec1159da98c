# SPDX-License-Identifier: Apache-2.0
"""python -m llm.generate, by tiny seeded networks with a tokenizer of as many words."""

import io
import json
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
import transformers
from llm.generate import _cli
from llm.generate._choice import Choice
from llm.text._oracle import OnnxRuntime
from onnxruntime.quantization import QuantType, quantize_dynamic
from words import WORDS, write_tokenizer

PROMPT = "w5 w80 w12"
IDS = [5, 80, 12]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An encoder, its decoder, a decoder that keeps keys, and tokenizers."""
    path = tmp_path_factory.mktemp("generate")
    for kind, name in (("t5", "encoder"), ("whisper", "decoder"), ("gpt2", "single")):
        model = transformers.make(kind)
        if kind == "whisper":
            mask = onnx.helper.make_tensor_value_info("encoder_attention_mask", onnx.TensorProto.INT64,
                                                      ["batch", "frames"])
            model.graph.input.append(mask)
        onnx.save(model, path / "float.onnx")
        quantize_dynamic(path / "float.onnx", path / f"{name}.onnx", weight_type=QuantType.QInt8)
    onnx.save(transformers.of_4_bits(transformers.make("llama")), path / "blocks.onnx")
    write_tokenizer(path / "tokenizer.json")
    write_tokenizer(path / "large.json", WORDS + ["more"])
    write_tokenizer(path / "small.json", WORDS[:6])
    (path / "not.json").write_text("{}")
    return path


def generate(folder, *arguments):
    words = [str(folder / word) if word.endswith((".onnx", ".json", ".txt")) else word for word in arguments]
    return _cli.main([*words, "--prompt", PROMPT] if "--prompt" not in words else words)


def report_of(folder, *arguments):
    assert generate(folder, *arguments, "--json", "report.json") == 0
    return json.loads((folder / "report.json").read_text())


def tokens_of(report):
    return [token["token"] for token in report["texts"][0]["tokens"]]


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.add_session_config_entry("session.x64quantprecision", "1")  # without VNNI, sums saturate else
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def greedy(run, ids, count):
    """That many tokens, all computed again for each."""
    ids = list(ids)
    found = []
    while len(found) < count and (not found or found[-1] != 1):
        found.append(int(np.argmax(run(np.array([ids], np.int64))[0, -1])))
        ids.append(found[-1])
    return found


def without_past(model, ids):
    """Inputs for all tokens at once."""
    return {"input_ids": ids, "position_ids": np.arange(ids.size)[None],
            **{value.name: np.zeros([1, value.shape[1], 0, value.shape[3]], np.float32)
               for value in model.get_inputs() if value.name.startswith("past")}}


def test_encoder_and_decoder_write_what_onnxruntime_would(folder, capsys):
    report = report_of(folder, "encoder.onnx", "decoder.onnx", "--compare", "--max-tokens", "5")
    ids = np.array([IDS], np.int64)
    hidden = session(folder / "encoder.onnx").run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
    decoder = session(folder / "decoder.onnx")
    wanted = greedy(lambda ids: decoder.run(["logits"], {
        "encoder_hidden_states": hidden, "encoder_attention_mask": np.ones((1, 3), np.int64),
        **without_past(decoder, ids)})[0], [0], 5)
    assert tokens_of(report) == wanted
    text = report["texts"][0]
    assert text["text"] == " ".join(WORDS[token] for token in wanted if token > 1)
    assert text["prompt_tokens"] == 3
    runs = [text["reading"], *text["tokens"]]
    assert all(run["cycles"] == run["predicted_cycles"] > 0 for run in runs)
    assert report["total"]["cycles"] == sum(run["cycles"] for run in runs)
    assert report["total"]["tokens"] == len(wanted)
    assert report["total"]["differing_values"] == 0
    kept = 4 * 288 * sum(range(1, len(wanted) + 1))  # keys and values of two layers
    assert report["total"]["compared_values"] == 3 * 288 + transformers.WORDS * len(wanted) + kept
    assert 0.9 < report["total"]["device_share"] < 1
    printed = capsys.readouterr().out
    assert f"{runs[1]['cycles']:,}" in printed
    assert "VERIFIED: every layer's values, cycles and bytes; every output is ONNX Runtime's" in printed


def test_a_decoder_that_keeps_keys_computes_each_token_once(folder):
    report = report_of(folder, "single.onnx", "--compare", "--max-tokens", "6", "--device", "tlm")
    single = session(folder / "single.onnx")
    wanted = greedy(lambda ids: single.run(["logits"], without_past(single, ids))[0], IDS, 6)
    assert tokens_of(report) == wanted
    text = report["texts"][0]
    assert text["reading"] is None
    first, *later = [token["macs"] for token in text["tokens"]]
    assert all(macs * 3 == first for macs in later), "one row after the prompt's three"


def test_a_prompt_is_read_in_parts(folder, capsys):
    arguments = ["single.onnx", "--compare", "--max-tokens", "4", "--device", "tlm"]
    report = report_of(folder, *arguments, "--at-once", "1")
    text = report["texts"][0]
    rows = {run["macs"] for run in text["tokens"]}
    assert len(rows) == 1, "one row each"
    assert text["reading"]["macs"] == 2 * rows.pop(), "all of the prompt but the last"
    assert "prompt, 3 tokens" in capsys.readouterr().out
    assert report_of(folder, *arguments, "--at-once", "9")["texts"][0]["reading"] is None
    assert generate(folder, "encoder.onnx", "decoder.onnx", "--at-once", "1") == 2
    assert "--at-once is only for a decoder" in capsys.readouterr().err


def test_weights_of_4_bits_are_the_hosts_or_by_wish_the_devices(folder):
    arguments = ["blocks.onnx", "--max-tokens", "3", "--device", "tlm", "--check", "outputs"]
    blocks = session(folder / "blocks.onnx")
    wanted = greedy(lambda ids: blocks.run(["logits"], without_past(blocks, ids))[0], IDS, 3)
    on_device = report_of(folder, *arguments, "--precision", "int8")
    assert tokens_of(on_device) == wanted
    assert on_device["total"]["device_share"] > 0.9
    assert on_device["total"]["cycles"] == on_device["total"]["predicted_cycles"] > 0
    as_file = report_of(folder, *arguments, "--compare")
    assert tokens_of(as_file) == wanted
    assert (as_file["total"]["macs"], as_file["total"]["differing_values"]) == (0, 0)


def test_chance_follows_its_seed(folder):
    def drawn(*arguments):
        return tokens_of(report_of(folder, "single.onnx", "--device", "reference", "--check", "none",
                                   "--max-tokens", "8", *arguments))

    plain, hot = drawn(), drawn("--temperature", "1.5", "--seed", "3")
    assert drawn("--temperature", "1.5", "--seed", "3") == hot != plain
    assert drawn("--temperature", "1.5", "--seed", "4") != hot
    assert drawn("--temperature", "1.5", "--top-k", "1") == plain
    assert drawn("--temperature", "1.5", "--top-p", "0.0001") == plain


def test_chance_has_the_shares_that_logits_say():
    logits = np.log(np.array([0.1, 0.6, 0.0001, 0.2999], np.float32))

    def shares(**arguments):
        choice = Choice(temperature=1.0, **arguments)
        return np.bincount([choice.next(logits) for _ in range(4000)], minlength=4) / 4000

    assert np.allclose(shares(), [0.1, 0.6, 0, 0.3], atol=0.03)
    assert np.allclose(shares(top_k=2), [0, 2 / 3, 0, 1 / 3], atol=0.03)
    assert np.allclose(shares(top_p=0.85), [0, 2 / 3, 0, 1 / 3], atol=0.03)


def test_a_text_ends_where_the_context_does(folder):
    report = report_of(folder, "single.onnx", "--device", "tlm", "--context", "5", "--max-tokens", "9")
    assert len(report["texts"][0]["tokens"]) <= 2


def test_prompts_come_from_a_file(folder):
    (folder / "prompts.txt").write_text("w5\nw80\n\n\nw7\n")
    report = report_of(folder, "single.onnx", "--prompts", "prompts.txt", "--prompt", "w9", "--max-tokens", "1",
                       "--device", "tlm")
    assert [text["prompt"] for text in report["texts"]] == ["w9", "w5 w80", "w7"]


@pytest.mark.parametrize(("arguments", "message"), [
    (["decoder.onnx"], "comes from an encoder"),
    (["decoder.onnx", "encoder.onnx"], "an encoder's file comes before its decoder's"),
    (["single.onnx", "single.onnx", "single.onnx"], "3 files are given"),
    (["none.onnx"], "none.onnx"),
    (["not.json"], "is not an ONNX model"),
    (["single.onnx", "--tokenizer", "none.json"], "there is no tokenizer"),
    (["single.onnx", "--tokenizer", "not.json"], "is no tokenizer.json"),
    (["single.onnx", "--tokenizer", "large.json"], "is it this network's tokenizer?"),
    (["single.onnx", "--tokenizer", "small.json"], "is it this network's tokenizer?"),
    (["single.onnx", "--context", "2"], "the prompt has 3 tokens; the context has 2"),
    (["single.onnx", "--end-token", "nope"], "has no token 'nope'"),
    (["single.onnx", "--prompt", ""], "has no token"),
    (["single.onnx", "--prompts", "none.txt"], "none.txt"),
    (["single.onnx", "--array", "63"], "63"),
])
def test_bad_input_gets_one_line(folder, capsys, arguments, message):
    assert generate(folder, *arguments, "--device", "tlm") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("llm.generate: ")
    assert message in error


def test_a_prompt_longer_than_the_file_has_places_for_gets_one_line(folder, capsys):
    prompt = "w5 " * (transformers.LONGEST + 1)
    assert generate(folder, "single.onnx", "--device", "reference", "--check", "none", "--prompt", prompt) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(("package", "arguments"), [("tokenizers", []), ("onnxruntime", ["--compare"])])
def test_a_missing_package_gets_one_line(folder, capsys, monkeypatch, package, arguments):
    monkeypatch.setitem(sys.modules, package, None)
    assert generate(folder, "single.onnx", *arguments) == 2
    error = capsys.readouterr().err
    assert f"pip install {package}" in error
    assert error.count("\n") == 1


def test_a_lost_report_is_an_error_of_its_own(folder, capsys):
    arguments = ["single.onnx", "--device", "tlm", "--max-tokens", "1"]
    assert generate(folder, *arguments, "--json", "/none/there/x") == 3
    assert "--json /none/there/x" in capsys.readouterr().err


def test_a_differing_value_is_told(folder, capsys, monkeypatch):
    compare = OnnxRuntime.compare

    def flipped(self, feed, outputs):
        name = list(outputs)[-1]
        outputs = {**outputs, name: outputs[name].copy()}
        outputs[name].view(np.uint32).flat[3] ^= 1
        return compare(self, feed, outputs)

    monkeypatch.setattr(OnnxRuntime, "compare", flipped)
    assert generate(folder, "single.onnx", "--device", "tlm", "--max-tokens", "2", "--compare") == 1
    printed = capsys.readouterr().out
    assert "1 VALUES DIFFER" in printed
    assert "MISMATCH: 2 values differ from ONNX Runtime's" in printed
    assert "VERIFIED" not in printed


def test_a_terminal_gets_a_bar_and_a_pipe_none(folder, capsys, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    arguments = ["single.onnx", "--device", "tlm", "--max-tokens", "3"]
    assert generate(folder, *arguments) == 0
    assert capsys.readouterr().err == ""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("gemm64.cluster._progress._BETWEEN_DRAWINGS", 0)
    assert generate(folder, *arguments) == 0
    assert "1 of 3 runs, 33 %" in terminal.getvalue()
    assert "s left" in terminal.getvalue()
    terminal.truncate(0)
    assert generate(folder, *arguments, "--at-once", "2", "--max-tokens", "1") == 0
    assert "1 of 2 runs, 50 %" in terminal.getvalue()
