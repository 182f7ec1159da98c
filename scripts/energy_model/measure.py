# SPDX-License-Identifier: Apache-2.0
"""Energies of the accelerator's parts in tiles of AlexNet's Linear layers, and in depthwise layers of another network."""

import concurrent.futures
import json
import os

from . import crosscheck, electrical, netlist, parts, rest, simulate, trace

LAYERS = {"classifier.1": (9216, 4096), "classifier.4": (4096, 4096), "classifier.6": (4096, 1000)}  # K and N
# Enables of registers: (CLOCK_ENABLES, clock gates rather than multiplexers)
VARIANTS = {"gates": (1, True), "multiplexers": (1, False), "none": (0, True)}
PARTS = {"stages": ("gemm64_stage", parts.Stages), "skews": ("gemm64_skew", parts.Skews),
         "accumulator": ("gemm64_accumulator", parts.Accumulator), "lanes": ("gemm64_lanes", parts.Lanes)}
ARRAY_PARTS = [part for part in PARTS if part != "lanes"]  # the lanes rest: their registers count as all others
# What computes a depthwise layer, and which parts' gates are simulated. It has no batch.
DEPTHWISE = {"array": ARRAY_PARTS, "window": list(PARTS)}
TRACED = 600  # clocks of a layer on the lanes at most


def middle_tile(layer, position):
    """LAYER:M,K,N of the tile so far along K and N."""
    k, n = (-(-size // parts.N) for size in LAYERS[layer])
    return f"{layer}:0,{max(1, min(k - 1, int(position * k)))},{min(n - 1, int(position * n))}"


def lanes_window(timeline, layer):
    """A:B, clocks from the one before a layer's first DEPTHWISE to where its rows are under way."""
    with open(timeline, encoding="utf-8") as file:
        events = [json.loads(line.rstrip(",\n")) for line in file if '"layer"' in line or '"DEPTHWISE"' in line]
    for of in events:
        for event in events if (of["cat"], of["name"]) == ("layer", layer) else []:
            # A layer begins with its first word, its command when it waits for this.
            if event["cat"] == "command" and event["ts"] < of["ts"] + of["dur"] and of["ts"] < event["ts"] + event["dur"]:
                return f"{event['ts'] - 2}:{event['ts'] + min(event['dur'] // 2, TRACED)}"
    raise netlist.ToolFailure(f"{timeline}: the layer {layer} has no DEPTHWISE")


class Measurement:
    """What was measured: nJ a clock of each part, clocks and accesses of each layer."""

    def __init__(self, library, options, progress):
        self.liberty, self.options, self.progress = library, options, progress
        self.nj = {}        # (variant, batch or what computes a depthwise layer, layer, part): {kind: nJ a clock}
        self.runs = {}      # (batch or that, layer): the layer of the run's report
        self.leakage = {}   # variant: nJ a clock
        self.compared = 0   # sums of the gates that equal the RTL's
        self.rows = {}      # (batch or that, layer): rows that entered in 64 clocks, or rows of sums of the lanes

    def folder(self, *names):
        return os.path.join(self.options.build, *map(str, names))

    def synthesize(self, part, variant):
        enables, gated = VARIANTS[variant]
        module, kind = PARTS[part]
        folder = kind.synthesize(self.options.liberty, self.folder("netlists", f"{part}_{variant}"), enables, gated)
        self.progress(f"gates of {part}, enables: {variant}")
        return netlist.Netlist(f"{folder}/netlist.json", module, self.liberty)

    def what_to_trace(self, batch, layer, folder):
        """Options of `run`."""
        if batch not in DEPTHWISE:
            tile = middle_tile(layer, self.options.position)
            return ["--batch", str(batch), "--convolutions", "host", "--trace-tile", tile]
        run = ["--model", self.options.depthwise[0], *self.options.run, "--depthwise", batch]
        if batch == "array":  # the second block of rows: the first one meets the border
            return [*run, "--trace-tile", f"{layer}:1,{parts.Lanes.taps // 2},0"]
        timeline = f"{folder}/timeline.json"
        netlist.run([self.options.program, "run", *run, "--timeline", timeline], f"{folder}/timeline.log")
        return [*run, "--trace-window", lanes_window(timeline, layer)]

    def record(self, batch, layer):
        folder = self.folder("traces", f"{layer.replace('/', '_')}_{batch}")
        os.makedirs(folder, exist_ok=True)
        options = self.what_to_trace(batch, layer, folder)
        path = trace.record(self.options.program, options, folder)
        with open(f"{folder}/run.json", encoding="utf-8") as file:
            report = json.load(file)
        if not report["verified"]:
            raise parts.Mismatch(f"{folder}/run.json: the run did not verify")
        signals = trace.read(path, parts.SIGNALS)
        os.remove(path)
        run = next(row for row in report["layers"] if row["name"] == layer)
        self.progress(f"{' '.join(options)}: {len(signals[parts.ARRAY[0]])} clocks of {layer}")
        return signals, run

    def simulate(self, part, variant, batch, layer, model, source):
        counts = source.run(self.simulator, model, self.folder("runs", f"{part}_{variant}_{batch}_{layer.replace('/', '_')}"))
        energies = simulate.energy(model, counts, parts.N, source.copies)
        self.nj[variant, batch, layer, part] = {kind: pj / parts.N / 1000 for kind, pj in energies.items()}
        self.compared += getattr(source, "compared", 0)

    def run(self):
        self.simulator = simulate.simulator(self.options.build)
        cases = {(batch, layer): (ARRAY_PARTS, VARIANTS) for batch in self.options.batch for layer in self.options.layers}
        cases.update({(how, layer): (simulated, ["gates"]) for layer in self.options.depthwise[1:]
                      for how, simulated in DEPTHWISE.items()})
        needed = {(part, variant) for simulated, variants in cases.values() for part in simulated for variant in variants}
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            netlists = {key: pool.submit(self.synthesize, *key) for key in sorted(needed | {("stages", "multiplexers")})}
            traces = {case: pool.submit(self.record, *case) for case in cases}
            others = pool.submit(rest.registers, self.folder("netlists"))
            models = {key: electrical.Electrical(future.result(), self.liberty) for key, future in netlists.items()}
            for case, (simulated, variants) in cases.items():
                signals, self.runs[case] = traces.pop(case).result()
                if "lanes" in simulated:
                    self.rows[case] = sum(signals["u_lanes.valid_o"][-parts.N:])
                else:
                    first = parts.starts(signals)[1]
                    self.rows[case] = sum(signals["u_array.activation_valid_i"][first:first + parts.N])
                for part in simulated:
                    source = PARTS[part][1](signals)
                    for variant in variants:
                        self.simulate(part, variant, *case, models[part, variant], source)
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

    def logic(self, variant, batch, layer):
        """nJ a clock of all logic that was weighed."""
        simulated = sum(value for part in DEPTHWISE.get(batch, ARRAY_PARTS) for kind, value in self.nj[variant, batch, layer, part].items()
                        if kind != "glitches")
        return simulated + self.other_nj[0] + self.leakage[variant]

    def pj_per_mac(self, variant, batch, layer):
        """Of logic, for each MAC that counts: of a depthwise layer a column of the array has one, a lane as many as there are taps."""
        of_a_row = {"array": 1, "window": self.runs[batch, layer]["k"]}.get(batch, parts.N)
        return self.logic(variant, batch, layer) * 1000 / self.rows[batch, layer] / of_a_row

    def accesses(self, batch, layer):
        """Bits read and written in the memories by the whole layer."""
        run = self.runs[batch, layer]
        tiles, row = run["tiles"], 8 * parts.N
        return {"weight buffer": 8 * run["bytes"]["weights"] + tiles * parts.N * row,
                "scratchpad": 8 * run["bytes"]["activations"] + tiles * batch * row,
                "accumulator": 2 * tiles * batch * parts.N * 32}

    def image_mj(self, variant, batch):
        """(logic, memories) of an image through the layers."""
        logic = sum(self.runs[batch, layer]["cycles"] * self.logic(variant, batch, layer) for layer in self.options.layers)
        bits = sum(sum(self.accesses(batch, layer).values()) for layer in self.options.layers)
        return logic * 1e-6 / batch, bits * self.options.sram_pj_per_bit * 1e-9 / batch
