// SPDX-License-Identifier: Apache-2.0
// Refuses parameters of gemm64 that cannot work: the elaboration ends with a module that does not exist, whose name says
// what must hold. Without a port and without logic.
// Latency: none.
// Handshake: none.
`default_nettype none

module gemm64_config_check #(
    parameter N                = 64,    // see gemm64
    parameter STAGE_ROWS       = 4,
    parameter SUM_WIDTH        = 22,
    parameter SELF_CHECK       = 0,
    parameter SCRATCHPAD_WORDS = 9216,
    parameter TENSOR_WORDS     = 6144,
    parameter ACCUMULATOR_ROWS = 128,
    parameter LOG_WEIGHT_WORDS = 10,
    parameter LOG_READS        = 4,
    parameter LOG_WRITES       = 4,
    parameter LOG_COMMANDS     = 4,
    parameter LOG_PARAMETER_SETS = 4,
    parameter ADDRESS_WIDTH    = 40
) ();

    localparam WEIGHT_WORDS = 1 << LOG_WEIGHT_WORDS;
    localparam MAX_BEATS   = 64;

    generate
        if (N != 2 && N != 4 && N != 8 && N != 16 && N != 32 && N != 64 && N != 128) begin : array
            N_must_be_a_power_of_two_from_2_to_128 u_refused ();
        end
        if ((STAGE_ROWS != 1 && STAGE_ROWS != 2 && STAGE_ROWS != 4 && STAGE_ROWS != 8) || STAGE_ROWS > N) begin : stage
            STAGE_ROWS_must_be_1_2_4_or_8_and_at_most_N u_refused ();
        end
        // N products of at most 2^14 in magnitude; more bits than the accumulator has would be lost there.
        if (SUM_WIDTH > 32 || (1 << (SUM_WIDTH - 16)) < N) begin : sums
            SUM_WIDTH_must_be_at_least_16_plus_log2_N_and_at_most_32 u_refused ();
        end
        if (SELF_CHECK < 0 || SELF_CHECK > 2) begin : checks
            SELF_CHECK_must_be_0_1_or_2 u_refused ();
        end
        if (ACCUMULATOR_ROWS < 2 || ACCUMULATOR_ROWS > 32768
            || (ACCUMULATOR_ROWS & (ACCUMULATOR_ROWS - 1)) != 0) begin : accumulator
            ACCUMULATOR_ROWS_must_be_a_power_of_two_from_2_to_32768 u_refused ();
        end
        // The last row of a block may come with a burst of MAX_BEATS.
        if (SCRATCHPAD_WORDS < ACCUMULATOR_ROWS + MAX_BEATS - 1 || SCRATCHPAD_WORDS > 1 << 24) begin : scratchpad
            SCRATCHPAD_WORDS_must_be_at_least_ACCUMULATOR_ROWS_plus_63_and_at_most_2_to_the_24 u_refused ();
        end
        // The rest of the scratchpad is to be large enough, too.
        if (TENSOR_WORDS < 0 || (TENSOR_WORDS != 0 && SCRATCHPAD_WORDS - TENSOR_WORDS < ACCUMULATOR_ROWS + MAX_BEATS - 1)) begin : tensor
            TENSOR_WORDS_must_be_0_or_leave_ACCUMULATOR_ROWS_plus_63_words u_refused ();
        end
        if (WEIGHT_WORDS < 2 * N || LOG_WEIGHT_WORDS > 16) begin : weights
            LOG_WEIGHT_WORDS_must_be_at_most_16_and_hold_2_tiles u_refused ();
        end
        if (LOG_READS < 1 || LOG_READS > 7 || LOG_WRITES < 1 || LOG_WRITES > 7) begin : bursts
            LOG_READS_and_LOG_WRITES_must_be_from_1_to_7 u_refused ();
        end
        if (LOG_COMMANDS < 1 || LOG_COMMANDS > 7) begin : commands
            LOG_COMMANDS_must_be_from_1_to_7 u_refused ();
        end
        // A burst takes half of the sets' places at most, so that a whole set is there when the other half is not free.
        if (LOG_PARAMETER_SETS < 1 || LOG_PARAMETER_SETS > 10) begin : sets
            LOG_PARAMETER_SETS_must_be_from_1_to_10 u_refused ();
        end
        if (ADDRESS_WIDTH < 24 || ADDRESS_WIDTH > 63) begin : addresses
            ADDRESS_WIDTH_must_be_from_24_to_63 u_refused ();
        end
    endgenerate

endmodule

`default_nettype wire
