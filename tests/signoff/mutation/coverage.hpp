// SPDX-License-Identifier: Apache-2.0
// Included before all else in Verilated models that count what tests reach. Models come and go
// within one process, so their counts are added up here instead of in Verilator's run time.
#pragma once
#include <verilated.h>
#include <verilated_cov.h>

/// Notes that a model counts at `count`, until its memory is freed.
void gemm64_cover(const void* count, const char* file, int line, int column, const char* module,
                  const char* hierarchy, const char* what);

#undef VL_COVER_INSERT
#define VL_COVER_INSERT(context, count, ...) \
  gemm64_cover(count, filenamep, lineno, column, pagep, hierp, commentp)
