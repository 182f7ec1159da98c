// SPDX-License-Identifier: Apache-2.0
// gemm64_command_processor: commands in its queue, those on their way and room always add up to the queue, so that none is lost; each
// is dispatched once, in order; and while the ring holds commands exactly one cause describes each cycle. It waits
// for memory only where a command is requested or in flight, else for an engine that takes none, FENCE's STOREs or FINISH.
//
// break gemm64_command_processor.v: room_q != {LOG_COMMANDS + 1{1'b0}} & ~stop_i -> ~stop_i
// break gemm64_command_processor.v: wait_memory_o   = ~valid & ~idle_o & ~unreachable -> wait_memory_o   = ~valid & ~idle_o
// break gemm64_command_processor.v: room_q    <= room_q - {{LOG_COMMANDS{1'b0}}, ask} + {{LOG_COMMANDS{1'b0}}, pop} -> room_q    <= room_q - {{LOG_COMMANDS{1'b0}}, ask}
// break gemm64_command_processor.v: (send & is_fence & ~is_snapshot & fence_passes) -> (send & is_fence & ~is_snapshot & fence_passes & engines_idle_i)
// prove induction 1, cover 16
// probe room_q = dut.room_q
// probe pending_q = dut.pending_q
// probe fetch_q = dut.fetch_q
// probe head_q = dut.head_q
// probe queue_in = dut.u_queue.tail_q
// probe queue_out = dut.u_queue.head_q
// probe pop = dut.pop
// probe is_finish = dut.is_finish
// probe is_fence = dut.is_fence
// probe passes = dut.fence_passes
// probe unreachable = dut.unreachable
// probe looks_q = dut.looks_q
module commands_proof (
    input wire [15:0]  added_i  // commands that the host adds to the ring in this cycle
);

    localparam DEPTH = 4;

    (* anyconst *) reg [15:0] mask;
    reg  [15:0] tail;
    wire        error, bus_error;
    wire [15:0] head;
    gemm64_command_processor #(.LOG_COMMANDS(2)) dut (
        .ring_mask_i (mask), .ring_tail_i (tail), .ring_head_o (head), .beat_error_i (1'b0), .beat_last_i (1'b1),
        .error_o (), .bus_error_o (), .*
    );

    (* keep *) wire [2:0]  room_q, pending_q, queue_in, queue_out;
    (* keep *) wire [15:0] fetch_q, head_q;
    (* keep *) wire        pop, is_finish, is_fence, passes, unreachable, looks_q;

    reg         begun = 1'b0, popped;
    reg [16:0]  left;  // commands in the ring that have not been dispatched
    wire [2:0]  queued = queue_in - queue_out;
    always @(posedge clk_i) begin
        begun <= 1'b1;
        popped <= pop;
        tail  <= rst_ni ? tail + added_i & mask : 0;
        left  <= rst_ni ? left + added_i - pop : 0;
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        assume ((mask & (mask + 1)) == 0 & mask >= 7);
        assume (left + added_i <= mask);  // the host never fills the ring past its head
        if (beat_i) assume (pending_q != 0);
        if (begun) begin
            // No command is lost: memory may answer each that was asked for
            assert (room_q + pending_q + queued == DEPTH);
            assert (room_q <= DEPTH & pending_q <= DEPTH & queued <= DEPTH);
            if (request_valid) assert (pending_q + queued < DEPTH);
            // In order, each once
            assert (left <= mask & pending_q + queued <= left);
            assert (head == head_q & tail == (head + left & mask) & head == (head & mask));
            assert (fetch_q == (head + pending_q + queued & mask));
            if (pop) assert (left != 0);
            assert ($countones(valid) <= 1);
            // Causes
            assert (dispatch + wait_memory + wait_engine + idle == 3'd1);
            assert (quiet == (pending_q == 0));
            if (stop_i) assert (~request_valid & ~pop);
            // No command stands still but for these.
            if (rst_ni & ~stop_i & wait_memory) assert (pending_q != 0 | request_valid | looks_q);
            if (rst_ni & ~stop_i & wait_engine)
                assert (valid != 0 ? (valid & ready_i) == 0 : (is_finish & ~engines_idle_i) | (is_fence & ~passes) | looks_q);
            if (looks_q) assert (popped);  // for a cycle, in which the one before is looked at
        end
        cover (begun & rst_ni & queued == DEPTH & head > 1 & wait_engine);
        cover (begun & rst_ni & tail < head & pop);
    end

endmodule
