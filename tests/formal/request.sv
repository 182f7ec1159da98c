// SPDX-License-Identifier: Apache-2.0
// gemm64_request hands on each request once, in order, as AXI wants it: what is offered stays until it is accepted.
//
// short
// break gemm64_request.v: ready_o   = ~axvalid_o | axready_i -> ready_o   = 1'b1
// prove induction 1, cover 8
module request_proof (
    input wire        clk_i,
    input wire        rst_ni,
    input wire        valid_i,
    input wire [1:0]  id_i,
    input wire [39:0] address_i,
    input wire [6:0]  beats_i,
    input wire        axready_i
);

    wire        ready, axvalid;
    wire [1:0]  axid;
    wire [39:0] axaddr;
    wire [7:0]  axlen;
    wire [2:0]  axsize;
    wire [1:0]  axburst;
    gemm64_request #(.LOG_N(6), .ADDRESS_WIDTH(40), .ID_WIDTH(2)) dut (
        .clk_i (clk_i), .rst_ni (rst_ni), .valid_i (valid_i), .ready_o (ready), .id_i (id_i),
        .address_i (address_i), .beats_i (beats_i), .axvalid_o (axvalid), .axready_i (axready_i), .axid_o (axid),
        .axaddr_o (axaddr), .axlen_o (axlen), .axsize_o (axsize), .axburst_o (axburst)
    );

    reg         begun = 1'b0, waiting;  // a request was taken and has not been accepted
    reg [48:0]  taken;
    reg         held;                   // it was offered in the clock before
    always @(posedge clk_i) begin
        begun   <= 1'b1;
        waiting <= rst_ni & (valid_i & ready | waiting & ~axready_i);
        if (valid_i & ready) taken <= {id_i, address_i, beats_i};
        held    <= rst_ni & axvalid & ~axready_i;
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        assume (beats_i >= 1 & beats_i <= 64);
        if (begun) begin
            assert (axvalid == waiting);
            if (held) assert (axvalid);
            if (axvalid) begin
                assert ({axid, axaddr} == taken[48:7]);
                assert (axlen + 1 == {1'b0, taken[6:0]});
                assert (axlen <= 63);
            end
            assert (axsize == 3'd6 & axburst == 2'b01);
            if (waiting & ~axready_i) assert (~ready);  // nothing is taken that would replace it
        end
        cover (begun & axvalid & axready_i & valid_i & ready);
    end

endmodule
