// SPDX-License-Identifier: Apache-2.0
/* What the processor computes itself. */
#ifndef GEMM64_WORK_H
#define GEMM64_WORK_H

#include "sim/platform/firmware/job_list.h"

/* Do `bytes` bytes from `address` lie within `size` bytes from `base`? */
int lies_in(uint64_t address, uint64_t bytes, uint64_t base, uint64_t size);

/* What is impossible about a job's work, in words, and the value; NULL where all can be. */
const char *work_problem(const struct job *job, uint64_t *value);

/* Does the work of a job without problems: fills its results. */
void do_work(const struct job *job);

#endif
