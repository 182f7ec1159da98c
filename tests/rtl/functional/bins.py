#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes gemm64_cover.sv, a cover property for each bin of functional coverage, from rtl/gemm64.json: bins.py FILE.

A bin is a group of tests/testplan.hjson, a name and a condition on the signals of rtl/gemm64.v in a cycle. Names and numbers of
commands, flags, formats, errors, engines and counters come from the definition, so a new one has bins at once.
"""

import collections
import json
import os
import re
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))

Bin = collections.namedtuple("Bin", "group name condition")

# Bins that are waived, and why. A bin that is reached although it is named here is an error.
ONE_ACCESS = ("the device of the tests makes one register access at a time; tests/rtl/registers_test.cpp drives these channels back to back, "
              "tests/rtl/cocotb under stalls, and tests/signoff/formal/axi.sv proves their handshakes")
WAIVED = {f"backpressure_cg.registers_{channel}": ONE_ACCESS for channel in (
    "aw_stalled", "aw_back_to_back", "w_stalled", "w_back_to_back", "b_back_to_back", "ar_stalled", "ar_back_to_back", "r_back_to_back")}

# The errors that each engine raises (rtl/README.md); COMMANDS also raises those of the watchdog.
RAISES = {"BAD_OPCODE": ["COMMANDS"], "BAD_OPERAND": ["COMMANDS"], "BAD_ADDRESS": ["COMMANDS"],
          "BUS_SLAVE": ["COMMANDS", "WEIGHTS", "ACTIVATIONS", "RESULTS", "PARAMETERS", "OPERANDS"],
          "BUS_DECODE": ["COMMANDS", "WEIGHTS", "ACTIVATIONS", "RESULTS", "PARAMETERS", "OPERANDS"],
          "WATCHDOG": ["COMMANDS"], "UNBALANCED": ["COMMANDS", "ACTIVATIONS"], "CHECKSUM": ["COMPUTE"],
          "PARITY": ["COMMANDS", "WEIGHTS", "ACTIVATIONS", "COMPUTE", "RESULTS", "PARAMETERS", "OPERANDS"], "UNWRITTEN": ["ACTIVATIONS", "RESULTS"]}

# Signals of gemm64.v that conditions use: width, name here, expression there where it has another name.
PORTS = [
    ("1", "clk_i", None), ("1", "rst_ni", None), ("1", "busy", None), ("1", "stop", None), ("1", "halted", None), ("1", "resetting", None),
    ("1", "fail", None), ("1", "reset_request", None), ("1", "clear", None), ("1", "store_done", None), ("1", "commands_fault", None),
    ("`GEMM64_ENGINES", "valid", None), ("`GEMM64_ENGINES", "ready", None), ("`GEMM64_ENGINES", "idle", None), ("`GEMM64_ENGINES", "quiet", None),
    ("`GEMM64_COUNTERS", "causes", None), ("`GEMM64_CMD_BITS", "command", None), ("32", "error", None), ("4", "commands_code", None),
    ("16", "ring_head", None), ("16", "ring_tail", None), ("16", "ring_mask", None), ("16", "tag", None),
    ("1", "late", "u_commands.bad_window | u_commands.bad_lanes | u_commands.bad_vector"),
    ("1", "in_tensor", "u_commands.in_tensor"), ("1", "late_address", "u_commands.passes_end"), ("1", "bad", "u_commands.bad"), ("1", "sent", "u_commands.pop")]
CHANNELS = {"weights_ar": ("m_weights_arvalid_o", "m_weights_arready_i"), "weights_r": ("m_weights_rvalid_i", "m_weights_rready_o"),
            "data_ar": ("m_data_arvalid_o", "m_data_arready_i"), "data_r": ("m_data_rvalid_i", "m_data_rready_o"),
            "results_aw": ("m_results_awvalid_o", "m_results_awready_i"), "results_w": ("m_results_wvalid_o", "m_results_wready_i"),
            "results_b": ("m_results_bvalid_i", "m_results_bready_o")}
REGISTER_CHANNELS = {f"registers_{c}": (f"s_axil_{c}valid_{'o' if c in 'br' else 'i'}", f"s_axil_{c}ready_{'i' if c in 'br' else 'o'}")
                     for c in ("aw", "w", "b", "ar", "r")}
# Whose READY (RREADY, BREADY) is always high: a stall is none.
NEVER_STALL = ("weights_r", "data_r", "results_b")


def definition():
    with open(os.path.join(ROOT, "rtl", "gemm64.json"), encoding="utf-8") as file:
        return json.load(file)


def flags_of(purpose, opcodes):
    """The commands that a flag's purpose names: "MATMUL: ...", "LOAD_ACTIVATIONS, MATMUL: ...", "STORE with X: ..."."""
    found = []
    for head in re.findall(r"(?:^|[.] )((?:[A-Z_]+(?:, )?)+)(?: with [A-Z_]+)?:", purpose):
        found += [word for word in head.split(", ") if word in opcodes]
    return found


def bins(facts):
    """All bins, in their order."""
    found = []

    def add(group, name, condition):
        found.append(Bin(group, name.lower(), condition))

    def field(name):
        return f"command[`GEMM64_CMD_{name}_LSB +: `GEMM64_CMD_{name}_WIDTH]"

    def flag(name, value=True):
        return f"{'' if value else '~'}flags[`GEMM64_FLAG_{name}_BIT]"

    def op(name):
        return f"op_{name.lower()}"

    commands = facts["commands"]
    opcodes = [opcode["name"] for opcode in commands["opcodes"]]
    engines = [engine["name"] for engine in facts["engines"]]
    others = [engine["name"] for engine in facts["engines"] if engine.get("commands")]

    # Commands
    for name in opcodes:
        add("command_cg", name, op(name))
    for entry in commands["flags"]:
        for name in flags_of(entry["purpose"], opcodes):
            for value in (True, False):
                add("command_cg", f"{name}_{entry['name']}_{'set' if value else 'clear'}", f"{op(name)} & {flag(entry['name'], value)}")
    for entry in commands["result_formats"]:
        for vector in (True, False):
            if vector and entry["bytes"] != 1:
                continue
            where = f"{op('STORE')} & {field('FORMAT')} == `GEMM64_RESULT_{entry['name']} & {flag('VECTOR', vector)}"
            add("command_cg", f"store_{entry['name']}{'_vector' if vector else ''}", where)
            if not vector:
                continue
            for function, condition in (("plain", "~add & ~multiply"), ("add", "add"), ("multiply", "multiply")):
                for table in (True, False):
                    add("command_cg", f"store_{entry['name']}_{function}{'_table' if table else ''}",
                        f"{where} & ~keep & ({condition}) & {'' if table else '~'}{field('TABLE')}")
    vector = f"{op('STORE')} & {flag('VECTOR')}"
    add("command_cg", "store_keep", f"{vector} & keep")
    for name in ("BROADCAST", "SWAP", "OPERAND_MOVED", "RESULT_MOVED"):
        for value in (True, False):
            add("command_cg", f"store_{name}_{'set' if value else 'clear'}", f"{vector} & ~keep & {'' if value else '~'}{field(name)}")
    add("command_cg", "store_first_lane", f"{vector} & ~keep & {field('FIRST_LANE')} != 0")
    add("command_cg", "store_some_lanes", f"{vector} & ~keep & {field('LANES')} != 0")
    for kernel in (3, 5, 7):
        for maximum in (True, False):
            for accumulate in (True, False):
                add("command_cg", f"depthwise_{kernel}{'_maximum' if maximum else ''}{'_accumulate' if accumulate else ''}",
                    f"{op('DEPTHWISE')} & {field('KERNEL_HEIGHT')} == {kernel} & {flag('MAXIMUM', maximum)} & {flag('ACCUMULATE', accumulate)}")
        add("command_cg", f"depthwise_{kernel}_strided", f"{op('DEPTHWISE')} & {field('KERNEL_HEIGHT')} == {kernel} & {field('STRIDE_HEIGHT')} > 1")
        add("command_cg", f"depthwise_{kernel}_dilated", f"{op('DEPTHWISE')} & {field('KERNEL_HEIGHT')} == {kernel} & {field('DILATION_HEIGHT')} > 1")
    window = op("SET_WINDOW")
    for name, condition in (("one_tap", f"{field('KERNEL_HEIGHT')} == 1 & {field('KERNEL_WIDTH')} == 1"),
                            ("square", f"{field('KERNEL_HEIGHT')} > 1 & {field('KERNEL_HEIGHT')} == {field('KERNEL_WIDTH')}"),
                            ("oblong", f"{field('KERNEL_HEIGHT')} != {field('KERNEL_WIDTH')}"), ("strided", f"{field('STRIDE_WIDTH')} > 1"),
                            ("dilated", f"{field('DILATION_WIDTH')} > 1"), ("border", f"{field('PAD_TOP')} != 0"),
                            ("no_border", f"{field('PAD_TOP')} == 0 & {field('PAD_LEFT')} == 0"), ("groups", f"{field('GROUP_PASSES')} > 1"),
                            ("zero_point", f"{field('ZERO')} != 0")):
        add("command_cg", f"set_window_{name}", f"{window} & {condition}")
    add("command_cg", "load_activations_later_planes", f"{op('LOAD_ACTIVATIONS')} & {flag('WINDOW')} & {field('PLACE')} != 0")

    for value in (True, False):
        add("command_cg", f"load_activations_tensor_window_{'set' if value else 'clear'}", f"{op('LOAD_ACTIVATIONS')} & in_tensor & {flag('WINDOW', value)}")
    add("command_cg", "load_operands_tensor", f"{op('LOAD_OPERANDS')} & in_tensor")
    for entry in commands["result_formats"]:
        add("command_cg", f"store_{entry['name']}_tensor", f"{op('STORE')} & {field('FORMAT')} == `GEMM64_RESULT_{entry['name']} & in_tensor")

    # Shapes
    rows = {"one": "rows == 1", "n_less_1": "rows == N - 1 & N > 2", "n": "rows == N", "n_plus_1": "rows == N + 1",
            "many": "rows > N + 1 & rows < ACCUMULATOR_ROWS", "bank": "rows == ACCUMULATOR_ROWS"}
    matmul = f"{op('MATMUL')} & {flag('WINDOW', False)}"
    for size, condition in rows.items():
        for accumulate in (True, False):
            for retain in (True, False):
                add("shape_cg", f"matmul_rows_{size}{'_accumulate' if accumulate else ''}{'_retain' if retain else ''}",
                    f"{matmul} & {condition} & {flag('ACCUMULATE', accumulate)} & {flag('RETAIN', retain)}")
        add("shape_cg", f"window_rows_{size}", f"{op('MATMUL')} & {flag('WINDOW')} & {condition}")
        add("shape_cg", f"store_rows_{size}", f"{op('STORE')} & {condition}")
    sizes = {"one": "== 1", "two": "== 2", "more": "> 2"}
    for count, first in sizes.items():
        for passes, second in sizes.items():
            for blocks, third in sizes.items():
                add("shape_cg", f"matmul_{count}_{passes}_{blocks}",
                    f"{matmul} & {field('COUNT')} {first} & {field('PASSES')} {second} & {field('BLOCKS')} {third}")
    for name, relation in (("overlap", "<"), ("touch", "=="), ("apart", ">")):
        add("shape_cg", f"load_activations_{name}", f"{op('LOAD_ACTIVATIONS')} & {flag('WINDOW', False)} & {field('STRIDE')} {relation} rows")
        add("shape_cg", f"load_operands_{name}", f"{op('LOAD_OPERANDS')} & {field('STRIDE')} {relation} rows")
        add("shape_cg", f"store_{name}", f"{op('STORE')} & {field('COUNT')} > 1 & {field('STRIDE')} {relation} rows * {field('BLOCKS')}")
    for name in ("LOAD_WEIGHTS", "LOAD_PARAMETERS", "LOAD_OPERANDS"):
        add("shape_cg", f"{name}_once", f"{op(name)} & {field('PASSES')} == 1")
        add("shape_cg", f"{name}_again", f"{op(name)} & {field('PASSES')} > 1")

    # Errors
    for entry in facts["errors"]:
        for engine in RAISES.get(entry["name"], ()):
            add("error_cg", f"{entry['name']}_of_{engine}", f"failed_q & code == `GEMM64_ERROR_{entry['name']} & engine == `GEMM64_ENGINE_{engine}")
    for opcode in commands["opcodes"]:
        name = opcode["name"]
        if any(">= 1" in bound for bound in opcode.get("bounds", ())) and name != "SET_WINDOW":
            add("error_cg", f"bad_operand_{name}", f"bad & commands_code == `GEMM64_ERROR_BAD_OPERAND & opcode == `GEMM64_OP_{name}")
        if "ADDRESS_LOW" in opcode["uses"]:
            add("error_cg", f"bad_address_{name}", f"bad & commands_code == `GEMM64_ERROR_BAD_ADDRESS & opcode == `GEMM64_OP_{name}")
            add("error_cg", f"walk_beyond_{name}", f"late_address & opcode_q2 == `GEMM64_OP_{name}")
    for name in ("LOAD_WEIGHTS", "LOAD_PARAMETERS", "FENCE", "LOAD_ACTIVATIONS", "LOAD_OPERANDS", "STORE"):
        add("error_cg", f"bad_address_tensor_{name}", f"bad & in_tensor & commands_code == `GEMM64_ERROR_BAD_ADDRESS & opcode == `GEMM64_OP_{name}")
    for name in ("SET_WINDOW", "LOAD_ACTIVATIONS", "MATMUL", "DEPTHWISE", "STORE"):
        add("error_cg", f"late_bad_operand_{name}", f"late & opcode_q2 == `GEMM64_OP_{name}")

    # The ring
    waiting = "((ring_tail - ring_head) & ring_mask)"
    add("ring_cg", "head_wraps", "sent & ring_head == ring_mask & ring_mask != 0")
    add("ring_cg", "tail_while_busy", "ring_tail != tail_q & busy & ring_head != tail_q")
    add("ring_cg", "tail_while_last_runs", "ring_tail != tail_q & busy & ring_head == tail_q")
    add("ring_cg", "one_waits", f"{waiting} == 1")
    add("ring_cg", "full", f"{waiting} == ring_mask & ring_mask > 1")
    for size in (1, 3, 15, 255):
        add("ring_cg", f"mask_up_to_{size}", f"sent & ring_mask <= {size} & ring_mask > {size // 4}")
    add("ring_cg", "mask_above_255", "sent & ring_mask > 255")
    add("ring_cg", "mask_65535", "sent & ring_mask == 65535")
    add("ring_cg", "number_above_255", "sent & tag > 255")

    # Queues, buffers, causes
    for name in others:
        add("queue_cg", f"{name}_full", f"valid[`GEMM64_PLUG_{name}] & ~ready[`GEMM64_PLUG_{name}]")
        add("queue_cg", f"{name}_idle_while_busy", f"busy & idle[`GEMM64_PLUG_{name}]")
    for counter in facts["counters"]:
        if counter["engine"] not in ("total", "bytes"):
            add("queue_cg", f"{counter['engine']}_{counter['cause']}", f"busy & causes[`GEMM64_COUNTER_{counter['engine'].upper()}_{counter['cause'].upper()}]")
    causes = {engine: [c["cause"] for c in facts["counters"] if c["engine"] == engine] for engine in ("compute", "results")}
    for compute in causes["compute"]:
        for results in causes["results"]:
            add("queue_cg", f"compute_{compute}_results_{results}",
                f"busy & causes[`GEMM64_COUNTER_COMPUTE_{compute.upper()}] & causes[`GEMM64_COUNTER_RESULTS_{results.upper()}]")

    # Backpressure, by what the array does
    states = {"working": "computes", "waiting": "waits", "idle": "~computes & ~waits"}
    for channel in CHANNELS:
        for state, condition in states.items():
            if channel not in NEVER_STALL:
                add("backpressure_cg", f"{channel}_stalled_{state}", f"{channel}_valid & ~{channel}_ready & {condition}")
            add("backpressure_cg", f"{channel}_free_{state}", f"busy & ~{channel}_valid & {channel}_ready & {condition}")
            add("backpressure_cg", f"{channel}_back_to_back_{state}", f"{channel}_valid & {channel}_ready & {channel}_q & {condition}")
    for channel in REGISTER_CHANNELS:
        add("backpressure_cg", f"{channel}_stalled", f"{channel}_valid & ~{channel}_ready")
        add("backpressure_cg", f"{channel}_back_to_back", f"{channel}_valid & {channel}_ready & {channel}_q")

    # Fences
    amounts = {"none": "== 0", "one": "== 1", "more": "> 1"}
    for opened, first in amounts.items():
        for count, second in amounts.items():
            if list(amounts).index(opened) <= list(amounts).index(count):
                add("fence_cg", f"passes_open_{opened}_count_{count}", f"{op('FENCE')} & open_q {first} & {field('COUNT')} {second}")
    for opened, condition in (("one", "== 1"), ("two", "== 2"), ("more", "> 2")):
        add("fence_cg", f"waits_open_{opened}", f"fence_waits & open_q {condition}")
    add("fence_cg", "snapshot_while_results_move", f"{op('FENCE')} & {flag('SNAPSHOT')} & ~quiet[`GEMM64_PLUG_RESULTS]")
    add("fence_cg", "snapshot_at_rest", f"{op('FENCE')} & {flag('SNAPSHOT')} & quiet[`GEMM64_PLUG_RESULTS]")
    add("fence_cg", "snapshot_waits_for_results", f"opcode == `GEMM64_OP_FENCE & {flag('SNAPSHOT')} & valid[`GEMM64_PLUG_RESULTS] & ~ready[`GEMM64_PLUG_RESULTS]")
    for name in others:
        add("fence_cg", f"waits_while_{name}_works", f"fence_waits & ~idle[`GEMM64_PLUG_{name}]")
        add("fence_cg", f"finish_waits_for_{name}", f"finish_waits & ~idle[`GEMM64_PLUG_{name}]")
        add("fence_cg", f"finish_waits_for_{name}_only", f"finish_waits & (idle | 1) == ({{`GEMM64_ENGINES{{1'b1}}}} ^ (1 << `GEMM64_PLUG_{name}))")
    add("fence_cg", "finish_at_once", f"{op('FINISH')} & sent_q")

    # Resets
    for name in others:
        add("reset_cg", f"soft_while_{name}_works", f"reset_request & ~idle[`GEMM64_PLUG_{name}]")
    for name in engines:
        if name != "COMPUTE":
            add("reset_cg", f"soft_while_{name}_bursts", f"reset_request & ~quiet[`GEMM64_PLUG_{name}]")
    for entry in facts["errors"]:
        add("reset_cg", f"soft_after_{entry['name']}", f"reset_request & code == `GEMM64_ERROR_{entry['name']} & halted" if entry["value"] else "reset_request & ~halted & ~busy")
    for compute in causes["compute"]:
        add("reset_cg", f"soft_in_{compute}", f"reset_request & busy & causes[`GEMM64_COUNTER_COMPUTE_{compute.upper()}]")
    add("reset_cg", "soft_twice", "reset_request & resetting")
    add("reset_cg", "soft_waits_for_the_bus", "resetting & ~clear")
    add("reset_cg", "tail_during_soft", "resetting & registers_aw_valid")
    add("reset_cg", "hard_while_busy", "~rst_ni & busy_q & rst_q")
    add("reset_cg", "hard_while_halted", "~rst_ni & halted_q & rst_q")
    add("reset_cg", "hard_while_bursts", "~rst_ni & bursts_q & rst_q")
    return found


def module(facts):
    """The SystemVerilog text."""
    channels = {**CHANNELS, **REGISTER_CHANNELS}
    ports = [(width, name, there or name) for width, name, there in PORTS]
    ports += [("1", f"{channel}_{end}", signal) for channel, pair in channels.items() for end, signal in zip(("valid", "ready"), pair)]
    lines = ["// SPDX-License-Identifier: Apache-2.0", "// Made by tests/rtl/functional/bins.py.", "// verilator lint_off WIDTH", "// verilator lint_off UNUSED", "`default_nettype none", '`include "gemm64_defs.vh"', "",
             "module gemm64_cover #(parameter N = 4, parameter ACCUMULATOR_ROWS = 128) ("]
    lines += [",\n".join(f"    input wire [{width} - 1:0] {name}" for width, name, _ in ports), ");", ""]
    lines += [
        "    wire [7:0]  opcode = command[`GEMM64_CMD_OPCODE_LSB +: `GEMM64_CMD_OPCODE_WIDTH];",
        "    wire [7:0]  flags  = command[`GEMM64_CMD_FLAGS_LSB +: `GEMM64_CMD_FLAGS_WIDTH];",
        "    wire [31:0] rows   = {16'd0, command[`GEMM64_CMD_ROWS_LSB +: `GEMM64_CMD_ROWS_WIDTH]};",
        "    wire        add = command[`GEMM64_CMD_ADD_LSB], multiply = command[`GEMM64_CMD_MULTIPLY_LSB], keep = command[`GEMM64_CMD_KEEP_LSB];",
        "    wire [3:0]  code = error[`GEMM64_ERROR_CODE_LSB +: `GEMM64_ERROR_CODE_WIDTH];",
        "    wire [3:0]  engine = error[`GEMM64_ERROR_ENGINE_LSB +: `GEMM64_ERROR_ENGINE_WIDTH];",
        "    wire        computes = causes[`GEMM64_COUNTER_COMPUTE_COMPUTE];",
        "    wire        waits = causes[`GEMM64_COUNTER_COMPUTE_WAIT_WEIGHTS] | causes[`GEMM64_COUNTER_COMPUTE_WAIT_ACTIVATIONS]"
        " | causes[`GEMM64_COUNTER_COMPUTE_WAIT_RESULTS];",
        "    wire        waits_engine = causes[`GEMM64_COUNTER_COMMANDS_WAIT_ENGINE] & ~stop;",
        "    wire        fence_waits  = waits_engine & opcode == `GEMM64_OP_FENCE;",
        "    wire        finish_waits = waits_engine & opcode == `GEMM64_OP_FINISH;"]
    lines += [f"    wire        op_{opcode['name'].lower()} = sent & opcode == `GEMM64_OP_{opcode['name']};" for opcode in facts["commands"]["opcodes"]]
    lines += [
        "", "    reg         failed_q, sent_q, rst_q, busy_q, halted_q, bursts_q;", "    reg  [7:0]  opcode_q, opcode_q2;", "    reg  [15:0] open_q, tail_q;",
        *(f"    reg         {channel}_q;" for channel in channels),
        "    always @(posedge clk_i) begin",
        "        {failed_q, sent_q, rst_q, busy_q, halted_q} <= {fail, sent, rst_ni, busy, halted};",
        "        bursts_q <= quiet != {`GEMM64_ENGINES{1'b1}};",
        "        opcode_q  <= sent ? opcode : 8'd0;", "        opcode_q2 <= opcode_q;", "        tail_q    <= ring_tail;",
        "        open_q    <= rst_ni & ~clear ? open_q + {15'd0, op_store} - {15'd0, store_done} : 16'd0;",
        *(f"        {channel}_q <= {channel}_valid & {channel}_ready;" for channel in channels),
        "    end", ""]
    for entry in bins(facts):
        reset = "" if entry.name.startswith("hard_") else "rst_ni & "
        lines.append(f"    {entry.group}__{entry.name}: cover property (@(posedge clk_i) {reset}({entry.condition}));")
    lines += ["", "endmodule", "", "bind gemm64 gemm64_cover #(.N(N), .ACCUMULATOR_ROWS(ACCUMULATOR_ROWS)) u_cover (",
              ",\n".join(f"    .{name}({there})" for _, name, there in ports), ");", "", "`default_nettype wire"]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    names = [(entry.group, entry.name) for entry in bins(definition())]
    assert len(set(names)) == len(names), "a bin stands there twice"
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(module(definition()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
