// SPDX-License-Identifier: Apache-2.0
/* Eight bytes a step, by eight tables. */
#include "sim/integrations/systemc/firmware/board.h"

static uint32_t table[8][256];

static void make_tables(void) {
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
    table[0][i] = crc;
  }
  for (uint32_t i = 0; i < 256; ++i) {
    for (int t = 1; t < 8; ++t) {
      table[t][i] = table[t - 1][i] >> 8 ^ table[0][table[t - 1][i] & 0xff];
    }
  }
}

#define STEP(word)                                                                         \
  do {                                                                                     \
    const uint64_t x = (word) ^ crc;                                                       \
    crc = table[7][x & 0xff] ^ table[6][x >> 8 & 0xff] ^ table[5][x >> 16 & 0xff] ^        \
          table[4][x >> 24 & 0xff] ^ table[3][x >> 32 & 0xff] ^ table[2][x >> 40 & 0xff] ^ \
          table[1][x >> 48 & 0xff] ^ table[0][x >> 56];                                    \
  } while (0)

uint32_t crc32(const void *data, uint64_t bytes) {
  const uint64_t *words = data;
  const uint8_t *rest;
  uint32_t crc = 0xffffffffu;
  if (table[0][1] == 0) make_tables();
  for (; bytes >= 64; bytes -= 64, words += 8) {
    STEP(words[0]);
    STEP(words[1]);
    STEP(words[2]);
    STEP(words[3]);
    STEP(words[4]);
    STEP(words[5]);
    STEP(words[6]);
    STEP(words[7]);
  }
  for (rest = (const uint8_t *)words; bytes != 0; --bytes) {
    crc = crc >> 8 ^ table[0][(crc ^ *rest++) & 0xff];
  }
  return ~crc;
}
