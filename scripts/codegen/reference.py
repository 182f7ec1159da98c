#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of docs/reference that the program itself is the source of: its commands, from their options, and
the names in its JSON reports, from reports. A name without a meaning here, or a meaning without a name, is an error."""

import argparse
import collections
import difflib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMANDS = "docs/reference/commands.md"
JSON = "docs/reference/json.md"

DRAM = {
    "bytes": "of its bursts, which are whole",
    "reads": "bursts that were read",
    "writes": "bursts that were written",
    "row_hits": "bursts that found their row open",
    "row_misses": "all others",
    "row_conflicts": "of these, bursts that found another row open",
    "bytes_per_cycle": "reached",
    "peak_bytes_per_cycle": "of its pins",
    "share_of_peak": "the one ÷ the other",
    "waiting_share": "of the cycles in which the array waits for words or for a bank of sums",
}

#: Names of all reports of `dut`, and of a failure in them.
DUT = {"description": "file that describes the array", "top": "its module", "rows": "rows of the array",
       "columns": "columns of the array", "dataflow": "`weight-stationary`, `output-stationary` or `input-stationary`",
       "seconds": "wall time"}
FAILED = {"failure": "the smallest input that fails, or the counterexample"}
FAILURE = {"problem": "what differs", "diagnosis": "the defect that explains all values, if one does",
           "tile": "of the first wrong value, from 0; -1: none is", "row": "of the tile's results",
           "column": "of the array", "cycle": "after the reset", "expected": "its value by the definition",
           "got": "its value, or X", "holds_from": "fewest beats of a tile from which the rule holds; 0: not known",
           "input": "tiles, lengths, stalls and operands, in words"}

#: Kinds of programs of `faults`.
PROGRAMS = ("products", "convolutions", "lanes", "vector")

IDLE = {"loading": "the stationary operand enters", "draining": "results of the tile before are pending",
        "not_ready": "TREADY of the moving operand is low", "not_sent": "the bench waits for another stream"}
BENCH_CYCLES = {
    "overflowed": "values of the products that the sums' bits do not hold, if `overflow` says what becomes of them",
    "bound_cycles": "fewest cycles that the streams allow",
    "cycle_breakdown": "parts that add up to all cycles",
    "cycle_breakdown.fill": "before the first moving operand",
    "cycle_breakdown.compute": "in which the moving operand enters",
    "cycle_breakdown.between_tiles": "idle cycles between tiles, by cause",
    "cycle_breakdown.within_tiles": "idle cycles within tiles, by cause",
    "cycle_breakdown.drain": "after the last moving operand",
    "bytes.sums": "partial sums that enter"}

#: (title, words, command lines whose reports have the names, meanings of its own). {file}: where the report goes.
REPORTS = (
    ("Report of `run` and `gemm`", "A name that a run has no figure for is absent.",
     ("gemm 8 64 32 --device tlm --memory dram:lpddr4 --json {file}",
      "quantize {root}/tests/data/fashion_cnn.onnx --calibrate {pixels} -o q.onnx",
      "run --model q.onnx --input {pixels} --labels {labels} --device tlm --json {file}",
      "run --model q.onnx --input {pixels} --depthwise array --device tlm --json {file}",
      "run --model {root}/tests/data/strips.onnx --array 8 --device tlm --json {file}",
      "run lenet --device tlm --batch 2 --json {file}",
      "make-model lenet -o float.onnx",
      "run --model float.onnx --device tlm --json {file}",
      "run --model float.onnx --precision int8 --device tlm --json {file}"), {}),
    ("Report of `analyze`", "What is not known of a layer is null; `total.partial` names the totals that lack it.",
     ("make-model lenet -o float.onnx", "analyze float.onnx --json {file}",
      "analyze float.onnx --quantized --memory dram:lpddr4 --json {file}"), {
         "graph": "the graph's name",
         "opset": "version of ONNX's operators",
         "nodes": "nodes of the graph",
         "inputs": "shapes of the network's inputs, by name",
         "outputs": "shapes of its outputs, by name",
         "total": "of the whole network",
         "total.partial": "totals that lack what is not known of some layer",
         "total.parameters": "numbers that are learned",
         "total.parameter_bytes": "their bytes",
         "total.weight_bytes": "bytes of the products' weights",
         "total.statistic_bytes": "bytes of means and variances",
         "total.macs": "MACs of all layers",
         "total.bias_adds": "additions of biases",
         "total.activation_bytes": "bytes of all values between layers",
         "total.activation_values": "such values",
         "total.peak_layer_bytes": "most bytes that a layer reads and writes",
         "total.peak_layer": "that layer",
         "total.peak_live_bytes": "most bytes of values that are alive at a time, in the file's order",
         "total.peak_live_layer": "the layer at that time",
         "total.read_bytes": "bytes read, without a buffer on the chip",
         "total.written_bytes": "bytes written",
         "total.traffic_bytes": "both",
         "total.intensity": "MACs a byte of traffic",
         "total.intensity_sum_of_layers": "sum of the layers' own",
         "array": "what the accelerator makes of it",
         "array.n": "rows and columns of the array",
         "array.memory": "how ports reach memory, as `--memory` has it",
         "array.dram": "what a DRAM channel did",
         "array.dram_cycles": "cycles of all programs with a DRAM channel, compiled for it",
         "array.dram_memory": "that channel, as `--memory` has it",
         "array.compute_bound_cycles": "cycles of all programs with ideal ports, compiled for them",
         "array.energy": "energy of the programs, estimated by their counters ([sources](../explanations/measured.md#energy))",
         "array.energy.total_mj": "mJ in all",
         "array.energy.logic_mj": "mJ of logic",
         "array.energy.sram_mj": "mJ of SRAM",
         "array.energy.dram_mj": "mJ of DRAM",
         "array.energy.sram_bits": "bits read and written in weight buffer, scratchpad and accumulator",
         "array.energy.dram_bits": "bits that cross a port",
         "array.energy.sram_pj_per_bit": "assumed pJ of a bit in SRAM",
         "array.energy.dram_pj_per_bit": "assumed pJ of a bit in DRAM",
         "array.energy.logic_pj_per_mac": "measured pJ of logic of a MAC",
         "array.energy.logic_pj_per_cell": "measured pJ of logic of a cycle and a multiplier of the array",
         "array.programs": "of a quantized network, programs that `run` makes of it",
         "array.programs[].layers": "names of its layers",
         "array.programs[].macs": "their MACs",
         "array.programs[].clocks": "cycles, predicted",
         "array.programs[].results_in": "of each layer, if the tensor memory is enabled: `scratchpad`, or `memory` and "
                                        "why",
         "array.memory_latency": "cycles from a request to its answer",
         "array.layers": "layers of products",
         "array.macs": "their MACs",
         "array.tiles": "their tiles of weights",
         "array.clocks": "their cycles, predicted",
         "array.on_device": "of these, what `run` puts on the device",
         "array.on_device.layers": "layers",
         "array.on_device.macs": "MACs",
         "array.on_device.tiles": "tiles",
         "array.on_device.clocks": "cycles",
         "array.predicted_if_on_device": "what stays on the host, were it on the device",
         "array.predicted_if_on_device.layers": "layers",
         "array.predicted_if_on_device.macs": "MACs",
         "array.predicted_if_on_device.tiles": "tiles",
         "array.predicted_if_on_device.clocks": "cycles",
         "array.layers_without_clocks": "layers of which no cycles could be predicted",
         "array.utilization": "MACs ÷ (N² × cycles)",
         "array.roof_clocks": "fewest cycles that MACs or the busiest port allow",
         "array.published_cycles": "published formulas for the same array",
         "array.between_programs": "the host's nodes between programs, as `host.between_programs` of `run`",
         "array.waits": "what a chip would wait for the host's nodes between programs, as `host.waits` of `run`",
         "layers": "nodes, in the file's order",
         "layers[].on": "`device` or `host`, where `run` computes it",
         "layers[].why_on_host": "why it stays on the host",
         "layers[].attributes": "the operator's attributes",
         "layers[].inputs": "shapes of what it reads",
         "layers[].outputs": "shapes of what it writes",
         "layers[].parameters": "as of the whole",
         "layers[].parameter_bytes": "as of the whole",
         "layers[].weight_bytes": "as of the whole",
         "layers[].statistic_bytes": "as of the whole",
         "layers[].macs": "MACs",
         "layers[].bias_adds": "as of the whole",
         "layers[].activation_bytes": "bytes of the values that it writes",
         "layers[].in_and_out_bytes": "bytes of the values that it reads and writes",
         "layers[].read_bytes": "as of the whole",
         "layers[].written_bytes": "as of the whole",
         "layers[].intensity": "as of the whole",
         "layers[].folded": "is it computed only from constants?",
         "layers[].pool": "of a pool in a program of the device",
         "layers[].pool.program": "number of the program, from 1",
         "layers[].pool.clocks": "cycles, predicted",
         "layers[].array": "what the accelerator makes of it",
         "layers[].array.program": "number of the layer's program, from 1",
         "layers[].array.packed": "does the host lay its windows out as rows?",
         "layers[].array.m": "rows of activations",
         "layers[].array.k": "inputs of a product",
         "layers[].array.n": "outputs of a product",
         "layers[].array.products": "products of this size, one for each group",
         "layers[].array.tiles": "tiles of weights",
         "layers[].array.padding_waste": "share of the padded MACs that are padding",
         "layers[].array.clocks": "cycles, predicted",
         "layers[].array.utilization": "MACs ÷ (N² × cycles)",
         "layers[].array.bound": "what bounds the fewest cycles: MACs or a port",
         "layers[].array.roof_clocks": "fewest cycles",
         "layers[].array.roof_clocks.macs": "that its MACs allow",
         "layers[].array.roof_clocks.weights": "that the port of weights allows",
         "layers[].array.roof_clocks.activations": "that the port of activations allows",
         "layers[].array.roof_clocks.results": "that the port of results allows",
         "layers[].array.published_cycles": "published formulas for the same array",
         "layers[].array.bytes": "bytes by port, padding included",
         "layers[].array.macs_per_byte": "MACs a byte of these",
         "unknown": "what is not known, and of which layer",
         "warnings": "what the figures leave out"}),
    ("Report of `tile`", "", ("make-model lenet -o float.onnx", "tile float.onnx -o tiled.onnx --json {file}"), {
        "block": "rows and columns of a block",
        "layers": "layers that were cut into blocks",
        "layers[].blocks": "blocks of M, K and N",
        "layers[].matmuls": "MatMul nodes in its place",
        "skipped": "layers that stay as they were",
        "skipped[].name": "the layer's name",
        "skipped[].operator": "its operator",
        "skipped[].reason": "why",
        "total.layers": "layers cut",
        "total.matmuls": "MatMul nodes in all",
        "bytes": "size of the file written"}),
    ("Report of `faults`", "With `--kind broken-programs`, outcomes and kinds are those of broken programs.",
     ("faults --count 124 --array 4 --json {file}", "faults --kind broken-programs --count 3 --array 4 --json {file}"), {
         "seed": "of the tries",
         "flips": "bits that each try flips at most",
         "first": "number of the first broken program",
         "count": "tries",
         "held": "did none hang, go unnoticed or differ?",
         "outcomes": "tries by outcome",
         "misdiagnosed": "tries whose diagnosis found another place",
         "kinds": "tries by kind and outcome",
         "programs": "the same for each kind of program",
         **{f"programs.{program}": f"of those of `--program {program}`" for program in PROGRAMS},
         "seconds": "wall time",
         "faults_per_second": "tries a second",
         "jobs": "tries in parallel",
         "tries": "each try",
         "tries[].index": "its number",
         "tries[].fault": "the fault",
         "tries[].program": "kind of the program",
         "tries[].changes": "what was broken in it",
         "tries[].outcome": "what came of it",
         "tries[].error": "what stopped it",
         "tries[].diagnosis": "what a second look at wrong results found",
         "tries[].misdiagnosed": "is that not where the fault was?",
         "tries[].rtl": "how it ended on the RTL",
         "tries[].reference": "how it ended on the reference device",
         "tries[].command": "the command that repeats it"}),
    ("Report of `faults --model`", "Each share has an interval of 95 % (Wilson's).",
     ("faults --model lenet --count 126 --repeat 1 --array 8 --json {file}",), {
         "model": "the network",
         "seed": "of weights, inputs and tries",
         "self_check": "did the device check itself?",
         "count": "tries",
         "held": "did each repeated try end in the same way?",
         "programs": "that the network runs on the device",
         "programs[].begin": "cycles from the reset to the begin of the driver's wait",
         "programs[].end": "cycles from the reset to the interrupt",
         "all": "tries of all structures",
         "structures": "the same by structure",
         **{f"all{name}": text for name, text in (
             (".tries", "tries"), (".masked", "all outputs were the same"),
             (".detected", "the device reported an error, or ran the program again"),
             (".stopped", "a rule of AXI, an assertion or the driver's limit ended the run"),
             (".silent", "an output differs, and nothing reported it"),
             (".top1_changed", "of these, the largest value of an image is another one"))},
         "repeated": "tries that ran again with the whole network on the RTL",
         "otherwise": "those that ended otherwise",
         "seconds": "wall time, repeated tries left out",
         "processor_seconds": "processor time of these",
         "faults_per_processor_hour": "tries in an hour of one processor",
         "jobs": "processes",
         "tries": "each try",
         "tries[].index": "its number",
         "tries[].program": "that was hit, from 1",
         "tries[].fault": "the flipped bit, in a cycle after the program's reset",
         "tries[].outcome": "what came of it",
         "tries[].top1_changed": "did the largest value of an image change?",
         "tries[].rtl_cycles": "cycles that the RTL simulated for it",
         "tries[].error": "what stopped it"}),
    ("Report of `firmware`", "", (
        "firmware --device tlm --batch 1 --json {file}",
        "quantize {root}/tests/data/fashion_cnn.onnx --calibrate {pixels} -o q.onnx",
        "firmware q.onnx --input {pixels} --device tlm --json {file}"), {
        "modes": "ways to run the same work",
        "modes[].mode": "its name",
        "modes[].exit_code": "what the firmware returned",
        "modes[].stopped": "why it did not end; empty where it did",
        "modes[].instructions": "instructions of the processor",
        "modes[].clocks": "cycles in all",
        "modes[].span_clocks": "from the first doorbell to the end of the work",
        "modes[].busy_clocks": "of these, cycles in which the array had work",
        "modes[].waiting_share": "share of these in which it had none",
        "modes[].reaction_clocks": "from an interrupt to the next doorbell, on average",
        "modes[].doorbells": "cycles of the doorbells",
        "modes[].interrupts": "cycles of the interrupts",
        "modes[].seconds": "wall time",
        "device_alone_seconds": "wall time of the device without the processor",
        "layers": "of a network: layers of its program",
        "classes": "of a network: each image's class, where a layer gives its first output"}),
    ("Report of `info`", "", ("info --json {file}",), {}),
    ("Report of `cosim`", "", ("cosim 3 4 5 --array 4 --json {file}",), {}),
    ("Report of `dut run`", "Of a user's own array. Names as in the report of `run`, and these.",
     ("dut new weight-stationary --size 2 a", "dut run a/array.toml 3 5 4 --json {file}",
      "dut run {root}/tests/dut/arrays/partial_sums.toml 3 5 4 --json {file}"), {
         "array": "columns of the array",
         "layers[].cycles": "cycles from the reset to the last result",
         "layers[].utilization": "useful MACs ÷ (rows × columns × cycles)",
         "layers[].roofline_utilization": "fewest cycles that MACs or the busiest stream allow ÷ cycles",
         "total.cycles": "cycles of all layers",
         "rows": "rows of the array",
         "columns": "columns of the array",
         "dataflow": "`weight-stationary`, `output-stationary` or `input-stationary`",
         "port_bytes": "bytes in a beat of each stream",
         "port_bytes.weights": "weights", "port_bytes.activations": "activations",
         "port_bytes.sums": "partial sums that enter", "port_bytes.results": "results",
         "layers[].products": "products of this size",
         "layers[].weights_from": "`network`, or `random`",
         "layers[].activations_from": "`network`, or `random`",
         "layers[].bound": "what bounds the fewest cycles: MACs or a stream",
         "total.tiles": "tiles of all layers",
         "total.seconds": "wall time of the simulation",
         **{f"{owner}.{name}": means for owner in ("layers[]", "total") for name, means in BENCH_CYCLES.items()},
     }),
    ("Report of `dut check`", "A rule that was not tried has `skipped`.",
     ("dut check {root}/tests/dut/arrays/mismatched.json --no-trace --json {file}",
      "dut check {root}/tests/dut/arrays/mismatched.json --trace a.fst --json {file}"), {
         **DUT, "score": "share of the rules that held, 0 to 100",
         "waveform": "save file for GTKWave of the first failure",
         "rules": "what must hold, in the order of trial",
         "rules[].rule": "its name",
         "rules[].title": "in words",
         "rules[].cases": "inputs tried",
         "rules[].passed": "did it hold?",
         "rules[].skipped": "why it was not tried",
         **{f"rules[].{name}": means for name, means in FAILED.items()},
     }),
    ("Report of `dut prove`", "",
     ("dut new weight-stationary --size 2 a", "dut prove a/array.toml --json {file}",
      "dut prove {root}/tests/dut/arrays/mismatched.json --trace a.fst --json {file}"), {
         **DUT, "proven": "do the sums equal the definition for all operands?",
         "timed_out": "did the time limit end it?",
         "lengths": "beats of each tile's moving operand",
         "operand_bits": "bits of operands, which may have any value",
         "sums": "that are compared",
         "cycles": "after the reset that are asked for",
         "shown_cycles": "after the reset that are shown",
         "assumptions": "of the streams and registers, in words",
         "waveform": "of the counterexample",
         **FAILED,
         "failure.replayed": "does the simulation show it too?",
     }),
)
#: Below these, names are those of other tables.
OPEN = {"counters": "[counters](counters.md), by engine and cause", "predicted_counters": "the same, predicted",
        "operators": "nodes on the host by operator", "attributes": "", "inputs": "", "outputs": "", "outcomes": "",
        "kinds": "", "structures": "", "scales": "scales of quantized values by name"}
MEANINGS = {
    "format": "version of these names; it grows when one changes its meaning",
    "model": "`gemm`, a built-in network or the file",
    "device": "what ran: `rtl`, `tlm`, `reference` or `serial`",
    "precision": "`file`, `int8` or `float32`",
    "accumulate": "where partial sums were added: `device` or `host`",
    "batch": "images, or inputs, at once",
    "check": "what was compared: `layers`, `outputs` or `none`",
    "verified": "did every check hold?",
    "memory": "how memory behaves",
    "memory.sharing": "how ports reach memory, as `--memory` has it",
    "memory.latency": "cycles from a request to its answer",
    "memory.bytes_per_cycle": "of each port, or of all that share; 0: a port's width",
    "memory.stall_probability": "of a channel, in one cycle",
    "dram": "what a DRAM channel did",
    "predictions_exact": "false with random stalls: counters are not compared then",
    "array": "rows and columns of the array",
    "accelerators": "devices whose cycles are counted; always that of one by itself",
    "layers": "layers on the device, in order",
    "layers[].name": "the layer's name in the network",
    "layers[].on": "`device` or `host`",
    "layers[].operator": "its operator, of a file's",
    "layers[].reason": "why it is on the host",
    "layers[].arithmetic": "of a float32 layer: slices of float32, or int8 quantized on the way",
    "layers[].error_bound": "of slices: bound of the difference from the exact product",
    "layers[].m": "rows of activations",
    "layers[].k": "inputs of the product",
    "layers[].n": "outputs of the product",
    "layers[].padded": "M, K and N as the array computes them",
    "layers[].tiles": "tiles of weights",
    "layers[].results": "format of the results: `INT32`, `INT8` or `UINT8`",
    "layers[].macs": "useful MACs",
    "layers[].cycles": "cycles, counted by the accelerator",
    "layers[].predicted_cycles": "cycles, predicted",
    "layers[].cycle_breakdown": "what the array spent its cycles on",
    "layers[].cycle_breakdown.compute": "rows entered the array",
    "layers[].cycle_breakdown.fill": "the way in before the first tile, and out after the last",
    "layers[].cycle_breakdown.wait_weights": "weights were not there",
    "layers[].cycle_breakdown.wait_activations": "activations were not there",
    "layers[].cycle_breakdown.wait_results": "the accumulator had no place",
    "layers[].bytes": "bytes by port, padding included",
    "layers[].predicted_bytes": "the same, predicted",
    "layers[].published_cycles": "published formulas for the same array",
    "layers[].utilization": "useful MACs ÷ (N² × cycles)",
    "layers[].roofline_utilization": "fewest cycles that MACs or bytes allow ÷ cycles",
    "layers[].mismatches": "results that differ from the reference",
    "layers[].max_abs_error": "largest difference from the reference",
    "layers[].seconds": "wall time of the device",
    "layers[].program": "number of the layer's program, from 1",
    "layers[].window": "of a convolution",
    "layers[].window.images": "images",
    "layers[].window.input": "channels, height and width of its input",
    "layers[].window.output": "channels, height and width of its output",
    "layers[].window.kernel": "height and width of the kernel",
    "layers[].window.strides": "by axis",
    "layers[].window.dilations": "by axis",
    "layers[].window.padding": "at the top and on the left",
    "layers[].window.groups": "groups of channels",
    "layers[].strips": "strips of its map in parallel lanes",
    "layers[].packed_bytes": "bytes that the host laid out as rows of windows",
    "layers[].vector_nodes": "nodes that its results passed on their way to memory",
    "total": "of all layers",
    "total.cycles": "cycles of all programs, one after the other",
    "total.predicted_cycles": "the same, predicted",
    "total.macs": "useful MACs on the device",
    "total.utilization": "as of a layer",
    "total.roofline_utilization": "as of a layer",
    "total.mismatches": "results that differ",
    "total.bytes": "bytes by port",
    "total.weights": "bytes of weights",
    "total.weights.model_bytes": "in the model",
    "total.weights.loaded_bytes": "loaded: each block of results loads its layer's again",
    "total.programs": "programs of the device",
    "total.host_nodes": "nodes of the network on the host",
    "total.device_share": "MACs on the device ÷ all MACs; 1 only where it has all",
    "warnings": "what the figures leave out",
    "simulation": "how fast the simulation was; differs from run to run",
    "simulation.seconds": "of simulating",
    "simulation.cycles_per_second": "simulated cycles a second",
    "simulation.macs_per_second": "simulated MACs a second",
    "host": "what the host did",
    "host.nodes": "nodes of the network on the host",
    "host.seconds": "their time",
    "host.runtime": "ONNX Runtime and its version, if it ran them",
    "host.reference_seconds": "time spent waiting for reference results, most of which are computed during the simulation",
    "host.between_programs": "nodes without MACs that programs wait for",
    "host.between_programs[].name": "the node",
    "host.between_programs[].operator": "its operator",
    "host.between_programs[].reason": "why the device does not have it",
    "host.between_programs[].programs": "numbers of the programs that begin after it",
    "host.waits": "what a chip would wait for these nodes, the longest first",
    "host.waits[].operator": "their operator",
    "host.waits[].nodes": "nodes of it",
    "host.waits[].values": "values that they take or give, whichever are more",
    "host.waits[].least_cycles": "cycles on N lanes next to the array, a value each a cycle: a lower bound",
    "programs": "programs of the device",
    "programs[].program": "its number, from 1",
    "programs[].layers": "its layers' names",
    "programs[].cycles": "its cycles",
    "programs[].predicted_cycles": "the same, predicted",
    "programs[].macs": "its useful MACs",
    "programs[].utilization": "as of a layer",
    "programs[].roofline_utilization": "as of a layer",
    "classification": "with `--labels`",
    "classification.images": "images judged",
    "classification.top1": "images whose best class is right",
    "classification.top1_share": "their share",
    "classification.top5": "images with the right class among the best five",
    "classification.top5_share": "their share",
    "classification.confusions": "what was taken for what, most frequent first",
    "classification.confusions[].label": "the right class",
    "classification.confusions[].class": "the class that the network gave",
    "classification.confusions[].images": "how often",
    "classification.matrix": "images by right class and given class",
    "quality": "int8 compared with float32, of networks that the program makes",
    "quality.top1_agreement": "share of images with the same best class in both",
    "quality.top1_equal": "their number",
    "quality.images": "images compared",
    "quality.signal_to_noise_db": "of the outputs",
    "quality.centred_signal_to_noise_db": "without each output's mean over the batch",
    "version": "of registers and commands",
    "memory_bytes": "address space of the device's memory",
    "n": "rows and columns of the array",
    "stage_rows": "rows that are added before a register of partial sums",
    "macs_per_clock": "N²",
    "pipeline_clocks": "from a row read to its last sum written",
    "scratchpad_words": "words of N activations",
    "tensor_words": "of them, those that the tensor memory takes where a program enables it",
    "accumulator_rows": "rows in each bank of sums",
    "weight_tiles": "tiles of the weight buffer",
    "read_bursts": "outstanding, of each reader",
    "write_bursts": "outstanding",
    "commands_ahead": "commands fetched ahead",
    "burst_beats": "beats of the longest burst",
    "address_width": "bits of an address",
    "parameter_sets": "sets of the parameter buffer",
    "agree": "do all sides agree?",
    "sides": "what the product ran on",
    "sides[].side": "its name",
    "sides[].agrees": "with the first side",
    "sides[].clocks": "its cycles",
}
#: Names that mean the same wherever they stand.
LEAVES = {"bytes": {"weights": "port of weights", "activations": "activations", "results": "port of results",
                    "commands": "commands", "operands": "second operands and tables of results", "parameters": "biases and scales"},
          "published_cycles": {"double_buffered_ws": "textbook, weights double-buffered",
                               "single_buffered_ws": "textbook, weights single-buffered",
                               "scale_sim_ws": "SCALE-Sim v3, weight-stationary",
                               "scale_sim_os": "SCALE-Sim v3, output-stationary"},
          "dram": DRAM, "failure": FAILURE, **dict.fromkeys(("between_tiles", "within_tiles"), IDLE),
          **dict.fromkeys(PROGRAMS, {"outcomes": "tries by outcome", "misdiagnosed": "of these", "kinds": "by kind and outcome"}),
          **dict.fromkeys(("masked", "detected", "stopped", "silent", "top1_changed"),
                          {"count": "tries", "share": "of all", "low": "the interval's lower end", "high": "its upper end"})}


def kind(value):
    if isinstance(value, bool):
        return "boolean"
    return {int: "number", float: "number", str: "text", dict: "object", list: "list", type(None): "null"}[type(value)]


def names_in(value, path, found):
    """Every name, "layers[].cycles", with its kind, in order."""
    if isinstance(value, list):
        for one in value:
            if isinstance(one, dict):
                names_in(one, path + "[]", found)
    elif isinstance(value, dict):
        for key, inner in value.items():
            name = f"{path}.{key}" if path else key
            found.setdefault(name, kind(inner))
            if key not in OPEN:
                names_in(inner, name, found)


def leaf_meaning(name):
    owner, _, leaf = name.rpartition(".")
    group = owner.rpartition(".")[2].removeprefix("predicted_")
    return LEAVES.get(group, {}).get(leaf)


def meaning(name, own):
    return own.get(name) or MEANINGS.get(name) or OPEN.get(name.rpartition(".")[2]) or leaf_meaning(name)


def is_leaf(name, own):
    """A number of an object of LEAVES, which the page lists once."""
    return name not in own and name not in MEANINGS and leaf_meaning(name) is not None


class Stale(Exception):
    """A meaning and a name do not fit together."""


def json_page(program):
    page = ["# JSON reports", "",
            "Made by `scripts/codegen/reference.py` from reports: names, in their order; values are numbers unless another type is given. "
            "`--json FILE` writes a report; `-` is standard output. Old names stay; new ones are added. The names of `sweep`'s rows are in "
            "[Sweeps](../guides/sweep.md).", ""]
    page += [wrapped("An object of one of these names has these values in every report; so has one with "
                     "`predicted_` before its name:"), "",
             "| object | values |", "|---|---|"]
    for leaves in {id(leaves): leaves for leaves in LEAVES.values()}.values():
        groups = ", ".join(f"`{group}`" for group, others in LEAVES.items() if others is leaves)
        page.append(f"| {groups} | " + ", ".join(f"`{leaf}`: {words}" for leaf, words in leaves.items()) + " |")
    page.append("")
    used, rows = set(), set()
    for title, words, commands, own in REPORTS:
        found = report_of(program, commands)
        page += [f"## {title}", ""] + ([words, ""] if words else [])
        again = []
        for name, its_kind in found.items():
            if not meaning(name, own):
                raise Stale(f"{title}: {name} has no meaning in scripts/codegen/reference.py")
            used.add(name)
            row = f"- `{name}`: {meaning(name, own)}{'' if its_kind == 'number' else f' ({its_kind})'}"
            if row in rows:
                again.append(f"`{name}`")
            elif not is_leaf(name, own):
                page.append(wrapped(row, "  "))
                rows.add(row)
        if again:
            page += ["", wrapped(f"As in a report above: {', '.join(again)}.")]
        absent = [name for name in own if name not in found]
        if absent:
            raise Stale(f"{title}: none has {', '.join(absent)}; take it out of scripts/codegen/reference.py")
        page.append("")
    unknown = [name for name in MEANINGS if name not in used]
    if unknown:
        raise Stale(f"no report has {', '.join(unknown)}; take it out of MEANINGS in scripts/codegen/reference.py")
    return "\n".join(page)


def report_of(program, commands):
    """The names in the reports of these command lines, one after the other in one folder."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "labels.txt").write_text("3\n", encoding="utf-8")
        # An idx file of one image in shades of grey.
        (folder / "pixels").write_bytes(bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28]) +
                                        bytes((x * y) % 256 for y in range(28) for x in range(28)))
        for command in commands:
            line = command.format(file="report.json", root=ROOT, pixels="pixels", labels="labels.txt")
            ran = subprocess.run([program, *line.split()], cwd=folder, capture_output=True, text=True, check=False)
            if ran.returncode not in ((0, 1) if line.startswith("dut") else (0,)):  # 1: a rule did not hold
                raise Stale(f"gemm64 {line} ended with exit code {ran.returncode}: {ran.stderr.strip()}")
            if "--json" in line:
                names_in(json.loads((folder / "report.json").read_text(encoding="utf-8")), "", found)
    return found


def wrapped(text, indent=""):
    return textwrap.fill(text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def shared_options(page):
    """The page with each option that several commands describe alike described once, at the end."""
    is_option = re.compile(r"\| `-")
    count = collections.Counter(line for line in page.splitlines() if is_option.match(line))
    shared = {line: re.findall(r"--[\w-]+", line)[0] for line, times in count.items() if times >= 2}
    made, rows, names = [], [], []

    def end_table():
        if len(rows) > 2:
            made.extend(rows)
        if names:
            title = rows[0].split("|")[1].strip()
            made.extend(([""] if len(rows) > 2 else []) + [
                wrapped(f"{title}: {', '.join(names)}.")])
        rows.clear()
        names.clear()

    lines = page.splitlines()
    usual = next(line for line in lines if line.startswith("Exit codes: "))  # of all commands
    usual = usual.partition(", 4 ")[0] + "."
    at = lines.index("## run") if "## run" in lines else len(lines)
    lines[at:at] = ["An option without a description is one of the [shared options](#shared-options).", ""]
    for line in lines:
        if line == usual or "| `-h, --help` |" in line:
            continue
        if line.startswith("|"):
            if line in shared:
                names.append(f"`{shared[line]}`")
            else:
                rows.append(line)
        else:
            if rows:
                end_table()
            made.append(line)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(made))
    return "\n".join([text, "", "## Shared options", "", "| option | does |", "|---|---|", *shared, ""])


def main():
    parser = argparse.ArgumentParser(prog="scripts/codegen/reference.py", description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build folder (default build)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a page is stale")
    parser.add_argument("--commands", action="store_true", help="only the page of the commands; the other one runs them")
    options = parser.parse_args()
    program = (options.build / "gemm64").resolve()
    manual = subprocess.run([program, "manual", "--markdown"], capture_output=True, text=True, check=True).stdout
    try:
        made = {COMMANDS: shared_options(manual)}
        if not options.commands:
            made[JSON] = json_page(program)
    except Stale as problem:
        print(f"reference: {problem}", file=sys.stderr)
        return 1
    failed = False
    for path, text in made.items():
        file = ROOT / path
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        if options.check:
            was = file.read_text(encoding="utf-8") if file.is_file() else ""
            sys.stderr.writelines(difflib.unified_diff(was.splitlines(True), text.splitlines(True), path, "as the program says", n=0))
            print(f"reference: {path} is stale; run scripts/codegen/reference.py and commit it", file=sys.stderr)
            failed = True
        else:
            file.write_text(text, encoding="utf-8")
            print(f"reference: wrote {path}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
