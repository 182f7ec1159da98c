# SPDX-License-Identifier: Apache-2.0
"""Loads, transition times, delays and energies of a netlist's nets, from its cells' Liberty tables."""

CLOCK_SLEW_NS = 0.1   # transition time of a cycle
INPUT_SLEW_NS = 0.1   # and of a module's inputs
GATE = ("LATCH", "AND2X2", "INVX1")  # what a clock gate is made of


class MissingCell(Exception):
    """A library without a cell that is needed next to those that the mapper chose."""


def order(netlist):
    """Combinational instances, each after those that drive it."""
    drivers = {net: instance for instance in netlist.instances
               if instance.cell is not None and not instance.cell.register for net in instance.outputs.values()}
    done, result = set(), []
    for root in drivers.values():
        stack = [root]
        while stack:
            instance = stack[-1]
            if id(instance) in done:
                stack.pop()
                continue
            waiting = [drivers[net] for net in instance.inputs.values() if net in drivers and id(drivers[net]) not in done]
            if waiting:
                stack.extend(waiting)
            else:
                done.add(id(instance))
                result.append(instance)
                stack.pop()
    return result


def mean(values):
    return sum(values) / len(values)


class Electrical:
    """What each net and register of a netlist costs. Energies are in pJ, of one change of a net or one cycle."""

    def __init__(self, netlist, library, register="DFFPOSX1", clock_slew=CLOCK_SLEW_NS, input_slew=INPUT_SLEW_NS):
        self.netlist, self.liberty = netlist, library
        for name in (register, *GATE):
            if name not in library.cells:
                raise MissingCell(f"the cells hold no {name}, which clock gates are weighed with")
        self.register = library.cells[register]
        self.gates = order(netlist)
        self.load = [0.0] * netlist.nets
        self.slew = [input_slew] * netlist.nets
        self.delay = [0.0] * netlist.nets
        self.internal = [0.0] * netlist.nets  # inside the driver
        self.passive = [0.0] * netlist.nets   # inside registers that a net's changes reach
        half = 0.5 * library.volts ** 2
        self.half = half
        self.groups = {}                      # registers after each clock gate, by the net that enables it
        for instance in netlist.instances:
            if instance.cell is None:
                self.load[instance.inputs["D"]] += self.register.capacitance["D"]
                self.groups.setdefault(instance.inputs["E"], []).append(instance)
            else:
                for pin, net in instance.inputs.items():
                    if pin != instance.cell.clock:
                        self.load[net] += instance.cell.capacitance[pin]
        for enable in self.groups:
            self.load[enable] += library.cells["LATCH"].capacitance["D"]
        for instance in netlist.registers():
            self.drive(instance.cell or self.register, "Q", instance.outputs["Q"],
                       {self.register.clock: clock_slew})
        for instance in self.gates:
            for pin, net in instance.outputs.items():
                self.drive(instance.cell, pin, net, {name: self.slew[source] for name, source in instance.inputs.items()})
        for instance in netlist.registers():
            cell = instance.cell or self.register
            net = instance.inputs["D"]
            for pin, related, rise, fall in cell.energies:
                if pin == "D" and related is None:
                    self.passive[net] += mean([rise.at(0, self.slew[net]), fall.at(0, self.slew[net])])
        self.switching = [half * load for load in self.load]

        # Of a register's clock pin, in a cycle that reaches it.
        self.clock_internal = sum(rise.at(0, clock_slew) + fall.at(0, clock_slew)
                                  for pin, related, rise, fall in self.register.energies if pin == self.register.clock)
        self.clock_pin = 2 * half * self.register.capacitance[self.register.clock]
        self.register_delay = mean([table.at(0.05, clock_slew) for table in
                                    self.register.delays["Q", self.register.clock][0]])
        self.leakage_nw = sum((instance.cell or self.register).leakage_nw for instance in netlist.instances)
        self.leakage_nw += len(self.groups) * sum(library.cells[name].leakage_nw for name in GATE)

    def drive(self, cell, pin, net, slews):
        """Delay, transition time and internal energy of a driver, as means over its inputs, its rise and its fall."""
        load = self.load[net]
        delays, transitions = [], []
        for (output, source), (delay, transition) in cell.delays.items():
            if output == pin and source in slews:
                delays += [table.at(load, slews[source]) for table in delay]
                transitions += [table.at(load, slews[source]) for table in transition]
        if delays:
            self.delay[net] = mean(delays)
            self.slew[net] = mean(transitions)
        energies = [mean([rise.at(load, slews[related]), fall.at(load, slews[related])])
                    for output, related, rise, fall in cell.energies if output == pin and related in slews]
        if energies:
            self.internal[net] = mean(energies)

    def gate_energy(self, registers):
        """(pJ of a cycle in a clock gate, pJ more where it lets the clock through to that many registers)"""
        latch, gate, inverter = (self.liberty.cells[name] for name in GATE)
        slew = CLOCK_SLEW_NS
        rest = 2 * self.half * (inverter.capacitance["A"] + gate.capacitance["A"] + latch.capacitance["CLK"])
        for cell, pin, load in ((inverter, "Y", latch.capacitance["CLK"]), (latch, "CLK", 0.0)):
            table = [(rise, fall) for output, _, rise, fall in cell.energies if output == pin]
            rest += mean([rise.at(load, slew) + fall.at(load, slew) for rise, fall in table])
        load = registers * self.register.capacitance[self.register.clock]
        rise, fall = next((rise, fall) for output, related, rise, fall in gate.energies if related == "A")
        # The tables end long before such loads; a real gate is larger, and its last value stands for it.
        most = 0.3
        through = rise.at(min(load, most), slew) + fall.at(min(load, most), slew) + registers * (self.clock_pin + self.clock_internal)
        return rest, through
