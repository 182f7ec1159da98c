# SPDX-License-Identifier: Apache-2.0
# The first instructions: a stack, zeros, firmware(a1), and what that returns as the exit code.
  .section .start, "ax"
  .globl _start
_start:
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  la sp, __stack_top
  la t0, interrupt_handler
  csrw mtvec, t0
  la t0, __bss_begin
  la t1, __bss_end
1:
  bgeu t0, t1, 2f
  sd zero, 0(t0)
  addi t0, t0, 8
  j 1b
2:
  mv a0, a1
  call firmware
  call platform_exit
3:
  j 3b
