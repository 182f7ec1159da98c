// SPDX-License-Identifier: Apache-2.0
/* A product by one call: C[m x n] = A[m x k] * W[n x k]^T, of any sizes. Plans it as the host does,
 * packs int8 operands into tiles, writes the commands, runs them by the driver, and unpacks the
 * results. Freestanding C99, as the driver. PORTING.md has an example. */
#ifndef GEMM64_MATMUL_H
#define GEMM64_MATMUL_H

#include "gemm64_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Commands of a plan at most. */
#define GEMM64_PLAN_COMMANDS 11u
/* Each of a plan's operands begins at a multiple of it. */
#define GEMM64_PLAN_ALIGNMENT 4096u

/* The geometry that a plan depends on. */
struct gemm64_geometry {
  uint32_t n;                /* rows and columns of the array */
  uint32_t weight_tiles;     /* in the weight buffer */
  uint32_t scratchpad_words; /* of n bytes */
  uint32_t accumulator_rows; /* rows of a block at most */
  uint32_t burst_beats;      /* in the longest burst */
};

/* The product. Of int32 results, which are the sums, all but the sizes stays 0. Of 8-bit
 * results, clamp(round((sum + bias) * scale) + zero, low, high), the format says which. */
struct gemm64_product {
  uint32_t m, k, n; /* 1 to 2^31 */
  uint32_t format;  /* GEMM64_RESULT_INT32, INT8 or UINT8 */
  int32_t zero, low, high;
};

/* Blocks of m that follow each other and have the same number of rows. */
struct gemm64_row_group {
  uint32_t first_row, rows, blocks;
  int retain; /* a block's activations stay on chip and serve every tile of n */
};

/* The tiling of a product, and the bus addresses of its operands, in this order. */
struct gemm64_plan {
  struct gemm64_product product;
  uint32_t array, k_tiles, n_tiles;
  uint32_t retains_weights; /* all tiles stay in the weight buffer for all blocks of a group */
  uint32_t groups;          /* 1 or 2 */
  struct gemm64_row_group group[2];
  uint64_t weights, parameters, activations, results, end;
  uint64_t weight_bytes, parameter_bytes, activation_bytes, result_bytes;
};

/* Memory that processor and accelerator share. */
struct gemm64_memory {
  void *bytes;      /* as the processor sees it */
  uint64_t address; /* as the accelerator does */
  uint64_t size;
};

/* Matrices row by row. */
struct gemm64_operands {
  const int8_t *activations; /* [m][k] */
  const int8_t *weights;     /* [n][k] */
  const int32_t *bias;       /* [n], only of 8-bit results */
  const float *scales;       /* [n], likewise; IEEE 754, finite, at least 0 */
  void *results;             /* [m][n] of int32_t, int8_t or uint8_t */
};

/* The geometry of an open device. */
enum gemm64_result gemm64_read_geometry(struct gemm64_driver *driver,
                                        struct gemm64_geometry *geometry);

/* Cuts a product, and lays it out from bus address `from` on. BAD_PRODUCT: a size is 0 or above
 * 2^31, needs more than commands count to, or the format or its bounds cannot be. */
enum gemm64_result gemm64_plan_product(struct gemm64_plan *plan,
                                       const struct gemm64_geometry *geometry,
                                       const struct gemm64_product *product, uint64_t from);

/* Writes the plan's commands, encoded, a FINISH last. Returns how many. */
uint32_t gemm64_plan_commands(const struct gemm64_plan *plan,
                              uint8_t bytes[GEMM64_PLAN_COMMANDS * GEMM64_COMMAND_BYTES]);

/* To and from the accelerator's order; `packed` has the plan's bytes of that operand. */
void gemm64_pack_weights(const struct gemm64_plan *plan, const int8_t *weights, uint8_t *packed);
void gemm64_pack_activations(const struct gemm64_plan *plan, const int8_t *activations,
                             uint8_t *packed);
void gemm64_pack_parameters(const struct gemm64_plan *plan, const int32_t *bias,
                            const float *scales, uint8_t *packed);
void gemm64_unpack_results(const struct gemm64_plan *plan, const uint8_t *packed, void *results);

/* All of it, in `memory`, through the ring that gemm64_set_ring() has set, elsewhere. `limit` is
 * gemm64_wait_for()'s. BAD_PRODUCT as above; NO_ROOM where the memory is too small, with nothing
 * done; else what gemm64_submit() and gemm64_wait_for() return. Where that is a fault of the device
 * that may pass (gemm64_may_pass()) it is reset, and the product runs once more: so no other
 * commands may be running. */
enum gemm64_result gemm64_matmul(struct gemm64_driver *driver, const struct gemm64_memory *memory,
                                 const struct gemm64_product *product,
                                 const struct gemm64_operands *operands, uint64_t limit);

#ifdef __cplusplus
}
#endif

#endif
