// SPDX-License-Identifier: Apache-2.0
// The accelerator in plain C++: the same registers, commands and memory, and no notion of time.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "host/device/block_batch.hpp"
#include "host/device/command_check.hpp"
#include "host/device/counters.hpp"
#include "host/device/device_memory.hpp"
#include "host/device/geometry.hpp"
#include "host/device/pixel_planes.hpp"
#include "host/device/registers.hpp"
#include "host/device/registry.hpp"
#include "host/device/tensor_memory.hpp"
#include "host/device/vector_path.hpp"
#include "host/device/window_taps.hpp"
#include "host/device/word_stream.hpp"

namespace gemm64 {

/// Executes the commands of the ring at once when the tail moves, as far as their data allow. An
/// independent reading of rtl/gemm64.json: it shares no arithmetic and no addressing with the
/// tiling, the packing or the reference product, so that these can be checked against it.
///
/// Like the RTL: values bit for bit, ERROR and INTERRUPT, reset, byte counters, and what stays in
/// the two banks of sums. Otherwise: counters of cycles stay zero, in snapshots too; queues are as
/// long as a program wants; a program that waits for what never comes ends with WATCHDOG as soon as
/// somebody waits for the interrupt, unless register WATCHDOG is 0.
class ReferenceDevice final : public Device {
 public:
  static constexpr std::uint64_t kDefaultMemoryBytes = std::uint64_t{4} << 30;

  /// An accelerator of these sizes with a memory of `memory_bytes`, zero until written; only what
  /// is used takes address space and real memory. Throws UsageError for sizes that the RTL cannot
  /// have.
  explicit ReferenceDevice(const Geometry& geometry = Geometry{},
                           std::uint64_t memory_bytes = kDefaultMemoryBytes);
  /// The same on a memory that outlives it. Only the commands' addresses need to exist.
  ReferenceDevice(const Geometry& geometry, DeviceMemory& memory);

  std::uint32_t read_register(std::uint32_t offset) override;
  void write_register(std::uint32_t offset, std::uint32_t value) override;
  std::uint64_t memory_bytes() const override { return memory_.size(); }
  void write_memory(std::uint64_t address, const void* data, std::size_t bytes) override;
  void place_memory(std::uint64_t address, const SharedBytes& bytes) override;
  void read_memory(std::uint64_t address, void* data, std::size_t bytes) override;
  bool wait_interrupt(std::uint64_t max_cycles) override;
  /// The interrupt line as it is now.
  bool interrupt() const { return (interrupt_ & interrupt_enable_) != 0; }
  void reset() override;
  std::uint64_t cycles() const override { return 0; }
  std::string name() const override { return "reference"; }

 private:
  ReferenceDevice(const Geometry& geometry, std::unique_ptr<DeviceMemory> own,
                  DeviceMemory* others);

  bool inside(std::uint64_t address, std::uint64_t bytes) {
    return memory_.reach(address, bytes) == bytes;
  }
  void check_range(const char* what, std::uint64_t address, std::size_t bytes);
  void clear_engines();
  void enable_tensor_memory(bool enable);
  void fail(ErrorCode code, Engine engine, std::uint32_t tag);
  bool engines_idle() const;
  bool others_idle() const;
  bool pixels_left() const;
  bool busy() const { return head_ != tail_ || !engines_idle(); }

  // Each does one step, if it can, and returns whether it did.
  void run();
  bool dispatch();
  bool pass_fence(const FenceCommand& fence);
  bool begin_load();
  bool fetch(WordStream& stream, std::uint64_t capacity, Engine engine, std::size_t bytes_counter);
  bool compute_tile();
  bool compute_window_tile(const MatmulCommand& matmul);
  bool compute_depthwise(const DepthwiseCommand& command);
  bool store_block();
  bool store_snapshot();
  /// What a block of 8-bit results meets in the element-wise unit.
  struct VectorWork {
    StoreCommand settings;
    std::array<std::uint8_t, kTableBytes> table;
    std::vector<std::uint8_t> operands;
  };
  bool write_results(std::uint64_t address, const std::uint8_t* bytes, std::uint64_t beats,
                     std::uint32_t tag, const VectorWork* vector = nullptr);
  /// The next words of a stream, which then has room for others.
  std::vector<std::uint8_t> take(WordStream& stream, std::uint64_t words);
  std::vector<std::uint8_t> take_parameters();
  std::shared_ptr<const VectorWork> take_operands();
  const std::uint8_t* results_of(const std::vector<std::uint32_t>& sums, const StoreCommand& store,
                                 const std::vector<std::uint8_t>& parameters,
                                 const VectorWork* vector);
  void write_block(std::uint64_t address, const std::uint8_t* bytes, std::uint64_t count,
                   const VectorWork* vector);
  void multiply(const MatmulCommand& matmul, bool first);
  void multiply_window(const WindowTile& tile, bool first);
  void add_tile(std::uint32_t rows, bool first, const BlockBatch::Words& weights,
                const BlockBatch::Words& activations);
  void end_tile(const MatmulCommand& matmul, std::uint64_t tiles);
  BlockBatch::Words words(const WordStream& stream, std::uint64_t count);

  struct ActivationLoad {
    LoadActivationsCommand command;
    std::uint32_t tag;
  };
  void load_pixels(const ActivationLoad& load);

  /// The sums of a bank, which are rows of a block of the batch, and where they are stored.
  struct Deferred {
    unsigned bank;
    std::size_t block;
    std::uint32_t first_row, rows;
    bool stored = false;
    StoreCommand store{};
    std::vector<std::uint8_t> parameters{};  // of 8-bit results
    std::shared_ptr<const VectorWork> vector{};
    std::uint64_t address = 0, bytes = 0;
  };
  /// Computes and stores all that is deferred.
  void flush();
  std::vector<std::uint32_t> sums_of_banks(std::uint32_t rows) const;
  unsigned banks_of(std::uint32_t rows) const { return rows > geometry_.accumulator_rows ? 2 : 1; }
  /// Some bytes are about to be read: what is deferred does not change them later.
  void before_read(std::uint64_t address, std::uint64_t bytes);
  Deferred* deferred(unsigned bank);
  std::uint64_t address_end() const { return std::uint64_t{1} << geometry_.address_width; }

  Geometry geometry_;
  const std::unique_ptr<DeviceMemory> own_memory_;  // none where it is another's
  TensorMemory memory_;                             // with the other one before it

  // Registers
  std::uint32_t watchdog_ = 0, ring_base_low_ = 0, ring_base_high_ = 0;
  std::uint32_t ring_mask_ = 0, tail_ = 0, head_ = 0;
  std::uint32_t interrupt_ = 0, interrupt_enable_ = 0, error_ = 0;
  bool halted_ = false;
  Counters counters_{};

  // Engines
  std::uint32_t dispatched_ = 0;  // commands since reset
  std::optional<Command> next_;   // that waits to be dispatched
  WordStream weights_, activations_, parameters_, operands_;
  std::deque<ActivationLoad> loads_;  // that have not begun
  bool windows_ = false;              // the last that began brought pixels
  PixelPlanes planes_;
  CommandOrder order_;
  std::deque<std::variant<MatmulCommand, SetWindowCommand, DepthwiseCommand>> matmuls_;
  /// The current DEPTHWISE.
  struct Depthwise {
    std::vector<std::uint8_t> weights, image;  // of the plane, and of the image that comes
    std::vector<std::uint32_t> sums;           // of the last whole image
    std::uint64_t row = 0;                     // of them, the next for a block
    std::uint32_t block_row = 0;               // where it goes
    std::uint64_t image_number = 0;            // over all planes
  };
  Depthwise depthwise_;
  std::optional<SetWindowCommand> window_;  // the last one
  std::optional<WindowTaps> block_taps_;    // of the window's current block
  // Its tiles by their places in a pass: what those that read the same planes have gathered.
  static constexpr BlockBatch::Words kNotGathered{0, false};
  std::vector<BlockBatch::Words> gathered_;
  /// What a FENCE writes.
  struct Snapshot {
    std::uint64_t address;
    std::vector<std::uint8_t> bytes;
  };
  struct Store {
    std::variant<StoreCommand, Snapshot> work;
    std::uint32_t tag;
  };
  std::deque<Store> stores_;
  std::uint32_t open_stores_ = 0;       // those of them that are STOREs
  std::uint64_t tile_ = 0;              // of the current pass
  std::uint32_t pass_ = 0, block_ = 0;  // of the current MATMUL
  std::uint64_t stored_ = 0;            // tiles of the current STORE
  VectorSettings vector_;               // that the last STORE which began left
  bool store_begun_ = false;
  std::array<std::uint8_t, kTableBytes> table_{};
  unsigned compute_bank_ = 0, store_bank_ = 0;
  unsigned banks_used_ = 0, banks_done_ = 0;
  std::array<std::vector<std::uint32_t>, 2> banks_;  // sums modulo 2^32, row by row
  std::vector<std::uint8_t> requantized_;
  // Sums that are in no bank yet, and stores that are not in memory: each block of the batch, and
  // for each bank the last one that goes there. The addresses that will be written lie between two.
  BlockBatch batch_;
  std::vector<Deferred> deferred_;
  std::array<std::size_t, 2> last_block_{};  // plus one; 0: none
  std::uint64_t unwritten_ = ~std::uint64_t{0}, unwritten_end_ = 0;
  std::vector<std::uint8_t> scratch_;
};

/// The entry of the registry.
DeviceKind reference_kind();

}  // namespace gemm64
