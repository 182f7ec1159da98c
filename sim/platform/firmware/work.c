// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/firmware/work.h"

#include <stddef.h>
#include <string.h>

#include "sim/platform/map.h"

#define LEAST_VALUE (-128)
#define TOO_MANY UINT64_MAX
#define SIGNS 0x8080808080808080u

int lies_in(uint64_t address, uint64_t bytes, uint64_t base, uint64_t size) {
  return address >= base && address - base <= size && bytes <= size - (address - base);
}

/* a * b, or TOO_MANY where memory cannot hold as many bytes. */
static uint64_t times(uint64_t a, uint64_t b) {
  if (a == TOO_MANY || b > WORK_MOST_MAPS || a * b > PLATFORM_MEMORY_MOST) return TOO_MANY;
  return a * b;
}

static uint64_t tensor_bytes(const struct processor_work *work, uint32_t height, uint32_t width) {
  return times(times(times(work->maps, work->pixel_bytes), height), width);
}

static int in_memory(uint64_t address, uint64_t bytes) {
  return bytes != TOO_MANY && lies_in(address, bytes, PLATFORM_MEMORY, PLATFORM_MEMORY_MOST);
}

static int overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

static int is_size(uint32_t value) { return value - 1 < WORK_MOST; }

/* Along one axis: the first and the last window have a tap in the input, or may have. */
static int windows_fit(uint32_t in, uint32_t out, uint32_t kernel, uint32_t stride,
                       uint32_t dilation, uint32_t pad) {
  return is_size(in) && is_size(out) && is_size(kernel) && is_size(stride) && is_size(dilation) &&
         pad <= (uint64_t)(kernel - 1) * dilation &&
         (uint64_t)(out - 1) * stride < (uint64_t)in + pad;
}

const char *work_problem(const struct job *job, uint64_t *value) {
  const struct processor_work *const work = &job->work;
  const int pools = work->kind == WORK_MAX_POOL;
  uint64_t source, results;
  *value = work->kind;
  if (!pools && work->kind != WORK_CLASSES) return "impossible kind of work,";
  *value = work->pixel_bytes;
  if (!is_size(work->pixel_bytes)) return "impossible bytes of a pixel,";
  *value = work->maps;
  if (work->maps - 1 >= WORK_MOST_MAPS) return "impossible number of maps,";
  if (pools) {
    *value = work->kernel_height;
    if (!windows_fit(work->height, work->out_height, work->kernel_height, work->stride_height,
                     work->dilation_height, work->pad_top)) {
      return "impossible windows along the height, of";
    }
    *value = work->kernel_width;
    if (!windows_fit(work->width, work->out_width, work->kernel_width, work->stride_width,
                     work->dilation_width, work->pad_left)) {
      return "impossible windows along the width, of";
    }
    source = tensor_bytes(work, work->height, work->width);
    results = tensor_bytes(work, work->out_height, work->out_width);
  } else {
    *value = work->channels;
    if (!is_size(work->channels)) return "impossible number of channels,";
    source = tensor_bytes(work, (work->channels + work->pixel_bytes - 1) / work->pixel_bytes, 1);
    results = times(work->maps, sizeof(uint32_t));
  }
  *value = work->source;
  if (!in_memory(work->source, source)) return "impossible address of the source,";
  *value = job->result_bytes;
  if (results != job->result_bytes) return "impossible bytes of results,";
  *value = job->results;
  if (overlap(work->source, source, job->results, results)) {
    return "results overlap their source, at";
  }
  return NULL;
}

/* The larger one of each of eight int8 values. */
static uint64_t larger(uint64_t a, uint64_t b) {
  const uint64_t up_a = a ^ SIGNS, up_b = b ^ SIGNS; /* in the order of unsigned values */
  const uint64_t low = (up_a | SIGNS) - (up_b & ~SIGNS);
  const uint64_t a_wins = ((up_a & ~up_b) | (~(up_a ^ up_b) & low)) & SIGNS;
  const uint64_t mask = a_wins | (a_wins - (a_wins >> 7));
  return b ^ ((a ^ b) & mask);
}

/* largest = max(largest, pixel), value by value. */
static void take_pixel(int8_t *largest, const int8_t *pixel, uint32_t bytes) {
  uint32_t i = 0;
  if (((uintptr_t)largest | (uintptr_t)pixel) % 8 == 0) {
    for (; i + 8 <= bytes; i += 8) {
      uint64_t *const to = (uint64_t *)(void *)(largest + i);
      *to = larger(*to, *(const uint64_t *)(const void *)(pixel + i));
    }
  }
  for (; i < bytes; ++i) {
    if (pixel[i] > largest[i]) largest[i] = pixel[i];
  }
}

static void max_pool(const struct processor_work *work, int8_t *to) {
  const uint64_t map_bytes = (uint64_t)work->height * work->width * work->pixel_bytes;
  const int8_t *map = (const int8_t *)(uintptr_t)work->source;
  for (uint32_t m = 0; m < work->maps; ++m, map += map_bytes) {
    for (uint32_t y = 0; y < work->out_height; ++y) {
      for (uint32_t x = 0; x < work->out_width; ++x, to += work->pixel_bytes) {
        memset(to, LEAST_VALUE, work->pixel_bytes);
        for (uint32_t i = 0; i < work->kernel_height; ++i) {
          /* Before the border it is huge. */
          const uint64_t line = (uint64_t)y * work->stride_height +
                                (uint64_t)i * work->dilation_height - work->pad_top;
          if (line >= work->height) continue;
          for (uint32_t j = 0; j < work->kernel_width; ++j) {
            const uint64_t column = (uint64_t)x * work->stride_width +
                                    (uint64_t)j * work->dilation_width - work->pad_left;
            if (column >= work->width) continue;
            take_pixel(to, map + (line * work->width + column) * work->pixel_bytes,
                       work->pixel_bytes);
          }
        }
      }
    }
  }
}

/* Among equals the first channel wins. */
static void find_classes(const struct processor_work *work, uint32_t *to) {
  const int8_t *const source = (const int8_t *)(uintptr_t)work->source;
  for (uint32_t image = 0; image < work->maps; ++image) {
    int largest = LEAST_VALUE;
    to[image] = 0;
    for (uint32_t channel = 0; channel < work->channels; ++channel) {
      const uint64_t pixel = (uint64_t)(channel / work->pixel_bytes) * work->maps + image;
      const int value = source[pixel * work->pixel_bytes + channel % work->pixel_bytes];
      if (value > largest) {
        largest = value;
        to[image] = channel;
      }
    }
  }
}

void do_work(const struct job *job) {
  void *const results = (void *)(uintptr_t)job->results;
  if (job->work.kind == WORK_MAX_POOL) {
    max_pool(&job->work, results);
  } else {
    find_classes(&job->work, results);
  }
}
