# SPDX-License-Identifier: Apache-2.0
"""`run` gives the predicted cycles and bytes, and outputs whose bytes are those of ONNX Runtime's CPU provider."""

import itertools
import json
import os
import pathlib
import shutil
import subprocess
import unittest
import zlib

import numpy
import onnx
from onnx import TensorProto, helper
from onnxruntime.quantization import QuantFormat, quantize_dynamic

import provider
from harness import ProgramTest
from provider_test import NETWORKS, PAIRS, TABLE, U8, Graph, model_of, three_layers, transformers, values
from quantized import quantize, quantize_dynamically

ROOT = pathlib.Path(__file__).parents[2]
TLM = ("--device", "tlm", "--array", 8)
# `make regression` sets it and runs these only (-k test_long).
IS_LONG = bool(os.environ.get("GEMM64_LONG"))
LONG = unittest.skipUnless(IS_LONG, "takes long; GEMM64_LONG=1 runs it")


def several_programs():
    """Five Linear layers, each in a program of its own, since nodes of the host are between them."""
    g = Graph()
    scales = g.quantization(0.05, 128)
    x = g.node("QuantizeLinear", "x", *scales)
    for _ in range(4):
        x = g.node("Softmax", g.node("DequantizeLinear", g.linear(x, 20, 20, scales), *scales))
        x = g.node("QuantizeLinear", x, *scales)
    y = g.node("DequantizeLinear", g.linear(x, 20, 20, scales), *scales)
    return model_of(g.graph("several", [("x", TensorProto.FLOAT, [3, 20])], [(y, TensorProto.FLOAT, None)]))


def timeless(report):
    """A report without wall times."""
    if isinstance(report, list):
        return [timeless(item) for item in report]
    if not isinstance(report, dict):
        return report
    return {key: timeless(value) for key, value in report.items()
            if not key.endswith("seconds") and not key.endswith("per_second")}


class HostTest(ProgramTest):
    def run_model(self, model, feeds, *arguments):
        """Runs a model; returns its report and its outputs by name."""
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        inputs = []
        for name, array in feeds.items():
            numpy.save(self.folder / f"{name}.npy", array)
            inputs += ["--input", f"{name}={self.folder / name}.npy"]
        found, _, complaint = self.run_program("run", "--model", model, *inputs, "--output", f"{self.folder}/out/", "--json",
                                               self.folder / "report.json", *arguments)
        self.assertEqual((found, complaint), (0, ""), f"gemm64 run {arguments}")
        outputs = {file.stem: numpy.load(file) for file in (self.folder / "out").glob("*.npy")}
        return self.read_json("report.json"), outputs

    @staticmethod
    def on_device(report):
        return [layer for layer in report["layers"] if layer["on"] == "device"]

    @staticmethod
    def programs(report):
        return sorted(report.get("programs", []), key=lambda program: program["program"])

    def check(self, report, least=1):
        self.assertTrue(report["verified"])
        self.assertGreaterEqual(len(self.on_device(report)), least)
        for layer in self.on_device(report):
            for of_device, predicted in (("cycles", "predicted_cycles"), ("bytes", "predicted_bytes"),
                                         ("counters", "predicted_counters")):
                self.assertEqual(layer[of_device], layer[predicted], f"{layer['name']}: {of_device}")
        self.assertRegex(report["host"]["runtime"], r"^ONNX Runtime 1\.\d+")

    def compare(self, model, feeds, *arguments, least=1, entries=None, device=TLM):
        """Runs a model; its outputs are those of ONNX Runtime's CPU provider. Returns the report."""
        path = self.folder / "model.onnx"
        if isinstance(model, os.PathLike):
            path = pathlib.Path(model)
        elif isinstance(model, bytes):
            path.write_bytes(model)
        else:
            onnx.save(model, path)
        report, outputs = self.run_model(path, feeds, *device, *arguments)
        self.check(report, least)
        cpu = provider.cpu_session(str(path), entries=entries)
        names = [value.name for value in cpu.get_outputs()]
        self.assertEqual(provider.differences(names, [outputs[name] for name in names], cpu.run(None, feeds)), [])
        return report


class Networks(HostTest):
    @LONG
    def test_long_quantized(self):
        for name in NETWORKS:
            for form, types, per_channel in itertools.product(QuantFormat, PAIRS, (False, True)):
                with self.subTest(network=name, form=form.name, types=types, per_channel=per_channel):
                    # Of int8 activations, ONNX Runtime makes nodes with this option that it has not.
                    entries = {"session.x64quantprecision": "1"} if types[0] == U8 else {}
                    self.compare(*quantize(NETWORKS[name](), self.folder, types, per_channel, quant_format=form), least=2,
                                 entries=entries)

    def test_dynamic(self):
        for name in ("resnet", "t5-block"):
            with self.subTest(network=name):
                self.compare(*quantize_dynamically(NETWORKS[name](), self.folder))

    @LONG
    def test_long_transformers(self):
        for kind, form in itertools.product(transformers.KINDS, TABLE.FORMS):
            network = TABLE.Seeded(transformers, kind)
            model = TABLE.quantize(network, form, self.folder)
            with self.subTest(kind=kind, form=form):
                self.compare(model, network.feeds(2, 16), least=9)

    def test_rtl(self):
        model, feeds = quantize(NETWORKS["mobilenet"](), self.folder, (U8, U8), True)
        for arguments in ((), ("--memory", "shared"), ("--results", "int32"), ("--accumulate", "host"),
                          ("--depthwise", "array"), ("--convolutions", "host"), ("--check", "outputs")):
            with self.subTest(arguments=arguments):
                self.compare(model, feeds, *arguments, device=("--device", "rtl", "--array", 8))


class Compiled(HostTest):
    """Compiled files: ONNX Runtime runs the host's nodes, the device the file's own programs."""

    def compare_compiled(self, model, feeds, *arguments, least=1):
        shapes = [f"{name}={'x'.join(map(str, array.shape))}" for name, array in feeds.items()]
        self.succeed("compile", model, "--array", 8, "-o", "model.g64", *arguments,
                     *(word for shape in shapes for word in ("--input-shape", shape)))
        path = self.folder / "model.g64"
        report, outputs = self.run_model(path, feeds, *TLM, *arguments)
        self.check(report)
        self.assertGreaterEqual(len(self.programs(report)), least)
        of_file, wanted = self.run_model(model, feeds, *TLM, *arguments)
        self.assertEqual(self.programs(report), self.programs(of_file))
        for name, array in wanted.items():
            numpy.testing.assert_allclose(outputs[name], array, rtol=1e-5, atol=1e-6, err_msg=name)

    def test_networks(self):
        for name in list(NETWORKS)[::1 if IS_LONG else 3]:
            with self.subTest(network=name):
                self.compare_compiled(*quantize(NETWORKS[name](), self.folder, (U8, U8)))

    def test_several_programs(self):
        onnx.save(several_programs(), self.folder / "several.onnx")
        self.compare_compiled(self.folder / "several.onnx", {"x": values(3, 20)}, least=5)

    def test_transformers(self):
        for kind in transformers.KINDS if IS_LONG else transformers.KINDS[:1]:
            network = TABLE.Seeded(transformers, kind)
            path = self.folder / "transformer.onnx"
            model = TABLE.quantize(network, TABLE.FORMS[0], self.folder)
            path.write_bytes(model if isinstance(model, bytes) else pathlib.Path(model).read_bytes())
            with self.subTest(kind=kind):
                self.compare_compiled(path, network.feeds(2, 16))

    def test_operators_that_only_onnx_runtime_has(self):
        g = Graph()
        scales = g.quantization(0.05, 128)
        x = g.node("DequantizeLinear", g.linear(g.node("QuantizeLinear", "x", *scales), 20, 20, scales), *scales)
        y = g.node("Det", x)
        onnx.save(model_of(g.graph("det", [("x", TensorProto.FLOAT, [20, 20])], [(y, TensorProto.FLOAT, None)])),
                  self.folder / "det.onnx")
        numpy.save(self.folder / "x.npy", values(20, 20))
        self.succeed("compile", "det.onnx", "--array", 8, "-o", "det.g64")
        for model in ("det.onnx", "det.g64"):
            self.succeed("run", "--model", model, "--input", "x.npy", *TLM, "-o", f"{model}.npy")
        self.assertEqual((self.folder / "det.g64.npy").read_bytes(), (self.folder / "det.onnx.npy").read_bytes())

    def test_runs_the_weights_of_the_file(self):
        """Other packed weights than the network's are what the device reads, and a check finds them."""
        onnx.save(three_layers(), self.folder / "model.onnx")
        self.succeed("compile", "model.onnx", "--array", 8, "-o", "model.g64")
        content = bytearray((self.folder / "model.g64").read_bytes())
        size = int.from_bytes(content[12:16], "little")
        header = json.loads(content[20:20 + size])
        section = header["sections"][2]  # of the first layer's weights
        place = slice(section["offset"], section["offset"] + section["bytes"])
        content[place] = bytes(byte ^ 0x55 for byte in content[place])
        section["crc32"] = zlib.crc32(content[place])
        text = json.dumps(header, separators=(",", ":")).encode()
        self.assertLessEqual(len(text), size)
        text = text.ljust(size)
        content[20:20 + size] = text
        content[16:20] = zlib.crc32(text).to_bytes(4, "little")
        (self.folder / "model.g64").write_bytes(content)
        code, output, complaint = self.run_program("run", "--model", "model.g64", *TLM)
        self.assertEqual(code, 1, complaint)
        self.assertIn("FAILED", output)


class Forms(HostTest):
    """Ways to give a network and its inputs."""

    def checked(self, *arguments):
        self.succeed("run", *arguments, *TLM, "--json", "report.json")
        report = self.read_json("report.json")
        self.check(report)
        return report

    def setUp(self):
        super().setUp()
        numpy.save(self.folder / "images.npy", numpy.abs(values(7, 1, 28, 28)))
        self.succeed("make-model", "mnist-cnn", "-o", "float.onnx")
        self.succeed("quantize", ROOT / "tests/data/fashion_cnn.onnx", "-o", "quantized.onnx", "--calibrate", "images.npy")

    def test_other_batches(self):
        for batch in (1, 2, 7):
            with self.subTest(batch=batch):
                self.checked("--model", "quantized.onnx", "--input", "images.npy", "--batch", batch)

    def test_images_in_turn(self):
        g = Graph()
        scales = g.quantization(0.05, 128)
        rows = g.linear(g.node("QuantizeLinear", "x", *scales), 20, 20, scales)
        shape = g.constant(numpy.array([20, 1], numpy.int64))
        y = g.node("DequantizeLinear", g.linear(g.node("Transpose", g.node("Reshape", rows, shape)), 20, 20, scales),
                   *scales)
        onnx.save(model_of(g.graph("turn", [("x", TensorProto.FLOAT, [1, 20])], [(y, TensorProto.FLOAT, None)])),
                  self.folder / "turn.onnx")
        numpy.save(self.folder / "rows.npy", values(3, 20))
        report = self.checked("--model", "turn.onnx", "--input", "rows.npy")
        self.assertEqual(report["images_at_once"], 1)

    def test_calibration(self):
        report = self.checked("--model", "float.onnx", "--input", "images.npy", "--calibrate", "images.npy")
        self.assertGreater(report["quality"]["signal_to_noise_db"], 20)

    def test_built_in(self):
        self.checked("lenet", "--batch", 2)

    def test_float_layers(self):
        for precision in ("file", "int8", "float32"):
            with self.subTest(precision=precision):
                report = self.checked("--model", "float.onnx", "--input", "images.npy", "--precision", precision)
                self.assertEqual("quality" in report, precision != "file")

    def test_dumps(self):
        """Nodes of programs and of the host; those that ONNX Runtime folds or eliminates too."""
        g = Graph()
        scales = g.quantization(0.05, 128)
        first = g.linear(g.node("QuantizeLinear", g.node("Sigmoid", "x"), *scales), 20, 20, scales)
        y = g.node("Add", g.node("Softmax", g.node("DequantizeLinear", first, *scales)),
                   g.node("Mul", g.constant(values(20)), g.constant(values(20, seed=3))))
        onnx.save(model_of(g.graph("dumps", [("x", TensorProto.FLOAT, ["rows", 20])], [(y, TensorProto.FLOAT, None)])),
                  self.folder / "dumps.onnx")
        numpy.save(self.folder / "x.npy", values(3, 20))
        output = self.succeed("run", "--model", "dumps.onnx", "--input", "x.npy", *TLM, "--dump-activations", "*=dumped")
        dumped = {file.stem: numpy.load(file) for file in (self.folder / "dumped").glob("*.npy")}
        nodes = {node.name: node for node in g.nodes}
        self.assertGreaterEqual({nodes[name].op_type for name in dumped if name in nodes},
                                {"Sigmoid", "MatMul", "Softmax", "Mul", "Add"})
        model = onnx.load(self.folder / "dumps.onnx")
        of_host = [name for name in dumped if name in nodes and nodes[name].op_type in ("Sigmoid", "Softmax", "Mul", "Add")]
        model.graph.output.extend(helper.make_tensor_value_info(nodes[name].output[0], TensorProto.FLOAT, None)
                                  for name in of_host if nodes[name].output[0] != y)
        cpu = provider.cpu_session(model.SerializeToString())
        for name in of_host:
            wanted = cpu.run([nodes[name].output[0]], {"x": numpy.load(self.folder / "x.npy")})[0]
            numpy.testing.assert_allclose(dumped[name], wanted, rtol=1e-6, err_msg=name)
        self.assertNotIn("computed within other nodes", output)
        within = next(node.name for node in reversed(g.nodes) if node.op_type == "QuantizeLinear")
        self.assertIn("computed within other nodes", self.succeed("run", "--model", "dumps.onnx", "--input", "x.npy", *TLM,
                                                                  "--dump-activations", f"{within}=within"))

    def test_one_program(self):
        """Nodes of the host between its layers go on with the reference's sums; layers of floats in the file too."""
        report = self.checked("--model", "quantized.onnx", "--input", "images.npy", "--one-program")
        self.assertTrue(report["one_program"])
        self.checked("--model", "float.onnx", "--input", "images.npy", "--one-program", "--precision", "int8")
        onnx.save(several_programs(), self.folder / "several.onnx")
        report = self.checked("--model", "several.onnx", "--one-program")
        self.assertEqual(len(report["layers"]), 5)

    def test_jobs(self):
        """The report is that of one device, and says why only one is used."""
        onnx.save(several_programs(), self.folder / "several.onnx")
        numpy.save(self.folder / "x.npy", values(3, 20))
        for why, arguments in (
                ("", ("several.onnx", "--input", "x.npy")), ("", ("several.onnx", "--input", "x.npy", "--memory", "shared")),
                ("--check none", ("several.onnx", "--input", "x.npy", "--check", "none")),
                ("", ("quantized.onnx", "--input", "images.npy", "--batch", 2)),
                ("", ("quantized.onnx", "--input", "images.npy", "--batch", 2, "--check", "outputs")),
                ("", ("float.onnx", "--input", "images.npy", "--batch", 2)),
                ("goes on with the device's results", ("float.onnx", "--input", "images.npy")),
                ("one program", ("quantized.onnx", "--input", "images.npy")),
                ("--one-program", ("several.onnx", "--input", "x.npy", "--one-program"))):
            found = []
            for jobs in (1, 3):
                with self.subTest(jobs=jobs, arguments=arguments):
                    code, _, complaint = self.run_program("run", "--model", *arguments, *TLM, "--jobs", jobs, "--json",
                                                          "report.json", "-o", f"y{jobs}.npy")
                    self.assertEqual(code, 4 if "none" in arguments else 0, complaint)
                    if why == "" or jobs == 1:
                        self.assertEqual(complaint, "")
                    else:
                        self.assertIn(why, complaint)
                    found.append(timeless(self.read_json("report.json")))
            self.assertEqual(found[1], found[0])
            self.assertEqual((self.folder / "y3.npy").read_bytes(), (self.folder / "y1.npy").read_bytes())

    def test_open_sizes_by_name(self):
        onnx.save(three_layers("rows"), self.folder / "open.onnx")
        self.checked("--model", "open.onnx", "--input-shape", "rows=5")

    def test_standard_input(self):
        with open(self.folder / "quantized.onnx", "rb") as model:
            subprocess.run([self.program, "run", "--model", "-", "--device", "tlm"], stdin=model,
                           check=True, capture_output=True, cwd=self.folder)


class Failures(HostTest):
    def setUp(self):
        super().setUp()
        onnx.save(three_layers(), self.folder / "model.onnx")

    def on_rtl(self, *arguments):
        return self.run_program("run", "--model", "model.onnx", "--device", "rtl", "--array", 8, "--json", "report.json",
                                *arguments)

    def test_faults(self):
        for fault, code, key in (("weight:0,0:7=1@1", 1, "failure"), ("slverr:data@200", 1, "error"),
                                 ("weight:0,0:7=1@99999999", 2, "")):
            with self.subTest(fault=fault):
                self.assertEqual(self.on_rtl("--inject", fault)[0], code)
                if code == 2:
                    continue
                report = self.read_json("report.json")
                self.assertFalse(report["verified"])
                self.assertIn(key, report)

    def test_replay(self):
        self.assertEqual(self.on_rtl("--inject", "weight:0,0:7=1@1")[0], 1)
        failure = self.read_json("failure.json")
        self.assertEqual(failure["options"]["host"], "onnxruntime")
        code, output, _ = self.run_program("replay", "failure.json")
        self.assertEqual(code, 1)
        self.assertIn("FAILED", output)

    def test_traces(self):
        for arguments, code in ((("--trace", "t.fst", "--trace-tile", "matmul7:0,0,0"), 0),
                                (("--trace", "t.fst", "--trace-tile", "no:0,0,0"), 2), (("--timeline", "timeline.json"), 0),
                                (("--trace", "t.fst", "--trace-window", "100:200"), 0)):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.on_rtl(*arguments)[0], code)

    def test_trace_of_sums(self):
        """Jobs are known before the run even where ONNX Runtime does not know whether a value is a scalar."""
        source = self.folder / "float.onnx"
        onnx.save(NETWORKS["t5-block"](), source)
        quantize_dynamic(source, self.folder / "model.onnx", weight_type=U8)
        self.assertIn(self.on_rtl("--inject", "weight:0,0:7=1@2000")[0], (0, 1))
        self.assertEqual(self.on_rtl("--inject", "weight:0,0:7=1@99999999")[0], 2)

    def refuse(self, text, *arguments, code=2, environment=None):
        result = subprocess.run([self.program, "run", *arguments], cwd=self.folder, check=False,
                                capture_output=True, text=True, env={**os.environ, **(environment or {})})
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(text, result.stderr)

    def test_says_where_onnx_runtime_is_missing(self):
        self.refuse("GEMM64_ONNXRUNTIME=/nowhere: there is no libonnxruntime.so", "--model", "model.onnx",
                    environment={"GEMM64_ONNXRUNTIME": "/nowhere"})
        program = self.folder / "program"
        shutil.copy(self.program, program)
        result = subprocess.run([program, "run", "--model", "model.onnx"], cwd=self.folder,
                                check=False, capture_output=True, text=True,
                                env={key: value for key, value in os.environ.items() if key != "GEMM64_ONNXRUNTIME"})
        self.assertEqual(result.returncode, 2)
        self.assertIn(f"scripts/setup/fetch-onnxruntime.sh {self.folder}/onnxruntime installs it", result.stderr)
        self.assertIn("GEMM64_ONNXRUNTIME", result.stderr)
        numpy.save(self.folder / "x.npy", values(4, 20))
        for command in (["quantize", "model.onnx", "--calibrate", "x.npy", "-o", "q.onnx"],
                        ["run", "--model", "model.onnx", "--calibrate", "x.npy", "--input", "x.npy"]):
            code, complaint = subprocess.run([program, *command], cwd=self.folder, check=False, capture_output=True, text=True,
                                             env=os.environ | {"GEMM64_ONNXRUNTIME": "/nowhere"}), None
            self.assertEqual(code.returncode, 2)
            self.assertIn("GEMM64_ONNXRUNTIME=/nowhere: there is no libonnxruntime.so", code.stderr)

    def test_refusal_of_onnx_runtime_ends_with_its_reason(self):
        """An opset that this version does not know."""
        g = Graph()
        y = g.node("Relu", "x")
        model = model_of(g.graph("new", [("x", TensorProto.FLOAT, [2, 4])], [(y, TensorProto.FLOAT, [2, 4])]))
        model.opset_import[0].version = 28
        onnx.save(model, self.folder / "new.onnx")
        self.refuse("pset 28", "--model", "new.onnx", "--allow-host-only")

    def test_leaves_no_file_behind(self):
        """ONNX Runtime's telemetry would keep files in the home and temporary folders."""
        home = self.folder / "home"
        home.mkdir()
        subprocess.run([self.program, "run", "--model", "model.onnx", *map(str, TLM)], cwd=self.folder, check=True,
                       capture_output=True, env={**os.environ, "HOME": str(home), "TMPDIR": str(home)})
        self.assertEqual(list(home.iterdir()), [])

    def test_float_layers_are_compared_with_double(self):
        self.succeed("make-model", "mnist-cnn", "-o", "float.onnx")
        arguments = ("run", "--model", "float.onnx", "--device", "reference", "--precision", "float32", "--json", "report.json")
        self.succeed(*arguments)
        report = self.read_json("report.json")
        self.assertTrue(report["verified"])
        linear = [layer for layer in report["layers"] if "max_abs_error" in layer]
        self.assertEqual([layer["k"] for layer in linear], [392, 256])
        for layer in linear:
            self.assertGreater(layer["max_abs_error"], 0)

    def test_refuses_the_executor_that_is_gone(self):
        self.refuse("--host own: ONNX Runtime runs all nodes that the device does not; leave the option out", "--model",
                    "model.onnx", "--host", "own")
        self.succeed("run", "--model", "model.onnx", "--host", "onnxruntime", *TLM)

    def test_damaged_files_end_with_a_message(self):
        for file in sorted((ROOT / "tests/data/malformed").glob("*.onnx")):
            with self.subTest(file=file.name):
                self.refuse(str(file), "--model", file)

    def crashing_model(self):
        """ONNX Runtime's division of the lowest integer by -1 is a signal."""
        low = numpy.array([-2**63], numpy.int64)
        g = Graph()
        x = g.node("Cast", "x", to=TensorProto.INT64)
        quotient = g.node("Div", g.node("Add", g.constant(low), x),
                          g.node("Sub", x, g.constant(numpy.array([1], numpy.int64))))
        y = g.node("MatMul", g.node("Cast", quotient, to=TensorProto.FLOAT),
                   g.constant(numpy.ones((1, 4), numpy.float32)))
        onnx.save(model_of(g.graph("div", [("x", TensorProto.FLOAT, [1, 1])], [(y, TensorProto.FLOAT, [1, 4])])),
                  self.folder / "div.onnx")
        numpy.save(self.folder / "zero.npy", numpy.zeros((1, 1), numpy.float32))

    def test_crash_ends_with_a_message(self):
        self.crashing_model()
        (self.folder / "sweep.json").write_text(json.dumps({
            "mode": "run", "device": "tlm", "networks": ["div.onnx"], "batches": [1], "designs": {"array": [4]}}))
        for command in (("run", "--model", "div.onnx", "--input", "zero.npy"),
                        ("quantize", "div.onnx", "--calibrate", "zero.npy", "-o", "q.onnx"),
                        ("faults", "--model", "div.onnx", "--calibrate", "zero.npy", "--count", "1"),
                        ("sweep", "sweep.json")):
            with self.subTest(command=command[0]):
                code, _, complaint = self.run_program(*command)
                self.assertEqual(code, 2, complaint)
                self.assertIn("ONNX Runtime crashed (Floating point exception)", complaint)

    def test_failure_of_a_node_names_it_and_keeps_files(self):
        """After a layer of the device; outputs of an earlier run stay as they are."""
        g = Graph()
        scales = g.quantization(0.05, 128)
        layer = g.node("DequantizeLinear", g.linear(g.node("QuantizeLinear", "x", *scales), 20, 20, scales), *scales)
        y = g.node("Gather", layer, "i", axis=1)
        g.nodes[-1].name = "pick"
        onnx.save(model_of(g.graph("pick", [("x", TensorProto.FLOAT, [3, 20]), ("i", TensorProto.INT64, [1])],
                                   [(y, TensorProto.FLOAT, None)])), self.folder / "pick.onnx")
        numpy.save(self.folder / "x.npy", values(3, 20))
        numpy.save(self.folder / "i.npy", numpy.array([99], numpy.int64))
        for name in ("y.npy", "report.json"):
            (self.folder / name).write_text("earlier")
        for jobs in (1, 2):
            code, _, complaint = self.run_program("run", "--model", "pick.onnx", "--input", "x=x.npy", "--input", "i=i.npy",
                                                  *TLM, "-o", "y.npy", "--json", "report.json", "--jobs", jobs)
            self.assertEqual(code, 2)
            self.assertRegex(complaint, r"pick\.onnx: pick \(Gather\) failed in ONNX Runtime: .*99.*; check the .* it reads")
            for name in ("y.npy", "report.json"):
                self.assertEqual((self.folder / name).read_text(), "earlier")

    def test_refuses_loop_without_bound(self):
        body = helper.make_graph(
            [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Relu", ["s"], ["t"])], "body",
            [helper.make_tensor_value_info("i", TensorProto.INT64, []),
             helper.make_tensor_value_info("c", TensorProto.BOOL, []),
             helper.make_tensor_value_info("s", TensorProto.FLOAT, [2])],
            [helper.make_tensor_value_info("d", TensorProto.BOOL, []),
             helper.make_tensor_value_info("t", TensorProto.FLOAT, [2])])
        g = Graph()
        g.nodes.append(helper.make_node("Loop", ["", g.constant(numpy.array(True)), "x"], ["y"], "endless", body=body))
        onnx.save(model_of(g.graph("loop", [("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2])])),
                  self.folder / "loop.onnx")
        self.refuse("(endless)", "--model", "loop.onnx", "--allow-host-only")
