# SPDX-License-Identifier: Apache-2.0
"""Energies of the accelerator's parts in tiles of AlexNet's Linear layers."""

import concurrent.futures
import json
import os

from . import crosscheck, electrical, netlist, parts, rest, simulate, trace

LAYERS = {"classifier.1": (9216, 4096), "classifier.4": (4096, 4096), "classifier.6": (4096, 1000)}  # K and N
# Enables of registers: (CLOCK_ENABLES, clock gates rather than multiplexers)
VARIANTS = {"gates": (1, True), "multiplexers": (1, False), "none": (0, True)}
PARTS = {"stages": ("gemm64_stage", parts.Stages), "skews": ("gemm64_skew", parts.Skews),
         "accumulator": ("gemm64_accumulator", parts.Accumulator)}


def middle_tile(layer, position):
    """LAYER:M,K,N of the tile so far along K and N."""
    k, n = (-(-size // parts.N) for size in LAYERS[layer])
    return f"{layer}:0,{max(1, min(k - 1, int(position * k)))},{min(n - 1, int(position * n))}"


class Measurement:
    """What was measured: nJ a clock of each part, clocks and accesses of each layer."""

    def __init__(self, library, options, progress):
        self.liberty, self.options, self.progress = library, options, progress
        self.nj = {}        # (variant, batch, layer, part): {kind: nJ a clock}
        self.runs = {}      # (batch, layer): the layer of the run's report
        self.leakage = {}   # variant: nJ a clock
        self.compared = 0   # sums of the gates that equal the RTL's
        self.rows = {}      # (batch, layer): rows that entered in 64 clocks

    def folder(self, *names):
        return os.path.join(self.options.build, *map(str, names))

    def synthesize(self, part, variant):
        enables, gated = VARIANTS[variant]
        module, kind = PARTS[part]
        folder = kind.synthesize(self.options.liberty, self.folder("netlists", f"{part}_{variant}"), enables, gated)
        self.progress(f"gates of {part}, enables: {variant}")
        return netlist.Netlist(f"{folder}/netlist.json", module, self.liberty)

    def record(self, batch, layer):
        folder = self.folder("traces", f"{layer}_{batch}")
        tile = middle_tile(layer, self.options.position)
        path = trace.record(self.options.program, batch, tile, folder)
        with open(f"{folder}/run.json", encoding="utf-8") as file:
            report = json.load(file)
        if not report["verified"]:
            raise parts.Mismatch(f"{folder}/run.json: the run did not verify")
        signals = trace.read(path, parts.SIGNALS)
        os.remove(path)
        run = next(row for row in report["layers"] if row["name"] == layer)
        self.progress(f"tile {tile} at batch {batch}: {len(signals[parts.ARRAY[0]])} clocks")
        return signals, run

    def simulate(self, part, variant, batch, layer, model, source):
        counts = source.run(self.simulator, model, self.folder("runs", f"{part}_{variant}_{batch}_{layer}"))
        energies = simulate.energy(model, counts, parts.N, source.copies)
        self.nj[variant, batch, layer, part] = {kind: pj / parts.N / 1000 for kind, pj in energies.items()}
        self.compared += getattr(source, "compared", 0)

    def run(self):
        self.simulator = simulate.simulator(self.options.build)
        cases = [(batch, layer) for batch in self.options.batch for layer in self.options.layers]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            netlists = {(part, variant): pool.submit(self.synthesize, part, variant) for part in PARTS for variant in VARIANTS}
            traces = {case: pool.submit(self.record, *case) for case in cases}
            others = pool.submit(rest.registers, self.folder("netlists"))
            models = {key: electrical.Electrical(future.result(), self.liberty) for key, future in netlists.items()}
            for case in cases:
                signals, self.runs[case] = traces.pop(case).result()
                first = parts.starts(signals)[1]
                self.rows[case] = sum(signals["u_array.activation_valid_i"][first:first + parts.N])
                for part, (_, kind) in PARTS.items():
                    source = kind(signals)
                    for variant in VARIANTS:
                        self.simulate(part, variant, *case, models[part, variant], source)
                self.progress(f"simulated the tile of {case[1]} at batch {case[0]}")
            self.others = others.result()
        stage = models["stages", "multiplexers"]
        self.check = (crosscheck.own(stage.netlist, self.liberty),
                      crosscheck.opensta(self.folder("netlists", "stages_multiplexers"), "gemm64_stage", self.options.liberty))
        pin = stage.clock_pin + stage.clock_internal
        self.other_nj = [sum(counts[i] for counts in self.others.values()) * pin / 1000 for i in (0, 1)]
        for variant in VARIANTS:
            self.leakage[variant] = sum(models[part, variant].leakage_nw * kind.copies for part, (_, kind) in PARTS.items()) \
                * self.options.period * 1e-9

    def logic(self, variant, batch, layer):
        """nJ a clock of all logic that was weighed."""
        simulated = sum(value for part in PARTS for kind, value in self.nj[variant, batch, layer, part].items() if kind != "glitches")
        return simulated + self.other_nj[0] + self.leakage[variant]

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
