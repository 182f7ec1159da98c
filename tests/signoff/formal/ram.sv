// SPDX-License-Identifier: Apache-2.0
// A word that is read from gemm64_ram is the one that was written there last, and stays until the next read.
//
// short
// break gemm64_ram.v: if (read_i) data_o -> data_o
// prove induction 1, cover 6
// probe entries_0 = dut.memory_q[0]
// probe entries_1 = dut.memory_q[1]
// probe entries_2 = dut.memory_q[2]
module ram_proof ();

    gemm64_ram #(.WIDTH(8), .DEPTH(3), .ADDRESS_WIDTH(2)) dut (.*);

    (* keep *) wire [7:0] entries_0, entries_1, entries_2;

    (* anyconst *) reg [1:0] place;
    reg       written = 1'b0, was_read = 1'b0;
    reg [7:0] word, last;  // what was written there last, and what was when it was read
    wire [7:0] entry = place == 0 ? entries_0 : place == 1 ? entries_1 : entries_2;
    always @(posedge clk_i) begin
        if (write_i & write_address_i == place) begin
            written <= 1'b1;
            word    <= write_data_i;
        end
        if (read_i) begin
            was_read <= written & read_address_i == place;
            last     <= word;
        end
    end

    always @* begin
        assume (place < 3);
        assume (busy_i | ~(write_i | read_i));
        if (written) assert (entry == word);
        if (was_read) assert (data == last);
        cover (was_read & last != word);
    end

endmodule
