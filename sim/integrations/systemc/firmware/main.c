// SPDX-License-Identifier: Apache-2.0
/* Runs the jobs of a list on the accelerator, interrupt by interrupt, and looks after it: an error
 * ends an attempt, a soft reset, or a hard one where that does not help, begins the next. */
#include <stdio.h>

#include "sim/integrations/systemc/firmware/board.h"
#include "sim/integrations/systemc/firmware/job_list.h"
#include "sim/integrations/systemc/map.h"

#define EXIT_HELD 0
#define EXIT_FAILED 1
#define EXIT_BAD_LIST 2

static struct gemm64_driver accelerator;
static struct job_list *list;
static struct job *jobs;
static uint32_t tickets[JOB_LIST_MOST];
static uint32_t ended; /* jobs, so far */

static int is_further_layer(uint32_t index) { return jobs[index].command_count == 0; }

/* Do `bytes` bytes from `address` lie within `size` bytes from `base`? */
static int lies_in(uint64_t address, uint64_t bytes, uint64_t base, uint64_t size) {
  return address >= base && address - base <= size && bytes <= size - (address - base);
}

static int refuse(const char *what, uint32_t index, uint64_t value) {
  printf("firmware: job list: job %u: %s %#llx\n", (unsigned)index, what,
         (unsigned long long)value);
  return EXIT_BAD_LIST;
}

/* EXIT_HELD for a list that can be; what the accelerator reads, it checks itself. */
static int check_list(void) {
  if ((uintptr_t)list % 8 != 0 ||
      !lies_in((uintptr_t)list, sizeof *list, PLATFORM_LOCAL, PLATFORM_LOCAL_BYTES)) {
    printf("firmware: job list: impossible address %p\n", (void *)list);
    return EXIT_BAD_LIST;
  }
  if (list->magic != JOB_LIST_MAGIC || list->count > JOB_LIST_MOST || list->attempts == 0 ||
      list->mode > JOB_LIST_ONE_AT_A_TIME) {
    printf("firmware: job list: magic %#x, %u jobs, mode %u, %u attempts: no such list\n",
           (unsigned)list->magic, (unsigned)list->count, (unsigned)list->mode,
           (unsigned)list->attempts);
    return EXIT_BAD_LIST;
  }
  jobs = (struct job *)(list + 1);
  if (!lies_in(list->ring, (uint64_t)list->places * GEMM64_COMMAND_BYTES, PLATFORM_MEMORY,
               PLATFORM_MEMORY_MOST)) {
    return refuse("impossible address of the ring,", 0, list->ring);
  }
  for (uint32_t i = 0; i < list->count; ++i) {
    const struct job *job = &jobs[i];
    if ((i == 0 && is_further_layer(i)) || job->command_count >= list->places) {
      return refuse("impossible number of commands,", i, job->command_count);
    }
    if (!lies_in(job->commands, (uint64_t)job->command_count * GEMM64_COMMAND_BYTES, PLATFORM_LOCAL,
                 PLATFORM_LOCAL_BYTES)) {
      return refuse("impossible address of commands,", i, job->commands);
    }
    if (!lies_in(job->results, job->result_bytes, PLATFORM_MEMORY, PLATFORM_MEMORY_MOST) ||
        job->results % 8 != 0) {
      return refuse("impossible address of results,", i, job->results);
    }
  }
  return EXIT_HELD;
}

/* Brings the accelerator to where it takes commands. */
static enum gemm64_result prepare(void) {
  enum gemm64_result result = gemm64_set_ring(&accelerator, list->ring, list->places);
  if (result == GEMM64_OK && list->watchdog != 0) {
    result = gemm64_write(&accelerator, GEMM64_REG_WATCHDOG, list->watchdog);
  }
  return result;
}

static enum gemm64_result recover(int hard) {
  if (!hard) {
    const enum gemm64_result result = gemm64_reset(&accelerator);
    ++list->resets;
    if (result == GEMM64_OK) return prepare();
    if (result != GEMM64_RESETTING) return result;
  }
  printf("firmware: hard reset of the accelerator\n");
  ++list->hard_resets;
  board_reset_accelerator();
  if (gemm64_open(&accelerator, board_hooks()) != GEMM64_OK) return GEMM64_NO_ACCESS;
  return prepare();
}

static enum gemm64_result submit(uint32_t index) {
  struct job *const job = &jobs[index];
  if (is_further_layer(index)) {
    tickets[index] = tickets[index - 1];
    ++job->attempts;
    return GEMM64_OK;
  }
  const enum gemm64_result result = gemm64_submit(
      &accelerator, (const void *)(uintptr_t)job->commands, job->command_count, &tickets[index]);
  if (result == GEMM64_OK) ++job->attempts;
  return result;
}

/* Of each image the channel with the largest value, the first of several. */
static void print_classes(const struct job *job) {
  const uint64_t n = accelerator.info.n, plane = (job->classes + n - 1) / n * n;
  const uint64_t images = job->result_bytes / plane;
  const uint8_t *const values = (const uint8_t *)(uintptr_t)job->results;
  for (uint64_t image = 0; image < images; ++image) {
    uint32_t class = 0, largest = 0;
    for (uint32_t channel = 0; channel < job->classes; ++channel) {
      const uint64_t place = (channel / n * images + image) * n + channel % n;
      const uint32_t value = values[place] ^ job->sign;
      if (value > largest) {
        largest = value;
        class = channel;
      }
    }
    printf("firmware: image %u: class %u\n", (unsigned)image, (unsigned)class);
  }
}

/* The results of a job are there. */
static void finish(uint32_t index) {
  struct job *const job = &jobs[index];
  gemm64_take(&accelerator, job->results, job->result_bytes);
  job->found = crc32((const void *)(uintptr_t)job->results, job->result_bytes);
  job->status = job->check && job->found != job->crc ? JOB_WRONG_CRC : JOB_DONE;
  job->order = ++ended;
  printf("firmware: job %u: CRC %08x%s\n", (unsigned)index, (unsigned)job->found,
         job->status == JOB_WRONG_CRC ? ", which is wrong"
         : job->check                 ? ", as expected"
                                      : "");
  if (job->classes != 0) print_classes(job);
}

/* The attempt at a job ended with `result`. Returns 0 where there is no more that can be done. */
static int failed(uint32_t index, enum gemm64_result result) {
  struct job *const job = &jobs[index];
  if (result == GEMM64_FAILED) {
    job->error_code = accelerator.error.code;
    job->error_engine = accelerator.error.engine;
    job->error_command = accelerator.error.command;
    printf("firmware: job %u: %s at command %u, found by engine '%s'\n", (unsigned)index,
           gemm64_error_name(job->error_code), (unsigned)job->error_command,
           gemm64_engine_name(job->error_engine));
  } else {
    printf("firmware: job %u: %s\n", (unsigned)index, gemm64_result_text(result));
  }
  if (job->attempts >= list->attempts) {
    job->status = JOB_FAILED;
    job->order = ++ended;
  }
  return recover(result != GEMM64_FAILED) == GEMM64_OK;
}

/* The job after the last layer of the program that job `index` begins. */
static uint32_t next_run(uint32_t index) {
  do {
    ++index;
  } while (index < list->count && is_further_layer(index));
  return index;
}

/* Keeps as many programs in the ring as the mode allows, and ends their jobs in their order. */
static int run(void) {
  uint32_t given = 0; /* jobs before this one are in the ring, or have ended */
  for (uint32_t next = 0; next < list->count;) {
    enum gemm64_result result = GEMM64_OK;
    const uint32_t most = list->mode == JOB_LIST_ONE_AT_A_TIME ? next_run(next) : list->count;
    while (given < most && (result = submit(given)) == GEMM64_OK) ++given;
    if (result == GEMM64_RING_FULL && given > next) result = GEMM64_OK;
    if (result == GEMM64_OK) {
      result = gemm64_wait_for(&accelerator, tickets[next], list->limit);
    }
    if (result == GEMM64_OK) {
      finish(next++);
    } else {
      if (!failed(next, result)) return 0;
      if (jobs[next].status == JOB_FAILED) {
        const uint32_t end = next_run(next);
        while (++next < end) {
          jobs[next].status = JOB_FAILED;
          jobs[next].order = ++ended;
        }
      }
      given = next; /* the reset emptied the ring */
    }
  }
  return 1;
}

int firmware(struct job_list *given);
int firmware(struct job_list *given) {
  enum gemm64_result result;
  uint32_t bad = 0;
  list = given;
  if (check_list() != EXIT_HELD) return EXIT_BAD_LIST;
  result = gemm64_open(&accelerator, board_hooks());
  if (result == GEMM64_OK) result = gemm64_clear_counters(&accelerator);
  if (result == GEMM64_OK) result = prepare();
  if (result != GEMM64_OK) {
    printf("firmware: the accelerator: %s\n", gemm64_result_text(result));
    return EXIT_FAILED;
  }
  printf("firmware: array %ux%u, %u jobs, %s\n", (unsigned)accelerator.info.n,
         (unsigned)accelerator.info.n, (unsigned)list->count,
         list->mode == JOB_LIST_ONE_RING ? "one ring for all" : "one at a time");
  if (!run()) printf("firmware: the accelerator cannot be brought back\n");
  for (uint32_t i = 0; i < list->count; ++i) bad += jobs[i].status != JOB_DONE;
  printf("firmware: %u of %u jobs done\n", (unsigned)(list->count - bad), (unsigned)list->count);
  return bad == 0 ? EXIT_HELD : EXIT_FAILED;
}
