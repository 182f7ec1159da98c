// SPDX-License-Identifier: Apache-2.0
// Programs end. Memory is fair here: it accepts and answers within LATENCY cycles, reads of the data port within three times as
// many. PROGRAM=0: any COMMANDS commands, legal or not, of the sizes below, and memory may answer with errors; every engine goes
// idle or an error is reported, by the watchdog if by nothing else. PROGRAM=1: a product of one tile and one or two rows, its four
// commands in any order and without watchdog; it ends without an error. No work stands still for more than STILL cycles.
// PROGRAM=2: a command that is legal by gemm64_bounds.svh, without watchdog and errors of memory: there is no error. A load gets all
// its words; SET_WINDOW, FENCE and FINISH end.
//
// Values are left out, since none affects when something moves. A command comes as one beat; it takes 32 otherwise. With a product,
// and with two LOAD_ACTIVATIONS, the data port sends a word in each cycle in which it owes one: without that ABC had no answer
// within a minute.
//
// registers zero
// unreduced where PROGRAM=2
// cut dut.sum
// cut dut.store_data
// cut dut.bias
// cut dut.scale
// cut dut.u_weights.u_buffer.data_o
// cut dut.u_activations.kept
// cut dut.snapshot_beat
// cut dut.counter_value
// cut dut.u_commands.passes_end where PROGRAM=0
// cut dut.u_commands.passes_end where PROGRAM=1
// feed given[512] to gemm64_command_processor.u_queue.data_i at dut.u_commands
// feed tail[16] to gemm64.u_commands.ring_tail_i at dut
// feed watchdog[32] to gemm64.u_control.watchdog_i at dut
// break gemm64_fifo.v: if (pop) head_q <= head_q + 1'b1; -> if (pop & ~push) head_q <= head_q + 1'b1;
// break gemm64_store.v: .ready_i (bvalid_i), -> .ready_i (bvalid_i & ~response_end),
// break gemm64_control.v: else still_q <= still_q + 32'd1 -> else still_q <= still_q
// prove reach 44; PROGRAM=0,COMMANDS=2,CYCLES=44
// prove reach 48; PROGRAM=1,COMMANDS=4,CYCLES=48
// prove reach 40; PROGRAM=2,COMMANDS=1,CYCLES=40
// probe busy = dut.busy
// probe halted = dut.halted
// probe code = dut.error
// probe ends_beyond = dut.u_commands.passes_end
// probe set_window = dut.u_compute.set
// probe read = dut.activation_read
// probe dispatch = dut.u_commands.dispatch_o
module progress_proof #(
    parameter PROGRAM  = 0,
    parameter COMMANDS = 2,
    parameter CYCLES   = 44,
    parameter LATENCY  = 1,
    parameter WATCHDOG = PROGRAM == 0 ? 8 : 0,
    parameter STILL    = 12
) (
    input wire        awready_i,
    input wire        wready_i,
    input wire        bvalid_i,
    input wire [1:0]  bresp_i,
    output wire [64:0] fails_o,   // must stay low
    output wire [6:0]  covers_o  // must rise, each once
);

    `include "gemm64_bounds.svh"

    reg [7:0] clock = 0;
    wire      rst_n = clock != 0;
    always @(posedge clk_i) if (clock != 255) clock <= clock + 1;

    // The program. Fields are short, so that programs are too; the others are 0.
    (* anyconst *) reg [52:0] a0, a1, a2, a3;
    (* anyconst *) reg [40:0] b0, b1, b2, b3;
    (* anyconst *) reg [3:0]  opcode_0, opcode_1, opcode_2, opcode_3;
    (* anyconst *) reg [255:0] upper;        // PROGRAM=2: words 8 to 15 of all but DEPTHWISE, whose products are of short fields
    (* anyconst *) reg [2:0]   upper_flags;
    reg  [2:0]   number = 0;   // commands that have come
    reg  [511:0] command;
    wire         first = PROGRAM == 2 | number == 0;
    wire [3:0]   op = first ? opcode_0 : number == 1 ? opcode_1 : number == 2 ? opcode_2 : opcode_3;
    wire [52:0]  a  = first ? a0 : number == 1 ? a1 : number == 2 ? a2 : a3;
    wire [40:0]  b  = first ? b0 : number == 1 ? b1 : number == 2 ? b2 : b3;
    wire [4:0]   flags;
    wire [1:0]   rows, count, passes, blocks, format, stride;
    wire [5:0]   place;
    wire         fill, beyond, above, stride_top;
    wire [7:0]   low, high;
    assign {flags, rows, count, passes, blocks, format, stride, place, fill, beyond, above, stride_top, low, high} = a;
    wire [1:0]  kernel_h, kernel_w, stride_w, new_pixels, freed, group_passes;
    wire [6:0]  capacity, slot, word;
    wire [1:0]  row_step, tap_step;
    assign {kernel_h, kernel_w, stride_w, new_pixels, freed, group_passes, capacity, slot, word, row_step, tap_step} = b;
    always @* begin
        command = 512'd0;
        command[3:0]     = op;
        command[12:8]    = flags;
        command[17:16]   = rows;
        command[33:32]   = count;
        command[65:64]   = passes;
        command[97:96]   = blocks;
        command[151:128] = {{12{fill}}, fill, fill, fill, fill, fill, fill, place};
        command[152]     = beyond;
        command[191]     = above;
        command[193:192] = format;
        command[215:208] = low;
        command[223:216] = high;
        command[225:224] = stride;
        command[255]     = stride_top;
        command[257:256] = kernel_h;
        command[265:264] = kernel_w;
        command[281:280] = stride_w;
        command[353:352] = new_pixels;
        command[369:368] = freed;
        command[385:384] = row_step;
        command[417:416] = tap_step;
        command[433:432] = group_passes;
        command[454:448] = capacity;
        command[470:464] = slot;
        command[486:480] = word;
        if (PROGRAM == 2) begin
            command[15:13] = upper_flags;
            if (op != `GEMM64_OP_DEPTHWISE) command[511:256] = upper;
            else begin
                {command[273:272], command[289:288], command[297:296]} = {stride_w, slot[3:0]};
                {command[305:304], command[313:312]} = {slot[6:4], word[0]};
                {command[322:320], command[338:336]} = capacity[5:0];
                {command[403:400], command[420:416]} = {word[6:1], group_passes, capacity[6]};
            end
        end
    end
    (* keep *) wire [511:0] given = command;

    wire       awvalid, wvalid, wlast;
    wire [7:0] awlen;
    wire       weights_rlast, data_rlast;
    gemm64 #(
        .N(2), .SCRATCHPAD_WORDS(65), .ACCUMULATOR_ROWS(2), .LOG_WEIGHT_WORDS(2), .LOG_READS(1), .LOG_WRITES(1),
        .LOG_COMMANDS(1), .LOG_PARAMETER_SETS(1), .ADDRESS_WIDTH(24)
    ) dut (
        .rst_ni (rst_n), .s_axil_awvalid_i (1'b0), .s_axil_awaddr_i (12'd0), .s_axil_awprot_i (3'd0),
        .s_axil_wvalid_i (1'b0), .s_axil_wdata_i (32'd0), .s_axil_wstrb_i (4'd0), .s_axil_bready_i (1'b1),
        .s_axil_arvalid_i (1'b0), .s_axil_araddr_i (12'd0), .s_axil_arprot_i (3'd0), .s_axil_rready_i (1'b1),
        .m_weights_rid_i (1'b0), .m_weights_rdata_i (16'd0), .m_weights_rlast_i (weights_rlast),
        .m_data_rdata_i (16'd0), .m_data_rlast_i (data_rlast), .m_results_awvalid_o (awvalid),
        .m_results_awready_i (awready_i), .m_results_awlen_o (awlen), .m_results_wvalid_o (wvalid),
        .m_results_wready_i (wready_i), .m_results_wlast_o (wlast), .m_results_bvalid_i (bvalid_i),
        .m_results_bid_i (1'b0), .m_results_bresp_i (bresp_i), .*
    );

    (* keep *) wire        busy, halted, ends_beyond, set_window, read, dispatch;
    (* keep *) wire [31:0] code;
    (* keep *) wire [31:0] watchdog = WATCHDOG;
    reg  [2:0]             commands = 0;
    (* keep *) wire [15:0] tail = {13'd0, commands};
    always @(posedge clk_i) if (clock == 1) commands <= COMMANDS;

    // Memory: bursts in flight of each kind, beats of the oldest and of the newer, cycles that each has waited
    wire       operands = PROGRAM == 2;  // are loaded
    wire [3:0] ar    = {operands & data_arvalid & data_arready_i & data_arid == 2'd3, data_arvalid & data_arready_i & data_arid == 2'd2,
                        data_arvalid & data_arready_i & data_arid == 2'd1, weights_arvalid & weights_arready_i};
    wire [3:0] r     = {operands & data_rvalid_i & data_rid_i == 2'd3, data_rvalid_i & data_rid_i == 2'd2, data_rvalid_i & data_rid_i == 2'd1,
                        weights_rvalid_i};
    wire [3:0] due, last, late;
    genvar g;
    generate
        for (g = 0; g < 4; g = g + 1) begin : kind
            reg [1:0]  bursts = 0;
            reg [5:0]  oldest, newer;
            reg [3:0]  waited = 0;
            wire [5:0] length = g == 0 ? weights_arlen[5:0] : data_arlen[5:0];
            wire       ends   = r[g] & last[g];
            assign due[g]  = bursts != 0;
            assign last[g] = oldest == 0;
            assign late[g] = waited >= (g == 0 ? LATENCY : 3 * LATENCY);
            always @(posedge clk_i) begin
                bursts <= bursts + ar[g] - ends;
                waited <= due[g] & ~r[g] ? waited + 1 : 0;
                if (ends) oldest <= bursts == 2 ? newer : length;
                else if (r[g]) oldest <= oldest - 1;
                else if (ar[g] & bursts == 0) oldest <= length;
                if (ar[g]) newer <= length;
            end
        end
    endgenerate
    assign weights_rlast = last[0];
    assign data_rlast    = data_rid_i == 2'd0 | (data_rid_i == 2'd1 ? last[1] : data_rid_i == 2'd2 | ~operands ? last[2] : last[3]);

    // A command is abstracted: memory sends only its last beat, whose bits above are any.
    reg [1:0] fetches = 0;
    reg [2:0] aws = 0, ws = 0;
    reg [3:0] fetch_waited = 0, weights_ar_waited = 0, data_ar_waited = 0, aw_waited = 0, w_waited = 0, b_waited = 0;
    wire      fetched = data_rvalid_i & data_rid_i == 2'd0;
    wire      b_due   = aws != 0 & ws != 0;
    wire      owes    = due[1] | due[2] | due[3] | fetches != 0;  // the data port does
    always @(posedge clk_i) begin
        number            <= number + fetched;
        fetches           <= fetches + (data_arvalid & data_arready_i & data_arid == 2'd0) - fetched;
        aws               <= aws + (awvalid & awready_i) - bvalid_i;
        ws                <= ws + (wvalid & wready_i & wlast) - bvalid_i;
        fetch_waited      <= fetches != 0 & ~fetched ? fetch_waited + 1 : 0;
        weights_ar_waited <= weights_arvalid & ~weights_arready_i ? weights_ar_waited + 1 : 0;
        data_ar_waited    <= data_arvalid & ~data_arready_i ? data_ar_waited + 1 : 0;
        aw_waited         <= awvalid & ~awready_i ? aw_waited + 1 : 0;
        w_waited          <= wvalid & ~wready_i ? w_waited + 1 : 0;
        b_waited          <= b_due & ~bvalid_i ? b_waited + 1 : 0;
    end

    // The commands of a product, each once
    function [3:0] kind_of;
        input [3:0] of;
        kind_of = of == 4'd1 ? 4'b0001 : of == 4'd2 ? 4'b0010 : of == 4'd3 ? 4'b0100 : of == 4'd4 ? 4'b1000 : 4'b0000;
    endfunction
    wire all_four = (kind_of(opcode_0) | kind_of(opcode_1) | kind_of(opcode_2) | kind_of(opcode_3)) == 4'hf;
    (* anyconst *) reg two_rows;

    // A command that is legal, whatever came before it
    wire legal   = known_opcode(command) & keeps_bounds(command, 2, 2, 65) & keeps_products(command, 2, 2, 65) & legal_walk(command, 8'd1, 8'd24);
    wire ordered = ~(op == `GEMM64_OP_MATMUL & command[8 + `GEMM64_FLAG_WINDOW_BIT])
                 & ~(op == `GEMM64_OP_LOAD_ACTIVATIONS & command[8 + `GEMM64_FLAG_WINDOW_BIT]
                     & command[`GEMM64_CMD_PLACE_LSB +: `GEMM64_CMD_PLACE_WIDTH] != 32'd0)
                 & ~(op == `GEMM64_OP_STORE & command[8 + `GEMM64_FLAG_VECTOR_BIT] & command[`GEMM64_CMD_KEEP_LSB]);
    // It gets its words, or ends. A loader is busy until its words are used.
    wire loads = op == `GEMM64_OP_LOAD_WEIGHTS | op == `GEMM64_OP_LOAD_ACTIVATIONS | op == `GEMM64_OP_LOAD_PARAMETERS | op == `GEMM64_OP_LOAD_OPERANDS;
    wire [7:0] run   = op == `GEMM64_OP_LOAD_WEIGHTS | op == `GEMM64_OP_LOAD_PARAMETERS ? 8'd1 : {6'd0, rows} * {6'd0, blocks};
    wire [7:0] words = run * {6'd0, count} * {6'd0, passes};
    reg  [7:0] received = 0;
    always @(posedge clk_i) received <= received + (r != 0);
    wire waits = loads ? words <= 8'd4 & received != words
                 : op == `GEMM64_OP_FENCE ? ~command[8 + `GEMM64_FLAG_SNAPSHOT_BIT] : op == `GEMM64_OP_SET_WINDOW | op == `GEMM64_OP_FINISH;

    // What is taken for granted, in this cycle and in all before it
    reg fair, was_fair = 1;
    always @(posedge clk_i) was_fair <= was_fair & fair;
    always @* begin
        fair = was_fair & late == 0 & fetch_waited < 3 * LATENCY & weights_ar_waited < LATENCY & data_ar_waited < LATENCY
             & aw_waited < LATENCY & w_waited < LATENCY & b_waited < LATENCY;
        if (weights_rvalid_i & ~due[0] | bvalid_i & ~b_due) fair = 1'b0;
        if (data_rvalid_i & (data_rid_i == 2'd0 ? fetches == 0 : data_rid_i == 2'd1 ? ~due[1] : data_rid_i == 2'd2 ? ~due[2] : ~operands | ~due[3]))
            fair = 1'b0;
        if (owes & ~data_rvalid_i & (PROGRAM != 0 | opcode_0 == 4'd2 & opcode_1 == 4'd2)) fair = 1'b0;
        if (PROGRAM == 0) begin
            // Counts from 0 to 1; no snapshot, which takes 136 beats
            if (fetched & (count[1] | passes[1] | blocks[1] | op == 4'd6 & flags[2])) fair = 1'b0;
        end else if (PROGRAM == 2) begin
            if (weights_rresp_i[1] | data_rresp_i[1] | bresp_i[1] | fetched & ~(legal & ordered)) fair = 1'b0;
        end else begin
            if (~all_four | ends_beyond | weights_rresp_i[1] | data_rresp_i[1] | bresp_i[1]) fair = 1'b0;
            if (fetched & (rows != 1 + two_rows | count != (op == 4'd1 ? 2'd2 : 2'd1) | passes != 1 | blocks != 1
                           | flags[3] | place[0] | beyond | above | format != 0)) fair = 1'b0;
        end
    end

    // Nothing moves although there is work: no longer than a row takes through the array, with what comes before and after
    reg  [3:0] still = 0;
    wire       moves = ar != 0 | r != 0 | data_arvalid & data_arready_i | fetched | awvalid & awready_i | wvalid & wready_i | bvalid_i
                     | read | dispatch;
    wire       stuck = busy & ~halted & still == STILL;
    always @(posedge clk_i) still <= ~rst_n | moves | ~busy | still == STILL ? 0 : still + 1;
    wire over = clock == CYCLES;
    assign fails_o[0] = fair & (stuck & (PROGRAM != 2 | waits) | PROGRAM != 0 & halted);

    // Whether it ends is asked for each kind of program on its own: by what its first two commands are, or by the order of a product's
    function [2:0] kind;
        input [3:0] opcode;
        input       of_window;
        kind = opcode == 4'd7 ? 3'd0 : opcode == 4'd2 & of_window ? 3'd5 : opcode != 0 & opcode < 5 ? opcode[2:0] : 3'd6;
    endfunction
    generate
        for (g = 0; g < 64; g = g + 1) begin : order
            wire here = PROGRAM == 0 ? kind(opcode_0, a0[51]) == g / 7 & kind(opcode_1, a1[51]) == g % 7
                      : PROGRAM == 2 ? g == 0 & waits
                                     : opcode_0 == 1 + g / 16 & opcode_1 == 1 + g / 4 % 4 & opcode_2 == 1 + g % 4;
            assign fails_o[1 + g] = fair & over & busy & ~halted & here;
        end
    endgenerate

    // What is reached: errors of each kind and a program without one, or what a product does
    reg  set = 0, reads = 0, stored = 0, chance = 0;
    always @(posedge clk_i) begin
        set    <= set | set_window;
        chance <= chance | ends_beyond;  // an error that is left to chance
        reads  <= reads | read;
        stored <= stored | wvalid & wready_i & wlast;
    end
    wire done = (PROGRAM == 0 ? over : clock > 4) & ~busy & ~halted;
    assign covers_o = {7{fair}} & (PROGRAM == 0 ? {halted & code[3:0] == 4'd1, halted & code[3:0] == 4'd2, halted & code[3:0] == 4'd3 & ~chance,
                                      halted & code[3:0] == 4'd4, halted & code[3:0] == 4'd6, done & set,
                                      done & opcode_0 == 4'd6 & opcode_1 == 4'd5}
                      : PROGRAM == 2 ? {over & opcode_0 == `GEMM64_OP_DEPTHWISE & busy, over & opcode_0 == `GEMM64_OP_STORE & upper_flags[0] & busy,
                                        {5{over & (loads ? received == words : ~busy)}} & {opcode_0 == `GEMM64_OP_LOAD_OPERANDS, opcode_0 == `GEMM64_OP_LOAD_ACTIVATIONS,
                                        opcode_0 == `GEMM64_OP_LOAD_WEIGHTS, opcode_0 == `GEMM64_OP_LOAD_PARAMETERS, set}}
                                   : {reads, reads & two_rows, stored, stored & two_rows, done & opcode_0 == 4'd4,
                                      done & opcode_0 == 4'd1, done & two_rows});

endmodule
