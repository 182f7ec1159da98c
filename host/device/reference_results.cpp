// SPDX-License-Identifier: Apache-2.0
// The reference device's results: deferred sums, and what STOREs and snapshots write.
#include <algorithm>
#include <cstring>
#include <utility>

#include "host/device/reference_device.hpp"
#include "host/device/requantize.hpp"
#include "host/device/result_format.hpp"
#include "host/device/snapshot.hpp"

namespace gemm64 {

void ReferenceDevice::flush() {
  if (batch_.empty()) return;
  batch_.compute();
  const std::size_t n = geometry_.n;
  for (const Deferred& block : deferred_) {
    const std::uint32_t* const sums = batch_.sums(block.block) + block.first_row * n;
    std::vector<std::uint32_t>& bank = banks_[block.bank];
    std::copy(sums, sums + block.rows * n, bank.begin());
    if (block.stored) {
      write_block(block.address,
                  results_of(bank, block.store, block.parameters, block.vector.get()), block.bytes,
                  block.vector.get());
    }
  }
  batch_.clear();
  deferred_.clear();
  gathered_.clear();
  last_block_ = {};
  unwritten_ = ~std::uint64_t{0};
  unwritten_end_ = 0;
}

void ReferenceDevice::before_read(std::uint64_t address, std::uint64_t bytes) {
  if (address < unwritten_end_ && unwritten_ < address + bytes) flush();
}

ReferenceDevice::Deferred* ReferenceDevice::deferred(unsigned bank) {
  return last_block_[bank] == 0 ? nullptr : &deferred_[last_block_[bank] - 1];
}

std::vector<std::uint8_t> ReferenceDevice::take(WordStream& stream, std::uint64_t words) {
  const std::size_t n = geometry_.n;
  std::vector<std::uint8_t> bytes(words * n);
  for (std::uint64_t done = 0; done < words;) {
    const WordStream::Run run = stream.run(stream.read + done, geometry_.n);
    const std::uint64_t some = std::min(run.words, words - done);
    before_read(run.address, some * n);
    std::memcpy(bytes.data() + done * n, memory_.read(run.address, some * n, scratch_), some * n);
    done += some;
  }
  stream.read += words;
  stream.released = stream.read;
  stream.forget(stream.released);
  return bytes;
}

// The next set of parameters, for one tile of results.
std::vector<std::uint8_t> ReferenceDevice::take_parameters() {
  return take(parameters_, kParameterSetWords);
}

// What the next tile takes, before the first of a STORE also its table.
std::shared_ptr<const ReferenceDevice::VectorWork> ReferenceDevice::take_operands() {
  if (stored_ == 0 && vector_.table_words(geometry_.n) != 0) {
    const auto bytes = take(operands_, vector_.table_words(geometry_.n));
    std::copy_n(bytes.begin(), kTableBytes, table_.begin());
  }
  return std::make_shared<VectorWork>(
      VectorWork{vector_.store(), table_, take(operands_, vector_.tile_words())});
}

// What a STORE writes of the rows of a bank.
const std::uint8_t* ReferenceDevice::results_of(const std::vector<std::uint32_t>& sums,
                                                const StoreCommand& store,
                                                const std::vector<std::uint8_t>& parameters,
                                                const VectorWork* vector) {
  if (parameters.empty()) return reinterpret_cast<const std::uint8_t*>(sums.data());
  const std::size_t n = geometry_.n;
  requantized_.resize(store.rows * n);
  for (std::size_t column = 0; column < n; ++column) {
    std::uint32_t bias;
    float scale;
    std::memcpy(&bias, parameters.data() + column * sizeof bias, sizeof bias);
    std::memcpy(&scale, parameters.data() + (n + column) * sizeof scale, sizeof scale);
    for (std::size_t at = column; at < requantized_.size(); at += n) {
      requantized_[at] = requantize(store, sums[at], bias, scale);
      if (vector == nullptr) continue;
      const std::size_t operand = vector->operands.size() == n ? column : at;  // one for all rows
      requantized_[at] = vector_result(vector->settings, &vector->table, requantized_[at],
                                       vector->operands.empty() ? 0 : vector->operands[operand]);
    }
  }
  return requantized_.data();
}

bool ReferenceDevice::store_block() {
  if (stores_.empty() || banks_done_ == 0) return false;
  const auto* const next = std::get_if<StoreCommand>(&stores_.front().work);
  if (next == nullptr) return false;
  const StoreCommand store = *next;
  const ResultFormat format = ResultFormat::of(store.format).value();
  const bool requantizes = format.takes_parameters();
  if (requantizes && parameters_.arrived - parameters_.read < kParameterSetWords) return false;
  if (!store_begun_) vector_.begin(store);
  store_begun_ = true;
  const std::uint64_t operands =
      vector_.tile_words() + (stored_ == 0 ? vector_.table_words(geometry_.n) : 0);
  if (operands_.arrived - operands_.read < operands) return false;

  const std::uint64_t block = stored_ / store.count, tile = stored_ % store.count;
  const std::uint64_t row = block * store.rows + tile * store.stride;
  const std::uint64_t to = store.address + format.block_bytes(row, geometry_.n);
  const std::uint64_t beats = std::uint64_t{store.rows} * format.beats_per_row();
  const std::uint64_t bytes = beats * geometry_.n;
  // First, since reading them may flush what was deferred.
  std::vector<std::uint8_t> parameters;
  if (requantizes) parameters = take_parameters();
  std::shared_ptr<const VectorWork> vector;
  if (vector_.used()) vector = take_operands();
  if (!inside(to, bytes)) flush();
  if (Deferred* const later = deferred(store_bank_)) {
    later->store = store;
    later->parameters = std::move(parameters);
    later->vector = std::move(vector);
    later->stored = true;
    later->address = to;
    later->bytes = bytes;
    unwritten_ = std::min(unwritten_, to);
    unwritten_end_ = std::max(unwritten_end_, to + bytes);
    if (!geometry_.in_tensor_memory(to)) counters_[counter::kBytesResults] += bytes;
  } else {
    if (!write_results(to, results_of(banks_[store_bank_], store, parameters, vector.get()), beats,
                       stores_.front().tag, vector.get())) {
      return false;
    }
  }
  --banks_done_;
  --banks_used_;
  store_bank_ ^= 1;
  if (++stored_ == std::uint64_t{store.count} * store.blocks) {
    stored_ = 0;
    store_begun_ = false;
    stores_.pop_front();
    --open_stores_;
  }
  return true;
}

bool ReferenceDevice::store_snapshot() {
  if (stores_.empty()) return false;
  const auto* const snapshot = std::get_if<Snapshot>(&stores_.front().work);
  if (snapshot == nullptr) return false;
  flush();
  if (!write_results(snapshot->address, snapshot->bytes.data(), snapshot_beats(geometry_.n),
                     stores_.front().tag)) {
    return false;
  }
  stores_.pop_front();
  return true;
}

// Whole rows, or of each the lanes that the element-wise unit writes.
void ReferenceDevice::write_block(std::uint64_t address, const std::uint8_t* bytes,
                                  std::uint64_t count, const VectorWork* vector) {
  const std::uint32_t n = geometry_.n;
  const auto [first, end] =
      vector == nullptr ? std::pair{0U, n} : vector_lanes(vector->settings, n);
  if (first == 0 && end == n) return memory_.write(address, bytes, count);
  for (std::uint64_t row = 0; row < count; row += n) {
    memory_.write(address + row + first, bytes + row + first, end - first);
  }
}

// Beats that all cross the port; an error where some lie outside the memory.
bool ReferenceDevice::write_results(std::uint64_t address, const std::uint8_t* bytes,
                                    std::uint64_t beats, std::uint32_t tag,
                                    const VectorWork* vector) {
  if (!geometry_.in_tensor_memory(address))
    counters_[counter::kBytesResults] += beats * geometry_.n;
  if (inside(address, beats * geometry_.n)) {
    write_block(address, bytes, beats * geometry_.n, vector);
    return true;
  }
  for (std::uint64_t beat = 0; beat < beats; ++beat) {
    const std::uint64_t offset = beat * geometry_.n;
    if (inside(address + offset, geometry_.n)) {
      write_block(address + offset, bytes + offset, geometry_.n, vector);
    }
  }
  fail(ErrorCode::kBusDecode, Engine::kResults, tag);
  return false;
}

}  // namespace gemm64
