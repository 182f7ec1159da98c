// SPDX-License-Identifier: Apache-2.0
// gemm64_command_processor keeps the contract of rtl/gemm64.json, as gemm64_bounds.svh has it (scripts/codegen/generate.py): an opcode is refused
// exactly where the table lacks it. A command that breaks a rule of its fields is never accepted: it is refused in place of its
// dispatch, or two cycles after it, with BAD_OPERAND and its number. A command that keeps them is refused with BAD_OPERAND only
// where a further rule may hold: products (lanes_check.sv), orders of windows, and KEEP, which needs settings.
//
// break gemm64_command_processor.v: wire [31:0] accumulator_rows = ACCUMULATOR_ROWS; -> wire [31:0] accumulator_rows = ACCUMULATOR_ROWS - 1;
// break gemm64_command_processor.v: wire [31:0] passes  = command[`GEMM64_CMD_PASSES_LSB -> wire [31:0] passes  = command[`GEMM64_CMD_BLOCKS_LSB
// break gemm64_command_processor.v: ~known ? `GEMM64_ERROR_BAD_OPCODE -> ~known & ~op[0] ? `GEMM64_ERROR_BAD_OPCODE
// break gemm64_im2col_check.v: passes = passes_i, blocks = blocks_i -> passes = passes_i, blocks = passes_i
// break gemm64_depthwise_check.v: GEMM64_CMD_OUT_WIDTH_LSB -> GEMM64_CMD_OUT_HEIGHT_LSB
// break gemm64_elementwise_check.v: bad_q <= `GEMM64_BROKEN_STORE | -> bad_q <=
// break gemm64_elementwise_check.v: (keep & ~loaded_q) -> ~loaded_q
// short
// multiplication any
// prove induction 4, cover 8
// probe valid_q = dut.valid
// probe command_q = dut.command
// probe pop = dut.pop
// probe bad = dut.bad
// probe code = dut.code
// probe late = dut.bad_window
// probe late_lanes = dut.bad_lanes
// probe late_vector = dut.bad_vector
module contract_proof ();

    `include "gemm64_bounds.svh"

    localparam N = 64, ACCUMULATOR_ROWS = 128, SCRATCHPAD_WORDS = 9216;

    wire       error;
    wire [3:0] error_code;
    wire [15:0] error_tag, tag;
    wire [`GEMM64_CMD_BITS-1:0] command;
    gemm64_command_processor #(.LOG_COMMANDS(1)) dut (
        .error_o (error), .error_code_o (error_code), .error_tag_o (error_tag), .tag_o (tag), .command_o (command), .*
    );

    (* keep *) wire valid_q, pop, bad, late, late_lanes, late_vector;
    (* keep *) wire [3:0] code;
    (* keep *) wire [`GEMM64_CMD_USED_BITS-1:0] command_q;

    wire [7:0] opcode = command[`GEMM64_CMD_OPCODE_LSB +: `GEMM64_CMD_OPCODE_WIDTH];
    wire [7:0] flags  = command[`GEMM64_CMD_FLAGS_LSB +: `GEMM64_CMD_FLAGS_WIDTH];
    wire keeps   = keeps_bounds(command, N, ACCUMULATOR_ROWS, SCRATCHPAD_WORDS);
    wire known   = known_opcode(command);
    wire further = opcode == `GEMM64_OP_DEPTHWISE | opcode == `GEMM64_OP_SET_WINDOW
                 | (opcode == `GEMM64_OP_STORE ? command[`GEMM64_CMD_KEEP_LSB] : flags[`GEMM64_FLAG_WINDOW_BIT]);

    // What was dispatched in the two cycles before
    reg        begun = 1'b0, gone_1, gone_2, broken_1, broken_2, further_1, further_2;
    reg [15:0] tag_1, tag_2;
    always @(posedge clk_i) begin
        begun <= 1'b1;
        gone_1 <= pop & rst_ni;
        gone_2 <= gone_1 & rst_ni;
        {broken_1, broken_2}   <= {~keeps, broken_1};
        {further_1, further_2} <= {further, further_1};
        {tag_1, tag_2}         <= {tag, tag_1};
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        else begin
            if (valid_q & ~known) assert (code == `GEMM64_ERROR_BAD_OPCODE & ~pop);
            if (valid_q & known) assert (code != `GEMM64_ERROR_BAD_OPCODE);
            if (valid_q & code == `GEMM64_ERROR_BAD_OPERAND) assert (~keeps);
            if (gone_2 & broken_2) assert (error & error_code == `GEMM64_ERROR_BAD_OPERAND & error_tag == tag_2);
            if (late | late_lanes | late_vector) assert (gone_2 & (broken_2 | further_2));
        end
        cover (begun & rst_ni & valid_q & code == `GEMM64_ERROR_BAD_OPERAND);
        cover (begun & gone_2 & broken_2);
        cover (begun & gone_2 & ~broken_2 & ~error);
    end

endmodule
