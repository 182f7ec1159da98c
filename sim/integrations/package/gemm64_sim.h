// SPDX-License-Identifier: Apache-2.0
/* The accelerator with its memory, for platforms without SystemC: an emulator, a test bench in
 * another language. Plain C; one thread for each device. */
#ifndef GEMM64_SIM_H
#define GEMM64_SIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gemm64_sim;

struct gemm64_sim_options {
  const char *device;       /* "rtl", the Verilated RTL, or "tlm", fast */
  int array;                /* rows and columns: 2, 4, 8 or 64 */
  uint32_t memory_latency;  /* cycles from a request to its answer, at least 1 */
  uint32_t bytes_per_cycle; /* of each of three ports; 0: their width */
};

/* NULL where the options cannot be; gemm64_sim_error(NULL) then has the reason. */
struct gemm64_sim *gemm64_sim_create(const struct gemm64_sim_options *options);
void gemm64_sim_destroy(struct gemm64_sim *sim);

/* The register at a byte offset (a multiple of 4), in a few cycles. 0, or -1 where the bus answers
 * with an error. */
int gemm64_sim_read(struct gemm64_sim *sim, uint32_t offset, uint32_t *value);
int gemm64_sim_write(struct gemm64_sim *sim, uint32_t offset, uint32_t value);

/* Memory from address 0 on, 4 GiB of which only what is used takes any; in no time. 0, or -1 where
 * a byte is outside. */
int gemm64_sim_read_memory(struct gemm64_sim *sim, uint64_t address, void *data, size_t bytes);
int gemm64_sim_write_memory(struct gemm64_sim *sim, uint64_t address, const void *data,
                            size_t bytes);

/* Runs until the interrupt line is high: 1; or for `max_cycles`: 0. -1 where the simulation fails:
 * the RTL has broken a rule of its buses. */
int gemm64_sim_run(struct gemm64_sim *sim, uint64_t max_clocks);

/* Cycles since it was created. */
uint64_t gemm64_sim_clocks(const struct gemm64_sim *sim);

/* Hard reset; memory stays. */
int gemm64_sim_reset(struct gemm64_sim *sim);

/* Why the last call failed, until the next one. */
const char *gemm64_sim_error(const struct gemm64_sim *sim);

#ifdef __cplusplus
}
#endif

#endif
