// SPDX-License-Identifier: Apache-2.0
/* Pieces of AlexNet on the accelerator of a LiteX SoC, by the driver in C. Each value is
 * compared with what a plain loop over the same operands gives, and the bytes over the
 * accelerator's ports with those of its plan. */
#include <generated/csr.h>
#include <generated/mem.h>
#include <generated/soc.h>
#include <irq.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/driver/gemm64_matmul.h"

#define PLACES 64u
#define LIMIT 10000000u /* cycles that a product may take */

/* The SoC: what PORTING.md asks for. */

static volatile int interrupted;

/* LiteX's crt0.S calls it. The line is a level: it is masked, and the driver clears its cause. */
void isr(void);
void isr(void) {
  if (irq_pending() & irq_getmask() & 1u << GEMM64_INTERRUPT) {
    gemm64_ev_enable_write(0);
    interrupted = 1;
  }
}

static uint64_t now(void) {
  timer0_uptime_latch_write(1);
  return timer0_uptime_cycles_read();
}

static int read_register(void *context, uint32_t offset, uint32_t *value) {
  (void)context;
  *value = *(volatile uint32_t *)(GEMM64_BASE + offset);
  return 0;
}

static int write_register(void *context, uint32_t offset, uint32_t value) {
  (void)context;
  *(volatile uint32_t *)(GEMM64_BASE + offset) = value;
  return 0;
}

static int store(void *context, uint64_t address, const void *data, size_t bytes) {
  (void)context;
  memcpy((void *)(uintptr_t)address, data, bytes);
  return 0;
}

/* The processor writes through its cache, so there is nothing to clean, and can only forget all of
 * it. */
static void invalidate(void *context, uint64_t address, size_t bytes) {
  (void)context;
  (void)address;
  (void)bytes;
  flush_cpu_dcache();
}

static void barrier(void *context) {
  (void)context;
  __asm__ volatile("fence" ::: "memory");
}

static int wait(void *context, uint64_t limit) {
  const uint64_t end = now() + limit;
  uint32_t spin;
  (void)context;
  interrupted = 0;
  gemm64_ev_enable_write(1);
  irq_setmask(1u << GEMM64_INTERRUPT);
  irq_setie(1);
  /* The flag is in the processor's cache; the clock is asked rarely, since that takes the bus. */
  while (!interrupted && now() < end) {
    for (spin = 0; spin < 1000 && !interrupted; ++spin) {
    }
  }
  irq_setie(0);
  return interrupted;
}

static const struct gemm64_hooks hooks = {.read = read_register,
                                          .write = write_register,
                                          .store = store,
                                          .invalidate = invalidate,
                                          .barrier = barrier,
                                          .wait = wait};

/* For printf(). */
static int put(char byte, FILE *file) {
  (void)file;
  while (uart_txfull_read()) {
  }
  uart_rxtx_write((uint8_t)byte);
  return (unsigned char)byte;
}

static FILE uart = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE *const stdin = &uart;
FILE *const stdout = &uart;
FILE *const stderr = &uart;

/* Memory: the ring, then operands as the firmware has them, then what the accelerator reads and
 * writes. */

static struct gemm64_driver accelerator;
static uint8_t *const ring = (uint8_t *)MAIN_RAM_BASE;
static uint8_t *next_free;

static void *take(size_t bytes) {
  void *const taken = next_free;
  next_free += (bytes + 7) / 8 * 8;
  return taken;
}

static uint32_t random_state = 1;

static uint32_t draw(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 17;
  random_state ^= random_state << 5;
  return random_state;
}

static int8_t *values(size_t count) {
  int8_t *const first = take(count);
  size_t i;
  for (i = 0; i < count; ++i) first[i] = (int8_t)(draw() >> 24);
  return first;
}

static unsigned compared, wrong;

static void compare(int32_t found, int32_t expected) {
  ++compared;
  if (found != expected && ++wrong <= 4) {
    printf("firmware: value %u is %ld instead of %ld\n", compared - 1, (long)found, (long)expected);
  }
}

static uint64_t counter(uint32_t index) {
  uint64_t value = 0;
  if (gemm64_read_counter(&accelerator, index, &value) != GEMM64_OK) ++wrong;
  return value;
}

/* Have as many bytes passed a port as the plan has? */
static void compare_bytes(const char *name, uint32_t index, uint64_t expected) {
  const uint64_t found = counter(index);
  if (found != expected) {
    printf("firmware: %lu bytes of %s instead of %lu\n", (unsigned long)found, name,
           (unsigned long)expected);
    ++wrong;
  }
}

/* Runs a product of one block and prints what it took; 0 where the accelerator did not end it. */
static int run(const char *name, const struct gemm64_product *product,
               const struct gemm64_operands *operands) {
  const uintptr_t from = ((uintptr_t)next_free + 4095) / 4096 * 4096;
  const struct gemm64_memory memory = {(void *)from, from, MAIN_RAM_BASE + MAIN_RAM_SIZE - from};
  uint8_t commands[GEMM64_PLAN_COMMANDS * GEMM64_COMMAND_BYTES];
  struct gemm64_geometry geometry;
  struct gemm64_plan plan;
  enum gemm64_result result = gemm64_read_geometry(&accelerator, &geometry);
  if (result == GEMM64_OK) result = gemm64_plan_product(&plan, &geometry, product, from);
  if (result == GEMM64_OK) {
    /* In memory and in the cache: no result is right because none was written, or none read. */
    uint8_t *const packed = (uint8_t *)(uintptr_t)plan.results;
    size_t i;
    memset(packed, 0x5a, (size_t)plan.result_bytes);
    for (i = 0; i < plan.result_bytes; ++i) wrong += ((volatile uint8_t *)packed)[i] != 0x5a;
    result = gemm64_clear_counters(&accelerator);
  }
  if (result == GEMM64_OK) result = gemm64_matmul(&accelerator, &memory, product, operands, LIMIT);
  if (result != GEMM64_OK) {
    printf("firmware: %s: %s", name, gemm64_result_text(result));
    if (result == GEMM64_FAILED) printf(": %s", gemm64_error_name(accelerator.error.code));
    printf("\n");
    return 0;
  }
  printf("firmware: %s: %lux%lux%lu, %lu cycles, %lu of them with a row for the array\n", name,
         (unsigned long)product->m, (unsigned long)product->k, (unsigned long)product->n,
         (unsigned long)counter(GEMM64_COUNTER_TOTAL_CLOCKS),
         (unsigned long)counter(GEMM64_COUNTER_COMPUTE_COMPUTE));
  compare_bytes("weights", GEMM64_COUNTER_BYTES_WEIGHTS, plan.weight_bytes);
  compare_bytes("activations", GEMM64_COUNTER_BYTES_ACTIVATIONS, plan.activation_bytes);
  compare_bytes("parameters", GEMM64_COUNTER_BYTES_PARAMETERS, plan.parameter_bytes);
  compare_bytes("results", GEMM64_COUNTER_BYTES_RESULTS, plan.result_bytes);
  compare_bytes("commands", GEMM64_COUNTER_BYTES_COMMANDS,
                (uint64_t)gemm64_plan_commands(&plan, commands) * GEMM64_COMMAND_BYTES);
  return 1;
}

/* features.0 has kernels of 11x11 over 3 channels, 4 pixels apart, for 64 channels: five pixels of
 * its output, in int8 with ReLU. */
#define KERNEL 11u
#define CHANNELS 3u
#define STEP 4u
#define PIXELS 5u
#define WIDTH (KERNEL + STEP * (PIXELS - 1))
#define TAPS (CHANNELS * KERNEL * KERNEL)
#define OUT_CHANNELS 64u
#define ZERO (-128)

static int convolution(void) {
  const int8_t *const image = values((size_t)CHANNELS * KERNEL * WIDTH);
  const int8_t *const weights = values((size_t)OUT_CHANNELS * TAPS);
  int8_t *const windows = take((size_t)PIXELS * TAPS);
  int8_t *const results = take((size_t)PIXELS * OUT_CHANNELS);
  int32_t *const bias = take(OUT_CHANNELS * sizeof *bias);
  float *const scales = take(OUT_CHANNELS * sizeof *scales);
  const struct gemm64_product product = {.m = PIXELS,
                                         .k = TAPS,
                                         .n = OUT_CHANNELS,
                                         .format = GEMM64_RESULT_INT8,
                                         .zero = ZERO,
                                         .low = ZERO,
                                         .high = 127};
  const struct gemm64_operands operands = {.activations = windows,
                                           .weights = weights,
                                           .bias = bias,
                                           .scales = scales,
                                           .results = results};
  uint32_t pixel, tap, channel, y, x, c;
  for (channel = 0; channel < OUT_CHANNELS; ++channel) {
    bias[channel] = (int32_t)draw() >> 14;
    scales[channel] = 1.0f / (float)(512 + (draw() >> 22));
  }
  for (pixel = 0; pixel < PIXELS; ++pixel) {
    for (tap = 0; tap < TAPS; ++tap) {
      windows[pixel * TAPS + tap] = image[tap / KERNEL * WIDTH + STEP * pixel + tap % KERNEL];
    }
  }
  if (!run("features.0", &product, &operands)) return 0;
  for (pixel = 0; pixel < PIXELS; ++pixel) {
    for (channel = 0; channel < OUT_CHANNELS; ++channel) {
      const int8_t *weight = weights + channel * TAPS;
      int32_t sum = bias[channel];
      float value;
      for (c = 0; c < CHANNELS; ++c) {
        for (y = 0; y < KERNEL; ++y) {
          const int8_t *const row = image + (c * KERNEL + y) * WIDTH + STEP * pixel;
          for (x = 0; x < KERNEL; ++x) sum += row[x] * *weight++;
        }
      }
      value = rintf((float)sum * scales[channel]) + (float)ZERO;
      value = value < (float)ZERO ? (float)ZERO : value > 127.0f ? 127.0f : value;
      compare(results[pixel * OUT_CHANNELS + channel], (int32_t)value);
    }
  }
  return 1;
}

/* A piece of a Linear layer, in int32. */
static int linear(const char *name, uint32_t images, uint32_t inputs, uint32_t classes) {
  const int8_t *const activations = values((size_t)images * inputs);
  const int8_t *const weights = values((size_t)classes * inputs);
  int32_t *const results = take((size_t)images * classes * sizeof *results);
  const struct gemm64_product product = {
      .m = images, .k = inputs, .n = classes, .format = GEMM64_RESULT_INT32};
  const struct gemm64_operands operands = {
      .activations = activations, .weights = weights, .results = results};
  uint32_t image, class, i;
  if (!run(name, &product, &operands)) return 0;
  for (image = 0; image < images; ++image) {
    for (class = 0; class < classes; ++class) {
      int32_t sum = 0;
      for (i = 0; i < inputs; ++i) {
        sum += activations[image * inputs + i] * weights[class * inputs + i];
      }
      compare(results[image * classes + class], sum);
    }
  }
  return 1;
}

/* classifier.6 has 4,096 inputs and 1,000 classes: two images, 13 of the classes. Then so little
 * that what was in the processor's cache before is still there when the results are read. */
static int linears(void) {
  return linear("classifier.6", 2, 4096, 13) && linear("little", 16, 3, 8);
}

int main(void) {
  enum gemm64_result result;
  next_free = ring + PLACES * GEMM64_COMMAND_BYTES;
  result = gemm64_open(&accelerator, &hooks);
  if (result == GEMM64_OK) result = gemm64_set_ring(&accelerator, (uintptr_t)ring, PLACES);
  if (result == GEMM64_OK) {
    printf("firmware: array %lux%lu at 0x%08lx\n", (unsigned long)accelerator.info.n,
           (unsigned long)accelerator.info.n, (unsigned long)GEMM64_BASE);
  } else {
    printf("firmware: the accelerator: %s\n", gemm64_result_text(result));
  }
  if (result == GEMM64_OK && convolution() && linears() && wrong == 0) {
    printf("firmware: VERIFIED, %u values, after %lu cycles\n", compared, (unsigned long)now());
  } else {
    printf("firmware: WRONG\n");
  }
  while (!uart_txempty_read()) {
  }
  sim_finish_finish_write(1);
  for (;;) {
  }
}
