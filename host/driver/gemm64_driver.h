// SPDX-License-Identifier: Apache-2.0
/* The accelerator's driver in freestanding C99: no heap, nothing of libc. All that it touches
 * goes through hooks, so the same code serves under Linux, on bare metal and in a simulation.
 * PORTING.md describes how. Not reentrant: one caller at a time for each device. */
#ifndef GEMM64_DRIVER_H
#define GEMM64_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "gemm64_registers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the driver reaches the world. `context` is handed to each hook. */
struct gemm64_hooks {
  void *context;
  /* Required. The register of 32 bits at a byte offset. 0, or -1 after a bus error. */
  int (*read)(void *context, uint32_t offset, uint32_t *value);
  int (*write)(void *context, uint32_t offset, uint32_t value);
  /* Required. Copies commands to where the accelerator sees them at bus address `address`. 0, or -1
   * where nothing can be written there. */
  int (*store)(void *context, uint64_t address, const void *data, size_t bytes);
  /* Writes back what caches hold of these bytes of memory. NULL: caches are coherent. */
  void (*clean)(void *context, uint64_t address, size_t bytes);
  /* Forgets what caches hold of these bytes of memory. NULL: caches are coherent. */
  void (*invalidate)(void *context, uint64_t address, size_t bytes);
  /* Memory and registers are accessed before it and after it in the program's order, as the device
   * sees them. NULL: the processor keeps that order by itself. */
  void (*barrier)(void *context);
  /* Waits until the interrupt line is high: 1. Where it is not after `limit` units of whatever the
   * hook measures time in: 0. Where waiting is impossible: -1. It may return 1 without cause; then
   * it is called again, with the same limit. NULL: register INTERRUPT is read up to `limit` times
   * instead. */
  int (*wait)(void *context, uint64_t limit);
};

/* What came of a call. */
enum gemm64_result {
  GEMM64_OK = 0,
  GEMM64_NO_ACCESS,   /* a hook failed */
  GEMM64_NO_GEMM64,   /* register ID is another one */
  GEMM64_NO_VERSION,  /* another major version than this driver's */
  GEMM64_RESETTING,   /* the reset did not end, since memory owes answers: reset the hardware */
  GEMM64_BAD_RING,    /* base or size of a ring that cannot be, or commands are still in it */
  GEMM64_RING_FULL,   /* no room for the commands; wait, and submit them again */
  GEMM64_TIMEOUT,     /* nothing within the limit; the device works on */
  GEMM64_SPURIOUS,    /* the interrupt line stays high, and INTERRUPT has no cause */
  GEMM64_FAILED,      /* the device stopped with an error; see gemm64_driver.error */
  GEMM64_BAD_PRODUCT, /* sizes or results that no commands can say (gemm64_matmul.h) */
  GEMM64_NO_ROOM,     /* the memory is too small for the product's operands and results */
  GEMM64_ALTERED      /* a register is not what was written; see gemm64_driver.altered */
};

/* What the device is. */
struct gemm64_info {
  uint32_t id, version;
  uint32_t n;                /* rows and columns of the array, bytes of a beat */
  uint32_t weight_tiles;     /* in the weight buffer */
  uint32_t scratchpad_words; /* of n bytes */
  uint32_t accumulator_rows; /* rows of a block at most */
  uint32_t address_width;    /* bits */
  uint32_t self_check;       /* register SELF_CHECK; 0: it finds no faults of its own */
};

/* Why the device stopped. Names: gemm64_error_name(), gemm64_engine_name(). */
struct gemm64_error {
  uint32_t code, engine;
  uint32_t command; /* which one, counted from the last reset; its low 16 bits */
  /* Of a fault that the device found in itself. CHECKSUM: the command's tile, from 0, and the
   * tile's row. PARITY, and UNWRITTEN of a program: a word of a memory (gemm64_memory_name()). */
  uint32_t tile, row;
  uint32_t memory, word;
};

/* A register that was read back, and was another one than it should have been. */
struct gemm64_altered {
  uint32_t offset, written, found;
};

/* One device. Read what you like, and change it through the functions below. */
struct gemm64_driver {
  struct gemm64_hooks hooks;
  struct gemm64_info info;
  struct gemm64_error error;
  struct gemm64_altered altered;
  uint64_t ring;        /* bus address */
  uint32_t places;      /* in the ring, a power of two; one of them stays empty */
  uint32_t submitted;   /* commands since the last reset, modulo 2^32 */
  uint32_t reset_polls; /* of STATUS, after which a reset is given up; 0: many */
  uint32_t watchdog,
      interrupt_enable;   /* of a device that checks itself: while commands are in it */
  uint32_t tensor_memory; /* of a device that checks itself: the register as it was written */
};

/* Did the device find a fault of its own? */
int gemm64_is_own_fault(const struct gemm64_error *error);

/* Is `result` a fault of the device, ALTERED or FAILED by one that it found itself? The same work
 * may not meet it again. */
int gemm64_may_pass(const struct gemm64_driver *driver, enum gemm64_result result);

/* One line for people. */
const char *gemm64_result_text(enum gemm64_result result);

/* Finds out what the device is, fills driver->info and writes nothing to the device. GEMM64_OK,
 * NO_GEMM64, NO_VERSION (with ID and VERSION in info) or NO_ACCESS. */
enum gemm64_result gemm64_probe(struct gemm64_driver *driver, const struct gemm64_hooks *hooks);

/* gemm64_probe(), then gemm64_reset(). */
enum gemm64_result gemm64_open(struct gemm64_driver *driver, const struct gemm64_hooks *hooks);

/* Soft reset: gives up work in progress and empties the ring; memory and counters stay.
 * RESETTING where transfers in flight are never answered; then only a reset of the hardware helps,
 * and this function after it. */
enum gemm64_result gemm64_reset(struct gemm64_driver *driver);

/* Sets the ring: `places` * GEMM64_COMMAND_BYTES bytes from `ring`, a multiple of 64;
 * `places` is a power of two from 2 to 65536. Only right after a reset. */
enum gemm64_result gemm64_set_ring(struct gemm64_driver *driver, uint64_t ring, uint32_t places);

/* Puts `count` encoded commands (gemm64_encode()) after those in the ring and starts the device,
 * which may be working. `ticket`, where not NULL, is for gemm64_wait_for(). RING_FULL, with nothing
 * done, where they have no room. A ring of p places has room for p - 1 commands. ALTERED,
 * once they have begun, where gemm64_compare_registers() says so. */
enum gemm64_result gemm64_submit(struct gemm64_driver *driver, const void *commands, uint32_t count,
                                 uint32_t *ticket);

/* How many commands have left the ring since the reset, modulo 2^32. Where FINISH is among them,
 * the results of all before it are in memory. */
enum gemm64_result gemm64_dispatched(struct gemm64_driver *driver, uint32_t *count);

/* Waits for the next interrupt, and clears it. OK: some FINISH was reached. FAILED: the device
 * stopped; driver->error has the reason, and gemm64_reset() brings it back. Else TIMEOUT, SPURIOUS,
 * ALTERED. */
enum gemm64_result gemm64_wait(struct gemm64_driver *driver, uint64_t limit);

/* Waits until all commands of a ticket have left the ring, the last of them a FINISH; several
 * programs may share an interrupt. `limit` holds for each wait between two interrupts. */
enum gemm64_result gemm64_wait_for(struct gemm64_driver *driver, uint32_t ticket, uint64_t limit);

/* Before the device reads memory that the processor wrote, and after it wrote memory that the
 * processor will read. */
void gemm64_give(struct gemm64_driver *driver, uint64_t address, size_t bytes);
void gemm64_take(struct gemm64_driver *driver, uint64_t address, size_t bytes);

/* Counter `index` (GEMM64_COUNTER_...), consistent even while it counts; and all to zero. */
enum gemm64_result gemm64_read_counter(struct gemm64_driver *driver, uint32_t index,
                                       uint64_t *value);
enum gemm64_result gemm64_clear_counters(struct gemm64_driver *driver);

/* Bytes of a snapshot that a FENCE writes with GEMM64_FLAG_SNAPSHOT; memory holds it padded to a
 * multiple of info.n. */
#define GEMM64_SNAPSHOT_BYTES (8u * GEMM64_COUNTERS)

/* Counter `index` of a snapshot at `snapshot`, which memory holds once its FENCE and a FINISH
 * after it have been reached (gemm64_take() first, where caches are not coherent). */
uint64_t gemm64_snapshot_counter(const void *snapshot, uint32_t index);

/* Reads back the registers that the work depends on, of a device that checks itself
 * (info.self_check); of others none. Where one is not as it was written, ALTERED: driver->altered
 * names it, it is written again, and what the device did since may be wrong: gemm64_reset(), and
 * submit again. gemm64_submit() and the waits do this themselves. RING_BASE, RING_MASK, RING_TAIL
 * and TENSOR_MEMORY (which gemm64_reset() writes again), and while commands are in the device
 * WATCHDOG and INTERRUPT_ENABLE: change these two through gemm64_write() then. */
enum gemm64_result gemm64_compare_registers(struct gemm64_driver *driver);

/* Any register (GEMM64_REG_...). */
enum gemm64_result gemm64_read(struct gemm64_driver *driver, uint32_t offset, uint32_t *value);
enum gemm64_result gemm64_write(struct gemm64_driver *driver, uint32_t offset, uint32_t value);

#ifdef __cplusplus
}
#endif

#endif
