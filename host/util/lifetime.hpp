// SPDX-License-Identifier: Apache-2.0
// What a reference belongs to, for the compiler.
#pragma once

/// After the parameters of a member function that returns a reference into its object: clang then
/// reports a use after a temporary object's end, as in `for (x : load(file).names())`.
#if defined(__clang__)
#define GEMM64_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define GEMM64_LIFETIMEBOUND
#endif
