// SPDX-License-Identifier: Apache-2.0
/* One product of 5x6x7 by the driver in C, for any platform. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include <host/driver/gemm64_matmul.h>

#define M 5
#define K 6
#define N 7
#define MEMORY_BYTES 0x10000u
#define RING_BYTES 0x1000u

static int weight(int n, int k) { return 3 * n - 2 * k; }
static int activation(int m, int k) { return m - 5 * k + 1; }

/* Memory from bus address 0 on: the ring, then what the product needs. 0 where it is right. */
static int product(const struct gemm64_hooks *hooks, unsigned char *bytes, uint64_t *cycles) {
  const struct gemm64_memory memory = {bytes + RING_BYTES, RING_BYTES, MEMORY_BYTES - RING_BYTES};
  const struct gemm64_product sizes = {M, K, N, GEMM64_RESULT_INT32, 0, 0, 0};
  struct gemm64_operands operands = {0};
  struct gemm64_driver accelerator;
  int8_t activations[M * K], weights[N * K];
  int32_t results[M * N];
  int m, n, k;
  for (k = 0; k < K; ++k) {
    for (m = 0; m < M; ++m) activations[m * K + k] = (int8_t)activation(m, k);
    for (n = 0; n < N; ++n) weights[n * K + k] = (int8_t)weight(n, k);
  }
  operands.activations = activations;
  operands.weights = weights;
  operands.results = results;
  if (gemm64_open(&accelerator, hooks) != GEMM64_OK) return 1;
  if (gemm64_clear_counters(&accelerator) != GEMM64_OK) return 1;
  if (gemm64_set_ring(&accelerator, 0, RING_BYTES / GEMM64_COMMAND_BYTES) != GEMM64_OK) return 1;
  if (gemm64_matmul(&accelerator, &memory, &sizes, &operands, 1000000) != GEMM64_OK) return 1;
  for (m = 0; m < M; ++m) {
    for (n = 0; n < N; ++n) {
      int32_t expected = 0;
      for (k = 0; k < K; ++k) expected += activation(m, k) * weight(n, k);
      if (results[m * N + n] != expected) return 1;
    }
  }
  return gemm64_read_counter(&accelerator, GEMM64_COUNTER_TOTAL_CLOCKS, cycles) != GEMM64_OK;
}

#endif
