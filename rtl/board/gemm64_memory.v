// SPDX-License-Identifier: Apache-2.0
// On-chip memory for the accelerator's three ports, and a port for single bytes besides.
// Latency: a read's first beat comes 2 cycles after its address was accepted, then a beat per cycle; a byte 1 cycle after
//          byte_ready_o; the answer of a write 1 cycle after its last beat. A written beat is there for reads from the
//          clock after it on.
// Handshake: AXI4 without RREADY, for masters that always take, as the accelerator does; whole aligned beats, INCR, and no
//            burst across 4 KiB. Bursts beyond the memory are answered with DECERR. One burst of each direction is
//            in flight at a time; both readers are asked by turns. Bytes go before beats.
`default_nettype none

module gemm64_memory #(
    parameter N             = 4,   // bytes of a beat
    parameter ADDRESS_WIDTH = 24,  // bits of an address
    parameter ID_WIDTH      = 2,   // bits of an ID of the data port
    parameter LOG_BYTES     = 17   // log2 of the memory's bytes, 12 to ADDRESS_WIDTH - 1
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,  // synchronous, active low; what is stored stays
    // AXI4 read: weights
    input wire weights_arvalid_i, output wire weights_arready_o, input wire weights_arid_i,
    input wire [ADDRESS_WIDTH-1:0] weights_araddr_i, input wire [7:0] weights_arlen_i,
    output wire weights_rvalid_o, output wire weights_rid_o,
    output wire [8*N-1:0] weights_rdata_o, output wire [1:0] weights_rresp_o, output wire weights_rlast_o,
    // AXI4 read: data
    input wire data_arvalid_i, output wire data_arready_o, input wire [ID_WIDTH-1:0] data_arid_i,
    input wire [ADDRESS_WIDTH-1:0] data_araddr_i, input wire [7:0] data_arlen_i,
    output wire data_rvalid_o, output wire [ID_WIDTH-1:0] data_rid_o,
    output wire [8*N-1:0] data_rdata_o, output wire [1:0] data_rresp_o, output wire data_rlast_o,
    // AXI4 write: results
    input wire results_awvalid_i, output wire results_awready_o, input wire results_awid_i,
    input wire [ADDRESS_WIDTH-1:0] results_awaddr_i,
    input wire results_wvalid_i, output wire results_wready_o, input wire [8*N-1:0] results_wdata_i,
    input wire [N-1:0] results_wstrb_i, input wire results_wlast_i,
    output wire results_bvalid_o, input wire results_bready_i, output wire results_bid_o,
    output wire [1:0] results_bresp_o,
    // Single bytes: a write is done in its clock
    input  wire                     byte_write_i,
    input  wire                     byte_read_i,     // held until byte_ready_o
    output wire                     byte_ready_o,
    input  wire [LOG_BYTES-1:0]     byte_address_i,  // held until the cycle after byte_ready_o
    input  wire [7:0]               byte_data_i,
    output wire [7:0]               byte_data_o
);

    localparam LOG_N      = $clog2(N);
    localparam WORD_WIDTH = LOG_BYTES - LOG_N;
    localparam [1:0] OKAY = 2'b00, DECERR = 2'b11;

    // The burst of a read whose words are being taken from the memory, and the word that comes out of it
    reg                  turn_q;        // 0: weights are asked for a burst, 1: data
    reg                  reading_q, from_data_q, read_beyond_q;
    reg [ID_WIDTH-1:0]   read_id_q;
    reg [WORD_WIDTH-1:0] read_word_q;
    reg [7:0]            left_q;        // beats after this one
    reg                  out_q, last_q, out_data_q, out_beyond_q;
    reg [ID_WIDTH-1:0]   out_id_q;

    wire                     ask      = ~reading_q & ~byte_read_i;
    wire                     accepted = ask & (turn_q ? data_arvalid_i : weights_arvalid_i);
    wire [ADDRESS_WIDTH-1:0] araddr   = turn_q ? data_araddr_i : weights_araddr_i;
    wire [8*N-1:0]           word;
    wire [1:0]               rresp    = out_beyond_q ? DECERR : OKAY;

    assign weights_arready_o = ask & ~turn_q;
    assign data_arready_o    = ask & turn_q;
    assign byte_ready_o      = ~reading_q;
    assign {weights_rvalid_o, data_rvalid_o} = {out_q & ~out_data_q, out_q & out_data_q};
    assign {weights_rid_o, data_rid_o}       = {out_id_q[0], out_id_q};
    assign {weights_rdata_o, data_rdata_o}   = {2{word}};
    assign {weights_rresp_o, data_rresp_o}   = {2{rresp}};
    assign {weights_rlast_o, data_rlast_o}   = {2{last_q}};
    assign byte_data_o = word[8*byte_address_i[LOG_N-1:0] +: 8];

    always @(posedge clk_i) begin
        if (ask) begin
            turn_q        <= ~turn_q;
            from_data_q   <= turn_q;
            read_id_q     <= turn_q ? data_arid_i : {{ID_WIDTH-1{1'b0}}, weights_arid_i};
            read_word_q   <= araddr[LOG_BYTES-1:LOG_N];
            read_beyond_q <= araddr[ADDRESS_WIDTH-1:LOG_BYTES] != {ADDRESS_WIDTH-LOG_BYTES{1'b0}};
            left_q        <= turn_q ? data_arlen_i : weights_arlen_i;
        end else if (reading_q) begin
            read_word_q <= read_word_q + 1'b1;
            left_q      <= left_q - 8'd1;
        end
        out_q        <= reading_q & rst_ni;
        last_q       <= left_q == 8'd0;
        out_data_q   <= from_data_q;
        out_beyond_q <= read_beyond_q;
        out_id_q     <= read_id_q;
        if (!rst_ni) begin
            turn_q    <= 1'b0;
            reading_q <= 1'b0;
        end else if (reading_q) reading_q <= left_q != 8'd0;
        else reading_q <= accepted;
    end

    // The burst of a write, and its answer
    reg                  writing_q, write_beyond_q, answer_q, write_id_q;
    reg [WORD_WIDTH-1:0] write_word_q;

    wire beat = results_wvalid_i & results_wready_o;

    assign results_awready_o = ~writing_q & ~answer_q;
    assign results_wready_o  = writing_q & ~byte_write_i;
    assign results_bvalid_o  = answer_q;
    assign results_bid_o     = write_id_q;
    assign results_bresp_o   = write_beyond_q ? DECERR : OKAY;

    always @(posedge clk_i) begin
        if (results_awready_o) begin
            write_id_q     <= results_awid_i;
            write_word_q   <= results_awaddr_i[LOG_BYTES-1:LOG_N];
            write_beyond_q <= results_awaddr_i[ADDRESS_WIDTH-1:LOG_BYTES] != {ADDRESS_WIDTH-LOG_BYTES{1'b0}};
        end else if (beat) write_word_q <= write_word_q + 1'b1;
        if (!rst_ni) begin
            writing_q <= 1'b0;
            answer_q  <= 1'b0;
        end else begin
            writing_q <= results_awready_o ? results_awvalid_i : writing_q & ~(beat & results_wlast_i);
            answer_q  <= answer_q ? ~results_bready_i : beat & results_wlast_i;
        end
    end

    // A memory for each byte of a beat, so that each is written by itself
    genvar i;
    generate
        for (i = 0; i < N; i = i + 1) begin : lane
            wire own = byte_address_i[LOG_N-1:0] == i;
            gemm64_ram #(.WIDTH(8), .DEPTH(1 << WORD_WIDTH), .ADDRESS_WIDTH(WORD_WIDTH)) u_ram (
                .clk_i           (clk_i),
                .busy_i          (1'b1),
                .write_i         (byte_write_i ? own : beat & results_wstrb_i[i] & ~write_beyond_q),
                .write_address_i (byte_write_i ? byte_address_i[LOG_BYTES-1:LOG_N] : write_word_q),
                .write_data_i    (byte_write_i ? byte_data_i : results_wdata_i[8*i +: 8]),
                .read_i          (reading_q | byte_read_i),
                .read_address_i  (reading_q ? read_word_q : byte_address_i[LOG_BYTES-1:LOG_N]),
                .data_o          (word[8*i +: 8])
            );
        end
    endgenerate

endmodule

`default_nettype wire
