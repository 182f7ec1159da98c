// SPDX-License-Identifier: Apache-2.0
/* Where everything is in the platform, for the platform and for its firmware. */
#ifndef GEMM64_PLATFORM_MAP_H
#define GEMM64_PLATFORM_MAP_H

/* Operands, results and the command ring. From 0 on, as large as the platform's setting. */
#define PLATFORM_MEMORY 0x00000000u
#define PLATFORM_MEMORY_MOST 0x80000000u

/* Each 4 KiB, registers of 32 bits. */
#define PLATFORM_ACCELERATOR 0x80000000u
#define PLATFORM_INTERRUPTS 0x80001000u
#define PLATFORM_TIMER 0x80002000u
#define PLATFORM_UART 0x80003000u
#define PLATFORM_CONTROL 0x80004000u

/* The processor's own memory: firmware, its stack, and from PLATFORM_JOBS on the job list. */
#define PLATFORM_LOCAL 0xc0000000u
#define PLATFORM_LOCAL_BYTES 0x00400000u
#define PLATFORM_JOBS 0xc0100000u

/* Interrupt controller. Lines: bit 0 is the accelerator's. */
#define INTERRUPTS_PENDING 0x0u /* the lines as they are */
#define INTERRUPTS_ENABLE 0x4u

/* Timer: 64 bits each, low half first. */
#define TIMER_NOW 0x0u
#define TIMER_COMPARE 0x8u

#define UART_DATA 0x0u   /* write: prints a byte */
#define UART_STATUS 0x4u /* bit 0: takes a byte; always */

#define CONTROL_EXIT 0x0u  /* write: ends the simulation with this code */
#define CONTROL_RESET 0x4u /* write 1: hard reset of the accelerator */

#endif
