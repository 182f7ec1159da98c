// SPDX-License-Identifier: Apache-2.0
/* The same without SystemC: what an emulator would do. */
#include <gemm64/gemm64_sim.h>
#include <stdio.h>
#include <string.h>

#include "../smallest/product.h"

static int read_register(void *sim, uint32_t offset, uint32_t *value) {
  return gemm64_sim_read(sim, offset, value);
}
static int write_register(void *sim, uint32_t offset, uint32_t value) {
  return gemm64_sim_write(sim, offset, value);
}
/* The simulation's memory is its own; what the processor keeps of it is a cache. */
static unsigned char memory[MEMORY_BYTES];
static void clean(void *sim, uint64_t address, size_t bytes) {
  gemm64_sim_write_memory(sim, address, memory + address, bytes);
}
static void invalidate(void *sim, uint64_t address, size_t bytes) {
  gemm64_sim_read_memory(sim, address, memory + address, bytes);
}
/* Commands too go by the cache. */
static int store(void *sim, uint64_t address, const void *data, size_t bytes) {
  (void)sim;
  memcpy(memory + address, data, bytes);
  return 0;
}
static int wait(void *sim, uint64_t limit) { return gemm64_sim_run(sim, limit); }

/* PORTING.md's example. */
enum gemm64_result multiply(const struct gemm64_hooks *hooks, uint8_t *bytes, uint64_t address,
                            uint64_t size, const int8_t *activations, const int8_t *weights,
                            int32_t *results);

static int try_example(const struct gemm64_hooks *hooks) {
  int8_t activations[3 * 20], weights[10 * 20];
  int32_t results[3 * 10];
  int m, n, k;
  for (m = 0; m < 3 * 20; ++m) activations[m] = (int8_t)(m * 37);
  for (n = 0; n < 10 * 20; ++n) weights[n] = (int8_t)(n * 73);
  if (multiply(hooks, memory, 0, sizeof memory, activations, weights, results) != GEMM64_OK) {
    return 1;
  }
  for (m = 0; m < 3; ++m) {
    for (n = 0; n < 10; ++n) {
      int32_t sum = 0;
      for (k = 0; k < 20; ++k) sum += activations[20 * m + k] * weights[20 * n + k];
      if (results[10 * m + n] != sum) return 1;
    }
  }
  return 0;
}

static int try_device(const char *device) {
  const struct gemm64_sim_options options = {device, 4, 50, 0};
  struct gemm64_hooks hooks = {0};
  uint64_t cycles = 0;
  uint32_t value;
  int failed;
  struct gemm64_sim *const sim = gemm64_sim_create(&options);
  if (sim == NULL) {
    printf("%s: %s\n", device, gemm64_sim_error(NULL));
    return 1;
  }
  hooks.context = sim;
  hooks.read = read_register;
  hooks.write = write_register;
  hooks.store = store;
  hooks.clean = clean;
  hooks.invalidate = invalidate;
  hooks.wait = wait;
  failed = product(&hooks, memory, &cycles) || try_example(&hooks);
  printf("C, %s: %s, %llu cycles\n", device, failed ? "FAILED" : "a product of 5x6x7 is right",
         (unsigned long long)cycles);
  /* A refusal has a reason. */
  failed = failed || gemm64_sim_read(sim, 0xffc, &value) != -1 || gemm64_sim_error(sim)[0] == 0;
  failed = failed || gemm64_sim_reset(sim) != 0 || gemm64_sim_clocks(sim) == 0;
  gemm64_sim_destroy(sim);
  return failed;
}

int main(void) {
  const struct gemm64_sim_options wrong = {"rtl", 5, 50, 0};
  if (gemm64_sim_create(&wrong) != NULL) return 1;
  return try_device("rtl") || try_device("tlm");
}
