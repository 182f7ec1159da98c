// SPDX-License-Identifier: Apache-2.0
#include "host/device/command_types.hpp"

#include <type_traits>

#include "host/device/command_facts.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

using AllTypes = std::tuple<LoadWeightsCommand, LoadActivationsCommand, LoadParametersCommand,
                            LoadOperandsCommand, MatmulCommand, SetWindowCommand, DepthwiseCommand,
                            StoreCommand, FenceCommand, FinishCommand>;
static_assert(std::tuple_size_v<AllTypes> == kOpcodes.size());

template <typename Type, typename = void>
constexpr bool kHasPasses = false;
template <typename Type>
constexpr bool kHasPasses<Type, std::void_t<decltype(Type::passes)>> = true;
static_assert(kHasPasses<MatmulCommand> && !kHasPasses<StoreCommand>);
static_assert(!std::is_convertible_v<Command, StoreCommand>);

/// The command with a value of its own in every field.
Command full(Opcode opcode) {
  Command command;
  command.opcode = opcode;
  std::uint32_t value = 0;
  for (const CommandField& field : kCommandFields) {
    if (field.member != nullptr) command.*field.member = ~++value;
  }
  return command;
}

template <typename Type>
void keeps_its_fields() {
  SCOPED_TRACE(name(Type::kOpcode));
  const Command before = full(Type::kOpcode);
  const Command after = Type(before);
  EXPECT_EQ(after.opcode, Type::kOpcode);
  for (const CommandField& field : kCommandFields) {
    if (field.member == nullptr) continue;
    const std::uint32_t kept = field.used_by(Type::kOpcode) ? before.*field.member : 0;
    EXPECT_EQ(after.*field.member, kept) << field.name;
  }
}

template <typename Type>
void takes_no_other() {
  for (const OpcodeEntry& entry : kOpcodes) {
    if (entry.value == Type::kOpcode) continue;
    EXPECT_THROW(Type(full(entry.value)), std::invalid_argument) << entry.name;
  }
}

template <typename... Types>
void for_each(const std::tuple<Types...>& /*types*/) {
  (keeps_its_fields<Types>(), ...);
  (takes_no_other<Types>(), ...);
}

TEST(CommandTypes, KeepFieldsOfTheirOpcode) { for_each(AllTypes()); }

}  // namespace
}  // namespace gemm64
