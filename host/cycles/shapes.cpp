// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/shapes.hpp"

#include <string>
#include <unordered_map>

namespace gemm64::cycles {

Shapes::Shapes(const std::vector<Command>& program) {
  std::unordered_map<std::string, std::uint32_t> numbers;
  for (std::size_t i = 0; i < program.size(); ++i) {
    Command command = program[i];
    command.set_address(0);
    command.slot = command.out_row = command.out_column = command.in_row = command.in_column = 0;
    command.freed_pixels = 0;
    command.place = command.place != 0 ? 1 : 0;
    std::string bytes(kCommandBytes, '\0');
    command.encode(reinterpret_cast<std::uint8_t*>(bytes.data()));
    const auto number = static_cast<std::uint32_t>(numbers.size());
    shapes_.push_back(numbers.emplace(std::move(bytes), number).first->second);
    const auto engine = engine_of(program[i]);
    const bool fence = program[i].opcode == Opcode::kFence;
    ways_.push_back(engine && !fence ? static_cast<std::uint32_t>(*engine) : 16 + shapes_.back());
    if (engine) {
      of_engines_[static_cast<std::size_t>(*engine)].push_back(i);
    }
  }
}

}  // namespace gemm64::cycles
