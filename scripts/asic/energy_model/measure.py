# SPDX-License-Identifier: Apache-2.0
"""Energies of the accelerator's parts in tiles of AlexNet's Linear layers, and in layers of another network."""

import concurrent.futures
import json
import os

from . import crosscheck, electrical, netlist, parts, rest, simulate, trace

LAYERS = {"classifier.1": (9216, 4096), "classifier.4": (4096, 4096), "classifier.6": (4096, 1000)}  # K and N
# Enables of registers: (CLOCK_ENABLES, clock gates rather than multiplexers)
VARIANTS = {"gates": (1, True), "multiplexers": (1, False), "none": (0, True)}
PARTS = {"stages": ("gemm64_stage", parts.Stages), "skews": ("gemm64_skew", parts.Skews),
         "accumulator": ("gemm64_accumulator", parts.Accumulator), "lanes": ("gemm64_depthwise", parts.Lanes),
         "requantizer": ("gemm64_requantize", parts.Requantizer), "vector": ("gemm64_elementwise", parts.Vector)}
ARRAY_PARTS = ["stages", "skews", "accumulator"]  # what else is there rests: its registers count as all others
# Where what a layer of a network takes is spent, and which parts' gates are simulated. It has no batch.
PLACES = {"array": ARRAY_PARTS, "lanes": [*ARRAY_PARTS, "lanes"], "results": ["requantizer", "vector"]}
TRACED = 600  # cycles of a layer on the lanes at most
ROWS = 128    # of a tile at most


def tiles(size, each=parts.N):
    return -(-size // each)


def middle_tile(position, blocks, k, n):
    """M,K,N of a tile so far along K and N, of so many. The second block of rows: the first one meets an image's border. The first
    tile along K may be the first of a program, which none comes before."""
    return min(1, blocks - 1), min(k - 1, max(1, int(position * k))), min(n - 1, int(position * n))


def used(size, tile):
    """Rows or columns of a tile that count."""
    return min(parts.N, size - parts.N * tile)


class NoSuchLayer(Exception):
    """A layer that the network does not have, or that multiplies nothing."""


class Layer:
    """A layer of a run's report, and its tile so far along K and N."""

    def __init__(self, run, position):
        self.run, self.on_lanes = run, not run["tiles"]
        self.strips = run.get("strips") or 1  # of a map, in parallel: each has its own rows and columns of the tiles
        self.k, self.n = run["k"] * self.strips, run["n"] * self.strips
        # On the array a depthwise layer has a tile for each tap.
        self.tile = middle_tile(position, tiles(run["padded"][0], ROWS), run["k"] if self.on_lanes else tiles(self.k), tiles(self.n))

    def macs_of_a_row(self, place):
        """Those that count: of a depthwise layer a column of the array has one, a lane as many as there are taps."""
        if place == "lanes":
            return used(self.n, 0) * self.run["k"]
        return used(self.n, self.tile[2]) * (1 if self.on_lanes else used(self.k, self.tile[1]) // self.strips)

    def places(self, events):
        added = () if self.addition(events) is None else ("results",)
        return ("array", "lanes") if self.on_lanes else ("array", *added)

    def under_way(self, events):
        """Cycles in which the layer and a command are both in progress, and the command, in the timeline's order."""
        name = self.run["name"]
        for of in events:
            for event in events if (of["cat"], of["name"]) == ("layer", name) else []:
                # A layer begins with its first word, its command when it waits for this.
                cycles = min(event["ts"] + event["dur"], of["ts"] + of["dur"]) - max(event["ts"], of["ts"])
                if event["cat"] == "command" and cycles > 0:
                    yield cycles, event

    def lanes_window(self, events):
        """A:B, cycles from the one before the layer's first DEPTHWISE to where its rows are in progress."""
        for _, event in self.under_way(events):
            if event["name"] == "DEPTHWISE":
                return f"{event['ts'] - 2}:{event['ts'] + min(event['dur'] // 2, TRACED)}"
        raise netlist.ToolFailure(f"the timeline has no DEPTHWISE of the layer {self.run['name']}")

    def addition(self, events):
        """(A:B, columns that count) of the second tile that a STORE of the layer adds to others; None: it adds none."""
        stores = [(cycles, event) for cycles, event in self.under_way(events)
                  if event["name"].startswith("STORE") and event["name"].endswith(f"x{self.n}") and event["args"].get("add")]
        if not stores:
            return None
        store = max(stores, key=lambda found: found[0])[1]
        blocks = [event for event in events if event["cat"] == "tile" and event["tid"] == store["tid"] and event["name"]
                 and store["ts"] <= event["ts"] < store["ts"] + store["dur"]]
        tile = blocks[min(1, len(blocks) - 1)]
        return f"{tile['ts'] - parts.N}:{tile['ts'] + tile['dur'] + 2}", used(self.n, tile["args"]["N"])


class Measurement:
    """What was measured: nJ a cycle of each part, cycles and accesses of each layer."""

    def __init__(self, library, options, progress):
        self.liberty, self.options, self.progress = library, options, progress
        self.nj = {}        # (variant, batch or place, layer, part): {kind: nJ a cycle}
        self.runs = {}      # (batch or place, layer): the layer of the run's report
        self.leakage = {}   # variant: nJ a cycle
        self.compared = 0   # sums and results of the gates that equal the RTL's
        self.rows = {}      # (batch or place, layer): rows that entered in 64 cycles, or rows of sums of the lanes
        self.macs = {}      # (batch or place, layer): their MACs that count
        self.results = {}   # (layer, part): results that left in 64 cycles
        self.layers, self.events = {}, []  # of the network

    def folder(self, *names):
        return os.path.join(self.options.build, *map(str, names))

    def synthesize(self, part, variant):
        enables, gated = VARIANTS[variant]
        module, kind = PARTS[part]
        folder = kind.synthesize(self.options.liberty, self.folder("netlists", f"{part}_{variant}"), enables, gated)
        self.progress(f"gates of {part}, enables: {variant}")
        return netlist.Netlist(f"{folder}/netlist.json", module, self.liberty)

    def look_at(self, file, names):
        """Finds layers in a run of the whole network, and when they ran."""
        folder = self.folder("traces", "network")
        os.makedirs(folder, exist_ok=True)
        netlist.run([self.options.program, "run", "--model", file, *self.options.run, "--timeline", f"{folder}/timeline.json",
                     "--json", f"{folder}/run.json"], f"{folder}/run.log")
        with open(f"{folder}/run.json", encoding="utf-8") as text:
            rows = {row["name"]: row for row in json.load(text)["layers"] if row["on"] == "device" and row["macs"]}
        with open(f"{folder}/timeline.json", encoding="utf-8") as text:
            self.events = [json.loads(line.rstrip().rstrip(",")) for line in text if line.startswith('{"ph":"X"')]
        for name in names:
            if name not in rows:
                raise NoSuchLayer(f"{file}: no layer with MACs on the device is called {name}; there are: {', '.join(rows)}")
            self.layers[name] = Layer(rows[name], self.options.position)

    def what_to_trace(self, place, layer):
        """Options of `run`."""
        if place not in PLACES:
            tile = middle_tile(self.options.position, 1, *map(tiles, LAYERS[layer]))
            return ["--batch", str(place), "--convolutions", "host", "--trace-tile", trace.tile(layer, tile)]
        of = self.layers[layer]
        run = ["--model", self.options.layer[0], *self.options.run]
        if place == "array":
            how = ["--depthwise", "array"] if of.on_lanes else []
            return [*run, *how, "--trace-tile", trace.tile(layer, of.tile)]
        return [*run, "--trace-window", of.lanes_window(self.events) if place == "lanes" else of.addition(self.events)[0]]

    def record(self, batch, layer):
        folder = self.folder("traces", f"{layer.replace('/', '_')}_{batch}")
        os.makedirs(folder, exist_ok=True)
        options = self.what_to_trace(batch, layer)
        path = trace.record(self.options.program, options, folder)
        with open(f"{folder}/run.json", encoding="utf-8") as file:
            report = json.load(file)
        if not report["verified"]:
            raise parts.Mismatch(f"{folder}/run.json: the run did not verify")
        signals = trace.read(path, parts.SIGNALS)
        os.remove(path)
        run = next(row for row in report["layers"] if row["name"] == layer)
        self.progress(f"{' '.join(options)}: {len(signals[parts.ARRAY[0]])} cycles of {layer}")
        return signals, run

    def count(self, case, part, source):
        """What the cycles that were weighed computed."""
        place, name = case
        if place == "results":
            self.results[name, part] = source.rows() * self.layers[name].addition(self.events)[1]
        elif part == ("lanes" if place == "lanes" else "stages"):
            self.rows[case] = source.rows()
            self.macs[case] = source.rows() * (self.layers[name].macs_of_a_row(place) if place in PLACES else parts.N ** 2)

    def simulate(self, part, variant, batch, layer, model, source):
        counts = source.run(self.simulator, model, self.folder("runs", f"{part}_{variant}_{batch}_{layer.replace('/', '_')}"))
        energies = simulate.energy(model, counts, parts.N, source.copies)
        self.nj[variant, batch, layer, part] = {kind: pj / parts.N / 1000 for kind, pj in energies.items()}
        self.compared += getattr(source, "compared", 0)

    def run(self):
        self.simulator = simulate.simulator(self.options.build)
        cases = {(batch, layer): (ARRAY_PARTS, VARIANTS) for batch in self.options.batch for layer in self.options.layers}
        if self.options.layer:
            file, *names = self.options.layer
            self.look_at(file, names)
            cases.update({(place, name): (PLACES[place], ["gates"]) for name in names for place in self.layers[name].places(self.events)})
        needed = {(part, variant) for simulated, variants in cases.values() for part in simulated for variant in variants}
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            netlists = {key: pool.submit(self.synthesize, *key) for key in sorted(needed | {("stages", "multiplexers")})}
            traces = {case: pool.submit(self.record, *case) for case in cases}
            others = pool.submit(rest.registers, self.folder("netlists"))
            models = {key: electrical.Electrical(future.result(), self.liberty) for key, future in netlists.items()}
            for case, (simulated, variants) in cases.items():
                signals, self.runs[case] = traces.pop(case).result()
                for part in simulated:
                    source = PARTS[part][1](signals)
                    for variant in variants:
                        self.simulate(part, variant, *case, models[part, variant], source)
                    self.count(case, part, source)
                self.progress(f"simulated {case[1]}, {case[0]}")
            self.others = others.result()
        stage = models["stages", "multiplexers"]
        self.check = (crosscheck.own(stage.netlist, self.liberty),
                      crosscheck.opensta(self.folder("netlists", "stages_multiplexers"), "gemm64_stage", self.options.liberty))
        pin = stage.clock_pin + stage.clock_internal
        self.other_nj = [sum(counts[i] for counts in self.others.values()) * pin / 1000 for i in (0, 1)]
        for variant in VARIANTS:
            self.leakage[variant] = sum(model.leakage_nw * PARTS[part][1].copies for (part, of), model in models.items()
                                        if of == variant) * self.options.period * 1e-9

    def cases(self, *places):
        """(place, layer) of the network's layers: where they multiply, or these places only."""
        return [case for case in self.runs if case[0] in (places or ("array", "lanes"))]

    def parts(self, place, layer):
        """nJ a cycle of each, by kind."""
        return {part: self.nj["gates", place, layer, part] for part in PLACES[place]}

    def part_nj(self, variant, batch, layer, part):
        """A cycle: of cells, nets and clock pins."""
        return sum(value for kind, value in self.nj[variant, batch, layer, part].items() if kind != "glitches")

    def logic(self, variant, batch, layer):
        """nJ a cycle of all logic that was weighed."""
        simulated = sum(self.part_nj(variant, batch, layer, part) for part in PLACES.get(batch, ARRAY_PARTS))
        return simulated + self.other_nj[0] + self.leakage[variant]

    def pj_per_mac(self, variant, batch, layer):
        """Of logic, for each MAC that counts."""
        return self.logic(variant, batch, layer) * 1000 * parts.N / self.macs[batch, layer]

    def pj_per_result(self, part, layer):
        """Of the part only."""
        return self.part_nj("gates", "results", layer, part) * 1000 * parts.N / self.results[layer, part]

    def pj_of_products(self, layer):
        """Of logic, for the MACs of a result."""
        return self.pj_per_mac("gates", "array", layer) * self.layers[layer].run["k"]

    def accesses(self, batch, layer):
        """Bits read and written in the memories by the whole layer."""
        run = self.runs[batch, layer]
        tiles, row = run["tiles"], 8 * parts.N
        return {"weight buffer": 8 * run["bytes"]["weights"] + tiles * parts.N * row,
                "scratchpad": 8 * run["bytes"]["activations"] + tiles * batch * row,
                "accumulator": 2 * tiles * batch * parts.N * 32}

    def image_mj(self, variant, batch):
        """(logic, SRAM, DRAM) of an image through the layers."""
        logic = sum(self.runs[batch, layer]["cycles"] * self.logic(variant, batch, layer) for layer in self.options.layers)
        bits = sum(sum(self.accesses(batch, layer).values()) for layer in self.options.layers)
        moved = sum(8 * sum(self.runs[batch, layer]["bytes"].values()) for layer in self.options.layers)
        return (logic * 1e-6 / batch, bits * self.options.sram_pj_per_bit * 1e-9 / batch,
                moved * self.options.dram_pj_per_bit * 1e-9 / batch)
