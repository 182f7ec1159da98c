// SPDX-License-Identifier: Apache-2.0
/* The firmware's work and its results. The platform puts a list at PLATFORM_JOBS
 * and its address into a1; jobs follow the list, and commands wherever they say. */
#ifndef GEMM64_JOB_LIST_H
#define GEMM64_JOB_LIST_H

#include <stdint.h>

#define JOB_LIST_MAGIC 0x6a6f6273u
#define JOB_LIST_MOST 1024u

/* How jobs are given to the accelerator. */
#define JOB_LIST_ONE_RING 0u      /* as many as the ring holds, while the first one runs */
#define JOB_LIST_ONE_AT_A_TIME 1u /* the next when the last one's results are checked */

/* What came of a job. */
#define JOB_NOT_RUN 0u
#define JOB_DONE 1u
#define JOB_FAILED 2u    /* after all attempts */
#define JOB_WRONG_CRC 3u /* the results are not those that were expected */

struct job_list {
  uint32_t magic;
  uint32_t count;
  uint32_t mode;
  uint32_t attempts; /* at each job, at least 1 */
  uint64_t ring;     /* address */
  uint32_t places;   /* in the ring */
  uint32_t watchdog; /* of the accelerator, in cycles; 0: its own */
  uint64_t limit;    /* cycles that a wait for an interrupt may take */
  /* What came of it. */
  uint32_t resets;      /* soft ones, after errors */
  uint32_t hard_resets; /* where a soft one did not end */
};

/* A job is a program for the accelerator. One without commands is a further layer of the program of
 * the job before it: its results are there when that program is done. */
struct job {
  uint64_t commands; /* address; the last is a FINISH */
  uint64_t results;  /* address */
  uint64_t result_bytes;
  uint32_t command_count;
  uint32_t crc; /* that the results should have, where check is not 0 */
  uint32_t check;
  /* Results of 8 bits, one a channel, [channels / N][images][N]: how many channels they have, of
   * which the largest is an image's class, to be printed; 0: they are something else. */
  uint32_t classes;
  uint32_t sign; /* then: 0x80 where they are int8, 0 where they are uint8 */
  /* What came of it. */
  uint32_t status;
  uint32_t found; /* the CRC of the results */
  uint32_t attempts;
  uint32_t error_code, error_engine, error_command; /* of the last attempt that failed */
  uint32_t order;                                   /* from 1, in which jobs ended */
};

#endif
