// SPDX-License-Identifier: Apache-2.0
#include "gemm64_driver.h"

/* A soft reset lasts as long as the bus transfers in flight; their answers may be slow. */
#define RESET_POLLS 100000u
/* Interrupts in a row without a cause, before the line is called stuck. */
#define SPURIOUS_INTERRUPTS 1000u
#define MAX_PLACES 65536u
/* The first minor version with register SELF_CHECK. */
#define SELF_CHECK_MINOR 3u
/* The first with register TENSOR_MEMORY. */
#define TENSOR_MEMORY_MINOR 7u

/* Returns from the function where a step failed. */
#define TRY(step)                            \
  do {                                       \
    const enum gemm64_result tried = (step); \
    if (tried != GEMM64_OK) return tried;    \
  } while (0)

const char *gemm64_result_text(enum gemm64_result result) {
  switch (result) {
    case GEMM64_OK:
      return "done";
    case GEMM64_NO_ACCESS:
      return "the bus answered a register access with an error";
    case GEMM64_NO_GEMM64:
      return "the device is not a gemm64";
    case GEMM64_NO_VERSION:
      return "the device's major version differs from this driver's";
    case GEMM64_RESETTING:
      return "a soft reset did not end because memory still owes answers; a hard reset is needed";
    case GEMM64_BAD_RING:
      return "the ring cannot be placed there, or it still holds commands";
    case GEMM64_RING_FULL:
      return "the ring has no room for the commands";
    case GEMM64_TIMEOUT:
      return "no interrupt within the limit";
    case GEMM64_SPURIOUS:
      return "the interrupt line is high, but no cause is set";
    case GEMM64_FAILED:
      return "the device stopped with an error";
    case GEMM64_BAD_PRODUCT:
      return "no commands can say a product of these sizes and results";
    case GEMM64_NO_ROOM:
      return "the memory is too small for the product's operands and results";
    case GEMM64_ALTERED:
      return "a register does not hold what was written to it";
  }
  return "unknown";
}

int gemm64_is_own_fault(const struct gemm64_error *error) {
  return error->code == GEMM64_ERROR_CHECKSUM || error->code == GEMM64_ERROR_PARITY;
}

int gemm64_may_pass(const struct gemm64_driver *driver, enum gemm64_result result) {
  return result == GEMM64_ALTERED ||
         (result == GEMM64_FAILED && gemm64_is_own_fault(&driver->error));
}

enum gemm64_result gemm64_read(struct gemm64_driver *driver, uint32_t offset, uint32_t *value) {
  const int failed = driver->hooks.read(driver->hooks.context, offset, value);
  return failed ? GEMM64_NO_ACCESS : GEMM64_OK;
}

enum gemm64_result gemm64_write(struct gemm64_driver *driver, uint32_t offset, uint32_t value) {
  const int failed = driver->hooks.write(driver->hooks.context, offset, value);
  if (offset == GEMM64_REG_WATCHDOG) driver->watchdog = value;
  if (offset == GEMM64_REG_INTERRUPT_ENABLE) driver->interrupt_enable = value;
  if (offset == GEMM64_REG_TENSOR_MEMORY) driver->tensor_memory = value;
  return failed ? GEMM64_NO_ACCESS : GEMM64_OK;
}

/* Is TENSOR_MEMORY read back? */
static int has_checked_tensor_memory(const struct gemm64_driver *driver) {
  return driver->info.self_check != 0 &&
         GEMM64_GET(driver->info.version, VERSION_MINOR) >= TENSOR_MEMORY_MINOR;
}

static void barrier(struct gemm64_driver *driver) {
  if (driver->hooks.barrier) driver->hooks.barrier(driver->hooks.context);
}

enum gemm64_result gemm64_probe(struct gemm64_driver *driver, const struct gemm64_hooks *hooks) {
  struct gemm64_info *const info = &driver->info;
  const struct gemm64_driver closed = {0};
  uint32_t array;
  *driver = closed;
  driver->hooks = *hooks;
  TRY(gemm64_read(driver, GEMM64_REG_ID, &info->id));
  if (info->id != GEMM64_ID_RESET_VALUE) return GEMM64_NO_GEMM64;
  TRY(gemm64_read(driver, GEMM64_REG_VERSION, &info->version));
  if (GEMM64_GET(info->version, VERSION_MAJOR) != GEMM64_VERSION_MAJOR) return GEMM64_NO_VERSION;
  TRY(gemm64_read(driver, GEMM64_REG_ARRAY, &array));
  info->n = GEMM64_GET(array, ARRAY_N);
  info->weight_tiles = GEMM64_GET(array, ARRAY_WEIGHT_TILES);
  TRY(gemm64_read(driver, GEMM64_REG_SCRATCHPAD_WORDS, &info->scratchpad_words));
  TRY(gemm64_read(driver, GEMM64_REG_ACCUMULATOR_ROWS, &info->accumulator_rows));
  TRY(gemm64_read(driver, GEMM64_REG_ADDRESS_WIDTH, &info->address_width));
  if (GEMM64_GET(info->version, VERSION_MINOR) < SELF_CHECK_MINOR) return GEMM64_OK;
  TRY(gemm64_read(driver, GEMM64_REG_SELF_CHECK, &info->self_check));
  if (!has_checked_tensor_memory(driver)) return GEMM64_OK;
  return gemm64_read(driver, GEMM64_REG_TENSOR_MEMORY, &driver->tensor_memory);
}

enum gemm64_result gemm64_open(struct gemm64_driver *driver, const struct gemm64_hooks *hooks) {
  TRY(gemm64_probe(driver, hooks));
  return gemm64_reset(driver);
}

/* Writes a register that begins a soft reset, and waits for its end. */
static enum gemm64_result reset_by(struct gemm64_driver *driver, uint32_t offset, uint32_t value) {
  const uint32_t polls = driver->reset_polls != 0 ? driver->reset_polls : RESET_POLLS;
  uint32_t poll, status;
  TRY(gemm64_write(driver, offset, value));
  for (poll = 0; poll < polls; ++poll) {
    TRY(gemm64_read(driver, GEMM64_REG_STATUS, &status));
    if (GEMM64_GET(status, STATUS_RESETTING) == 0) {
      driver->submitted = 0;
      return GEMM64_OK;
    }
  }
  return GEMM64_RESETTING;
}

enum gemm64_result gemm64_reset(struct gemm64_driver *driver) {
  TRY(reset_by(driver, GEMM64_REG_CONTROL, GEMM64_CONTROL_RESET_MASK));
  if (driver->altered.offset != GEMM64_REG_TENSOR_MEMORY) return GEMM64_OK;
  driver->altered.offset = 0;
  return reset_by(driver, GEMM64_REG_TENSOR_MEMORY, driver->tensor_memory);
}

enum gemm64_result gemm64_set_ring(struct gemm64_driver *driver, uint64_t ring, uint32_t places) {
  if (ring % GEMM64_COMMAND_BYTES != 0 || places < 2 || places > MAX_PLACES ||
      (places & (places - 1)) != 0 || driver->submitted != 0) {
    return GEMM64_BAD_RING;
  }
  driver->places = 0;
  /* The high half first: the device refuses either half while the other is above its bus. */
  TRY(gemm64_write(driver, GEMM64_REG_RING_BASE_HIGH, (uint32_t)(ring >> 32)));
  TRY(gemm64_write(driver, GEMM64_REG_RING_BASE_LOW, (uint32_t)ring));
  TRY(gemm64_write(driver, GEMM64_REG_RING_MASK, places - 1));
  driver->ring = ring;
  driver->places = places;
  return GEMM64_OK;
}

enum gemm64_result gemm64_dispatched(struct gemm64_driver *driver, uint32_t *count) {
  uint32_t head;
  TRY(gemm64_read(driver, GEMM64_REG_RING_HEAD, &head));
  /* What is left in the ring is the way from its head to its tail. */
  *count = driver->submitted -
           (driver->places == 0 ? 0 : (driver->submitted - head) & (driver->places - 1));
  return GEMM64_OK;
}

/* Does a register hold `written`? Where it does not, it is written again, and ALTERED says so. */
static enum gemm64_result compare(struct gemm64_driver *driver, uint32_t offset, uint32_t written) {
  uint32_t found;
  TRY(gemm64_read(driver, offset, &found));
  if (found == written) return GEMM64_OK;
  driver->altered.offset = offset;
  driver->altered.written = written;
  driver->altered.found = found;
  /* A tail would start the commands in the ring, and TENSOR_MEMORY is refused while BUSY: a reset
   * restores both. */
  if (offset != GEMM64_REG_RING_TAIL && offset != GEMM64_REG_TENSOR_MEMORY) {
    TRY(gemm64_write(driver, offset, written));
  }
  return GEMM64_ALTERED;
}

enum gemm64_result gemm64_compare_registers(struct gemm64_driver *driver) {
  if (driver->info.self_check == 0 || driver->places == 0) return GEMM64_OK;
  TRY(compare(driver, GEMM64_REG_RING_BASE_HIGH, (uint32_t)(driver->ring >> 32)));
  TRY(compare(driver, GEMM64_REG_RING_BASE_LOW, (uint32_t)driver->ring));
  TRY(compare(driver, GEMM64_REG_RING_MASK, driver->places - 1));
  TRY(compare(driver, GEMM64_REG_RING_TAIL, driver->submitted & (driver->places - 1)));
  if (has_checked_tensor_memory(driver)) {
    TRY(compare(driver, GEMM64_REG_TENSOR_MEMORY, driver->tensor_memory));
  }
  if (driver->submitted == 0) return GEMM64_OK; /* the settings are unused so far */
  TRY(compare(driver, GEMM64_REG_WATCHDOG, driver->watchdog));
  return compare(driver, GEMM64_REG_INTERRUPT_ENABLE, driver->interrupt_enable);
}

/* Copies commands to places that follow each other in memory. */
static enum gemm64_result store(struct gemm64_driver *driver, uint32_t place, const uint8_t *from,
                                uint32_t count) {
  const uint64_t address = driver->ring + (uint64_t)place * GEMM64_COMMAND_BYTES;
  const size_t bytes = (size_t)count * GEMM64_COMMAND_BYTES;
  if (count == 0) return GEMM64_OK;
  if (driver->hooks.store(driver->hooks.context, address, from, bytes)) return GEMM64_NO_ACCESS;
  if (driver->hooks.clean) driver->hooks.clean(driver->hooks.context, address, bytes);
  return GEMM64_OK;
}

enum gemm64_result gemm64_submit(struct gemm64_driver *driver, const void *commands, uint32_t count,
                                 uint32_t *ticket) {
  const uint8_t *const from = commands;
  const uint32_t place = driver->submitted & (driver->places - 1);
  uint32_t dispatched, before_the_end;
  int first;
  if (driver->places == 0) return GEMM64_BAD_RING;
  if (count >= driver->places) return GEMM64_RING_FULL;
  if (driver->submitted == 0) {
    dispatched = 0; /* right after a reset the ring is empty */
  } else {
    TRY(gemm64_dispatched(driver, &dispatched));
  }
  if (count >= driver->places - (driver->submitted - dispatched)) return GEMM64_RING_FULL;
  before_the_end = driver->places - place;
  if (before_the_end > count) before_the_end = count;
  TRY(store(driver, place, from, before_the_end));
  TRY(store(driver, 0, from + (size_t)before_the_end * GEMM64_COMMAND_BYTES,
            count - before_the_end));
  barrier(driver);
  first = driver->submitted == 0;
  driver->submitted += count;
  if (ticket) *ticket = driver->submitted;
  TRY(gemm64_write(driver, GEMM64_REG_RING_TAIL, driver->submitted & (driver->places - 1)));
  if (driver->info.self_check == 0) return GEMM64_OK;
  /* While the device fetches: this costs no cycle. */
  if (first) {
    TRY(gemm64_read(driver, GEMM64_REG_WATCHDOG, &driver->watchdog));
    TRY(gemm64_read(driver, GEMM64_REG_INTERRUPT_ENABLE, &driver->interrupt_enable));
    /* Without DONE a wait for the line does not end: the bit has flipped before the commands came.
     */
    if (driver->hooks.wait) driver->interrupt_enable |= GEMM64_INTERRUPT_ENABLE_DONE_MASK;
  }
  return gemm64_compare_registers(driver);
}

/* The causes of the interrupt, once there are any. */
static enum gemm64_result wait_cause(struct gemm64_driver *driver, uint64_t limit,
                                     uint32_t *cause) {
  uint32_t spurious = 0;
  for (;;) {
    if (driver->hooks.wait) {
      const int line = driver->hooks.wait(driver->hooks.context, limit);
      if (line < 0) return GEMM64_NO_ACCESS;
      if (line == 0) return GEMM64_TIMEOUT;
    } else if (limit-- == 0) {
      return GEMM64_TIMEOUT;
    }
    TRY(gemm64_read(driver, GEMM64_REG_INTERRUPT, cause));
    if (*cause != 0) return GEMM64_OK;
    if (driver->hooks.wait && ++spurious == SPURIOUS_INTERRUPTS) return GEMM64_SPURIOUS;
  }
}

/* What the device says of itself when the interrupt has a cause. */
static enum gemm64_result settle(struct gemm64_driver *driver, uint32_t cause) {
  uint32_t word;
  barrier(driver); /* results are read after this */
  if (GEMM64_GET(cause, INTERRUPT_ERROR) == 0) {
    return gemm64_write(driver, GEMM64_REG_INTERRUPT, GEMM64_INTERRUPT_DONE_MASK);
  }
  TRY(gemm64_read(driver, GEMM64_REG_ERROR, &word));
  driver->error.code = GEMM64_GET(word, ERROR_CODE);
  driver->error.engine = GEMM64_GET(word, ERROR_ENGINE);
  driver->error.command = GEMM64_GET(word, ERROR_COMMAND);
  driver->error.tile = driver->error.row = driver->error.memory = driver->error.word = 0;
  if (gemm64_is_own_fault(&driver->error) || driver->error.code == GEMM64_ERROR_UNWRITTEN) {
    TRY(gemm64_read(driver, GEMM64_REG_FAULT_TILE, &driver->error.tile));
    TRY(gemm64_read(driver, GEMM64_REG_FAULT_ROW, &driver->error.row));
    TRY(gemm64_read(driver, GEMM64_REG_FAULT_MEMORY, &word));
    driver->error.memory = GEMM64_GET(word, FAULT_MEMORY_NUMBER);
    driver->error.word = GEMM64_GET(word, FAULT_MEMORY_WORD);
  }
  return GEMM64_FAILED;
}

enum gemm64_result gemm64_wait(struct gemm64_driver *driver, uint64_t limit) {
  uint32_t cause = 0;
  enum gemm64_result result = wait_cause(driver, limit, &cause);
  if (result == GEMM64_OK) result = settle(driver, cause);
  if (gemm64_may_pass(driver, result)) return result;
  /* Whatever came of it: a register that changed by itself may be why. */
  if (result == GEMM64_OK || result == GEMM64_FAILED || result == GEMM64_TIMEOUT) {
    TRY(gemm64_compare_registers(driver));
  }
  if (result == GEMM64_FAILED && driver->error.code == GEMM64_ERROR_NONE &&
      driver->info.self_check) {
    driver->altered.offset = GEMM64_REG_INTERRUPT;
    driver->altered.written = 0;
    driver->altered.found = cause;
    return GEMM64_ALTERED;
  }
  return result;
}

enum gemm64_result gemm64_wait_for(struct gemm64_driver *driver, uint32_t ticket, uint64_t limit) {
  uint32_t dispatched;
  int cleared = 0;
  for (;;) {
    /* The head is read after the interrupt is cleared, so that no FINISH between them is missed. */
    TRY(gemm64_dispatched(driver, &dispatched));
    if ((int32_t)(dispatched - ticket) >= 0) break;
    TRY(gemm64_wait(driver, limit));
    cleared = 1;
  }
  barrier(driver); /* results are read after this */
  if (cleared) return GEMM64_OK;
  TRY(gemm64_compare_registers(driver));
  return gemm64_write(driver, GEMM64_REG_INTERRUPT, GEMM64_INTERRUPT_DONE_MASK);
}

void gemm64_give(struct gemm64_driver *driver, uint64_t address, size_t bytes) {
  if (driver->hooks.clean) driver->hooks.clean(driver->hooks.context, address, bytes);
  barrier(driver);
}

void gemm64_take(struct gemm64_driver *driver, uint64_t address, size_t bytes) {
  barrier(driver);
  if (driver->hooks.invalidate) driver->hooks.invalidate(driver->hooks.context, address, bytes);
}

enum gemm64_result gemm64_read_counter(struct gemm64_driver *driver, uint32_t index,
                                       uint64_t *value) {
  const uint32_t offset = GEMM64_COUNTERS_BASE + 8 * index;
  uint32_t low, high, again;
  TRY(gemm64_read(driver, offset + 4, &high));
  for (;;) {
    TRY(gemm64_read(driver, offset, &low));
    TRY(gemm64_read(driver, offset + 4, &again));
    if (again == high) break;
    high = again; /* the low word has just gone past its end */
  }
  *value = (uint64_t)high << 32 | low;
  return GEMM64_OK;
}

uint64_t gemm64_snapshot_counter(const void *snapshot, uint32_t index) {
  const uint8_t *const bytes = (const uint8_t *)snapshot + (size_t)8 * index;
  uint64_t value = 0;
  uint32_t i;
  for (i = 8; i > 0; --i) value = value << 8 | bytes[i - 1];
  return value;
}

enum gemm64_result gemm64_clear_counters(struct gemm64_driver *driver) {
  return gemm64_write(driver, GEMM64_REG_CONTROL, GEMM64_CONTROL_CLEAR_COUNTERS_MASK);
}
