// SPDX-License-Identifier: Apache-2.0
// A read port that several readers share: of the requests of a cycle the one at the lowest place goes first, and each beat is
// reported to the reader whose ID it carries.
// Latency: 1 cycle from a request to AR, none from a beat to its reader.
// Handshake: valid/ready for requests; AXI4 AR and R. R is always ready, since readers keep room before they ask.
`default_nettype none

module gemm64_data_port #(
    parameter LOG_N         = 6,   // log2 of the bytes of a beat
    parameter ADDRESS_WIDTH = 40,  // bits of an address
    parameter READERS       = 3,
    parameter ID_WIDTH      = 2,   // bits of an ID
    parameter [ID_WIDTH*READERS-1:0] IDS = 6'b01_10_00  // of each reader, at its place
) (
    input  wire                             clk_i,
    input  wire                             rst_ni,     // synchronous, active low
    // Requests, of each reader at its place
    input  wire [READERS-1:0]               valid_i,
    output wire [READERS-1:0]               ready_o,
    input  wire [ADDRESS_WIDTH*READERS-1:0] address_i,
    input  wire [7*READERS-1:0]             beats_i,
    output wire [READERS-1:0]               beat_o,     // a beat comes for this reader
    // AXI4 AR
    output wire                             arvalid_o,
    input  wire                             arready_i,
    output wire [ID_WIDTH-1:0]              arid_o,
    output wire [ADDRESS_WIDTH-1:0]         araddr_o,
    output wire [7:0]                       arlen_o,
    output wire [2:0]                       arsize_o,
    output wire [1:0]                       arburst_o,
    // AXI4 R, but for the data, which readers see as they come
    input  wire                             rvalid_i,
    output wire                             rready_o,
    input  wire [ID_WIDTH-1:0]              rid_i
);

    wire                     ready;
    reg  [ID_WIDTH-1:0]      id;
    reg  [ADDRESS_WIDTH-1:0] address;
    reg  [6:0]               beats;
    integer                  i;

    always @* begin
        id      = {ID_WIDTH{1'b0}};
        address = {ADDRESS_WIDTH{1'b0}};
        beats   = 7'd0;
        i       = 0;
        if (valid_i != {READERS{1'b0}})  // one question for a simulator where none asks
            for (i = READERS - 1; i >= 0; i = i - 1)
                if (valid_i[i]) begin
                    id      = IDS[ID_WIDTH*i +: ID_WIDTH];
                    address = address_i[ADDRESS_WIDTH*i +: ADDRESS_WIDTH];
                    beats   = beats_i[7*i +: 7];
                end
    end

    genvar g;
    generate
        for (g = 0; g < READERS; g = g + 1) begin : reader
            if (g == 0) begin : first
                assign ready_o[g] = ready;
            end else begin : other
                assign ready_o[g] = ready & valid_i[g-1:0] == {g{1'b0}};
            end
            assign beat_o[g] = rvalid_i & rid_i == IDS[ID_WIDTH*g +: ID_WIDTH];
        end
    endgenerate

    assign rready_o = 1'b1;

    gemm64_request #(.LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .ID_WIDTH(ID_WIDTH)) u_request (
        .clk_i     (clk_i),
        .rst_ni    (rst_ni),
        .valid_i   (valid_i != {READERS{1'b0}}),
        .ready_o   (ready),
        .id_i      (id),
        .address_i (address),
        .beats_i   (beats),
        .axvalid_o (arvalid_o),
        .axready_i (arready_i),
        .axid_o    (arid_o),
        .axaddr_o  (araddr_o),
        .axlen_o   (arlen_o),
        .axsize_o  (arsize_o),
        .axburst_o (arburst_o)
    );

endmodule

`default_nettype wire
