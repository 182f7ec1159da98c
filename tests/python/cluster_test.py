# SPDX-License-Identifier: Apache-2.0
"""Networks on a cluster: the report of one process, whatever happens to workers and client."""

import hashlib
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import dask
import distributed
import gemm64
import numpy as np
import onnx
import psutil
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from conftest import DATA
from gemm64.cluster._progress import Progress
from gemm64.cluster._run import Runner, Speed

PROGRAM = pathlib.Path(gemm64.__file__).resolve().parents[2] / "gemm64"
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
UNITS = 16
WALL_TIMES = re.compile(r'("(?:seconds|reference_seconds|cycles_per_second|macs_per_second)": *)[^,}\s]+')


def command(*options):
    return [sys.executable, "-m", "gemm64.cluster", "run", *map(str, options)]


def cluster(*options):
    return subprocess.run(command(*options), capture_output=True, text=True, check=False,
                          timeout=300)


def report(file):
    """Its text without wall times."""
    return WALL_TIMES.sub(r"\1 0", pathlib.Path(file).read_text())


def printed(text):
    """What was printed, without wall times: the table's last column and the host's seconds."""
    return re.sub(r"[0-9.]+ M/s|[0-9.]+ s\b", "", text)


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """A quantized network of convolutions, on 32 images in 16 passes."""
    model = tmp_path_factory.mktemp("network") / "q.onnx"
    generator = np.random.default_rng(3)
    gemm64.quantize(DATA / "fashion_cnn.onnx", model,
                    generator.random((8, 1, 28, 28), dtype=np.float32))
    return ["--model", model, "--input", FASHION / "t10k-images-idx3-ubyte.gz",
            "--images", 2 * UNITS, "--batch", 2,
            "--labels", FASHION / "t10k-labels-idx1-ubyte.gz"]


@pytest.fixture(scope="module")
def single(network, tmp_path_factory):
    """The report, the outputs and what is printed, of one process."""
    folder = tmp_path_factory.mktemp("single")
    result = subprocess.run(
        [PROGRAM, "run", *map(str, network), "--json", folder / "report.json", "--output",
         folder / "y.npy"], capture_output=True, text=True, check=True)
    return {"report": report(folder / "report.json"), "outputs": (folder / "y.npy").read_bytes(),
            "printed": printed(result.stdout)}


class Begun:
    """A run that the test watches."""

    def __init__(self, network, folder, *options):
        self.kept, self.json = folder / "kept", folder / "report.json"
        self.process = subprocess.Popen(
            command(*network, "--checkpoint", self.kept, "--json", self.json, *options),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def units(self):
        return sorted(self.kept.glob("unit-*.gemm64"))

    def wait_for(self, units):
        end = time.monotonic() + 200
        while len(self.units()) < units:
            assert time.monotonic() < end and self.process.poll() is None, self.process.poll()
            time.sleep(0.01)

    def workers(self):
        return [child for child in psutil.Process(self.process.pid).children()
                if "spawn_main" in " ".join(child.cmdline())]

    def end(self):
        out, err = self.process.communicate(timeout=300)
        return self.process.returncode, out, err


def no_process_is_left(begun, workers):
    gone, alive = psutil.wait_procs(workers, timeout=30)
    assert not alive
    end = time.monotonic() + 30
    while True:  # multiprocessing's own helper ends by itself
        try:
            os.killpg(begun.process.pid, 0)
        except ProcessLookupError:
            return
        assert time.monotonic() < end
        time.sleep(0.05)


def nothing_half_written(folder):
    return not [file for file in folder.rglob("*") if file.is_file() and ".gemm64" not in file.suffixes
                and file.suffix != ".json"]


def test_four_workers_report_what_one_process_reports(network, single, tmp_path):
    result = cluster(*network, "--workers", 4, "--json", tmp_path / "report.json", "--output",
                     tmp_path / "y.npy")
    assert result.returncode == 0, result.stderr
    assert report(tmp_path / "report.json") == single["report"]
    assert (tmp_path / "y.npy").read_bytes() == single["outputs"]
    assert printed(result.stdout) == single["printed"]


def test_the_page_is_that_of_one_process(linear_network, random, tmp_path):
    """It needs the charts that `make test` fetches (scripts/setup/charts.sh)."""
    np.save(tmp_path / "x.npy", random.standard_normal((6, 12)).astype(np.float32))
    given = ["--model", linear_network, "--input", tmp_path / "x.npy", "--batch", 2, "--array", 8]
    one, many = tmp_path / "one.html", tmp_path / "many.html"
    process = subprocess.run([PROGRAM, "run", *map(str, given), "--report", one], check=False,
                           capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    result = cluster(*given, "--workers", 2, "--report", many)
    assert result.returncode == 0, result.stderr
    assert report(many) == report(one)
    assert len(report(one)) > 100_000


@pytest.mark.parametrize("options", [
    ("--device", "tlm", "--array", 16, "--precision", "float32"),
    ("--device", "rtl", "--array", 8, "--accumulate", "host", "--memory-stalls", 0.1),
    ("--device", "reference", "--precision", "float32"),
], ids=["slices", "stalls", "host"])
def test_a_float_network_on_arrays(options, linear_network, random, tmp_path):
    """Also where the last pass is filled up, and the host goes on with the device's results."""
    np.save(tmp_path / "x.npy", random.standard_normal((11, 12)).astype(np.float32))
    given = ["--model", linear_network, "--input", tmp_path / "x.npy", "--batch", 3, *options]
    one, many = tmp_path / "one.json", tmp_path / "many.json"
    process = subprocess.run([PROGRAM, "run", *map(str, given), "--json", one], check=False,
                           capture_output=True, text=True)
    result = cluster(*given, "--workers", 2, "--json", many)
    assert result.returncode == process.returncode, result.stderr
    assert report(many) == report(one)
    assert "11" in json.dumps(json.loads(many.read_text())["batch"])


@pytest.mark.parametrize("count", [1, 4])
def test_a_worker_is_killed(count, network, single, tmp_path):
    """Also the only one that has the model."""
    begun = Begun(network, tmp_path, "--workers", count)
    begun.wait_for(2)
    workers = begun.workers()
    assert len(workers) == count
    workers[-1].kill()
    code, _, complaint = begun.end()
    assert code == 0, complaint
    assert report(begun.json) == single["report"]


def test_the_client_is_killed_and_started_again(network, single, tmp_path):
    begun = Begun(network, tmp_path, "--workers", 2)
    begun.wait_for(3)
    workers = begun.workers()
    begun.process.kill()
    begun.end()
    no_process_is_left(begun, workers)
    kept = {file: file.stat().st_ino for file in begun.units()}
    assert 3 <= len(kept) < UNITS
    assert not begun.json.exists()
    again = Begun(network, tmp_path, "--workers", 2)
    code, _, complaint = again.end()
    assert code == 0, complaint
    assert f"{len(kept)} of {UNITS} units are in" in complaint
    assert {file: file.stat().st_ino for file in kept} == kept  # none of them ran again
    assert len(begun.units()) == UNITS
    assert report(begun.json) == single["report"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_in_order(number, network, single, tmp_path):
    begun = Begun(network, tmp_path, "--workers", 2)
    begun.wait_for(2)
    workers = begun.workers()
    if number == signal.SIGINT:  # as a terminal does
        os.killpg(begun.process.pid, number)
    else:
        begun.process.send_signal(number)
    code, out, complaint = begun.end()
    assert code == 128 + number, complaint
    assert out == ""
    assert f"{len(begun.units())} of {UNITS} units are finished and kept in" in complaint
    assert "Traceback" not in complaint
    assert nothing_half_written(tmp_path) and not begun.json.exists()
    no_process_is_left(begun, workers)
    assert Begun(network, tmp_path, "--workers", 2).end()[0] == 0
    assert report(begun.json) == single["report"]


def test_a_finished_checkpoint_needs_no_cluster(network, single, tmp_path):
    assert cluster(*network, "--workers", 2, "--checkpoint", tmp_path).returncode == 0
    result = cluster(*network, "--scheduler", "tcp://127.0.0.1:9", "--checkpoint", tmp_path,
                     "--json", tmp_path / "report.json")
    assert result.returncode == 0, result.stderr
    assert report(tmp_path / "report.json") == single["report"]


class TestStaleCheckpoint:
    @pytest.fixture(scope="class")
    def kept(self, linear_network, tmp_path_factory):
        folder = tmp_path_factory.mktemp("stale")
        np.save(folder / "x.npy", np.ones((4, 12), np.float32))
        given = ["--model", linear_network, "--input", folder / "x.npy", "--batch", 2,
                 "--array", 8, "--workers", 1, "--checkpoint", folder / "kept"]
        assert cluster(*given).returncode == 0
        return folder, given

    def test_of_other_options(self, kept):
        result = cluster(*kept[1], "--memory-latency", 50)
        assert result.returncode == 2
        assert "unit-0000000.gemm64: was made with --memory-latency 100; now it is 50" in result.stderr

    def test_of_another_model(self, kept):
        result = cluster(*["--model" if x == "--model" else DATA / "fashion_cnn.onnx"
                           if x == kept[1][1] else x for x in kept[1] if x not in
                           ("--input", kept[0] / "x.npy")])
        assert result.returncode == 2
        assert "was made with model linear.onnx; now it is fashion_cnn.onnx" in result.stderr

    def test_of_other_inputs(self, kept):
        folder, given = kept
        np.save(folder / "x.npy", np.concatenate([np.ones((2, 12)), np.zeros((2, 12))])
                .astype(np.float32))
        result = cluster(*given)
        assert result.returncode == 2
        assert "unit-0000001.gemm64: was made from other inputs (image 2, image 3)" in result.stderr
        np.save(folder / "x.npy", np.ones((4, 12), np.float32))
        assert cluster(*given).returncode == 0

    def test_a_damaged_unit(self, kept):
        folder, given = kept
        file = folder / "kept" / "unit-0000001.gemm64"
        whole = file.read_bytes()
        file.write_bytes(whole[:-1])
        result = cluster(*given)
        assert result.returncode == 2
        assert f"{file}: is damaged" in result.stderr
        file.write_bytes(whole)

    def test_a_mismatch_names_its_images(self, kept):
        """As if the device of a worker had been wrong."""
        folder, given = kept
        file = folder / "kept" / "unit-0000001.gemm64"
        line, _, result = file.read_bytes().partition(b"\n")
        assert result.count(b"mismatches\xa6ecount\x00") == 2
        wrong = result.replace(b"mismatches\xa6ecount\x00", b"mismatches\xa6ecount\x03", 1)
        header = json.loads(line)
        header["result"] = hashlib.sha256(wrong).hexdigest()
        file.write_bytes(json.dumps(header).encode() + b"\n" + wrong)
        run = cluster(*given)
        assert run.returncode == 1
        assert "unit 1 (image 2, image 3): mismatches: 3, the first of them in first" in run.stderr
        assert "NOT VERIFIED" in run.stdout or "FAILED" in run.stdout
        file.write_bytes(line + b"\n" + result)


@pytest.fixture(scope="module")
def image_network(tmp_path_factory):
    """A float network of grey images of 4x4, for any number of them."""
    weights = np.random.default_rng(5).standard_normal((3, 16)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Flatten", ["x"], ["flat"]),
         helper.make_node("Gemm", ["flat", "w"], ["y"], name="only", transB=1)],
        "images", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1, 4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
        [numpy_helper.from_array(weights, "w")])
    file = tmp_path_factory.mktemp("images") / "images.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              file)
    return file


def make_images(folder, count):
    folder.mkdir()
    generator = np.random.default_rng(1)
    for i in range(count):
        Image.fromarray(generator.integers(0, 256, (4, 4), np.uint8)).save(folder / f"{i:03d}.png")


def test_one_pass_of_many_images_is_told(image_network, tmp_path):
    make_images(tmp_path / "images", 5)
    result = cluster("--model", image_network, "--input", tmp_path / "images", "--array", 8,
                     "--workers", 1)
    assert result.returncode == 0, result.stderr
    assert "all 5 images are one pass, which one worker runs; --batch N" in result.stderr


def test_image_files_travel_as_they_are(image_network, tmp_path):
    make_images(tmp_path / "images", 70)  # more than are read at once
    given = ["--model", image_network, "--input", tmp_path / "images", "--batch", 16, "--array", 8,
             "--names", tmp_path / "names.txt", "--preprocess", "raw"]
    (tmp_path / "names.txt").write_text("a\nb\nc\n")
    one, many = tmp_path / "one.json", tmp_path / "many.json"
    subprocess.run([PROGRAM, "run", *map(str, given), "--json", one], check=True,
                   capture_output=True)
    result = cluster(*given, "--workers", 2, "--json", many)
    assert result.returncode == 0, result.stderr
    assert report(many) == report(one)


def test_a_bad_image_is_named_and_the_others_are_kept(image_network, tmp_path):
    make_images(tmp_path / "images", 70)
    bad = tmp_path / "images" / "066.png"
    bad.write_bytes(bad.read_bytes()[:-20])
    given = ["--model", image_network, "--input", tmp_path / "images", "--batch", 4, "--array", 8,
             "--workers", 2, "--checkpoint", tmp_path / "kept"]
    result = cluster(*given)
    assert result.returncode == 2
    assert f"unit 16 ({tmp_path}/images/064.png" in result.stderr
    assert f"{bad}: the PNG image" in result.stderr
    assert len(list((tmp_path / "kept").glob("unit-*"))) >= 16


class Poison(distributed.WorkerPlugin):
    """Units of one image end their worker's process."""

    name = "poison"

    def __init__(self, mark):
        self.mark = mark

    def setup(self, worker):
        from gemm64.cluster import _worker  # pylint: disable=import-outside-toplevel

        run_pass = _worker.run_pass

        def run(model, arguments, unit):
            if self.mark in unit:
                with open(self.mark.decode(), "ab") as deaths:
                    deaths.write(b".")
                os._exit(1)
            return run_pass(model, arguments, unit)

        _worker.run_pass = run


@pytest.fixture
def own_cluster():
    with dask.config.set({"distributed.scheduler.worker-saturation": 1.0,
                          "distributed.scheduler.allowed-failures": 2}):
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                                      silence_logs=50) as made:
            yield made


def test_a_unit_that_ends_its_workers_is_named(image_network, own_cluster, tmp_path):
    make_images(tmp_path / "images", 70)
    mark = tmp_path / "images" / "066.png"
    deaths = mark.stat().st_size
    with distributed.Client(own_cluster, set_as_default=False) as client:
        client.register_plugin(Poison(str(mark).encode()))
        result = cluster("--model", image_network, "--input", tmp_path / "images", "--batch", 1,
                         "--array", 8, "--scheduler", own_cluster.scheduler_address,
                         "--checkpoint", tmp_path / "kept")
    assert result.returncode == 1, result.stderr
    assert f"unit 66 ({mark}): its worker was lost 3 times" in result.stderr
    assert mark.stat().st_size - deaths == 3
    assert result.stderr.count("its worker was lost") == 1
    assert len(list((tmp_path / "kept").glob("unit-*"))) >= 66


def test_a_worker_prepares_the_model_once(image_network, own_cluster, tmp_path):
    make_images(tmp_path / "images", 20)
    given = ["--model", image_network, "--input", tmp_path / "images", "--batch", 1, "--array", 8,
             "--scheduler", own_cluster.scheduler_address]
    assert cluster(*given).returncode == 0
    assert cluster(*given, "--json", tmp_path / "again.json").returncode == 0

    def prepared():
        from gemm64.cluster import _worker  # pylint: disable=import-outside-toplevel

        return _worker.prepared_sessions

    with distributed.Client(own_cluster, set_as_default=False) as client:
        assert set(client.run(prepared).values()) <= {0, 1, 2}


@pytest.mark.parametrize("options, complaint", [
    ((), "--model is required"),
    (("--model", DATA / "no.onnx"), "no.onnx"),
    (("--model", DATA / "fashion_cnn.onnx", "--jobs", 2), "give --workers"),
    (("--model", DATA / "fashion_cnn.onnx", "--inject", "weight:1,2:3@400"), "--inject"),
    (("--model", DATA / "fashion_cnn.onnx", "--fast"), "--fast"),
    (("--model", DATA / "fashion_cnn.onnx", "--scheduler", "tcp://127.0.0.1:9", "--workers", 2),
     "leave them out"),
    (("--model", DATA / "fashion_cnn.onnx", "--checkpoint", "/proc/none"), "/proc/none"),
], ids=["none", "missing", "jobs", "inject", "unknown", "workers", "checkpoint"])
def test_bad_usage_is_told_in_a_line(options, complaint):
    result = cluster(*options)
    assert result.returncode == 2
    assert complaint in result.stderr
    assert len(result.stderr.splitlines()) == 1, result.stderr


def test_progress_tells_what_remains():
    progress = Progress(200, range(20), stream=io.StringIO())
    assert progress.text(20, 5) == "20 of 200 units, 10 % (20 from the checkpoint), 5 s"
    for unit in range(20, 80):
        progress.finished(unit, prepared=2.0)
    # A worker's preparation is no unit's time.
    assert progress.text(80, 32) == "80 of 200 units, 40 % (20 from the checkpoint), 32 s, 60 s left"


def test_what_remains_is_told_within_a_half_after_a_tenth_of_the_work():
    weights = [1.0] * 90 + [100.0] * 10  # most units are small, and come first
    progress = Progress(100, weights=weights, stream=io.StringIO())
    spent = 5.0  # until the workers are there
    for unit, weight in enumerate(weights):
        spent += weight
        progress.finished(unit, prepared=5.0)
        rest = 5.0 + sum(weights) - spent
        if spent - 5.0 >= sum(weights) / 10 and rest:
            assert rest / 1.5 <= progress.left(spent) <= 1.5 * rest


def test_a_cluster_that_is_slower_than_one_process_is_told_once():
    small, large = Speed(), Speed()
    for unit in range(60):
        small.finished(10.0 + 0.02 * unit, 0.003)
        large.finished(10.0 + 0.02 * unit, 0.07)
    assert not large.slower() and not large.tells_first_time()
    assert small.tells_first_time() and not small.tells_first_time()
    assert small.text().startswith("the cluster is slower than one process: a unit takes 3.0 ms, "
                                   "but one comes back every 20.0 ms")


def test_a_lost_worker_is_told(capfd):
    runner = Runner.__new__(Runner)
    runner._workers, runner.progress = set(), Progress(1)
    runner._watch({"tcp://a:1", "tcp://b:2"})
    runner._watch({"tcp://a:1", "tcp://c:3"})
    assert capfd.readouterr().err == (
        "gemm64: worker tcp://b:2 was lost; what it had runs again on another\n")


def test_progress_says_a_line_every_ten_seconds_off_a_terminal(monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    stream = io.StringIO()
    progress = Progress(200, stream=stream)
    for done, now in enumerate((101.0, 109.9, 110.1, 115.0, 120.2)):
        progress.finished(done)
        progress.show(done + 1)
    assert stream.getvalue().splitlines() == ["3 of 200 units, 1 %, 10 s, 663 s left",
                                              "5 of 200 units, 2 %, 20 s, 788 s left"]


def test_progress_is_a_bar_on_a_terminal():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    progress = Progress(4, stream=stream)
    time.sleep(0.15)
    progress.show(2)
    assert "[###############...............] 2 of 4 units, 50 %" in stream.getvalue()
    progress.erase()
    assert stream.getvalue().endswith("\r\x1b[K")


SWEEP = {"mode": "run", "device": "tlm", "networks": ["64x256x128", str(DATA / "fashion_cnn.onnx")],
         "batches": [1, 3], "designs": {"array": [8, 16], "memory_latency": [50, 100]}}


def sweep(file, *options):
    return subprocess.run([sys.executable, "-m", "gemm64.cluster", "sweep", str(file),
                           *map(str, options)], capture_output=True, text=True, check=False,
                          timeout=300)


def test_a_sweep_gives_the_files_of_one_process(tmp_path):
    file = tmp_path / "sweep.json"
    file.write_text(json.dumps(SWEEP))
    outputs = {"--csv": "csv", "--json": "json", "--plot": "html"}

    def named(folder):
        (tmp_path / folder).mkdir()
        return [word for option, ending in outputs.items()
                for word in (option, tmp_path / folder / f"rows.{ending}")]

    one = subprocess.run([PROGRAM, "sweep", file, *named("one")], capture_output=True, text=True,
                         check=True)
    result = sweep(file, "--workers", 2, "--checkpoint", tmp_path / "kept", *named("many"))
    assert result.returncode == 0, result.stderr
    assert result.stdout == one.stdout
    for ending in outputs.values():
        assert ((tmp_path / "many" / f"rows.{ending}").read_bytes()
                == (tmp_path / "one" / f"rows.{ending}").read_bytes())
    assert len(list((tmp_path / "kept").glob("unit-*"))) == 16
    again = sweep(file, "--checkpoint", tmp_path / "kept")
    assert "16 of 16 units are in" in again.stderr
    assert "tlm" in again.stdout or "fashion_cnn" in again.stdout

    file.write_text(json.dumps({**SWEEP, "batches": [1]}))
    other = sweep(file, "--checkpoint", tmp_path / "kept")
    assert other.returncode == 2
    assert "unit-0000000.gemm64: was made with sweep's sha256" in other.stderr
    there = sweep(file, "--csv", tmp_path / "one" / "rows.csv")
    assert there.returncode == 2
    assert "the file is there already" in there.stderr
