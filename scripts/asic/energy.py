#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Weighs what the accelerator's gates take while it runs tiles of AlexNet's Linear layers, or layers of another network."""

import argparse
import json
import os
import shlex
import shutil
import sys
import time

from energy_model import electrical, liberty, measure, netlist, outputs, parts
from synthesis import cells
from synthesis.tools import Problem

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "rtl", "gemm64.json"), encoding="utf-8") as description:
    ASSUMED = {entry["name"]: entry["value"] for entry in json.load(description)["energy"]}
MOST_DIFFERENCE = 0.05  # between this sum and OpenSTA's


def arguments(argv):
    parser = argparse.ArgumentParser(
        prog="scripts/asic/energy.py", description=__doc__ + " The operands are those of the program's own run: the waveform of a tile in the "
        "middle of each layer drives the gates of the whole array, with a delay each, and every change of every net is counted.",
        epilog="Without wires and the clock's tree. Exit: 0 the gates computed what the RTL did and OpenSTA agrees, 1 not so, or a tool "
        "failed, 2 bad usage or a missing tool, 3 a file was not written.")
    parser.add_argument("--batch", type=int, nargs="+", default=[64, 1], help="images at once (default: 64 1)")
    parser.add_argument("--layers", nargs="+", default=list(measure.LAYERS), choices=list(measure.LAYERS), metavar="LAYER",
                        help="of AlexNet's Linear layers (default: all three)")
    parser.add_argument("--layer", nargs="+", default=[], metavar=("FILE", "LAYER"),
                        help="also weighs layers of this quantized network: products, those of attention too, on the array; depthwise "
                        "layers on the lanes and on the array; additions to their results in requantizer and element-wise unit")
    parser.add_argument("--run", default=[], type=shlex.split, metavar="OPTIONS",
                        help="options of `gemm64 run` for that network, as \"--input photo.png\" (default: random inputs)")
    parser.add_argument("--position", type=float, default=0.5, help="of the tile along K and N of a layer, from 0 to 1 (default: 0.5)")
    parser.add_argument("--period", type=float, default=5.8, metavar="NS", help="of the clock, for leakage (default: %(default)s)")
    parser.add_argument("--sram-pj-per-bit", type=float, default=ASSUMED["SRAM_PJ_PER_BIT"], metavar="PJ",
                        help="of a bit read or written; an assumption, since the cells hold no memory (default: %(default)s, from "
                        "Horowitz, ISSCC 2014, scaled to 180 nm and 1.8 V)")
    parser.add_argument("--dram-pj-per-bit", type=float, default=ASSUMED["DRAM_PJ_PER_BIT"], metavar="PJ",
                        help="of a bit that crosses a port; an assumption (default: %(default)s, the least of Horowitz, ISSCC 2014)")
    parser.add_argument("--program", default="build/gemm64", help="what runs the tiles (default: %(default)s)")
    parser.add_argument("--liberty", default=cells.OSU018, help="cells (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tools at a time (default: as many as there are CPUs)")
    parser.add_argument("--build", default="build/energy", help="where netlists and logs go (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    parser.add_argument("--summary", metavar="FILE", help="write rows for the sign-off there")
    options = parser.parse_args(argv)
    if min(options.batch) < 1 or max(options.batch) > parts.N:
        parser.error(f"--batch: must be from 1 to {parts.N}, the rows of a tile")
    if len(options.layer) == 1:
        parser.error(f"--layer {options.layer[0]}: name a layer of it, too")
    if options.layer and not os.path.exists(options.layer[0]):
        parser.error(f"--layer {options.layer[0]}: no such file")
    if not 0 <= options.position <= 1:
        parser.error(f"--position {options.position}: must be from 0 to 1")
    if options.jobs < 1 or options.period <= 0 or options.sram_pj_per_bit < 0 or options.dram_pj_per_bit < 0:
        parser.error("--jobs, --period, --sram-pj-per-bit and --dram-pj-per-bit must be positive")
    return options


def check_tools(options):
    for tool, package in (("yosys", "yosys"), ("sta", "opensta"), ("fst2vcd", "gtkwave")):
        if not shutil.which(tool):
            raise Problem(f"there is no {tool}; `scripts/setup/setup.sh energy` installs Debian's {package}")
    if not os.path.exists(options.liberty):
        raise Problem(f"{options.liberty}: no such file; `scripts/setup/setup.sh energy` installs the default cells")
    if not os.access(options.program, os.X_OK):
        raise Problem(f"{options.program}: no such program; `make` builds it")


def layer_rows(measured, batch):
    rows = []
    for layer in measured.options.layers:
        nj = {part: measured.nj["gates", batch, layer, part] for part in measure.ARRAY_PARTS}
        stages = nj["stages"]
        rows.append([layer, *(f"{value:.2f}" for value in (
            stages["cells"], stages["nets"], stages["clock"], *(sum(nj[part].values()) - nj[part]["glitches"]
                                                               for part in ("skews", "accumulator")),
            measured.other_nj[0], measured.logic("gates", batch, layer))), f"{stages['glitches'] / (stages['cells'] + stages['nets']):.0%}",
            f"{measured.pj_per_mac('gates', batch, layer):.1f}"])
    return rows


def network_rows(measured):
    rows = []
    for place, layer in measured.cases():
        nj = {part: measured.part_nj("gates", place, layer, part) for part in measure.PLACES[place]}
        rows.append([layer, place, measured.rows[place, layer], *(f"{value:.2f}" for value in (
            nj["stages"], nj["skews"], nj.get("lanes", 0), nj["accumulator"], measured.other_nj[0], measured.logic("gates", place, layer))),
            f"{measured.pj_per_mac('gates', place, layer):.1f}"])
    return rows


def addition_rows(measured):
    rows = []
    for _, layer in measured.cases("results"):
        products, added = measured.pj_of_products(layer), measured.pj_per_result("vector", layer)
        rows.append([layer, measured.layers[layer].run["k"], f"{products:,.0f}", f"{measured.pj_per_result('requantizer', layer):.1f}",
                     f"{added:.1f}", f"{added / products:.1%}"])
    return rows


def report(measured):
    options = measured.options
    print(f"\nnJ a cycle: gates and nets of {os.path.basename(options.liberty)}, enables as clock gates. Without wires, the clock's tree and "
          "memories. Glitches: their share of the stages' cells and nets.")
    for batch in options.batch:
        print(f"\nBatch {batch}\n")
        print(outputs.table(["tile of", "stages: cells", "nets", "clock pins", "skews", "accumulator", "other clock pins", "all",
                             "glitches", "pJ a MAC"], layer_rows(measured, batch)))
    if options.layer:
        print(f"\nLayers of {os.path.basename(options.layer[0])}, for each MAC that counts\n")
        print(outputs.table(["", "on", "rows in 64 cycles", "stages", "skews", "lanes", "accumulator", "other clock pins", "all", "pJ a MAC"],
                            network_rows(measured)))
    if measured.results:
        print("\nAdditions to their results, pJ a result\n")
        print(outputs.table(["", "MACs", "products", "requantizer", "element-wise unit: the addition", "to the products"], addition_rows(measured)))
    print("\nWhat enables save: nJ a cycle, mean over the layers' cycles\n")
    rows = []
    for batch in options.batch:
        mean = {variant: mean_nj(measured, variant, batch) for variant in measure.VARIANTS}
        rows.append([f"batch {batch}", *(f"{mean[variant]:.2f}" for variant in ("none", "gates", "multiplexers")),
                     *(f"{mean[variant] / mean['none'] - 1:+.1%}" for variant in ("gates", "multiplexers"))])
    print(outputs.table(["", "no enables", "as clock gates", "as multiplexers", "gates", "multiplexers"], rows))
    print(f"\nAn image through {', '.join(options.layers)}\n")
    rows = []
    for batch in options.batch:
        energy = measured.image_mj("gates", batch)
        cycles = sum(measured.runs[batch, layer]["cycles"] for layer in options.layers)
        rows.append([f"batch {batch}", f"{cycles:,}", *(f"{mj:.3f}" for mj in (*energy, sum(energy)))])
    print(outputs.table(["", "cycles", "mJ of logic", "mJ of SRAM, assumed", "mJ of DRAM, assumed", "together"], rows))
    print(f"\nMemories: bits counted; assumed are {options.sram_pj_per_bit:g} pJ each in SRAM, {options.dram_pj_per_bit:g} pJ in DRAM.")
    free, enabled = (sum(counts[i] for counts in measured.others.values()) for i in (0, 1))
    print(f"Outside array and accumulator only clock pins are weighed: {free:,} registers that load in every cycle. {enabled:,} with "
          f"enables count as at rest; all of them clocked always would add {measured.other_nj[1]:.1f} nJ.")
    print(f"{measured.compared:,} sums and results of the gates equal the RTL's.")
    own, oracle = measured.check
    print("OpenSTA, every net of a stage alike: " + ", ".join(
        f"{name} {mine / its - 1:+.1%}" for name, mine, its in zip(("internal", "switching", "leakage"), own, oracle)) +
        f", all {difference(measured):+.1%}.")


def mean_nj(measured, variant, batch):
    cycles = {layer: measured.runs[batch, layer]["cycles"] for layer in measured.options.layers}
    return sum(cycles[layer] * measured.logic(variant, batch, layer) for layer in cycles) / sum(cycles.values())


def difference(measured):
    own, oracle = measured.check
    return sum(own) / sum(oracle) - 1


def figures(measured):
    """What --json holds."""
    options = measured.options
    return {
        "liberty": os.path.basename(options.liberty), "batches": [{
            "batch": batch,
            "layers": [{
                "layer": layer, "clocks": measured.runs[batch, layer]["cycles"], "rows": measured.rows[batch, layer],
                "variants": {variant: {"nj_per_clock": measured.logic(variant, batch, layer),
                                       "pj_per_mac": measured.pj_per_mac(variant, batch, layer),
                                       "parts": {part: measured.nj[variant, batch, layer, part] for part in measure.ARRAY_PARTS}}
                             for variant in measure.VARIANTS},
                "memory_bits": measured.accesses(batch, layer)} for layer in options.layers],
            "mj_per_image": {variant: dict(zip(("logic", "memories_assumed", "dram_assumed"), measured.image_mj(variant, batch)))
                             for variant in measure.VARIANTS}} for batch in options.batch],
        "layers": [{"layer": layer, "on": place, "rows": measured.rows[place, layer], "nj_per_clock": measured.logic("gates", place, layer),
                    "pj_per_mac": measured.pj_per_mac("gates", place, layer), "parts": measured.parts(place, layer)}
                   for place, layer in measured.cases()],
        "additions": [{"layer": layer, "macs": measured.layers[layer].run["k"], "pj_of_products": measured.pj_of_products(layer),
                       "pj_per_result": {part: measured.pj_per_result(part, layer) for part in measure.PLACES["results"]},
                       "parts": measured.parts("results", layer)} for _, layer in measured.cases("results")],
        "other_registers": measured.others, "other_nj_per_clock": {"always": measured.other_nj[0], "enabled_at_most": measured.other_nj[1]},
        "sram_pj_per_bit_assumed": options.sram_pj_per_bit, "dram_pj_per_bit_assumed": options.dram_pj_per_bit, "sums_compared": measured.compared,
        "opensta": {"own_w": measured.check[0], "opensta_w": measured.check[1], "difference": difference(measured)}}


def summary_rows(measured):
    rows = []
    for batch in measured.options.batch:
        logic, sram, dram = measured.image_mj("gates", batch)
        macs = sum(measured.runs[batch, layer]["cycles"] * measured.rows[batch, layer] for layer in measured.options.layers) * parts.N
        rows.append((f"energy of a MAC, logic, batch {batch}", f"{logic * batch * 1e9 / macs:.1f} pJ", "", None, ""))
        rows.append((f"energy of an image, AlexNet's Linear layers, batch {batch}",
                     f"{logic:.2f} mJ of logic, {sram:.2f} of SRAM and {dram:.2f} of DRAM (assumed)", "", None, ""))
        more = [100 * (mean_nj(measured, variant, batch) / mean_nj(measured, "none", batch) - 1) for variant in ("gates", "multiplexers")]
        rows.append((f"energy with clock enables, to that without, batch {batch}",
                     f"{more[0]:+.1f} % as clock gates, {more[1]:+.1f} % as multiplexers", "", None, ""))
    agrees = abs(difference(measured)) <= MOST_DIFFERENCE
    rows.append(("difference from OpenSTA, all nets alike", f"{100 * difference(measured):+.1f} %", f"{100 * MOST_DIFFERENCE:.0f} % at most", agrees,
                 "" if agrees else "tables are weighed otherwise"))
    rows.append(("sums of the gates that equal the RTL's", f"{measured.compared:,}", "all", True, ""))
    return rows


def main():
    started = time.monotonic()
    options = arguments(sys.argv[1:])
    for name in ("liberty", "program", "json", "summary", "build"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    options.layer[:1] = map(os.path.abspath, options.layer[:1])
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

    def progress(text):
        print(f"energy: {text}, {time.monotonic() - started:.0f} s", file=sys.stderr)

    try:
        check_tools(options)
        measured = measure.Measurement(liberty.Library(options.liberty), options, progress)
        measured.run()
        report(measured)
        if options.json:
            outputs.write_json(options.json, figures(measured))
        if options.summary:
            outputs.write_json(options.summary, outputs.summary("Energy", "make -C scripts/asic energy", time.monotonic() - started, summary_rows(measured)))
    except outputs.OutputLost as problem:
        print(f"energy: {problem}", file=sys.stderr)
        return 3
    except (Problem, liberty.LibertyError, electrical.MissingCell, measure.NoSuchLayer) as problem:
        print(f"energy: {problem}", file=sys.stderr)
        return 2
    except (netlist.ToolFailure, parts.Mismatch, OSError) as problem:
        print(f"energy: {problem}", file=sys.stderr)
        return 1
    if abs(difference(measured)) > MOST_DIFFERENCE:
        print(f"energy: differs from OpenSTA by {difference(measured):+.1%}, more than {MOST_DIFFERENCE:.0%}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
