// SPDX-License-Identifier: Apache-2.0
// Runs the whole accelerator on a memory image. Reads +image= (a word of N bytes a line), writes the registers of
// +script= (16 bits of offset, 32 of value a line), waits for the interrupt, prints interrupt, error and all counters,
// and writes the words +first= to +last= of the memory to +results=. What no valid vouches for is X.
//   +latency=CYCLES of the memory, +stalls=PERCENT of the cycles in which a channel holds back, +limit=CYCLES
`default_nettype none
`include "gemm64_defs.vh"

module gemm64_tb;
    parameter N            = 4;
    parameter MEMORY_BYTES = 32768;
    parameter SELF_CHECK   = 0;
    parameter COMMANDS     = 16;  // most lines of the script

    localparam WORDS = MEMORY_BYTES / N;

    reg [8*N-1:0]   memory [0:WORDS-1];
    reg [47:0]      script [0:COMMANDS-1];
    reg [8*256-1:0] image_file, script_file, results_file;
    integer         lines, latency, stalls, limit, first, last, cycles, i;
    reg [31:0]      value, low;

    reg clk   = 1'b0;
    reg rst_n = 1'b0;
    always #1 clk = ~clk;

    // Registers
    reg         awvalid = 1'b0, wvalid = 1'b0, bready = 1'b0, arvalid = 1'b0, rready = 1'b0;
    reg  [11:0] awaddr, araddr;
    reg  [31:0] wdata;
    wire        awready, wready, bvalid, arready, rvalid, irq;
    wire [1:0]  bresp, rresp;
    wire [31:0] rdata;

    // Memory ports
    wire           w_arvalid, w_arready, w_arid, w_rvalid, w_rready, w_rid, w_rlast;
    wire           d_arvalid, d_arready, d_rvalid, d_rready, d_rlast;
    wire [1:0]     d_arid, d_rid;
    wire           r_awvalid, r_awready, r_awid, r_wvalid, r_wready, r_wlast, r_bvalid, r_bready, r_bid;
    wire [39:0]    w_araddr, d_araddr, r_awaddr;
    wire [7:0]     w_arlen, d_arlen, r_awlen;
    wire [2:0]     w_arsize, d_arsize, r_awsize;
    wire [1:0]     w_arburst, d_arburst, r_awburst, w_rresp, d_rresp, r_bresp;
    wire [8*N-1:0] w_rdata, d_rdata, r_wdata;
    wire [N-1:0]   r_wstrb;
    wire [2:0]     w_arprot, d_arprot, r_awprot;
    wire [3:0]     w_arcache, d_arcache, r_awcache;

    gemm64 #(.N(N), .SELF_CHECK(SELF_CHECK)) u_gemm64 (
        .clk_i(clk), .rst_ni(rst_n), .irq_o(irq),
        .s_axil_awvalid_i(awvalid), .s_axil_awready_o(awready), .s_axil_awaddr_i(awaddr), .s_axil_awprot_i(3'd0),
        .s_axil_wvalid_i(wvalid), .s_axil_wready_o(wready), .s_axil_wdata_i(wdata), .s_axil_wstrb_i(4'hf),
        .s_axil_bvalid_o(bvalid), .s_axil_bready_i(bready), .s_axil_bresp_o(bresp),
        .s_axil_arvalid_i(arvalid), .s_axil_arready_o(arready), .s_axil_araddr_i(araddr), .s_axil_arprot_i(3'd0),
        .s_axil_rvalid_o(rvalid), .s_axil_rready_i(rready), .s_axil_rdata_o(rdata), .s_axil_rresp_o(rresp),
        .m_weights_arvalid_o(w_arvalid), .m_weights_arready_i(w_arready), .m_weights_arid_o(w_arid),
        .m_weights_araddr_o(w_araddr), .m_weights_arlen_o(w_arlen), .m_weights_arsize_o(w_arsize),
        .m_weights_arburst_o(w_arburst), .m_weights_rvalid_i(w_rvalid), .m_weights_rready_o(w_rready),
        .m_weights_rid_i(w_rid), .m_weights_rdata_i(w_rdata), .m_weights_rresp_i(w_rresp), .m_weights_rlast_i(w_rlast),
        .m_data_arvalid_o(d_arvalid), .m_data_arready_i(d_arready), .m_data_arid_o(d_arid),
        .m_data_araddr_o(d_araddr), .m_data_arlen_o(d_arlen), .m_data_arsize_o(d_arsize),
        .m_data_arburst_o(d_arburst), .m_data_rvalid_i(d_rvalid), .m_data_rready_o(d_rready),
        .m_data_rid_i(d_rid), .m_data_rdata_i(d_rdata), .m_data_rresp_i(d_rresp), .m_data_rlast_i(d_rlast),
        .m_results_awvalid_o(r_awvalid), .m_results_awready_i(r_awready), .m_results_awid_o(r_awid),
        .m_results_awaddr_o(r_awaddr), .m_results_awlen_o(r_awlen), .m_results_awsize_o(r_awsize),
        .m_results_awburst_o(r_awburst), .m_results_awprot_o(r_awprot), .m_results_awcache_o(r_awcache),
        .m_weights_arprot_o(w_arprot), .m_weights_arcache_o(w_arcache),
        .m_data_arprot_o(d_arprot), .m_data_arcache_o(d_arcache), .m_results_wvalid_o(r_wvalid), .m_results_wready_i(r_wready),
        .m_results_wdata_o(r_wdata), .m_results_wstrb_o(r_wstrb), .m_results_wlast_o(r_wlast),
        .m_results_bvalid_i(r_bvalid), .m_results_bready_o(r_bready), .m_results_bid_i(r_bid),
        .m_results_bresp_i(r_bresp)
    );

    axi_read_port #(.N(N), .SEED(1)) u_weights (
        .clk(clk), .rst_n(rst_n), .latency(latency), .stalls(stalls),
        .arvalid(w_arvalid), .arready(w_arready), .arid(w_arid), .araddr(w_araddr), .arlen(w_arlen),
        .arsize(w_arsize), .arburst(w_arburst), .rvalid(w_rvalid), .rready(w_rready), .rid(w_rid),
        .rdata(w_rdata), .rresp(w_rresp), .rlast(w_rlast)
    );

    axi_read_port #(.N(N), .SEED(2), .ID(2)) u_data (
        .clk(clk), .rst_n(rst_n), .latency(latency), .stalls(stalls),
        .arvalid(d_arvalid), .arready(d_arready), .arid(d_arid), .araddr(d_araddr), .arlen(d_arlen),
        .arsize(d_arsize), .arburst(d_arburst), .rvalid(d_rvalid), .rready(d_rready), .rid(d_rid),
        .rdata(d_rdata), .rresp(d_rresp), .rlast(d_rlast)
    );

    axi_write_port #(.N(N), .SEED(3)) u_results (
        .clk(clk), .rst_n(rst_n), .latency(latency), .stalls(stalls),
        .awvalid(r_awvalid), .awready(r_awready), .awid(r_awid), .awaddr(r_awaddr), .awlen(r_awlen),
        .awsize(r_awsize), .awburst(r_awburst), .wvalid(r_wvalid), .wready(r_wready), .wdata(r_wdata),
        .wstrb(r_wstrb), .wlast(r_wlast), .bvalid(r_bvalid), .bready(r_bready), .bid(r_bid), .bresp(r_bresp)
    );

    // Every register begins unknown; from the reset's first cycle on no output is: neither a handshake nor what goes with it.
    wire [12:0] handshakes = {awready, wready, bvalid, arready, rvalid, irq, w_arvalid, d_arvalid, r_awvalid, r_wvalid, w_rready, d_rready, r_bready};
    reg         reset_q = 1'b0;
    reg [8*N-1:0] written;  // of WDATA
    integer     lane;
    always @* for (lane = 0; lane < N; lane = lane + 1) written[8*lane +: 8] = r_wdata[8*lane +: 8] & {8{r_wstrb[lane]}};
    always @(posedge clk) begin
        if (!rst_n) reset_q <= 1'b1;
        if (reset_q && (^handshakes === 1'bx || (w_arvalid && ^{w_araddr, w_arlen, w_arid, w_arsize, w_arburst} === 1'bx)
            || (d_arvalid && ^{d_araddr, d_arlen, d_arid, d_arsize, d_arburst} === 1'bx)
            || (r_awvalid && ^{r_awaddr, r_awlen, r_awid, r_awsize, r_awburst} === 1'bx)
            || (r_wvalid && ^{written, r_wstrb, r_wlast} === 1'bx) || (bvalid && ^bresp === 1'bx) || (rvalid && ^{rresp, rdata} === 1'bx)))
            $display("error: a handshake, or what goes with it, is unknown");
    end

    // What every request says of itself, as the top's parameters have it
    always @(posedge clk)
        if ((w_arvalid === 1'b1 && {w_arprot, w_arcache} !== 7'b010_0011)
            || (d_arvalid === 1'b1 && {d_arprot, d_arcache} !== 7'b010_0011)
            || (r_awvalid === 1'b1 && {r_awprot, r_awcache} !== 7'b010_0011))
            $display("error: a request with another AxPROT or AxCACHE");

    task write_register(input [11:0] offset, input [31:0] data);
        begin
            awvalid <= 1'b1;
            wvalid  <= 1'b1;
            bready  <= 1'b1;
            awaddr  <= offset;
            wdata   <= data;
            @(posedge clk);
            while (!(awready & wready)) @(posedge clk);
            awvalid <= 1'b0;
            wvalid  <= 1'b0;
            @(posedge clk);
            while (!bvalid) @(posedge clk);
            bready <= 1'b0;
            if (bresp != 2'b00) $display("error: write of register %h answered %b", offset, bresp);
        end
    endtask

    task read_register(input [11:0] offset, output [31:0] data);
        begin
            arvalid <= 1'b1;
            rready  <= 1'b1;
            araddr  <= offset;
            @(posedge clk);
            while (!arready) @(posedge clk);
            arvalid <= 1'b0;
            @(posedge clk);
            while (!rvalid) @(posedge clk);
            rready <= 1'b0;
            data = rdata;
            if (rresp != 2'b00) $display("error: read of register %h answered %b", offset, rresp);
        end
    endtask

    initial begin
        if (!$value$plusargs("image=%s", image_file) || !$value$plusargs("script=%s", script_file)
            || !$value$plusargs("lines=%d", lines) || !$value$plusargs("results=%s", results_file)
            || !$value$plusargs("first=%d", first) || !$value$plusargs("last=%d", last)
            || !$value$plusargs("latency=%d", latency) || !$value$plusargs("stalls=%d", stalls)
            || !$value$plusargs("limit=%d", limit)) begin
            $display("error: an argument is missing");
            $finish;
        end
        $readmemh(image_file, memory);
        $readmemh(script_file, script, 0, lines - 1);
        repeat (4) @(posedge clk);
        rst_n <= 1'b1;
        @(posedge clk);
        for (i = 0; i < lines; i = i + 1) write_register(script[i][43:32], script[i][31:0]);
        cycles = 0;
        while (irq !== 1'b1 && cycles < limit) begin
            @(posedge clk);
            cycles = cycles + 1;
        end
        if (irq !== 1'b1) $display("error: no interrupt within %0d cycles", limit);
        read_register(`GEMM64_REG_INTERRUPT, value);
        $display("interrupt %0d", value);
        read_register(`GEMM64_REG_ERROR, value);
        $display("failure %0d", value);
        for (i = 0; i < `GEMM64_COUNTERS; i = i + 1) begin
            read_register(`GEMM64_COUNTERS_BASE + 8*i, low);
            read_register(`GEMM64_COUNTERS_BASE + 8*i + 4, value);
            $display("counter %0d %0d", i, {value, low});
        end
        $writememh(results_file, memory, first, last);
        $finish;
    end

endmodule

`default_nettype wire
