// SPDX-License-Identifier: Apache-2.0
#include "gemm64_matmul.h"

#define MOST_SIZE (UINT32_C(1) << 31)

static uint32_t divide_up(uint32_t a, uint32_t b) { return a / b + (a % b != 0); }

static uint64_t page_up(uint64_t address) {
  return (address + GEMM64_PLAN_ALIGNMENT - 1) / GEMM64_PLAN_ALIGNMENT * GEMM64_PLAN_ALIGNMENT;
}

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static int is_size(uint32_t size) { return size != 0 && size <= MOST_SIZE; }

static int can_be(const struct gemm64_product *product) {
  int32_t least, largest;
  if (!is_size(product->m) || !is_size(product->k) || !is_size(product->n)) return 0;
  if (product->format == GEMM64_RESULT_INT32) return 1;
  if (product->format != GEMM64_RESULT_INT8 && product->format != GEMM64_RESULT_UINT8) return 0;
  least = product->format == GEMM64_RESULT_INT8 ? INT8_MIN : 0;
  largest = product->format == GEMM64_RESULT_INT8 ? INT8_MAX : UINT8_MAX;
  return product->zero >= least && product->zero <= largest && product->low >= least &&
         product->low <= product->high && product->high <= largest;
}

static uint32_t result_bytes(const struct gemm64_plan *plan) {
  return plan->product.format == GEMM64_RESULT_INT32 ? GEMM64_RESULT_INT32_BYTES
                                                     : GEMM64_RESULT_INT8_BYTES;
}

/* Blocks after those of the plan. Returns 0 where commands cannot count them. */
static int add_group(struct gemm64_plan *plan, const struct gemm64_geometry *geometry,
                     uint32_t first_row, uint32_t rows, uint32_t blocks) {
  const uint64_t words = (uint64_t)rows * plan->k_tiles;
  struct gemm64_row_group *const group = &plan->group[plan->groups];
  if (blocks == 0) return 1;
  if (words > UINT32_MAX) return 0;
  group->first_row = first_row;
  group->rows = rows;
  group->blocks = blocks;
  group->retain = words <= geometry->scratchpad_words;
  ++plan->groups;
  return 1;
}

enum gemm64_result gemm64_read_geometry(struct gemm64_driver *driver,
                                        struct gemm64_geometry *geometry) {
  uint32_t bus;
  const enum gemm64_result result = gemm64_read(driver, GEMM64_REG_BUS, &bus);
  if (result != GEMM64_OK) return result;
  geometry->n = driver->info.n;
  geometry->weight_tiles = driver->info.weight_tiles;
  geometry->scratchpad_words = driver->info.scratchpad_words;
  geometry->accumulator_rows = driver->info.accumulator_rows;
  geometry->burst_beats = GEMM64_GET(bus, BUS_BURST_BEATS);
  return GEMM64_OK;
}

enum gemm64_result gemm64_plan_product(struct gemm64_plan *plan,
                                       const struct gemm64_geometry *geometry,
                                       const struct gemm64_product *product, uint64_t from) {
  const uint32_t n = geometry->n;
  uint32_t most_rows, blocks, low, higher;
  uint64_t tiles;
  if (!can_be(product)) return GEMM64_BAD_PRODUCT;
  plan->product = *product;
  plan->array = n;
  plan->k_tiles = divide_up(product->k, n);
  plan->n_tiles = divide_up(product->n, n);
  tiles = (uint64_t)plan->k_tiles * plan->n_tiles;
  if (tiles > UINT32_MAX / n) return GEMM64_BAD_PRODUCT; /* words of a LOAD_WEIGHTS */

  /* As few blocks as can be, as even as can be. In addition to a tile's rows the scratchpad must
   * hold one more burst, or the two wait for each other. */
  most_rows =
      smaller(geometry->accumulator_rows, geometry->scratchpad_words - geometry->burst_beats + 1);
  blocks = divide_up(product->m, most_rows);
  low = product->m / blocks;
  higher = product->m % blocks; /* blocks that have one row more */
  plan->retains_weights = blocks > 1 && tiles <= geometry->weight_tiles;
  plan->groups = 0;
  if (!add_group(plan, geometry, 0, low + 1, higher) ||
      !add_group(plan, geometry, higher * (low + 1), low, blocks - higher)) {
    return GEMM64_BAD_PRODUCT;
  }

  plan->weight_bytes = tiles * n * n;
  /* A bias and a scale of 4 bytes each for every column. */
  plan->parameter_bytes =
      product->format == GEMM64_RESULT_INT32 ? 0 : (uint64_t)plan->n_tiles * 8 * n;
  plan->activation_bytes = (uint64_t)product->m * plan->k_tiles * n;
  plan->result_bytes = (uint64_t)product->m * plan->n_tiles * n * result_bytes(plan);
  if (plan->parameter_bytes / n > UINT32_MAX) return GEMM64_BAD_PRODUCT;
  plan->weights = page_up(from);
  plan->parameters = page_up(plan->weights + plan->weight_bytes);
  plan->activations = page_up(plan->parameters + plan->parameter_bytes);
  plan->results = page_up(plan->activations + plan->activation_bytes);
  plan->end = plan->results + plan->result_bytes;
  return GEMM64_OK;
}

static struct gemm64_command command_at(uint32_t opcode, uint64_t address) {
  const struct gemm64_command command = {.opcode = opcode,
                                         .address_low = (uint32_t)address,
                                         .address_high = (uint32_t)(address >> 32)};
  return command;
}

static void append(uint8_t *bytes, uint32_t *count, const struct gemm64_command *command) {
  gemm64_encode(command, bytes + (size_t)GEMM64_COMMAND_BYTES * (*count)++);
}

uint32_t gemm64_plan_commands(const struct gemm64_plan *plan,
                              uint8_t bytes[GEMM64_PLAN_COMMANDS * GEMM64_COMMAND_BYTES]) {
  const struct gemm64_product *const product = &plan->product;
  struct gemm64_command command;
  uint32_t count = 0, i;
  for (i = 0; i < plan->groups; ++i) {
    const struct gemm64_row_group *const group = &plan->group[i];
    command = command_at(GEMM64_OP_LOAD_WEIGHTS, plan->weights);
    command.count = plan->k_tiles * plan->n_tiles * plan->array;
    command.passes = plan->retains_weights ? 1 : group->blocks;
    append(bytes, &count, &command);

    command = command_at(GEMM64_OP_LOAD_ACTIVATIONS,
                         plan->activations + (uint64_t)group->first_row * plan->array);
    command.rows = group->rows;
    command.count = plan->k_tiles;
    command.passes = group->retain ? 1 : plan->n_tiles;
    command.blocks = group->blocks;
    command.stride = product->m;
    append(bytes, &count, &command);

    command = command_at(GEMM64_OP_MATMUL, 0);
    command.flags = GEMM64_FLAG_ACCUMULATE | (group->retain ? GEMM64_FLAG_RETAIN : 0) |
                    (plan->retains_weights && group->blocks > 1 ? GEMM64_FLAG_RETAIN_WEIGHTS : 0);
    command.rows = group->rows;
    command.count = plan->k_tiles;
    command.passes = plan->n_tiles;
    command.blocks = group->blocks;
    append(bytes, &count, &command);

    if (plan->parameter_bytes != 0) {
      command = command_at(GEMM64_OP_LOAD_PARAMETERS, plan->parameters);
      command.count = (uint32_t)(plan->parameter_bytes / plan->array);
      command.passes = group->blocks;
      append(bytes, &count, &command);
    }

    command = command_at(GEMM64_OP_STORE, plan->results + (uint64_t)group->first_row * plan->array *
                                                              result_bytes(plan));
    command.rows = group->rows;
    command.count = plan->n_tiles;
    command.blocks = group->blocks;
    command.format = product->format;
    if (product->format != GEMM64_RESULT_INT32) {
      command.zero = (uint32_t)product->zero & 0xff;
      command.low = (uint32_t)product->low & 0xff;
      command.high = (uint32_t)product->high & 0xff;
    }
    command.stride = product->m;
    append(bytes, &count, &command);
  }
  command = command_at(GEMM64_OP_FINISH, 0);
  append(bytes, &count, &command);
  return count;
}

/* One word: values [tile * array, ...) of a row of `columns`, zeros after its end. */
static uint8_t *pack_word(uint8_t *to, const int8_t *row, uint32_t columns, uint32_t tile,
                          uint32_t array) {
  const uint32_t first = tile * array;
  uint32_t i;
  for (i = 0; i < array; ++i) {
    *to++ = i < columns - first ? (uint8_t)row[first + i] : 0;
  }
  return to;
}

/* The rows of a matrix of which one tile along k takes words. */
static uint8_t *pack_rows(uint8_t *to, const int8_t *matrix, uint32_t rows, uint32_t tile,
                          const struct gemm64_plan *plan) {
  const uint32_t k = plan->product.k;
  uint32_t row;
  for (row = 0; row < rows; ++row) {
    to = pack_word(to, matrix + (size_t)row * k, k, tile, plan->array);
  }
  return to;
}

void gemm64_pack_weights(const struct gemm64_plan *plan, const int8_t *weights, uint8_t *packed) {
  uint32_t tile_n, tile_k, i;
  for (tile_n = 0; tile_n < plan->n_tiles; ++tile_n) {
    const uint32_t first = tile_n * plan->array;
    const uint32_t columns = smaller(plan->array, plan->product.n - first);
    for (tile_k = 0; tile_k < plan->k_tiles; ++tile_k) {
      packed = pack_rows(packed, weights + (size_t)first * plan->product.k, columns, tile_k, plan);
      for (i = columns * plan->array; i < plan->array * plan->array; ++i) *packed++ = 0;
    }
  }
}

void gemm64_pack_activations(const struct gemm64_plan *plan, const int8_t *activations,
                             uint8_t *packed) {
  uint32_t tile;
  for (tile = 0; tile < plan->k_tiles; ++tile) {
    packed = pack_rows(packed, activations, plan->product.m, tile, plan);
  }
}

/* Low byte first. */
static void put_word(uint8_t *to, uint32_t value) {
  uint32_t i;
  for (i = 0; i < 4; ++i) to[i] = (uint8_t)(value >> (8 * i));
}

void gemm64_pack_parameters(const struct gemm64_plan *plan, const int32_t *bias,
                            const float *scales, uint8_t *packed) {
  const uint32_t columns = plan->n_tiles * plan->array;
  uint32_t column;
  for (column = 0; column < columns; ++column) {
    const int inside = column < plan->product.n;
    uint8_t *const at = packed + (size_t)(column / plan->array) * 8 * plan->array +
                        (size_t)(column % plan->array) * 4;
    union {
      float value;
      uint32_t bits;
    } scale = {0};
    if (inside) scale.value = scales[column];
    put_word(at, inside ? (uint32_t)bias[column] : 0);
    put_word(at + (size_t)4 * plan->array, scale.bits);
  }
}

static uint32_t get_word(const uint8_t *from) {
  return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

void gemm64_unpack_results(const struct gemm64_plan *plan, const uint8_t *packed, void *results) {
  const uint32_t n = plan->product.n, bytes = result_bytes(plan);
  uint32_t column, row;
  for (column = 0; column < n; ++column) {
    const uint64_t tile = column / plan->array;
    const uint8_t *from =
        packed + (tile * plan->product.m * plan->array + column % plan->array) * bytes;
    size_t to = column;
    for (row = 0; row < plan->product.m; ++row, to += n, from += (size_t)plan->array * bytes) {
      if (bytes == 1) {
        ((uint8_t *)results)[to] = *from;
      } else {
        ((int32_t *)results)[to] = (int32_t)get_word(from);
      }
    }
  }
}

enum gemm64_result gemm64_matmul(struct gemm64_driver *driver, const struct gemm64_memory *memory,
                                 const struct gemm64_product *product,
                                 const struct gemm64_operands *operands, uint64_t limit) {
  uint8_t commands[GEMM64_PLAN_COMMANDS * GEMM64_COMMAND_BYTES];
  uint8_t *const bytes = memory->bytes;
  struct gemm64_geometry geometry;
  struct gemm64_plan plan;
  uint32_t ticket;
  int again;
  enum gemm64_result result = gemm64_read_geometry(driver, &geometry);
  if (result != GEMM64_OK) return result;
  result = gemm64_plan_product(&plan, &geometry, product, memory->address);
  if (result != GEMM64_OK) return result;
  if (plan.end - memory->address > memory->size) return GEMM64_NO_ROOM;

  gemm64_pack_weights(&plan, operands->weights, bytes + (plan.weights - memory->address));
  gemm64_pack_activations(&plan, operands->activations,
                          bytes + (plan.activations - memory->address));
  if (plan.parameter_bytes != 0) {
    gemm64_pack_parameters(&plan, operands->bias, operands->scales,
                           bytes + (plan.parameters - memory->address));
  }
  gemm64_give(driver, plan.weights, (size_t)(plan.results - plan.weights));
  for (again = 0;; again = 1) {
    result = gemm64_submit(driver, commands, gemm64_plan_commands(&plan, commands), &ticket);
    if (result == GEMM64_OK) result = gemm64_wait_for(driver, ticket, limit);
    if (result == GEMM64_OK) break;
    if (again || !gemm64_may_pass(driver, result)) return result;
    result = gemm64_reset(driver);
    if (result != GEMM64_OK) return result;
  }
  gemm64_take(driver, plan.results, (size_t)plan.result_bytes);
  gemm64_unpack_results(&plan, bytes + (plan.results - memory->address), operands->results);
  return GEMM64_OK;
}
