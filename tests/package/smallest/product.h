// SPDX-License-Identifier: Apache-2.0
/* One product of 4x4x4 by the driver in C, for any platform. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include <host/driver/gemm64_driver.h>
#include <string.h>

#define MEMORY_BYTES 0x10000u
#define WEIGHTS 0x1000u
#define ACTIVATIONS 0x2000u
#define RESULTS 0x3000u

static int weight(int n, int k) { return 3 * n - 2 * k; }
static int activation(int m, int k) { return m - 5 * k + 1; }

static void product_operands(unsigned char *memory) {
  int row, k;
  for (row = 0; row < 4; ++row) {
    for (k = 0; k < 4; ++k) {
      memory[WEIGHTS + 4 * row + k] = (unsigned char)weight(row, k);
      memory[ACTIVATIONS + 4 * row + k] = (unsigned char)activation(row, k);
    }
  }
}

static int product_run(const struct gemm64_hooks *hooks, uint64_t *clocks) {
  struct gemm64_driver accelerator;
  struct gemm64_command commands[5];
  uint8_t program[5 * GEMM64_COMMAND_BYTES];
  uint32_t ticket;
  int i;
  memset(commands, 0, sizeof commands);
  commands[0].opcode = GEMM64_OP_LOAD_WEIGHTS;
  commands[0].count = 4;
  commands[0].passes = 1;
  commands[0].address_low = WEIGHTS;
  commands[1].opcode = GEMM64_OP_LOAD_ACTIVATIONS;
  commands[1].rows = 4;
  commands[1].count = commands[1].passes = commands[1].blocks = 1;
  commands[1].address_low = ACTIVATIONS;
  commands[2].opcode = GEMM64_OP_MATMUL;
  commands[2].rows = 4;
  commands[2].count = commands[2].passes = commands[2].blocks = 1;
  commands[3].opcode = GEMM64_OP_STORE;
  commands[3].rows = 4;
  commands[3].count = commands[3].blocks = 1;
  commands[3].address_low = RESULTS;
  commands[4].opcode = GEMM64_OP_FINISH;
  for (i = 0; i < 5; ++i) gemm64_encode(&commands[i], program + i * GEMM64_COMMAND_BYTES);
  if (gemm64_open(&accelerator, hooks) != GEMM64_OK) return 1;
  if (gemm64_clear_counters(&accelerator) != GEMM64_OK) return 1;
  if (gemm64_set_ring(&accelerator, 0, 64) != GEMM64_OK) return 1;
  if (gemm64_submit(&accelerator, program, 5, &ticket) != GEMM64_OK) return 1;
  if (gemm64_wait_for(&accelerator, ticket, 1000000) != GEMM64_OK) return 1;
  return gemm64_read_counter(&accelerator, 0, clocks) != GEMM64_OK;
}

static int product_check(const unsigned char *memory) {
  int m, n, k;
  for (m = 0; m < 4; ++m) {
    for (n = 0; n < 4; ++n) {
      int32_t expected = 0, found;
      for (k = 0; k < 4; ++k) expected += activation(m, k) * weight(n, k);
      memcpy(&found, memory + RESULTS + 4 * (4 * m + n), 4);
      if (found != expected) return 1;
    }
  }
  return 0;
}

#endif
