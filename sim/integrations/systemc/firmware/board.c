// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/systemc/firmware/board.h"

#include <stdio.h>
#include <string.h>

#include "sim/integrations/systemc/map.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

#define MSTATUS_MIE 8u
#define MIE_TIMER (1u << 7)
#define MIE_EXTERNAL (1u << 11)
#define CAUSE_TIMER 7u

static volatile int interrupted, late;

/* Both lines are levels: each is masked where it comes from, and a flag set. */
void interrupt_handler(void) __attribute__((interrupt("machine"), aligned(4)));
void interrupt_handler(void) {
  uint64_t cause;
  __asm__ volatile("csrr %0, mcause" : "=r"(cause));
  if ((cause & 0xff) == CAUSE_TIMER) {
    REGISTER(PLATFORM_TIMER + TIMER_COMPARE + 4) = 0xffffffffu;
    late = 1;
  } else {
    REGISTER(PLATFORM_INTERRUPTS + INTERRUPTS_ENABLE) = 0;
    interrupted = 1;
  }
}

uint64_t board_clock(void) {
  uint32_t low, high, again = REGISTER(PLATFORM_TIMER + TIMER_NOW + 4);
  do {
    high = again;
    low = REGISTER(PLATFORM_TIMER + TIMER_NOW);
    again = REGISTER(PLATFORM_TIMER + TIMER_NOW + 4);
  } while (again != high);
  return (uint64_t)high << 32 | low;
}

static void set_alarm(uint64_t clock) {
  REGISTER(PLATFORM_TIMER + TIMER_COMPARE + 4) = 0xffffffffu;
  REGISTER(PLATFORM_TIMER + TIMER_COMPARE) = (uint32_t)clock;
  REGISTER(PLATFORM_TIMER + TIMER_COMPARE + 4) = (uint32_t)(clock >> 32);
}

static int read_register(void *context, uint32_t offset, uint32_t *value) {
  (void)context;
  *value = REGISTER(PLATFORM_ACCELERATOR + offset);
  return 0;
}

static int write_register(void *context, uint32_t offset, uint32_t value) {
  (void)context;
  REGISTER(PLATFORM_ACCELERATOR + offset) = value;
  return 0;
}

static int store(void *context, uint64_t address, const void *data, size_t bytes) {
  (void)context;
  memcpy((void *)(uintptr_t)address, data, bytes);
  return 0;
}

static void barrier(void *context) {
  (void)context;
  __asm__ volatile("fence iorw, iorw" ::: "memory");
}

/* Sleeps with interrupts disabled, since WFI wakes on a pending one all the same: between looking
 * at the flag and sleeping none can slip through. */
static int wait(void *context, uint64_t limit) {
  (void)context;
  interrupted = late = 0;
  set_alarm(board_clock() + limit);
  REGISTER(PLATFORM_INTERRUPTS + INTERRUPTS_ENABLE) = 1;
  __asm__ volatile("csrw mie, %0" ::"r"((uint64_t)(MIE_TIMER | MIE_EXTERNAL)));
  for (;;) {
    __asm__ volatile("csrc mstatus, %0" ::"r"((uint64_t)MSTATUS_MIE) : "memory");
    if (interrupted || late) break;
    __asm__ volatile("wfi");
    __asm__ volatile("csrs mstatus, %0" ::"r"((uint64_t)MSTATUS_MIE) : "memory");
  }
  REGISTER(PLATFORM_INTERRUPTS + INTERRUPTS_ENABLE) = 0;
  __asm__ volatile("csrw mie, zero");
  return interrupted;
}

const struct gemm64_hooks *board_hooks(void) {
  static const struct gemm64_hooks hooks = {.read = read_register,
                                            .write = write_register,
                                            .store = store,
                                            .barrier = barrier,
                                            .wait = wait};
  return &hooks;
}

void board_reset_accelerator(void) { REGISTER(PLATFORM_CONTROL + CONTROL_RESET) = 1; }

void platform_exit(int code) {
  REGISTER(PLATFORM_CONTROL + CONTROL_EXIT) = (uint32_t)code;
  for (;;) __asm__ volatile("wfi");
}

/* For printf(). */
static int put(char byte, FILE *file) {
  (void)file;
  REGISTER(PLATFORM_UART + UART_DATA) = (uint8_t)byte;
  return (unsigned char)byte;
}

static FILE uart = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE *const stdin = &uart;
FILE *const stdout = &uart;
FILE *const stderr = &uart;
