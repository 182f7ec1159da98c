// SPDX-License-Identifier: Apache-2.0
// What all columns of the 64x64 array do alike in a cycle, as loops: rows that move on to the next
// column, and the banks of gemm64_accumulator_column.v. fuse_columns.py calls them from Verilator's
// C++, in place of statements for each column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace gemm64::column_steps {

/// Each of `count` values moves on by one place; `first` enters.
template <class Value, class First>
inline void shift(Value* values, std::size_t count, First first) {
  std::memmove(values + 1, values, (count - 1) * sizeof(Value));
  values[0] = static_cast<Value>(first);
}

constexpr unsigned kColumns = 64;
constexpr unsigned kRows = 128;  // of a bank
constexpr unsigned kGroup = 8;   // columns that share `busy`
constexpr unsigned kAll = (1u << kGroup) - 1;

/// A bank's sums, and the sum that was read last. Row r of column c is stored in line (r + c) %
/// kRows, because column c is c cycles later than column 0: columns use one line in a cycle.
struct alignas(64) Sums {
  std::uint32_t line[kRows][kColumns];
  std::uint32_t last[kColumns];

  std::uint32_t& at(unsigned row, unsigned c) { return line[(row + c) % kRows][c]; }
};

/// What one bank does in a cycle. Bit c of read, add and first belongs to column c.
struct Bank {
  const std::uint8_t* busy[kColumns / kGroup];  // of each group, whether anything moves in it
  std::uint64_t read, add, first;               // read a sum; add to one; start a new one
  bool store;                                   // all columns read the row that is stored
  unsigned store_row, head;                     // that row; the row that column 0 reads otherwise
  const std::uint8_t* row;   // the row that each column adds to, and the next column reads
  const std::uint32_t* sum;  // what is added
  bool lanes;                // instead, all columns get a sum of the lanes
  unsigned lanes_row;        // for this row
  const std::uint32_t* lanes_sum;

  unsigned read_row(unsigned c) const { return store ? store_row : c == 0 ? head : row[c - 1]; }
};

/// As the always block of a bank in gemm64_accumulator_column.v: a column reads before it writes.
inline void accumulate_any(Sums& sums, const Bank& b, unsigned begin) {
  for (unsigned c = begin; c < begin + kGroup; ++c) {
    const std::uint32_t last = sums.last[c];
    if ((b.read >> c & 1) != 0) sums.last[c] = sums.at(b.read_row(c), c);
    if (b.lanes) {
      sums.at(b.lanes_row, c) = b.lanes_sum[c];
    } else if ((b.add >> c & 1) != 0) {
      sums.at(b.row[c], c) = ((b.first >> c & 1) != 0 ? 0 : last) + b.sum[c];
    }
  }
}

/// Are the group's rows, one a byte, in one line? Sets it.
inline bool in_one_line(std::uint64_t rows, unsigned begin, unsigned& line) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kSteps = 0x0706050403020100;
  // No byte carries into the next: rows and columns are below 128.
  const std::uint64_t lines = (rows + kSteps + begin * kOnes) & (kRows - 1) * kOnes;
  line = lines & 0xff;
  return lines == line * kOnes;
}

/// One bank, a group at a time. Nearly always its columns do the same, with one line, which needs
/// no loop.
inline void accumulate_groups(Sums& sums, const Bank& b) {
  for (unsigned begin = 0; begin < kColumns; begin += kGroup) {
    if (*b.busy[begin / kGroup] == 0) continue;
    const unsigned read = b.read >> begin & kAll, add = b.add >> begin & kAll;
    const unsigned first = b.first >> begin & add;
    if ((read | add) == 0 && !b.lanes) continue;
    std::uint64_t rows;
    std::memcpy(&rows, b.row + begin, sizeof(rows));
    const std::uint64_t before = rows << 8 | b.read_row(begin);
    unsigned from = 0, to = 0;
    if (b.lanes || b.store || (read != 0 && read != kAll) || (add != 0 && add != kAll) ||
        (first != 0 && first != add) || (read != 0 && !in_one_line(before, begin, from)) ||
        (add != 0 && !in_one_line(rows, begin, to))) {
      accumulate_any(sums, b, begin);
      continue;
    }
    std::uint32_t old[kGroup], found[kGroup];
    std::memcpy(old, &sums.line[from][begin], sizeof(old));
    if (add != 0) {
      const std::uint32_t kept = first != 0 ? 0 : ~std::uint32_t{0};
      for (unsigned i = 0; i < kGroup; ++i)
        found[i] = (sums.last[begin + i] & kept) + b.sum[begin + i];
      std::memcpy(&sums.line[to][begin], found, sizeof(found));
    }
    if (read != 0) std::memcpy(&sums.last[begin], old, sizeof(old));
  }
}

#if defined(__AVX512F__)

/// Calls `f` with the address of each line of the columns from `begin` on, and these columns.
/// Nearly always that is one line, or two at a tile's end.
template <class F>
inline void for_each_line(Sums& sums, unsigned begin, __m512i rows, __mmask16 columns, F&& f) {
  const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i lines = _mm512_and_si512(
      _mm512_add_epi32(rows, _mm512_add_epi32(steps, _mm512_set1_epi32(static_cast<int>(begin)))),
      _mm512_set1_epi32(kRows - 1));
  while (columns != 0) {
    const __m512i line = _mm512_broadcastd_epi32(
        _mm512_castsi512_si128(_mm512_maskz_compress_epi32(columns, lines)));
    const __mmask16 same = _mm512_mask_cmpeq_epi32_mask(columns, lines, line);
    f(&sums.line[_mm_cvtsi128_si32(_mm512_castsi512_si128(line))][begin], same);
    columns = static_cast<__mmask16>(columns & ~same);
  }
}

/// The same with 16 columns per instruction. Requires that nothing is stored and no lanes add.
inline void accumulate_vectors(Sums& sums, const Bank& b) {
  constexpr unsigned kLanes = 16;
  std::uint64_t busy = 0;
  for (unsigned g = 0; g < kColumns / kGroup; ++g) {
    busy |= std::uint64_t{*b.busy[g] != 0 ? kAll : 0} << kGroup * g;
  }
  for (unsigned begin = 0; begin < kColumns; begin += kLanes) {
    const auto read = static_cast<__mmask16>((b.read & busy) >> begin);
    const auto add = static_cast<__mmask16>((b.add & busy) >> begin);
    if ((read | add) == 0) continue;
    const __m128i rows = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b.row + begin));
    const __m512i last = _mm512_load_si512(sums.last + begin);
    __m512i next = last;
    if (read != 0) {
      const __m128i before =
          _mm_insert_epi8(_mm_slli_si128(rows, 1), static_cast<int>(b.read_row(begin)), 0);
      const __m512i from = _mm512_cvtepu8_epi32(before);
      for_each_line(sums, begin, from, read, [&](std::uint32_t* line, __mmask16 columns) {
        next = _mm512_mask_loadu_epi32(next, columns, line);
      });
    }
    if (add != 0) {
      const auto kept = static_cast<__mmask16>(~(b.first >> begin));
      const __m512i found =
          _mm512_add_epi32(_mm512_maskz_mov_epi32(kept, last), _mm512_loadu_si512(b.sum + begin));
      for_each_line(sums, begin, _mm512_cvtepu8_epi32(rows), add,
                    [&](std::uint32_t* line, __mmask16 columns) {
                      _mm512_mask_storeu_epi32(line, columns, found);
                    });
    }
    _mm512_store_si512(sums.last + begin, next);
  }
}

#endif

/// One bank.
inline void accumulate(Sums& sums, const Bank& b) {
#if defined(__AVX512F__)
  if (!b.lanes && !b.store) return accumulate_vectors(sums, b);
#endif
  accumulate_groups(sums, b);
}

/// What was read last of the first `count` columns.
inline void show(const Sums& sums, std::uint32_t* data, std::size_t count) {
  std::memcpy(data, sums.last, count * sizeof(data[0]));
}

}  // namespace gemm64::column_steps
