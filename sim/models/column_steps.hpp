// SPDX-License-Identifier: Apache-2.0
// What all columns of the 64x64 array do alike in a cycle, as loops: rows that move on to the next
// column, and the banks of gemm64_accumulator_column.v. fuse_columns.py calls them from Verilator's
// C++, in place of statements for each column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gemm64::column_steps {

/// Each of `count` values moves on by one place; `first` enters.
template <class Value, class First>
inline void shift(Value* values, std::size_t count, First first) {
  std::memmove(values + 1, values, (count - 1) * sizeof(Value));
  values[0] = static_cast<Value>(first);
}

constexpr int kColumns = 64;
constexpr int kGroup = 8;  // columns that share `busy`
constexpr unsigned kAll = (1u << kGroup) - 1;

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

  unsigned read_row(int c) const { return store ? store_row : c == 0 ? head : row[c - 1]; }
};

/// Where the columns' variables are in the model: the sums, and the sum that was read last.
struct Places {
  std::uint32_t sums[kColumns], last[kColumns];

  /// Are they in the columns' order, at equal distances?
  constexpr bool regular() const {
    for (int c = 2; c < kColumns; ++c) {
      if (sums[c] - sums[c - 1] != sums[1] - sums[0]) return false;
      if (last[c] - last[c - 1] != last[1] - last[0]) return false;
    }
    return true;
  }
};

/// The variables of a bank's columns from `begin` on. Where places are regular, the processor adds
/// known distances to two addresses instead of loading each.
template <const Places& kPlaces>
class Columns {
 public:
  Columns(void* model, int begin)
      : begin_(begin),
        sums_(static_cast<char*>(model) + (kRegular ? kPlaces.sums[begin] : 0)),
        last_(static_cast<char*>(model) + (kRegular ? kPlaces.last[begin] : 0)) {}

  std::uint32_t* sums(int c) const { return at(sums_, kPlaces.sums, c); }
  std::uint32_t& last(int c) const { return *at(last_, kPlaces.last, c); }

 private:
  static constexpr bool kRegular = kPlaces.regular();

  std::uint32_t* at(char* from, const std::uint32_t (&places)[kColumns], int c) const {
    const std::uint32_t distance =
        kRegular ? static_cast<std::uint32_t>(c) * (places[1] - places[0]) : places[begin_ + c];
    return reinterpret_cast<std::uint32_t*>(from + distance);
  }

  int begin_;
  char* sums_;
  char* last_;
};

/// As the always block of a bank in gemm64_accumulator_column.v: a column reads before it writes.
template <class Columns>
void accumulate_any(Columns columns, const Bank& b, int begin) {
  for (int i = 0; i < kGroup; ++i) {
    const int c = begin + i;
    std::uint32_t* sums = columns.sums(i);
    const std::uint32_t last = columns.last(i);
    if ((b.read >> c & 1) != 0) columns.last(i) = sums[b.read_row(c)];
    if (b.lanes) {
      sums[b.lanes_row] = b.lanes_sum[c];
    } else if ((b.add >> c & 1) != 0) {
      sums[b.row[c]] = ((b.first >> c & 1) != 0 ? 0 : last) + b.sum[c];
    }
  }
}

/// One bank. Nearly always the columns of a group do the same, which needs no branch: add to a sum,
/// start one, or nothing while another row is stored.
template <const Places& kPlaces>
void accumulate(void* model, const Bank& b) {
  const bool plain = !b.lanes && !b.store;
  for (int begin = 0; begin < kColumns; begin += kGroup) {
    if (*b.busy[begin / kGroup] == 0) continue;
    const Columns<kPlaces> columns(model, begin);
    const unsigned read = b.read >> begin & kAll, first = b.first >> begin & kAll;
    const unsigned add = b.add >> begin & kAll;
    const std::uint8_t* to = b.row + begin;
    const std::uint32_t* sum = b.sum + begin;
    if ((read | add) == 0 && !b.lanes) {
      continue;
    } else if (!plain || add != kAll) {
      accumulate_any(columns, b, begin);
    } else if (read == kAll && first == 0) {
      unsigned from = b.read_row(begin);
#pragma GCC unroll 8
      for (int i = 0; i < kGroup; ++i) {
        std::uint32_t* sums = columns.sums(i);
        const std::uint32_t old = sums[from], last = columns.last(i);
        from = to[i];
        sums[from] = last + sum[i];
        columns.last(i) = old;
      }
    } else if (read == 0 && first == kAll) {
#pragma GCC unroll 8
      for (int i = 0; i < kGroup; ++i) columns.sums(i)[to[i]] = sum[i];
    } else {
      accumulate_any(columns, b, begin);
    }
  }
}

}  // namespace gemm64::column_steps
