# SPDX-License-Identifier: Apache-2.0
# Small programs for the processor's tests: one for each name, by -DNAME.
#define UART 0x80003000
#define TIMER 0x80002000
#define CONTROL 0x80004000
  .globl _start
  .type _start, @function
_start:
  la sp, __stack_top
#if defined(TRAP)
  nop
  .type wrong, @function
wrong:
  .word 0xffffffff
#elif defined(CALL)
  nop
  .type calls, @function
calls:
  ecall
#elif defined(BREAK)
  nop
  .type breaks, @function
breaks:
  .option norvc
  ebreak
#elif defined(SPIN)
  .type spins, @function
spins:
  j spins
#elif defined(SLEEP)
  .type sleeps, @function
sleeps:
  wfi
  j sleeps
#elif defined(NOWHERE)
  .type reads, @function
reads:
  li t0, 0xf0000000
  ld t1, 0(t0)
#elif defined(REFUSED)
  .type writes, @function
writes:
  li t0, UART
  sw t0, 0x40(t0)
#elif defined(JUMP)
  .type jumps, @function
jumps:
  li t0, 0xf0000000
  jr t0
#elif defined(TIMERS)
# Ten interrupts of the timer, 1000 cycles apart, each asleep; prints a dot for each, exits with 10
# when the loop between them was never disturbed.
  la t0, handler
  csrw mtvec, t0
  li t0, 1 << 7
  csrw mie, t0
  li s0, 0
  li s1, 10
  li s2, 1000
  li t0, TIMER
  sw zero, 12(t0)
  sw s2, 8(t0)
again:
  csrsi mstatus, 8
  wfi
  csrci mstatus, 8
  blt s0, s1, again
  li t0, CONTROL
  sw s0, 0(t0)
stop:
  j stop
  .align 2
handler:
  addi s0, s0, 1
  addi s2, s2, 1000
  li t0, TIMER
  sw s2, 8(t0)
  li t0, UART
  li t1, '.'
  sw t1, 0(t0)
  mret
#elif defined(BUSY)
# The same without sleeping: the timer interrupts a loop, which must not notice.
  la t0, handler
  csrw mtvec, t0
  li t0, 1 << 7
  csrw mie, t0
  li s0, 0
  li t0, TIMER
  li t1, 5000
  sw zero, 12(t0)
  sw t1, 8(t0)
  csrsi mstatus, 8
  li a0, 0
  li a1, 100000
loop:
  addi a0, a0, 1
  addi a2, a0, 0
  bne a2, a0, failed
  bne a0, a1, loop
  mv a3, s0
  j exit
failed:
  li a3, 99
exit:
  li t0, CONTROL
  sw a3, 0(t0)
stop:
  j stop
  .align 2
handler:
  addi s0, s0, 1
  li t5, TIMER
  li t6, -1
  sw t6, 12(t5)
  mret
#endif
