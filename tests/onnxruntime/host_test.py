# SPDX-License-Identifier: Apache-2.0
"""`run --host onnxruntime` gives the cycles and bytes of `--host own`, and outputs whose bytes are those of ONNX
Runtime's CPU provider."""

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
from onnxruntime import quantization
from onnxruntime.quantization import QuantFormat

import provider
from harness import ProgramTest
from provider_test import NETWORKS, PAIRS, TABLE, U8, Graph, model_of, three_layers, transformers, values
from quantized import Reader

ROOT = pathlib.Path(__file__).parents[2]
COUNTED = ("cycles", "predicted_cycles", "bytes", "predicted_bytes", "counters", "macs", "m", "k", "n", "results",
           "mismatches", "program")
TLM = ("--device", "tlm", "--array", 8)
# `make regression` sets it and runs these only (-k test_long).
LONG = unittest.skipUnless(os.environ.get("GEMM64_LONG"), "takes long; GEMM64_LONG=1 runs it")


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
    def run_on(self, host, model, feeds, *arguments, code=0):
        """Runs a model; returns its report and its outputs by name."""
        own = self.folder / host
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir()
        inputs = []
        for name, array in feeds.items():
            numpy.save(own / f"{name}.npy", array)
            inputs += ["--input", f"{name}={own / name}.npy"]
        found, _, complaint = self.run_program("run", "--model", model, "--host", host, *inputs, "--output",
                                               f"{own}/out/", "--json", own / "report.json", *arguments)
        self.assertEqual((found, complaint), (code, ""), f"gemm64 run --host {host} {arguments}")
        outputs = {file.stem: numpy.load(file) for file in (own / "out").glob("*.npy")}
        return json.loads((own / "report.json").read_text()), outputs

    @staticmethod
    def layers(report):
        """What the device did, by layer, and what the host did of layers."""
        on_device = sorted((layer["name"], [layer.get(key) for key in COUNTED]) for layer in report["layers"]
                           if layer["on"] == "device")
        return on_device, sorted((layer["name"], layer["macs"]) for layer in report["layers"] if layer["on"] == "host")

    @staticmethod
    def programs(report):
        return sorted(report.get("programs", []), key=lambda program: program["program"])

    @staticmethod
    def between(report):
        """Nodes for which programs wait, without those that ONNX Runtime makes several of."""
        return [node for node in report["host"]["between_programs"] if not node["operator"].endswith("quantizeLinear")
                and node["operator"] != "QuantizeLinear"]

    def compare_reports(self, report, builtin, moved=False):
        self.assertEqual(self.layers(report), self.layers(builtin))
        self.assertEqual(self.programs(report), self.programs(builtin))
        for key in ("verified", "precision", "batch", "check", "outputs", "images_at_once", "images_in_turn", "scales"):
            self.assertEqual(report.get(key), builtin.get(key), key)
        without = {"host_nodes"}  # of the file, and of its rewritten form
        self.assertEqual({key: value for key, value in report["total"].items() if key not in without},
                         {key: value for key, value in builtin["total"].items() if key not in without})
        if not moved:
            self.assertEqual(self.between(report), self.between(builtin))
        self.assertRegex(report["host"]["runtime"], r"^ONNX Runtime 1\.\d+")
        self.assertNotIn("runtime", builtin["host"])

    def compare(self, model, feeds, *arguments, least=1, entries=None, device=TLM, moved=False):
        """Runs a model by both; returns ONNX Runtime's report. `moved`: ONNX Runtime moves nodes of the host."""
        path = self.folder / "model.onnx"
        if isinstance(model, os.PathLike):
            path = pathlib.Path(model)
        elif isinstance(model, bytes):
            path.write_bytes(model)
        else:
            onnx.save(model, path)
        builtin, _ = self.run_on("own", path, feeds, *device, *arguments)
        report, outputs = self.run_on("onnxruntime", path, feeds, *device, *arguments)
        self.compare_reports(report, builtin, moved)
        self.assertGreaterEqual(len(self.layers(report)[0]), least)
        cpu = provider.cpu_session(str(path), entries=entries)
        names = [value.name for value in cpu.get_outputs()]
        self.assertEqual(provider.differences(names, [outputs[name] for name in names], cpu.run(None, feeds)), [])
        return report


class Networks(HostTest):
    def quantized(self, name, form, types, per_channel):
        source, target = self.folder / "float.onnx", self.folder / "quantized.onnx"
        model = NETWORKS[name]()
        onnx.save(model, source)
        value = model.graph.input[0]
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        batches = [values(*shape, seed=seed) for seed in range(4)]
        quantization.quantize_static(source, target, Reader(value.name, batches[:3]), quant_format=form,
                                     per_channel=per_channel, activation_type=types[0], weight_type=types[1])
        return target, {value.name: batches[3]}

    @LONG
    def test_long_quantized(self):
        for name in NETWORKS:
            for form, types, per_channel in itertools.product(QuantFormat, PAIRS, (False, True)):
                with self.subTest(network=name, form=form.name, types=types, per_channel=per_channel):
                    # Of int8 activations, ONNX Runtime makes nodes with this option that it has not.
                    entries = {"session.x64quantprecision": "1"} if types[0] == U8 else {}
                    self.compare(*self.quantized(name, form, types, per_channel), least=2, entries=entries)

    def test_dynamic(self):
        for name in ("resnet", "t5-block"):
            with self.subTest(network=name):
                source, target = self.folder / "float.onnx", self.folder / "dynamic.onnx"
                model = NETWORKS[name]()
                onnx.save(model, source)
                quantization.quantize_dynamic(source, target, weight_type=U8)
                value = model.graph.input[0]
                shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
                self.compare(target, {value.name: values(*shape)})

    @LONG
    def test_long_transformers(self):
        for kind, form in itertools.product(transformers.KINDS, TABLE.FORMS):
            network = TABLE.Seeded(transformers, kind)
            model = TABLE.quantize(network, form, self.folder)
            with self.subTest(kind=kind, form=form):
                self.compare(model, network.feeds(2, 16), least=9, moved=True)

    def test_rtl(self):
        for arguments in ((), ("--memory", "shared"), ("--results", "int32"), ("--accumulate", "host"),
                          ("--depthwise", "array"), ("--convolutions", "host"), ("--check", "outputs")):
            with self.subTest(arguments=arguments):
                model, feeds = self.quantized("mobilenet", QuantFormat.QDQ, (U8, U8), True)
                self.compare(model, feeds, *arguments, device=("--device", "rtl", "--array", 8))


class Compiled(HostTest):
    """Compiled files: ONNX Runtime runs the host's nodes, the device the file's own programs."""

    def compare_compiled(self, model, feeds, *arguments, least=1):
        shapes = [f"{name}={'x'.join(map(str, array.shape))}" for name, array in feeds.items()]
        self.succeed("compile", model, "--array", 8, "-o", "model.g64", *arguments,
                     *(word for shape in shapes for word in ("--input-shape", shape)))
        path = self.folder / "model.g64"
        builtin, wanted = self.run_on("own", path, feeds, *TLM, *arguments)
        report, outputs = self.run_on("onnxruntime", path, feeds, *TLM, *arguments)
        self.compare_reports(report, builtin)
        self.assertGreaterEqual(len(self.programs(report)), least)
        of_file, _ = self.run_on("onnxruntime", model, feeds, *TLM, *arguments)
        self.assertEqual(self.programs(report), self.programs(of_file))
        for name, array in wanted.items():
            numpy.testing.assert_allclose(outputs[name], array, rtol=1e-5, atol=1e-6, err_msg=name)

    def test_networks(self):
        for name in NETWORKS:
            with self.subTest(network=name):
                source, target = self.folder / "float.onnx", self.folder / "quantized.onnx"
                model = NETWORKS[name]()
                onnx.save(model, source)
                value = model.graph.input[0]
                shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
                batches = [values(*shape, seed=seed) for seed in range(4)]
                quantization.quantize_static(source, target, Reader(value.name, batches[:3]), activation_type=U8,
                                             weight_type=U8)
                self.compare_compiled(target, {value.name: batches[3]})

    def test_several_programs(self):
        onnx.save(several_programs(), self.folder / "several.onnx")
        self.compare_compiled(self.folder / "several.onnx", {"x": values(3, 20)}, least=5)

    def test_transformers(self):
        for kind in transformers.KINDS:
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

    def compare_runs(self, *arguments, code=0):
        reports = []
        for host in ("own", "onnxruntime"):
            found, _, complaint = self.run_program("run", *arguments, *TLM, "--host", host, "--json", f"{host}.json")
            self.assertEqual((found, complaint), (code, ""))
            reports.append(json.loads((self.folder / f"{host}.json").read_text()))
        self.compare_reports(reports[1], reports[0])
        return reports[1]

    def setUp(self):
        super().setUp()
        numpy.save(self.folder / "images.npy", numpy.abs(values(7, 1, 28, 28)))
        self.succeed("make-model", "mnist-cnn", "-o", "float.onnx")
        self.succeed("quantize", ROOT / "tests/data/fashion_cnn.onnx", "-o", "quantized.onnx", "--calibrate", "images.npy")

    def test_other_batches(self):
        for batch in (1, 2, 7):
            with self.subTest(batch=batch):
                self.compare_runs("--model", "quantized.onnx", "--input", "images.npy", "--batch", batch)

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
        report = self.compare_runs("--model", "turn.onnx", "--input", "rows.npy")
        self.assertEqual(report["images_at_once"], 1)

    def test_calibration(self):
        report = self.compare_runs("--model", "float.onnx", "--input", "images.npy", "--calibrate", "images.npy")
        self.assertGreater(report["quality"]["signal_to_noise_db"], 20)

    def test_built_in(self):
        self.compare_runs("lenet", "--batch", 2)

    def test_float_layers(self):
        for precision in ("file", "int8", "float32"):
            with self.subTest(precision=precision):
                report = self.compare_runs("--model", "float.onnx", "--input", "images.npy", "--precision", precision)
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
        dumped = {}
        for host in ("own", "onnxruntime"):
            output = self.succeed("run", "--model", "dumps.onnx", "--input", "x.npy", *TLM, "--host", host,
                                  "--dump-activations", f"*={host}", "-o", f"{host}.npy")
            dumped[host] = {file.stem: numpy.load(file) for file in (self.folder / host).glob("*.npy")}
        self.assertEqual(set(dumped["own"]) - set(dumped["onnxruntime"]), set())
        operators = {node.name: node.op_type for node in g.nodes}
        self.assertGreaterEqual({operators[name] for name in dumped["onnxruntime"] if name in operators},
                                {"Sigmoid", "MatMul", "Softmax", "Mul", "Add"})
        for name, array in dumped["own"].items():
            numpy.testing.assert_allclose(dumped["onnxruntime"][name], array, rtol=1e-6, err_msg=name)
        self.assertNotIn("computed within other nodes", output)
        within = next(node.name for node in reversed(g.nodes) if node.op_type == "QuantizeLinear")
        self.assertIn("computed within other nodes", self.succeed("run", "--model", "dumps.onnx", "--input", "x.npy", *TLM,
                                                                  "--dump-activations", f"{within}=within"))

    def test_one_program(self):
        """Nodes of the host between its layers go on with the reference's sums; layers of floats in the file too."""
        report = self.compare_runs("--model", "quantized.onnx", "--input", "images.npy", "--one-program")
        self.assertTrue(report["one_program"])
        self.compare_runs("--model", "float.onnx", "--input", "images.npy", "--one-program", "--precision", "int8")
        onnx.save(several_programs(), self.folder / "several.onnx")
        report = self.compare_runs("--model", "several.onnx", "--one-program")
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
                    found.append(timeless(json.loads((self.folder / "report.json").read_text())))
            self.assertEqual(found[1], found[0])
            self.assertEqual((self.folder / "y3.npy").read_bytes(), (self.folder / "y1.npy").read_bytes())

    def test_open_sizes_by_name(self):
        onnx.save(three_layers("rows"), self.folder / "open.onnx")
        self.compare_runs("--model", "open.onnx", "--input-shape", "rows=5")

    def test_standard_input(self):
        with open(self.folder / "quantized.onnx", "rb") as model:
            subprocess.run([self.program, "run", "--model", "-", "--host", "onnxruntime", "--device", "tlm"], stdin=model,
                           check=True, capture_output=True, cwd=self.folder)


class Failures(HostTest):
    def setUp(self):
        super().setUp()
        onnx.save(three_layers(), self.folder / "model.onnx")

    def both(self, *arguments):
        found = []
        for host in ("own", "onnxruntime"):
            found.append(self.run_program("run", "--model", "model.onnx", "--device", "rtl", "--array", 8, "--host", host,
                                          "--json", f"{host}.json", *arguments))
        self.assertEqual((found[0][0], found[0][2]), (found[1][0], found[1][2]))
        return found[1]

    def test_faults(self):
        for fault, code in (("weight:0,0:7=1@1", 1), ("slverr:data@200", 1), ("weight:0,0:7=1@99999999", 2)):
            with self.subTest(fault=fault):
                self.assertEqual(self.both("--inject", fault)[0], code)
                if code == 2:
                    continue
                reports = [json.loads((self.folder / f"{host}.json").read_text()) for host in ("own", "onnxruntime")]
                self.assertFalse(reports[1]["verified"])
                for key in ("failure", "error"):
                    self.assertEqual(reports[1].get(key), reports[0].get(key))

    def test_replay(self):
        self.assertEqual(self.both("--inject", "weight:0,0:7=1@1")[0], 1)
        failure = json.loads((self.folder / "failure.json").read_text())
        self.assertEqual(failure["options"]["host"], "onnxruntime")
        code, output, _ = self.run_program("replay", "failure.json")
        self.assertEqual(code, 1)
        self.assertIn("FAILED", output)

    def test_traces(self):
        for arguments in (("--trace", "t.fst", "--trace-tile", "n8:0,0,0"), ("--trace", "t.fst", "--trace-tile", "no:0,0,0"),
                          ("--timeline", "timeline.json"), ("--trace", "t.fst", "--trace-window", "100:200")):
            with self.subTest(arguments=arguments):
                self.both(*arguments)

    def test_trace_of_sums(self):
        """Jobs are known before the run even where ONNX Runtime does not know whether a value is a scalar."""
        source = self.folder / "float.onnx"
        onnx.save(NETWORKS["t5-block"](), source)
        quantization.quantize_dynamic(source, self.folder / "model.onnx", weight_type=U8)
        self.both("--inject", "weight:0,0:7=1@2000")
        self.assertEqual(self.both("--inject", "weight:0,0:7=1@99999999")[0], 2)

    def refuse(self, text, *arguments, code=2, environment=None):
        result = subprocess.run([self.program, "run", "--host", "onnxruntime", *arguments], cwd=self.folder, check=False,
                                capture_output=True, text=True, env={**os.environ, **(environment or {})})
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(text, result.stderr)

    def test_says_where_onnx_runtime_is_missing(self):
        self.refuse("GEMM64_ONNXRUNTIME=/nowhere: there is no libonnxruntime.so", "--model", "model.onnx",
                    environment={"GEMM64_ONNXRUNTIME": "/nowhere"})
        program = self.folder / "program"
        shutil.copy(self.program, program)
        result = subprocess.run([program, "run", "--host", "onnxruntime", "--model", "model.onnx"], cwd=self.folder,
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
        self.refuse("Opset 28", "--model", "new.onnx", "--allow-host-only")

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
        layers = {}
        for host in ("own", "onnxruntime"):
            self.succeed(*arguments, "--host", host)
            report = json.loads((self.folder / "report.json").read_text())
            layers[host] = [(layer["name"], layer["m"], layer["k"], layer["n"]) for layer in report["layers"]]
            self.assertTrue(report["verified"])
        self.assertEqual(len(layers["own"]), 2)
        self.assertEqual(layers["onnxruntime"], layers["own"])

    def test_damaged_files_end_with_a_message(self):
        for file in sorted((ROOT / "tests/data/malformed").glob("*.onnx")):
            with self.subTest(file=file.name):
                self.refuse(str(file), "--model", file)

    def test_crash_ends_with_a_message(self):
        """ONNX Runtime's division of the lowest integer by -1 is a signal."""
        low = numpy.array([-2**63], numpy.int64)
        g = Graph()
        x = g.node("Cast", "x", to=TensorProto.INT64)
        y = g.node("Div", g.node("Add", g.constant(low), x), g.node("Sub", x, g.constant(numpy.array([1], numpy.int64))))
        onnx.save(model_of(g.graph("div", [("x", TensorProto.FLOAT, [1])], [(y, TensorProto.INT64, [1])])),
                  self.folder / "div.onnx")
        numpy.save(self.folder / "zero.npy", numpy.zeros(1, numpy.float32))
        self.refuse("div.onnx: ONNX Runtime crashed over it (Floating point exception)", "--model", "div.onnx", "--input",
                    "zero.npy", "--allow-host-only")

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


if __name__ == "__main__":
    unittest.main()
