# SPDX-License-Identifier: Apache-2.0
"""Reads FST files through GTKWave's own fst2vcd, so that the tests share no reader with sim/."""

import subprocess

CYCLE = 1000  # units of time


def lines(path):
    """The lines of the file as VCD; the reader may stop early."""
    with subprocess.Popen(["fst2vcd", "-f", path], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL) as process:
        yield from process.stdout
    if process.returncode:
        raise RuntimeError(f"fst2vcd cannot read {path}")


def names(path):
    """Every signal as save files name it, such as top.unit.data_q[3][7:0], and its VCD code."""
    scopes, found = [], {}
    for line in lines(path):
        parts = line.split()
        if not parts:
            continue
        if parts[0] == "$scope":
            scopes.append(parts[2])
        elif parts[0] == "$upscope":
            scopes.pop()
        elif parts[0] == "$var":
            found[".".join([*scopes, "".join(parts[4:-1])])] = parts[3]
        elif parts[0] == "$enddefinitions":
            break
    return found


class Trace:
    """The values of some signals by cycle, as they are when clk_i is low: at the second of that number."""

    def __init__(self, path, signals):
        codes = names(path)
        self._changes = {codes[signal]: [] for signal in signals}
        self._signals = {signal: codes[signal] for signal in signals}
        time = 0
        for line in lines(path):
            if line[0] == "#":
                time = int(line[1:])
            elif line[0] in "01xz":
                self._change(line[1:-1], time, line[0])
            elif line[0] == "b":
                value, code = line[1:].split()
                self._change(code, time, value)
        self.end = -(-time // CYCLE)

    def _change(self, code, time, value):
        if code in self._changes:
            self._changes[code].append((time, int(value.replace("x", "0").replace("z", "0"), 2)))

    def at(self, signal, clock):
        """The value of the signal in a cycle, unsigned."""
        value = 0
        for time, new in self._changes[self._signals[signal]]:
            if time > CYCLE * clock:
                break
            value = new
        return value

    def lane(self, signal, clock, index, width):
        """Lane `index` of a wide vector, signed."""
        return signed(self.at(signal, clock) >> (index * width), width)

    def first(self, signal, after=0):
        """The first cycle from `after` on in which the signal is not zero."""
        return next(clock for clock in range(after, self.end) if self.at(signal, clock))


def signed(value, width):
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value
