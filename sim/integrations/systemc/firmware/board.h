// SPDX-License-Identifier: Apache-2.0
/* The platform as the firmware sees it. */
#ifndef GEMM64_BOARD_H
#define GEMM64_BOARD_H

#include <stdint.h>

#include "host/driver/gemm64_driver.h"

/* The hooks of the accelerator's driver. */
const struct gemm64_hooks *board_hooks(void);

/* Cycles since the platform began. */
uint64_t board_clock(void);

/* Hard reset of the accelerator. */
void board_reset_accelerator(void);

/* Ends the simulation. */
void platform_exit(int code);

/* CRC-32 (IEEE 802.3) of `bytes` bytes. */
uint32_t crc32(const void *data, uint64_t bytes);

#endif
