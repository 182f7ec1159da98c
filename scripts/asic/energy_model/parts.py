# SPDX-License-Identifier: Apache-2.0
"""The parts of the accelerator whose gates are simulated: what they are made of, and what drives them."""

from . import netlist as netlists
from . import simulate

N = 64
ROWS = 4                     # of a stage
STAGES = N // ROWS
COLUMNS = 8                  # of the piece of a stage that is synthesized
PIECES = N // COLUMNS
SUM_WIDTH = 22
ARRAY = ("rst_ni", "weight_valid_i", "weight_column_i", "weight_i", "activation_valid_i", "activation_i", "sum_o")
ARRAY = ["u_array." + name for name in ARRAY]


class Mismatch(Exception):
    """The gates gave another value than the RTL."""


def begin(signals):
    """The cycle in which the tile's first column of weights enters the array; the tile before it comes first in the trace."""
    starts = [clock for clock, (valid, column) in
              enumerate(zip(signals["u_array.weight_valid_i"], signals["u_array.weight_column_i"])) if valid and column == 0]
    if len(starts) < 2:
        raise netlists.ToolFailure("the trace holds no tile before the layer's: it is the only one of the program")
    return starts[1]


def bits(words, width):
    """Words, one for each copy, as one word for each bit, with bit c for copy c."""
    texts = [format(word, f"0{width}b") for word in words]
    return [int("".join(text[i] for text in reversed(texts)), 2) for i in range(width - 1, -1, -1)]


def fields(netlist, names):
    """Nets of ports, in order."""
    return [net for name in names for net in netlist.ports[name][1]]


class Stages:
    """All 16 stages of 64 columns: 128 pieces of 4 rows by 8 columns, each a copy of one netlist."""

    copies = STAGES * PIECES
    ports = ("rst_ni", "weight_valid_i", "weight_column_i", "weight_i", "activation_valid_i", "activation_i")

    def __init__(self, signals):
        self.signals = signals
        self.first = begin(signals) if any(signals["u_array.weight_valid_i"]) else self.at_rest()
        self.last = self.first + STAGES + N + N
        length = len(signals[ARRAY[0]])
        if length < self.first + N:
            raise netlists.ToolFailure(f"the trace ends {length - self.first} cycles after its tile begins")
        words = []
        low = (1 << 8 * ROWS) - 1
        # Of what comes after the trace a tile's cycles need nothing: no piece gets rows or weights there.
        series = [self.signals[name] + [0] * (self.last + 1 - length) for name in ARRAY]
        cut = [[[(word >> 8 * ROWS * stage) & low for word in series[k]] for stage in range(STAGES)] for k in (3, 5)]
        for clock in range(self.last + 1):
            copies = []
            for stage in range(STAGES):
                for piece in range(PIECES):
                    then = max(clock - stage, 0)  # weights pass a stage a cycle, activations a column per cycle too
                    valid, column = series[1][then], series[2][then]
                    here = valid and column // COLUMNS == piece
                    entered = max(then - COLUMNS * piece, 0)
                    word = 1 | (here << 1) | (column % COLUMNS) << 2 | cut[0][stage][then] << 5
                    word |= series[4][entered] << 37 | cut[1][stage][entered] << 38
                    copies.append(word)
            words.append([self.counted(clock)] + bits(copies, 70))
        self.stimulus = words

    def at_rest(self):
        """First of the cycles that count where no tile enters. The scratchpad's words go no further than the skews then."""
        length = len(self.signals[ARRAY[0]])
        if length < STAGES + N + N:
            raise netlists.ToolFailure(f"the trace has {length} cycles, fewer than a tile takes")
        self.signals = {**self.signals, "u_array.activation_i": [0] * length}
        return length - STAGES - N - N

    def counted(self, clock):
        """Copies in which this cycle is one of the tile's 64."""
        word = 0
        for stage in range(STAGES):
            for piece in range(PIECES):
                if 0 <= clock - self.first - stage - COLUMNS * piece < N:
                    word |= 1 << (stage * PIECES + piece)
        return word

    def rows(self):
        """That entered in the tile's 64 cycles."""
        return sum(self.signals["u_array.activation_valid_i"][self.first:self.first + N])

    @staticmethod
    def synthesize(liberty, folder, enables, gated):
        parameters = {"N": COLUMNS, "ROWS": ROWS, "COLUMN_WIDTH": 3, "SUM_WIDTH": SUM_WIDTH, "CLOCK_ENABLES": enables}
        return netlists.synthesize("gemm64_stage", parameters, liberty, folder, gated)

    def run(self, program, electrical, folder):
        """Counts of the tile's cycles; raises Mismatch where the sums are not the RTL's."""
        netlist = electrical.netlist
        sum_in, sum_out = netlist.ports["sum_i"][1], netlist.ports["sum_o"][1]
        backs = [(net, source, PIECES) for net, source in zip(sum_in, sum_out) if net > 1]
        counts = simulate.simulate(program, electrical, folder, fields(netlist, self.ports), self.stimulus, backs, sum_out)
        self.compare(counts.watched)
        return counts

    def compare(self, watched):
        valid, sums = self.signals["u_array.activation_valid_i"], self.signals["u_array.sum_o"]
        compared = 0
        for column in range(N):
            copy = (STAGES - 1) * PIECES + column // COLUMNS
            for clock in range(self.first + STAGES + column + 1, self.first + STAGES + column + 1 + N):
                if clock >= len(sums) or not valid[clock - STAGES - column - 1]:
                    continue
                bit = SUM_WIDTH * (column % COLUMNS)
                got = sum((watched[clock][bit + i] >> copy & 1) << i for i in range(SUM_WIDTH))
                want = sums[clock] >> 32 * column & ((1 << SUM_WIDTH) - 1)
                if got != want:
                    raise Mismatch(f"column {column}, cycle {clock}: the gates gave {got}, the RTL {want}")
                compared += 1
        self.compared = compared


class Skews:
    """Both skews, of activations and of weights: two copies of one netlist."""

    copies = 2
    ports = ("valid_i", "data_i")

    def __init__(self, signals):
        series = [signals[name] for name in ARRAY]
        length = len(series[0])
        self.stimulus = [[3 if clock >= length - N else 0] +
                         bits([series[4][clock] | series[5][clock] << 1, series[1][clock] | series[3][clock] << 1], 1 + 8 * N)
                         for clock in range(length)]

    @staticmethod
    def synthesize(liberty, folder, enables, gated):
        parameters = {"LANES": STAGES, "WIDTH": 8 * ROWS, "CLOCK_ENABLES": enables}
        return netlists.synthesize("gemm64_skew", parameters, liberty, folder, gated)

    def run(self, program, electrical, folder):
        return simulate.simulate(program, electrical, folder, fields(electrical.netlist, self.ports), self.stimulus)


class Accumulator:
    """The accumulator without its memories: 64 columns' adders, and the requests that travel along them."""

    copies = 1
    ports = ("rst_ni", "valid_i", "first_i", "last_i", "bank_i", "row_i", "sum_i", "store_read_i", "store_bank_i", "store_row_i",
             "lanes_valid_i", "lanes_bank_i", "lanes_row_i", "lanes_sum_i")
    names = ["u_accumulator." + name for name in ports]
    reads = [f"u_accumulator.column[{column}].u_column.read_{bank}_q" for column in range(N) for bank in (0, 1)]
    adds = ["u_accumulator." + name for name in ("add_0_q", "add_1_q", "first_q")]

    def __init__(self, signals):
        self.signals = signals

    @staticmethod
    def synthesize(liberty, folder, enables, gated):
        del enables
        files = [("gemm64_accumulator", netlists.LOGIC), ("gemm64_accumulator_column", netlists.ARRAYS)]
        return netlists.synthesize("gemm64_accumulator", {}, liberty, folder, gated, files)

    def run(self, program, electrical, folder):
        """Counts of the last 64 cycles; raises Mismatch where what is written is not the RTL's old sum and new one."""
        netlist = electrical.netlist
        memories = {name.split(".sums_")[0].strip("\\") + name.split(".sums_")[1][0]: pins
                    for name, pins in netlist.memories.items()}
        pins = [memories[f"column[{column}].u_column{bank}"] for column in range(N) for bank in (0, 1)]
        inputs = fields(netlist, self.ports) + [net for _, out in pins for net in out[:32]]
        series = [(self.signals[name], len(netlist.ports[port][1])) for name, port in zip(self.names, self.ports)]
        series += [(self.signals[name], 32) for name in self.reads]
        length = len(series[0][0])
        stimulus = [[clock >= length - N] + [value[clock] >> i & 1 for value, width in series for i in range(width)]
                    for clock in range(length)]
        watched = [net for into, _ in pins for net in into[:32] + [into[39]]]
        counts = simulate.simulate(program, electrical, folder, inputs, stimulus, (), watched)
        self.compare(counts.watched)
        return counts

    def compare(self, watched):
        self.compared = 0
        length = len(watched)
        for clock in range(length - N, length):
            first = self.signals[self.adds[2]][clock]
            for column in range(N):
                for bank in (0, 1):
                    place = 33 * (2 * column + bank)
                    if not watched[clock][place + 32]:
                        continue
                    if self.signals["u_accumulator.lanes_valid_i"][clock]:
                        old, new = 0, self.signals["u_accumulator.lanes_sum_i"]
                    else:
                        old = 0 if first >> column & 1 else self.signals[self.reads[2 * column + bank]][clock]
                        new = self.signals["u_accumulator.sum_i"]
                    want = old + (new[clock] >> 32 * column) & 0xffffffff
                    got = sum(bit << i for i, bit in enumerate(watched[clock][place:place + 32]))
                    if got != want:
                        raise Mismatch(f"accumulator column {column}, cycle {clock}: the gates gave {got}, the RTL {want}")
                    self.compared += 1


class Pieces:
    """A module of 64 lanes without their memories: 8 pieces of 8, each a copy of one netlist, and each with the control that all share."""

    copies = PIECES
    parameters = {"N": COLUMNS}
    memories = {}  # what they give, as a port

    def __init__(self, signals):
        self.signals = {name: signals[f"{self.path}.{name}"] for name in self.names()}

    @classmethod
    def names(cls):
        return [*cls.shared, *cls.words, *cls.memories, "valid_o", cls.result[0]]

    @classmethod
    def synthesize(cls, liberty, folder, enables, gated):
        del enables
        return netlists.synthesize(cls.files[0][0], cls.parameters, liberty, folder, gated, cls.files)

    @staticmethod
    def pieces(word, width=8, words=1):
        """A word of each piece: of words of 64 lanes, its lanes."""
        low = (1 << width * COLUMNS) - 1
        return [sum((word >> width * (N * i + COLUMNS * piece) & low) << width * COLUMNS * i for i in range(words)) for piece in range(PIECES)]

    def rows(self):
        """That left in the last 64 cycles."""
        ready = self.signals.get("ready_i", [1] * len(self.signals["valid_o"]))
        return sum(valid & taken for valid, taken in zip(self.signals["valid_o"][-N:], ready[-N:]))

    def run(self, program, electrical, folder):
        """Counts of the last 64 cycles; raises Mismatch where the results are not the RTL's."""
        netlist = electrical.netlist
        memories = {name.strip("\\") + ".data_o": out for name, (_, out) in netlist.memories.items()}
        inputs = fields(netlist, (*self.shared, *self.words)) + [net for name in self.memories for net in memories[name]]
        every = (1 << self.copies) - 1
        length = len(self.signals["valid_o"])
        stimulus = []
        for clock in range(length):
            row = [every if clock >= length - N else 0]
            for name in self.shared:
                row += [every * (self.signals[name][clock] >> i & 1) for i in range(len(netlist.ports[name][1]))]
            for name, (width, words) in {**self.words, **self.memories}.items():
                row += bits(self.pieces(self.signals[name][clock], width, words), width * COLUMNS * words)
            stimulus.append(row)
        counts = simulate.simulate(program, electrical, folder, inputs, stimulus, (), fields(netlist, ("valid_o", self.result[0])))
        self.compare(counts.watched)
        return counts

    def compare(self, watched):
        self.compared = 0
        name, width = self.result
        for clock in range(len(watched) - N, len(watched)):
            valid, *nets = watched[clock]
            if valid != self.signals["valid_o"][clock] * ((1 << self.copies) - 1):
                raise Mismatch(f"{self.path}, cycle {clock}: the gates gave valid_o of pieces {valid:#x}, the RTL {self.signals['valid_o'][clock]}")
            for lane in range(N if valid else 0):
                copy, place = lane // COLUMNS, width * (lane % COLUMNS)
                got = sum((word >> copy & 1) << i for i, word in enumerate(nets[place:place + width]))
                want = self.signals[name][clock] >> width * lane & (1 << width) - 1
                if got != want:
                    raise Mismatch(f"{self.path}, lane {lane}, cycle {clock}: the gates gave {got}, the RTL {want}")
                self.compared += 1


class Lanes(Pieces):
    path = "u_lanes"
    files = [("gemm64_depthwise", netlists.LOGIC), ("gemm64_depthwise_walk", netlists.LOGIC), ("gemm64_parity_check", netlists.LOGIC),
             ("gemm64_ram", netlists.WHOLE_MEMORY), ("gemm64_set_ram", netlists.WHOLE_MEMORY)]
    shared = ("rst_ni", "window_i", "zero_i", "load_i", "active_i", "planes_i", "images_i", "maximum_i", "accumulate_i", "word_there_i",
              "weight_there_i", "place_i", "row_last_i", "row_bank_i", "row_i")
    words = {"word_i": (8, 1), "weight_i": (8, 1)}  # port: bits of a lane, words of all lanes
    memories = {**{f"above[{line}].kept.u_line.data_o": (8, 1) for line in range(1, 7)}, "u_weights.data_o": (8, 9)}
    result = ("sum_o", 32)


class Requantizer(Pieces):
    path = "u_output.u_results.u_requantize"
    files = [("gemm64_requantize", netlists.LOGIC)]
    shared = ("rst_ni", "valid_i", "first_i", "last_i", "zero_i", "low_i", "high_i", "beside_i", "freeze_i", "ready_i")
    words = {"sum_i": (32, 1), "bias_i": (32, 1), "scale_i": (32, 1), "operand_i": (8, 1)}
    result = ("result_o", 8)


class Vector(Pieces):
    """Without what is in its table, whose words have as many entries as there are lanes: it is not looked up."""

    path = "u_output.u_results.u_vector"
    files = [("gemm64_elementwise", netlists.LOGIC)]
    parameters = {"N": COLUMNS, "LOG_N": COLUMNS.bit_length() - 1}
    shared = ("rst_ni", "load_i", "signed_i", "add_i", "multiply_i", "swap_i", "operand_moved_i", "result_moved_i", "result_scale_i",
              "operand_scale_i", "offset_i", "result_zero_i", "operand_zero_i", "low_i", "high_i", "valid_i", "last_i", "ready_i")
    words = {"result_i": (8, 1), "operand_i": (8, 1)}
    result = ("result_o", 8)

    def __init__(self, signals):
        super().__init__(signals)
        # Settings stay at the ports while rows are in progress, loaded by a STORE before this one, it may be.
        self.signals["load_i"] = [1, *self.signals["load_i"][1:]]


SIGNALS = sorted({*ARRAY, *Accumulator.names, *Accumulator.reads, *Accumulator.adds,
                  *(f"{kind.path}.{name}" for kind in (Lanes, Requantizer, Vector) for name in kind.names())})
