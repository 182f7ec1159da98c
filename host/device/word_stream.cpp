// SPDX-License-Identifier: Apache-2.0
#include "host/device/word_stream.hpp"

namespace gemm64 {

void WordStream::add(Load load, std::uint64_t blocks) {
  // Of more words than this a program would never see the end.
  constexpr double kMaxWords = static_cast<double>(std::uint64_t{1} << 62);
  const double words =
      static_cast<double>(load.tile_words * load.tiles) * static_cast<double>(load.passes * blocks);
  load.words = words > kMaxWords ? std::uint64_t{1} << 62
                                 : load.tile_words * load.tiles * load.passes * blocks;
  end_ += load.words;
  loads_.push_back(load);
}

WordStream::Run WordStream::run(std::uint64_t word, std::uint32_t word_bytes) const {
  auto load = loads_.begin();
  while (word >= load->first + load->words) ++load;
  const std::uint64_t index = word - load->first;
  const std::uint64_t pass_words = load->tile_words * load->tiles;
  const std::uint64_t block = index / pass_words / load->passes;
  const std::uint64_t in_pass = index % pass_words;
  const std::uint64_t tile = in_pass / load->tile_words, in_tile = in_pass % load->tile_words;
  const std::uint64_t place = block * load->tile_words + tile * load->stride + in_tile;
  const bool dense = load->stride == load->tile_words;  // tiles are contiguous
  return {load->address + place * word_bytes,
          dense ? pass_words - in_pass : load->tile_words - in_tile, load->tag};
}

void WordStream::forget(std::uint64_t word) {
  while (!loads_.empty() && word >= loads_.front().first + loads_.front().words) {
    loads_.pop_front();
  }
}

}  // namespace gemm64
