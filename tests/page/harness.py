# SPDX-License-Identifier: Apache-2.0
"""What the tests of pages share: reports from the program, and a browser that shows them."""

import atexit
import json
import os
import subprocess
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
GEMM64 = os.path.abspath(os.environ.get("GEMM64") or os.path.join(ROOT, "build", "gemm64"))
AXE = os.environ.get("GEMM64_AXE") or os.path.join(ROOT, "build", "page", "axe.js")
DATA = os.path.join(ROOT, "tests", "data")
FASHION = "/usr/share/datasets/fashion-mnist"

_folder = tempfile.TemporaryDirectory(prefix="gemm64-page-")
FOLDER = _folder.name
_made = {}


def path(name):
    return os.path.join(FOLDER, name)


def run(*arguments, code=0):
    """The program's outcome in the tests' folder; it must end with this exit code."""
    outcome = subprocess.run([GEMM64, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=FOLDER)
    if "without the charts" in outcome.stderr:
        raise AssertionError("THE TESTS OF PAGES DO NOT RUN: the program holds no charts. Run scripts/setup/charts.sh --test "
                             f"and build again.\n{outcome.stderr}")
    assert outcome.returncode == code, f"{arguments}: exit {outcome.returncode}\n{outcome.stdout}{outcome.stderr}"
    return outcome


# Reports by name, as the program's arguments.
REPORTS = {
    "gemm": ["gemm", 20, 30, 40, "--array", 4, "--timeline", "gemm.timeline.json"],
    "linear": ["run", "lenet", "--device", "tlm", "--convolutions", "host", "--batch", 4],
    "classified": ["run", "--device", "tlm", "--model", os.path.join(DATA, "fashion_cnn.onnx"),
                   "--calibrate", f"{FASHION}/train-images-idx3-ubyte.gz", "--calibrate-images", 20,
                   "--input", f"{FASHION}/t10k-images-idx3-ubyte.gz", "--images", 300,
                   "--labels", f"{FASHION}/t10k-labels-idx1-ubyte.gz"],
    "analysis": ["analyze", os.path.join(DATA, "resnet50.onnx")],
    "dut": ["dut", "run", os.path.join(ROOT, "tests", "dut", "arrays", "no_backpressure.toml"), 40, 30, 20],
}


def report(name):
    """(The page's path, the JSON report), written by one run."""
    if name not in _made:
        run(*REPORTS[name], "--report", f"{name}.html", "--json", f"{name}.json")
        with open(path(f"{name}.json"), encoding="utf-8") as file:
            _made[name] = path(f"{name}.html"), json.load(file)
    return _made[name]


def page_of(name, changed, *more):
    """The page of a report that a test made up."""
    with open(path(f"{name}.json"), "w", encoding="utf-8") as file:
        json.dump(changed, file)
    run("report", f"{name}.json", "--output", f"{name}.html", *more)
    return path(f"{name}.html")


def data_of(page):
    """What the page was given."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    begin = text.index('id="data">') + len('id="data">')
    return json.loads(text[begin:text.index("</script>", begin)])


# Sweeps by name: of one design, of several with a mismatch, and of more designs than have bars.
SWEEPS = {
    "one": {"networks": ["64x256x256"]},
    "ran": {"mode": "run", "device": "tlm", "networks": ["lenet", "40x64x48"], "batches": [1, 4],
            "designs": {"array": [4, 8], "memory": ["independent", "shared"], "memory_latency": [20, 200]}},
    "many": {"networks": ["64x256x256"], "designs": {
        "array": [2, 4, 8, 16, 32, 64], "memory": ["independent", "exclusive"], "memory_latency": [10, 100, 1000],
        "memory_bytes_per_cycle": [1, 16, 0]}},
}


def sweep(name):
    """(The page's path, the rows), written by one sweep."""
    if f"sweep_{name}" not in _made:
        with open(path(f"{name}.sweep.json"), "w", encoding="utf-8") as file:
            json.dump(SWEEPS[name], file)
        run("sweep", f"{name}.sweep.json", "--plot", f"sweep_{name}.html", "--json", f"sweep_{name}.json")
        with open(path(f"sweep_{name}.json"), encoding="utf-8") as file:
            _made[f"sweep_{name}"] = path(f"sweep_{name}.html"), json.load(file)["rows"]
    return _made[f"sweep_{name}"]


def with_data(page, name, change):
    """A copy of the page whose data `change` has changed in place."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    data = data_of(page)
    change(data)
    begin = text.index('id="data">') + len('id="data">')
    with open(path(name), "w", encoding="utf-8") as file:
        file.write(text[:begin] + json.dumps(data).replace("<", "\\u003c") + text[text.index("</script>", begin):])
    return path(name)


_browsers = []


def browser():
    """One headless Chromium for all tests of a file."""
    if not _browsers:
        options = webdriver.ChromeOptions()
        # In a container there are no namespaces for a sandbox, and little shared memory.
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--hide-scrollbars", "--window-size=1280,900", f"--user-data-dir={path('profile')}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        _browsers.append(webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options))
        _browsers[0].set_script_timeout(120)
        atexit.register(_browsers[0].quit)
    return _browsers[0]


def look(width=1280, scheme="light", media=""):
    """How the reader looks at it: the window's width, light or dark, on screen or on paper."""
    shown = browser()
    shown.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]})
    shown.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})


def show(page, **how):
    """Opens the page and waits until it is drawn. Errors fail."""
    shown = browser()
    look(**how)
    shown.get("file://" + page)
    wait_for(lambda: shown.execute_script("return document.documentElement.dataset.ready"), "the page")
    wait_for(lambda: shown.execute_script(
        "return [...document.querySelectorAll('.chart')].every((one) => one.querySelector('svg')?.firstChild)"), "its charts")
    errors = [entry["message"] for entry in shown.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    assert not errors, errors
    return shown


def settle(shown):
    """Waits for two pictures, so that charts of opened parts are drawn."""
    shown.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")


def wait_for(held, what, seconds=60):
    end = time.monotonic() + seconds
    while not held():
        assert time.monotonic() < end, f"{what} did not come within {seconds} s"
        time.sleep(0.05)


def rows(shown, section):
    """The cells of a section's first table, row by row."""
    return shown.execute_script("""
        return [...document.querySelector(arguments[0] + ' table').querySelectorAll('tbody tr')]
            .map((row) => [...row.cells].map((cell) => cell.textContent))""", "#" + section)
