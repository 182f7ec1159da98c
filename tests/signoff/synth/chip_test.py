# SPDX-License-Identifier: Apache-2.0
"""Cells by module, paths through blocks, and memories."""

import os
import shutil

from harness import ROOT, SmallDesigns

STAGE = """\
module gemm64_stage #(parameter N = 4) (input clk_i, input [N-1:0] sum_i, output reg [N-1:0] sum_o);
  always @(posedge clk_i) sum_o <= sum_i * sum_i + 3;
endmodule
"""
REQUANTIZE = """\
module gemm64_requantize #(parameter N = 4) (input clk_i, input move_i, output busy_o, input [N-1:0] sum_i,
                                             output reg [N-1:0] result_o);
  reg busy_q; assign busy_o = busy_q;
  always @(posedge clk_i) begin busy_q <= move_i; if (move_i) result_o <= ~sum_i; end
endmodule
"""


class Chip(SmallDesigns):
    def test_a_path_into_a_block_is_as_long_as_without_the_block(self):
        whole = "wire [3:0] sum;\n{stage}\nreg [3:0] a_q; always @(posedge clk_i) begin a_q <= a_i; b_o <= sum; end"
        self.rtl("gemm64_stage", STAGE)
        boxed = self.made(whole.format(stage=" gemm64_stage #(4) u_stage (clk_i, a_q, sum);"))
        flat = self.made(whole.format(stage="reg [3:0] s_q; assign sum = s_q; always @(posedge clk_i) s_q <= a_q * a_q + 3;"))
        path = boxed.paths["gemm64_stage"][0]
        self.assertEqual((path.start, path.end), ("a_q", "u_stage.sum_i"))
        self.assertAlmostEqual(path.ns, max(entry.ns for entry in flat.paths["gemm64"] if entry.start == "a_q"), delta=0.25)
        self.assertIn(("u_stage.sum_o", "b_o"), [(entry.start, entry.end) for entry in boxed.paths["gemm64"]])

    def test_cells_belong_to_their_module_and_add_up(self):
        self.rtl("gemm64_stage", STAGE)
        self.rtl("gemm64_fifo", "module gemm64_fifo(input clk_i, input [3:0] a_i, output reg [3:0] d_o);\n"
                 "always @(posedge clk_i) d_o <= a_i + 5;\nendmodule\n")
        chip = self.made(" wire [3:0] x, y, z;\n gemm64_fifo u_fifo (clk_i, a_i, x);\n gemm64_stage u_0 (clk_i, x, y);\n"
                         " gemm64_stage u_1 (clk_i, y, z); always @(posedge clk_i) b_o <= z;")
        single = self.made(top="gemm64_stage")
        self.assertEqual(chip.blocks, {"gemm64_stage": 2})
        self.assertEqual(chip.cells["gemm64_stage"][0], 2 * single.cells["gemm64_stage"][0])
        self.assertEqual(chip.cells["gemm64"], (4, 4 * 96.0))  # flip-flops only: the sum's gates are the queue's
        self.assertGreater(chip.cells["gemm64_fifo"][0], 4)
        self.assertEqual(sorted(chip.cells), ["gemm64", "gemm64_fifo", "gemm64_stage"])

    def test_a_wide_requantizer_is_made_of_parts(self):
        self.rtl("gemm64_requantize", REQUANTIZE)
        self.rtl("gemm64", "module gemm64(input clk_i, input move_i, input [15:0] a_i, output busy_o, output [15:0] b_o);\n"
                 " gemm64_requantize #(.N(16)) u_requantize (clk_i, move_i, busy_o, a_i, b_o);\nendmodule\n")
        chip = self.made()
        self.assertEqual(chip.blocks, {"gemm64_requantize": 4})
        self.assertEqual({path.end for path in chip.paths["gemm64"]}, {"b_o", "busy_o"})
        self.assertIn("u_requantize[0].sum_i", {path.end for path in chip.paths["gemm64_requantize"]})

    def test_a_constant_that_a_block_gives_has_no_path(self):
        self.rtl("gemm64_stage", """\
module gemm64_stage #(parameter N = 4) (input clk_i, input [N-1:0] sum_i, output reg [N-1:0] sum_o, output [1:0] edge_o);
  assign edge_o = 2'd1;
  always @(posedge clk_i) sum_o <= sum_i + 3;
endmodule
""")
        self.rtl("gemm64", "module gemm64(input clk_i, input [3:0] a_i, output [1:0] edge_o, output reg [3:0] b_o);\n"
                 " wire [1:0] mark; wire [3:0] sum;\n gemm64_stage u_stage (clk_i, a_i, sum, mark);\n assign edge_o = mark;\n"
                 " always @(posedge clk_i) b_o <= sum ^ {mark, mark};\nendmodule\n")
        self.assertEqual({path.end for path in self.made().paths["gemm64"]}, {"b_o"})

    def test_a_register_that_drives_many_blocks_has_buffers(self):
        self.rtl("gemm64_stage", STAGE)
        stages = "".join(f" gemm64_stage u_{i} (clk_i, a_q, s{i});\n wire [3:0] s{i};\n" for i in range(64))
        chip = self.made("reg [3:0] a_q;\n" + stages + "always @(posedge clk_i) begin a_q <= a_i; b_o <= "
                         + "^".join(f"s{i}" for i in range(64)) + "; end")
        self.assertEqual(chip.blocks, {"gemm64_stage": 64})
        self.assertLess(chip.paths["gemm64_stage"][0].ns, 4)  # above 5 ns without


class Memories(SmallDesigns):
    def of(self, module, **parameters):
        shutil.rmtree("rtl")
        shutil.copytree(os.path.join(ROOT, "rtl"), "rtl")
        return {memory.where: (times, memory) for times, memory in self.made(top=module, **parameters).memories}

    def test_the_weight_buffer_has_the_words_and_bits_of_its_parameters(self):
        (times, memory), = self.of("gemm64_weights", N=4, LOG_N=2, LOG_WORDS=5).values()
        self.assertEqual((times, memory.words, memory.width, memory.lane), (1, 32, 32, 32))
        self.assertEqual(memory.ports, {"write_i": 1, "write_address_i": 5, "write_data_i": 32,
                                        "read_i": 1, "read_address_i": 5, "data_o": 32})

    def test_a_column_of_the_accumulator_has_two_banks(self):
        memories = self.of("gemm64_accumulator_column", ROWS=64, ROW_WIDTH=6)
        self.assertEqual(len(memories), 2)
        self.assertEqual({(times, memory.words, memory.width) for times, memory in memories.values()}, {(1, 64, 32)})

    def test_parameters_are_written_a_quarter_of_a_word_at_a_time(self):
        (_, memory), = self.of("gemm64_set_ram", LANE_WIDTH=8, DEPTH=4, ADDRESS_WIDTH=2).values()
        self.assertEqual((memory.words, memory.width, memory.lane, memory.ports["write_i"]), (4, 32, 8, 4))
