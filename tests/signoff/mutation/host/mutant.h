// SPDX-License-Identifier: Apache-2.0
// Which mutant of the host's sources this process is, and which places it came by.
#ifndef GEMM64_MUTANT_H
#define GEMM64_MUTANT_H

#define GEMM64_PLACES 65536

#ifdef __cplusplus
extern "C" {
#endif
extern unsigned gemm64_host_mutant;         // 0: none
extern unsigned char* gemm64_host_reached;  // by the mutant's number, GEMM64_PLACES
#ifdef __cplusplus
}
#endif

#define GEMM64_IS(number) (gemm64_host_reached[number] = 1, gemm64_host_mutant == (number))

#endif
