// SPDX-License-Identifier: Apache-2.0
#include <Velementwise_check_n8.h>

#include "host/device/command_rules.hpp"
#include "host/device/command_types.hpp"
#include "host/device/result_format.hpp"
#include "host/util/float_bits.hpp"
#include "tests/random.hpp"
#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kN = 8;

StoreCommand addition() {
  StoreCommand store;
  store.flags = flag::kVector;
  store.rows = store.count = store.blocks = 1;
  store.format = ResultFormat(ResultCode::kInt8).number();
  store.add = 1;
  store.result_scale = store.operand_scale = bits_of(1);
  store.function_min = 0x80;
  store.function_max = 0x7f;
  return store;
}

StoreCommand product() {
  StoreCommand store = addition();
  store.add = 0;
  store.multiply = 1;
  store.operand_scale = bits_of(0.25F);
  return store;
}

/// Why the host refuses the settings of the element-wise unit; empty if it does not.
std::string settings_refusal(const StoreCommand& store) {
  Geometry geometry;
  geometry.n = kN;
  return rule_refusal(store, geometry, false);
}

/// Is it refused, and two cycles after it was given?
bool is_refused(Bench<Velementwise_check_n8>& bench, const StoreCommand& store) {
  std::uint8_t bytes[kCommandBytes];
  Command(store).encode(bytes);
  for (unsigned i = 0; i < kCommandBytes; ++i) set_lane(bench->command_i, i, bytes[i]);
  bench->valid_i = 1;
  bench->whole_i = 0;
  bench->tag_i = 0x9abc;
  bench.step();
  bench->valid_i = 0;
  bench->tag_i = 0;
  bench.settle();
  EXPECT_EQ(bench->error_o, 0) << "after one cycle";
  bench.edge();
  bench.settle();
  const bool refused = bench->error_o != 0;
  if (refused) EXPECT_EQ(bench->error_tag_o, 0x9abc);
  bench.edge();
  bench.settle();
  EXPECT_EQ(bench->error_o, 0) << "after three cycles";
  return refused;
}

struct Case {
  const char* what;
  bool bad;
  StoreCommand store;
  std::function<void(StoreCommand&)> change;
};

const std::vector<Case>& cases() {
  const auto scales = [](float result, float operand) {
    return [=](StoreCommand& s) {
      s.result_scale = bits_of(result);
      s.operand_scale = bits_of(operand);
    };
  };
  const auto offset = [](float value) {
    return [=](StoreCommand& s) { s.offset = bits_of(value); };
  };
  static const std::vector<Case> all{
      {"an addition", false, addition(), [](StoreCommand&) {}},
      {"a product", false, product(), [](StoreCommand&) {}},
      {"sums", true, addition(),
       [](StoreCommand& s) { s.format = ResultFormat::int32().number(); }},
      {"sums, settings kept", true, addition(),
       [](StoreCommand& s) {
         s.format = ResultFormat::int32().number();
         s.keep = 1;
       }},
      {"only the last lane", false, addition(),
       [](StoreCommand& s) { s.first_lane = 7, s.lanes = 1; }},
      {"a lane beyond", true, addition(), [](StoreCommand& s) { s.first_lane = 8; }},
      {"lanes beyond", true, addition(), [](StoreCommand& s) { s.first_lane = 7, s.lanes = 2; }},
      {"lanes beyond, settings kept", false, addition(),
       [](StoreCommand& s) { s.first_lane = 7, s.lanes = 2, s.keep = 1; }},
      {"both", true, addition(), [](StoreCommand& s) { s.multiply = 1; }},
      {"bounds that meet", false, addition(), [](StoreCommand& s) { s.function_min = 0x7f; }},
      {"bounds that cross", true, addition(),
       [](StoreCommand& s) { s.function_min = 0x7f, s.function_max = 0x7e; }},
      {"bounds of uint8", false, addition(),
       [](StoreCommand& s) {
         s.format = ResultFormat(ResultCode::kUint8).number();
         s.function_min = 0x7f, s.function_max = 0x80;
       }},
      {"bounds of uint8 that cross", true, addition(),
       [](StoreCommand& s) { s.format = ResultFormat(ResultCode::kUint8).number(); }},
      {"bounds of nothing", false, addition(),
       [](StoreCommand& s) { s.add = 0, s.function_min = 0x7f, s.function_max = 0x80; }},
      {"least scales to add", false, addition(), scales(0x1p-7F, 0x1p-7F)},
      {"too small a scale of results", true, addition(), scales(0x1.fffffep-8F, 1)},
      {"too small a scale of operands", true, addition(), scales(1, 0x1.fffffep-8F)},
      {"largest scales to add", false, addition(), scales(0x1.fffffep3F, 0x1.fffffep3F)},
      {"too large a scale of results", true, addition(), scales(16, 1)},
      {"too large a scale of operands", true, addition(), scales(1, 16)},
      {"a negative scale", true, addition(), scales(-1, 1)},
      {"least scale to multiply", false, product(), scales(0, 0x1p-12F)},
      {"too small a scale to multiply", true, product(), scales(0, 0x1.fffffep-13F)},
      {"largest scale to multiply", false, product(), scales(0, 0x1.fffffep-2F)},
      {"too large a scale to multiply", true, product(), scales(0, 0.5F)},
      {"least step of an offset", false, addition(), offset(-0x1p-31F)},
      {"half a step", true, addition(), offset(0x1p-32F)},
      {"a step and a half", true, addition(), offset(0x1.8p-31F)},
      {"many steps", false, addition(), offset(0x1.fffffep-8F)},
      {"many and a half", true, addition(), offset(0x1.fffffep-9F)},
      {"no offset", false, addition(), offset(-0.0F)},
      {"largest offset", false, addition(), offset(-0x1.fffffep13F)},
      {"too large an offset", true, addition(), offset(16384)},
      {"no number", true, addition(), offset(NAN)},
  };
  return all;
}

TEST(VectorCheck, RejectsEachUnsupportedSetting) {
  Bench<Velementwise_check_n8> bench(1000);
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.what);
    StoreCommand store = one.store;
    one.change(store);
    EXPECT_EQ(is_refused(bench, store), one.bad);
    EXPECT_EQ(!settings_refusal(store).empty(), one.bad);
  }
}

TEST(VectorCheck, RejectsKeepBeforeAnySettings) {
  Bench<Velementwise_check_n8> bench(1000);
  StoreCommand keep = addition();
  keep.keep = 1;
  for (const StoreCommand& loads : {addition(), product()}) {
    bench.reset();
    EXPECT_TRUE(is_refused(bench, keep)) << "as the first one";
    EXPECT_TRUE(is_refused(bench, keep)) << "it has loaded none";
    EXPECT_FALSE(is_refused(bench, loads));
    EXPECT_FALSE(is_refused(bench, keep));
    EXPECT_FALSE(is_refused(bench, keep));
  }
}

TEST(VectorCheck, AgreesWithTheHostOnRandomSettings) {
  Bench<Velementwise_check_n8> bench(200000);
  EXPECT_FALSE(is_refused(bench, addition()));  // whose settings KEEP keeps
  int refused = 0, taken = 0;
  for_seeds(1, 20000, [&](std::mt19937& random) {
    const auto near = [&random](int least, int most) {
      const std::uint32_t exponent =
          draw(random, static_cast<unsigned>(126 + least), static_cast<unsigned>(128 + most));
      const std::uint32_t zeros = draw(random, 0, 23);
      return exponent << 23 | ((static_cast<std::uint32_t>(random()) >> 9) >> zeros) << zeros |
             static_cast<std::uint32_t>(draw(random, 0, 19) == 0) << 31;
    };
    StoreCommand store = draw(random, 0, 1) != 0 ? addition() : product();
    if (draw(random, 0, 9) == 0) store.format = draw(random, 0, 2);
    if (draw(random, 0, 3) == 0) store.first_lane = draw(random, 0, kN);
    if (draw(random, 0, 3) == 0) store.lanes = draw(random, 0, kN + 1);
    if (draw(random, 0, 19) == 0) store.keep = 1;
    if (draw(random, 0, 19) == 0) store.add ^= 1;
    if (draw(random, 0, 3) == 0) {
      store.function_min = draw(random, 0, 255);
      store.function_max = draw(random, 0, 255);
    }
    if (draw(random, 0, 1) == 0) store.result_scale = near(-7, 3);
    if (draw(random, 0, 1) == 0) {
      store.operand_scale = store.add != 0 ? near(-7, 3) : near(-12, -2);
    }
    if (draw(random, 0, 1) == 0) store.offset = near(-32, 14);
    if (!ResultFormat::of(store.format)) return;
    const bool bad = !settings_refusal(store).empty();
    EXPECT_EQ(is_refused(bench, store), bad) << settings_refusal(store);
    ++(bad ? refused : taken);
  });
  EXPECT_GT(refused, 1000);
  EXPECT_GT(taken, 1000);
}

}  // namespace
}  // namespace gemm64::rtl_test
