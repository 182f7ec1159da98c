# SPDX-License-Identifier: Apache-2.0
"""Kinds of tries. Each function draws one Trial; KINDS says how often."""

import json
import os
import signal
import struct

import absent
import samples
from command_lines import draw_command, has_platform
from mutate import NUMBERS, TEXTS, change_bytes, change_fields, change_json
from trial import Trial

FORMATS = {"--json": "json", "--output": "npy", "--timeline": "json", "--trace": "fst", "--csv": "csv",
           "--plot": "html", "-o": "onnx"}


def views(stem):
    """The files with which viewers show a waveform."""
    return [stem + ending for ending in (".gtkw", ".surf.ron", ".sucl")]


FAILURE = ["failure.fst", "failure.json", *views("failure")]


def name_of(option):
    return {"--json": "report.json", "--output": "out.npy", "--timeline": "time.json", "--trace": "wave.fst",
            "--csv": "table.csv", "--plot": "plot.html", "-o": "out.onnx"}[option]


def good(random, kind, some=True):
    """A small command that works, with its files; `some`: with some of the outputs it can have."""
    array = ["--array", random.choice(["2", "4"])]
    which = random.choice(["gemm", "gemm", "gemm", "run", "analyze", "tile", "make-linear", "info", "replay", "cosim"])
    files, extra, wanted = {}, list(FAILURE), []
    if which == "gemm":
        sizes = [random.randint(1, 6) for _ in range(3)]
        if random.random() < 0.5:
            files = {"a.npy": samples.int8_matrix(random, sizes[0], sizes[1]),
                     "b.npy": samples.int8_matrix(random, sizes[1], sizes[2])}
            arguments = ["gemm", "--a", "a.npy", "--b", "b.npy"] + array
        else:
            arguments = ["gemm"] + [str(size) for size in sizes] + array
        can = ["--json", "--output", "--timeline", "--trace"]
    elif which == "run":
        files = {"m.onnx": samples.network(random), "x.npy": samples.float_array(random, (1, 3, 8, 8))}
        arguments = ["run", "--model", "m.onnx", "--input", "x.npy"] + array
        can = ["--json", "--output", "--timeline", "--trace"]
    elif which == "analyze":
        files = {"m.onnx": random.choice([samples.network, samples.linear])(random)}
        arguments, can = ["analyze", "m.onnx"], ["--json", "--csv", "--plot"]
    elif which == "tile":
        files = {"m.onnx": random.choice([samples.network, samples.linear])(random)}
        arguments, can, wanted = ["tile", "m.onnx", "--block", "2"], ["--json"], ["-o"]
    elif which == "make-linear":
        arguments, can, wanted = ["make-linear", "3", "5", "4"], [], ["-o"]
    elif which == "cosim":
        sizes = [str(random.randint(1, 6)) for _ in range(3)]
        arguments, can = ["cosim"] + sizes + array + ["--layers", random.choice(["1", "3"])], ["--json"]
    elif which == "info":
        arguments, can = ["info"] + array, ["--json"]
    else:
        files = {"f.json": json.dumps(samples.replay(random)).encode()}
        arguments, can = ["replay", "f.json"], ["--json", "--trace"]
        extra += ["f.fst", *views("f")]
    if some:
        wanted += [option for option in can if random.random() < 0.5]
        if can and not wanted:
            wanted = [random.choice(can)]
    outputs = {}
    for option in wanted:
        outputs[name_of(option)] = FORMATS[option]
        arguments += [option, name_of(option)]
        if option == "--trace":
            extra += views("wave")
    trial = Trial(kind, arguments, files, outputs=outputs, extra=extra, trusted=which != "replay")
    if which == "replay":  # its trace is written only where it fails
        trial.outputs.pop("wave.fst", None)
        trial.extra.append("wave.fst")
    return trial


def old(random, trial):
    """Files of the outputs' names are there before."""
    for name in trial.outputs:
        if random.random() < 0.6:
            trial.files[name] = b"old " * random.randint(0, 2000)
    return trial


def onnx(random):
    sample = random.choice([samples.network, samples.network, samples.linear, samples.linear, samples.crash])
    data = sample(random)
    for _ in range(random.choice([1, 1, 1, 2, 4]) if sample is not samples.crash else 0):
        data = (change_fields if random.random() < 0.75 else change_bytes)(random, data)
    shape = (1, 3, 8, 8) if sample is samples.network else (2, 3)
    sweep = {"mode": "run", "device": "tlm", "networks": ["m.onnx"], "batches": [1], "designs": {"array": [2]}}
    files = {"m.onnx": data, "x.npy": samples.float_array(random, shape), "s.json": json.dumps(sweep).encode()}
    device = random.choice([["--array", "2"], ["--device", "reference", "--array", "4"],
                            ["--device", "reference", "--precision", "float32"]])
    arguments, outputs = random.choice([
        (["analyze", "m.onnx", "--json", "r.json", "--plot", "p.html", "--csv", "t.csv"],
         {"r.json": "json", "p.html": "html", "t.csv": "csv"}),
        (["tile", "m.onnx", "-o", "o.onnx", "--block", "2", "--json", "r.json"], {"o.onnx": "onnx", "r.json": "json"}),
        (["quantize", "m.onnx", "--calibrate", "x.npy", "-o", "o.onnx"], {"o.onnx": "onnx"}),
        (["sweep", "s.json", "--json", "r.json"], {"r.json": "json"}),
        (["faults", "--model", "m.onnx", "--calibrate", "x.npy", "--count", "2", "--jobs", "1", "--array", "2",
          "--json", "r.json"], {"r.json": "json"}),
        (["run", "--model", "m.onnx", "--json", "r.json"] + device, {"r.json": "json"}),
        (["run", "--model", "m.onnx", "--output", "o.npy"] + device, {"o.npy": "npy"})])
    return Trial("broken ONNX", arguments, files, outputs=outputs, extra=[*FAILURE, "r.json.part"])


def external(random):
    size = random.choice([48, 48, 47, 49, 0, 4096])
    place = random.choice(["w.bin", "w.bin", "sub/w.bin", "../out", "/etc/passwd", "link", "dir", "pipe", "",
                           "/dev/zero", "sub/../w.bin", "m.onnx", "o.onnx", "gone", "w.bin\0x", "inside"])
    entries = [("location", place)]
    for key in ("offset", "length"):
        if random.random() < 0.5:
            entries.append((key, random.choice([0, 4, 48, -1, 1 << 40, "x", "", 1 << 63, 1 << 64, size])))
    links = [("link", "symbolic", "../outside"), ("inside", "symbolic", "w.bin"), ("pipe", "pipe", ""),
             ("dir", "folder", "")]
    arguments, outputs = random.choice([
        (["tile", "m.onnx", "-o", random.choice(["o.onnx", "w.bin", "sub/w.bin", "inside"])], {"o.onnx": "onnx"}),
        (["run", "--model", "m.onnx", "--array", "2", "--output", "o.npy"], {"o.npy": "npy"}),
        (["analyze", "m.onnx", "--json", "r.json"], {"r.json": "json"})])
    data = samples.linear_outside(entries)
    if random.random() < 0.3:
        data = change_fields(random, data)
    if arguments[0] == "tile" and arguments[3] != "o.onnx":
        source, target = (os.path.normpath(name).replace("inside", "w.bin") for name in (place, arguments[3]))
        outputs = {arguments[3]: "onnx"} if source != target else {}  # its own weights stay as they are
        if outputs:
            links = [link for link in links if link[0] != "inside"] if arguments[3] == "inside" else links
    return Trial("external data", arguments, {"m.onnx": data, "w.bin": bytes(size), "sub/w.bin": bytes(48)},
                 links=links, outputs=outputs, extra=FAILURE)


def hostile_header(random):
    dims = ", ".join(str(random.choice([0, 1, 2, 3, 100000, 1 << 31, 1 << 32, 1 << 62, (1 << 64) + 1, -1]))
                     for _ in range(random.randint(0, 4)))
    descr = random.choice(["|i1", "<f4", ">f4", "<f8", "|O", "|u1", "<i8", "<U7", "", "<c16", "|b1", "<f2"])
    return samples.npy(descr, f"({dims},)", random.randbytes(random.randrange(99)), random.choice([1, 2, 3]),
                       random.choice([True, False]))


def npy(random):
    if random.random() < 0.25:
        data = hostile_header(random)
        if random.random() < 0.5:
            data = change_bytes(random, data)
    else:
        data = change_bytes(random, random.choice([
            samples.int8_matrix(random, 3, 5), samples.float_array(random, (3, 5)),
            samples.float_array(random, (1, 3, 8, 8))]))
    files = {"a.npy": data, "b.npy": samples.int8_matrix(random, 5, 4), "f.npy": samples.float_array(random, (5, 4)),
             "m.onnx": samples.network(random)}
    array = ["--array", random.choice(["2", "4"])]
    arguments = random.choice([["gemm", "--a", "a.npy", "--b", "b.npy", "--output", "o.npy"],
                               ["gemm", "--a", "b.npy", "--b", "a.npy", "--output", "o.npy"],
                               ["gemm", "--a", "a.npy", "--b", "f.npy", "--precision", "float32", "--output", "o.npy"],
                               ["run", "--model", "m.onnx", "--input", "a.npy", "--output", "o.npy"]])
    return Trial("broken npy", arguments + array, files, outputs={"o.npy": "npy"}, extra=FAILURE)


def images(random):
    kind = random.choice(["png", "jpg"])
    data = samples.png(random) if kind == "png" else samples.jpeg()
    for _ in range(random.choice([0, 1, 1, 1, 2])):
        data = change_bytes(random, data)
    if random.random() < 0.05:
        data = b"GIF89a" + random.randbytes(40)
    name = "x." + random.choice([kind, kind, "png", "jpg", "npy", "gif"])
    return Trial("broken images", ["run", "--model", "m.onnx", "--input", name, "--output", "o.npy", "--array", "2"],
                 {name: data, "m.onnx": samples.network(random)}, outputs={"o.npy": "npy"}, extra=FAILURE)


def idx(random):
    import gzip
    import zlib
    plain = gzip.decompress(samples.idx_images(random, 2))
    if random.random() < 0.5:
        plain = struct.pack(">IIII", *(random.choice([0x803, 0x801, 2, 28, 0, 0x7FFFFFFF, 0xFFFFFFFF])
                                       for _ in range(4))) + plain[16:]
    data = gzip.compress(change_bytes(random, plain) if random.random() < 0.5 else plain, 1)
    if random.random() < 0.6:
        data = change_bytes(random, data)
    if random.random() < 0.02:
        data = zlib.compress(bytes(1 << 20))
    name = "data/t10k-images-idx3-ubyte.gz"
    return Trial("broken idx.gz", ["run", "lenet", "--data", "data", "--batch", random.choice(["1", "3"]),
                                   "--device", "reference", "--json", "r.json"],
                 {name: data}, outputs={"r.json": "json"}, extra=FAILURE)


def judged(random):
    """Images of an idx file, labels, names and calibration: one of them broken, or all right."""
    files = {"m.onnx": samples.network_of_grey(random), "x.idx": samples.pixels(random),
             "l": samples.labels(random), "n": b"one\ntwo\nthree\n", "c.idx": samples.pixels(random, 2)}
    broken = random.choice(["x.idx", "l", "l", "n", "c.idx", None])
    if broken:
        files[broken] = change_bytes(random, files[broken])
    arguments = ["run", "--model", "m.onnx", "--input", "x.idx", "--labels", "l", "--array", "2", "--json", "r.json"]
    for option in (["--names", "n"], ["--calibrate", "c.idx"], ["--images", random.choice(["1", "2", "9"])],
                   ["--mean", random.choice(["0.5", "1e9", "1,2,3", "nan"])], ["--preprocess", "mnist"],
                   ["--batch", random.choice(["2", "3", "500"])]):
        if random.random() < 0.3:
            arguments += option
    return Trial("broken labels", arguments, files, outputs={"r.json": "json"}, extra=FAILURE)


def replay(random):
    value = samples.replay(random)
    for _ in range(random.choice([1, 1, 2])):
        value = change_json(random, value)
    text = json.dumps(value, ensure_ascii=random.random() < 0.5).encode("utf8", "surrogatepass")
    if random.random() < 0.3:
        text = change_bytes(random, text)
    return Trial("broken replay files", ["replay", "f.json", "--json", "r.json"], {"f.json": text},
                 outputs={"r.json": "json"}, extra=FAILURE + ["f.fst", *views("f")])


def options(random):
    return draw_command(random)


def aimed(random):
    """Outputs that are also inputs, other outputs, or no regular files."""
    trial = old(random, good(random, "outputs onto something"))
    places = [at for at, argument in enumerate(trial.arguments) if argument in trial.outputs]
    if not places:
        return trial
    at = random.choice(places)
    name = trial.arguments[at]
    kind = trial.outputs[name]
    others = [other for other in list(trial.files) + list(trial.outputs) if other != name]
    way = random.choice(["other", "device", "lost", "symbolic", "dangling", "hard", "loop", "folder", "pipe", "mode",
                         "missing", "long", "none", "spelled"])
    if way in ("other", "spelled", "symbolic", "hard") and others:
        other = random.choice(others)
        trial.codes = {2}
        if way == "other":
            trial.arguments[at] = other
            del trial.outputs[name]
        elif way == "spelled":
            trial.arguments[at] = random.choice(["./", "../afterwards/", ".//"]) + other
            if trial.arguments[at].startswith("../"):
                trial.arguments[at] = "./" + other
            del trial.outputs[name]
        elif other in trial.files or way == "symbolic":
            trial.files.pop(name, None)
            trial.links.append((name, way, other))
            del trial.outputs[name]
        else:
            trial.codes = None
    elif way in ("device", "lost"):
        device = {"device": "/dev/null", "lost": "/dev/full"}[way]
        if name != "wave.fst":
            trial.arguments[at] = device
            del trial.outputs[name]
            if trial.trusted:
                trial.codes = {0} if way == "device" else {3}
    elif way == "dangling" and name != "wave.fst":
        trial.files.pop(name, None)
        trial.links.append((name, "symbolic", "target"))
        trial.extra.append("target")
    elif way == "loop":
        trial.files.pop(name, None)
        trial.links.append((name, "symbolic", name))
        del trial.outputs[name]
        trial.codes = {2}
    elif way == "folder" and trial.arguments[0] == "run" and name == "out.npy":
        trial.files.pop(name, None)  # that is how all outputs are asked for
        trial.links.append((name, "folder", ""))
        trial.outputs["out.npy/y.npy"] = trial.outputs.pop(name)
    elif way == "folder":
        trial.files.pop(name, None)
        trial.links.append((name, "folder", ""))
        del trial.outputs[name]
        trial.codes = {2}
    elif way == "pipe" and name != "wave.fst":
        trial.files.pop(name, None)
        trial.links.append((name, "pipe", ""))
        trial.extra.append("read")
        trial.helpers.append(random.choice([f"cat {name} > read", f"head -c 10 {name} > read"]))
    elif way == "mode" and name in trial.files:
        trial.links.append((name, "mode", random.choice([0o444, 0o600, 0o640])))
    elif way == "missing":
        trial.arguments[at] = "gone/" + name
        del trial.outputs[name]
        trial.files.pop(name, None)
        trial.codes = {2}
    elif way == "long":
        trial.arguments[at] = "n" * random.choice([256, 5000])
        del trial.outputs[name]
        trial.files.pop(name, None)
        trial.codes = {2}
    elif way == "none" and kind != "fst":
        trial.arguments[at] = "-"
        trial.outputs["-"] = trial.outputs.pop(name)
        trial.files.pop(name, None)
    return trial


def full_disk(random):
    trial = old(random, good(random, "full disk"))
    trial.free = random.choice([0, 0, 4096, 8192, 16384, 40960])
    return trial


def streams(random):
    trial = old(random, good(random, "streams full, closed, unread"))
    trial.streams = random.choice([">/dev/full", ">&-", "2>&-", ">&- 2>&-", "<&-", "<&- >&- 2>&-", ">/dev/full 2>&1",
                                   "2>/dev/full", "", ""])
    if not trial.streams:
        trial.reader = random.choice(["head", "nobody"])
    elif trial.streams.startswith(">") and trial.trusted:
        trial.codes = {3}
    return trial


def kills(random):
    trial = old(random, good(random, "ended by a signal"))
    number = random.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    trial.kill = (number, random.choice([0.002, 0.01, 0.03, 0.06]) * (0.1 + random.random()))
    if random.random() < 0.3 and trial.arguments[0] == "gemm" and "--a" not in trial.arguments:
        trial.arguments[1:4] = ["60", "50", "40"]
    return trial


def limits(random, address_space=True):
    trial = old(random, good(random, "low limits"))
    ways = ["-n", "-f"] + (["-v", "-v"] if address_space else [])
    way = random.choice(ways)
    value = {"-n": random.choice([0, 3, 4, 5, 6, 8, 16]), "-f": random.choice([0, 1, 2, 8, 40, 100]),
             "-v": random.choice([50000, 80000, 115000, 120000, 150000, 200000, 300000])}[way]
    trial.before = f"ulimit {way} {value} && "
    if way == "-v" and value < 150000 or way == "-n":
        trial.codes = None
    trial.trusted = False
    return trial


def sizes(random):
    """Sizes beyond any memory: refused from the numbers only, at once."""
    sizes_of = [1, 2, 3, 33000, 70000, 1 << 20, 1 << 30, (1 << 31) - 1, 1 << 31]
    m = k = n = 1
    while m * k + k * n + 4 * m * n <= 1 << 33:  # device memory is half of that
        m, k, n = (random.choice(sizes_of) for _ in range(3))
    product = [str(size) for size in (m, k, n)]
    batch = str(random.choice([1 << 30, (1 << 31) - 1, 1 << 31]))
    command = random.choice([["gemm"] + product, ["gemm"] + product + ["--precision", "float32"],
                             ["gemm"] + product + ["--accumulate", "host"],
                             ["make-linear", "1", "70000", product[0] if m > 9000 else "70000", "-o", "o.onnx"],
                             ["run", "--model", "m.onnx", "--batch", batch]])
    if command[0] in ("gemm", "run"):
        command += ["--array", random.choice(["2", "4", "64"])]
    return Trial("impossible sizes", command, {"m.onnx": samples.linear(random)}, extra=FAILURE, codes={2})


def elf(random):
    """Firmware that is broken: refused, or stopped where it does what no firmware may."""
    if not has_platform():
        return sizes(random)
    broken = bytearray(samples.firmware())
    if random.random() < 0.5:  # in its headers, at the front
        broken = bytearray(change_bytes(random, bytes(broken[:0x100]))) + broken[0x100:]
    else:  # in its code, after the first page
        for _ in range(random.randint(1, 8)):
            broken[random.randrange(0x1000, 0x3000)] = random.randrange(256)
    return Trial("broken firmware", ["firmware", "--device", "tlm", "--batch", "1", "--elf", "fw.elf",
                                     "--max-instructions", "2000000"], {"fw.elf": bytes(broken)})


def programs(random):
    """Programs of the device that are broken: the RTL and the reference device must agree, and serve the next one."""
    return Trial("broken programs", ["faults", "--kind", "broken-programs", "--count", "40", "--jobs", "1",
                                     "--seed", str(random.randrange(1 << 32)), "--json", "r.json",
                                     "--array", random.choice(["2", "4", "8"])],
                 {}, outputs={"r.json": "json"}, codes={0})


KINDS = [(elf, 2), (programs, 3), (onnx, 26), (absent.drawn, 8), (npy, 12), (images, 8), (idx, 3), (judged, 6), (idx, 3), (replay, 9), (external, 5), (options, 12), (aimed, 9),
         (full_disk, 4), (streams, 4), (kills, 4), (limits, 4), (sizes, 3)]
