# SPDX-License-Identifier: Apache-2.0
"""What cannot be timed fails synthesis, and the failure names it."""

from harness import SmallDesigns, tools


class Untimed(SmallDesigns):
    def fails(self, text, name):
        with self.assertRaisesRegex(tools.ToolFailure, name):
            self.made(text)

    def test_a_register_without_the_clock(self):
        self.fails("reg half_q; reg [3:0] deep_q; always @(posedge clk_i) begin half_q <= ~half_q; b_o <= deep_q; end\n"
                   "always @(posedge half_q) deep_q <= a_i;", "deep_q.* cannot be timed")

    def test_a_loop(self):
        self.fails("wire x, y; assign x = ~(y & a_i[0]); assign y = ~(x & a_i[1]); always @(posedge clk_i) b_o <= {4{y}};",
                   "gate of gemm64 cannot be timed: .*loop")

    def test_a_latch(self):
        self.fails("reg [3:0] c; always @* if (a_i[0]) c = a_i; always @(posedge clk_i) b_o <= c;", "DLATCH")

    def test_a_memory_that_is_read_without_a_clock(self):
        self.rtl("gemm64_ram", "module gemm64_ram(input clk_i, input [3:0] a_i, output [3:0] d_o);\n"
                 "reg [3:0] m_q [0:15]; assign d_o = m_q[a_i]; always @(posedge clk_i) m_q[a_i] <= a_i;\nendmodule\n")
        self.fails(" wire [3:0] d;\n gemm64_ram u_ram (clk_i, a_i, d); always @(posedge clk_i) b_o <= d;",
                   "u_ram.m_q is read without a cycle")

    def test_an_output_of_a_block_that_nothing_times(self):
        self.rtl("gemm64_stage", "module gemm64_stage(input clk_i, input [3:0] a_i, output [3:0] d_o);\n"
                 "reg half_q; reg [3:0] d_q; assign d_o = d_q;\n"
                 "always @(posedge clk_i) half_q <= ~half_q; always @(posedge half_q) d_q <= a_i;\nendmodule\n")
        self.fails(" wire [3:0] d;\n gemm64_stage u_stage (clk_i, a_i, d); always @(posedge clk_i) b_o <= d;",
                   "gemm64_stage: d_q.* cannot be timed")

    def test_a_design_without_any_path(self):
        self.fails("always @* b_o = 4'd3;", "no path")

    def test_what_has_paths_alone_passes(self):
        self.assertEqual([(path.start, path.end) for path in self.made("always @(posedge clk_i) b_o <= ~a_i;").paths["gemm64"]],
                         [("a_i", "b_o"), ("b_o", "b_o")])
