// SPDX-License-Identifier: Apache-2.0
// What gemm64_residue_check knows of remainders by 3, digit by digit to base 4: for all digits, hence for numbers of any length.
// fold() leaves what its two digits leave together, so by_3() leaves what the sum of a number's digits leaves. Of an addition, and
// of a flip, what holds below a digit holds with it: the remainder of a sum is that of its parts, less that of the carry, and a
// flip in one digit changes the remainder of the number.
//
// short
// prove bound 1, cover 1
module remainders_proof (
    input wire       clk_i,
    input wire [1:0] a_i,       // a digit of each number, and the carry that comes from below
    input wire [1:0] b_i,
    input wire       carry_i,
    input wire [1:0] below_a_i, // remainders of the digits below
    input wire [1:0] below_b_i,
    input wire [1:0] below_s_i, // of those of their sum
    input wire [1:0] flip_i
);

    function [1:0] fold;
        input [1:0] one, other;
        reg   [2:0] both;
        begin
            both = {1'b0, one} + {1'b0, other};
            fold = both[1:0] + {1'b0, both[2]};
        end
    endfunction

    function [1:0] left;  // by 3
        input [3:0] number;
        left = number % 3;
    endfunction

    wire [2:0] sum = a_i + b_i + carry_i;
    always @* begin
        assert (left(fold(a_i, b_i)) == left(a_i + b_i));

        // An addition
        if (left(below_s_i + carry_i) == left(below_a_i + below_b_i))
            assert (left(left(below_s_i + sum[1:0]) + sum[2])
                    == left(left(below_a_i + a_i) + left(below_b_i + b_i)));

        // A flip in this digit, or below
        if (flip_i == 1 | flip_i == 2) assert (left(below_a_i + (a_i ^ flip_i)) != left(below_a_i + a_i));
        if (left(below_a_i) != left(below_b_i)) assert (left(below_a_i + a_i) != left(below_b_i + a_i));
        cover (sum == 7);
    end

endmodule
