// SPDX-License-Identifier: Apache-2.0
// What Yosys sees of the whole accelerator without asking a solver: no output of gemm64 depends on an input of the same cycle, as
// AXI asks; no bit has two drivers; no register is a latch; no logic is a loop. So there is no module here.
//
// short
// break gemm64_skid.v: assign ready_o = ~held_q -> assign ready_o = ~held_q | ready_i
// break gemm64_skid.v: valid_o = held_q | valid_i -> valid_o = held_q | valid_i & (valid_o | ready_i)
// break gemm64_data_port.v: assign rready_o = 1'b1 -> assign rready_o = rvalid_i
// break gemm64_registers.v: assign irq_o       = ({error_q, done_q} -> assign irq_o       = ({error_q, done_q | bready_i}
// break gemm64_accumulator.v: store_bank_q <= store_bank_i; -> store_bank_q <= store_bank_i; waiting_q[0] <= valid_i;
// prove structure 0; N=2,STAGE_ROWS=1,CLOCK_ENABLES=0 N=4 N=8,STAGE_ROWS=8
