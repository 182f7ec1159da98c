# SPDX-License-Identifier: Apache-2.0
"""Static timing of a netlist by OpenSTA: its longest paths by module, and the model of a block for the netlists around it."""

import os
import re
from dataclasses import dataclass

from . import macro, tools

PERIOD_NS = 100   # of the cycle that paths are measured against; any period longer than they are
WORST = 5         # paths that are printed of a module
SEARCHED = 200    # paths among which those are found: most are other bits of the same registers
LOAD_PF = 0.05    # of an output
SLEW_NS = 0.2     # of an input
# What stands outside the ports, as if flip-flops did: an input comes so long after the clock, an output is due before it.
OUTSIDE_DELAY_NS = 0.3
OUTSIDE_SETUP_NS = 0.3
HEAD = """\
read_liberty {liberty}
read_liberty {macros}
read_verilog {verilog}
link_design {top}
create_clock -name clock -period {period} [get_ports clk_i__0]
set inputs [list]
foreach port [all_inputs] {{
  if {{[get_property $port full_name] != "clk_i__0"}} {{ lappend inputs $port }}
}}
set_input_delay {delay} -clock clock $inputs
set_output_delay {setup} -clock clock [all_outputs]
set_input_transition {slew} $inputs
set_load {load} [all_outputs]
puts "CHECK"
check_setup -verbose
"""


@dataclass
class Path:
    """A path between registers, memories, blocks or ports, by their names."""
    ns: float
    start: str
    end: str


class Analysis:
    """OpenSTA's answers to questions about one netlist, in one run of it; the questions are asked first."""

    def __init__(self, netlist, macros, cells, folder, outside=(OUTSIDE_DELAY_NS, OUTSIDE_SETUP_NS)):
        self.netlist = netlist
        self.folder = folder
        path = netlist.verilog(os.path.join(folder, "netlist.v"))
        library = tools.write(os.path.join(folder, "macros.lib"), macro.liberty(macros))
        self.text = [HEAD.format(liberty=cells.liberty, macros=library, verilog=path, top=netlist.top, period=PERIOD_NS,
                                 delay=outside[0], setup=outside[1], slew=SLEW_NS, load=LOAD_PF)]

    def ask(self, key, source="", target="", count=1):
        """Asks for the longest paths from and to lists of OpenSTA's objects."""
        ends = f"{'-from ' + source if source else ''} {'-to ' + target if target else ''}"
        self.text.append(f'puts "ASK {key}"\nreport_checks -path_delay max {ends} -group_count {count} -digits 3\n')

    def run(self):
        """The paths that were asked for, by key; raises ToolFailure where the netlist holds what cannot be timed."""
        script = tools.write(os.path.join(self.folder, "timing.tcl"), "".join(self.text) + 'puts "ASK end"\n')
        head, *answers = tools.run(["sta", "-no_splash", "-exit", script],
                                   os.path.join(self.folder, "timing.log")).split("\nASK ")
        error = re.search(r"^Error:? .*|^Warning:? .*(?:not found|black box|no timing).*", head, re.M)
        if error:
            raise tools.ToolFailure(f"sta: {self.netlist.top}: {error.group(0)}; see {self.folder}/timing.log")
        self._require_all_timed(head.partition("CHECK\n")[2])
        if not answers or answers[-1].strip() != "end":
            raise tools.ToolFailure(f"sta: {self.netlist.top}: stopped early; see {self.folder}/timing.log")
        found = {}
        for answer in answers[:-1]:
            key, text = answer.split("\n", 1)
            found[key] = self._paths(text)
        return found

    def _require_all_timed(self, text):
        """Raises ToolFailure where OpenSTA finds a register without a cycle, a loop, or an end of no path that is no constant."""
        reason = ""
        for line in text.splitlines():
            if line.startswith("Warning"):
                reason = line.split(":", 1)[1].strip() if ":" in line else line
            elif line.startswith("  ") and reason and not self.netlist.constant(line.strip()):
                raise tools.ToolFailure(f"sta: {self.netlist.top}: {self.netlist.pin_name(line.strip())} cannot be timed: "
                                        f"{reason}")

    def _paths(self, text):
        paths = {}
        for report in text.split("Startpoint: ")[1:]:
            pins = re.findall(r"[v^] (\S+) \(", report.partition("data arrival time")[0])
            slack = re.search(r"(-?[0-9.]+)\s+slack", report)
            if not slack or not pins:
                raise tools.ToolFailure(f"sta: {self.netlist.top}: the path from {report.split(None, 1)[0]} has no slack")
            # A path from a register begins with the clock's pin.
            names = [re.sub(r"\[\d+\]$", "", self.netlist.pin_name(pin))
                     for pin in (pins[1 if "/" in pins[0] else 0], pins[-1])]
            # Of paths that differ only in an index the longest is kept, which comes first.
            paths.setdefault(re.sub(r"\[\d+\]", "", " ".join(names)), Path(round(PERIOD_NS - float(slack.group(1)), 3), *names))
        return list(paths.values())
