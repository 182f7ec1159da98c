// SPDX-License-Identifier: Apache-2.0
#include <Varray_n2r1.h>
#include <Varray_n2r2.h>
#include <Varray_n4r2.h>
#include <Varray_n4r4.h>
#include <Varray_n8r1.h>
#include <Varray_n8r4.h>
#include <Varray_n8r4_simulated.h>
#include <Varray_n8r8.h>

#include "tests/rtl/array_vectors.hpp"
#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

template <class Model, unsigned kColumns, unsigned kRows>
struct Shape {
  using Type = Model;
  static constexpr unsigned kN = kColumns;
  static constexpr unsigned kStageRows = kRows;
  static constexpr unsigned kLatency = 1 + kN / kStageRows;  // of column 0, as the header says
};

template <class Shape>
class Array : public testing::Test {
 protected:
  using Model = typename Shape::Type;

  static void drive(Model& array, const ArrayClock& clock) {
    array.weight_valid_i = clock.weight_valid;
    array.activation_valid_i = clock.activation_valid;
    array.weight_column_i = static_cast<std::uint8_t>(clock.weight_column);
    for (unsigned k = 0; k < Shape::kN; ++k) {
      set_lane(array.weight_i, k, clock.weight[k]);
      set_lane(array.activation_i, k, clock.activation[k]);
    }
  }

  static void run(const ArrayPlan& plan) {
    Bench<Model> bench;
    const auto cycles = array_cycles(Shape::kN, Shape::kLatency, plan);
    for (std::size_t t = 0; t < cycles.size(); ++t) {
      drive(*bench, cycles[t]);
      bench.settle();
      for (unsigned c = 0; c < Shape::kN; ++c) {
        if (!cycles[t].checked[c]) continue;
        ASSERT_EQ(lane<std::int32_t>(bench->sum_o, c), cycles[t].sum[c])
            << "column " << c << " in cycle " << t;
      }
      bench.edge();
    }
  }
};

using Shapes =
    testing::Types<Shape<Varray_n2r1, 2, 1>, Shape<Varray_n2r2, 2, 2>, Shape<Varray_n4r2, 4, 2>,
                   Shape<Varray_n4r4, 4, 4>, Shape<Varray_n8r1, 8, 1>, Shape<Varray_n8r4, 8, 4>,
                   Shape<Varray_n8r8, 8, 8>, Shape<Varray_n8r4_simulated, 8, 4>>;
TYPED_TEST_SUITE(Array, Shapes);

TYPED_TEST(Array, MultipliesWhateverTheRowsGapsAndOperands) {
  unsigned number = 0;
  for (const ArrayPlan& plan : array_plans(TypeParam::kN)) {
    SCOPED_TRACE("plan " + std::to_string(number++));
    this->run(plan);
  }
}

TYPED_TEST(Array, TilesFollowEachOtherWithoutABubble) {
  ArrayPlan plan;
  plan.tiles = 10;
  plan.min_rows = plan.max_rows = TypeParam::kN;
  const auto cycles = array_cycles(TypeParam::kN, TypeParam::kLatency, plan);
  // Ten tiles of N rows take 10 N cycles, the first cycle is idle, and the last sum's clock ends
  // the list.
  EXPECT_EQ(cycles.size(), 1 + 10 * TypeParam::kN + TypeParam::kLatency + TypeParam::kN - 1);
  this->run(plan);
}

TYPED_TEST(Array, LatencyIsOneMoreThanTheStagesPlusTheColumn) {
  constexpr unsigned kN = TypeParam::kN;
  Bench<typename TypeParam::Type> bench;
  ArrayClock clock;
  clock.weight.assign(kN, 1);
  clock.activation.assign(kN, 0);
  clock.weight_valid = true;
  for (unsigned c = 0; c < kN; ++c) {
    clock.weight_column = c;
    this->drive(*bench, clock);
    bench.step();
  }
  clock.weight_valid = false;
  clock.activation_valid = true;
  for (unsigned t = 0; t < 4 * kN; ++t) {  // zeros wash the noise out
    this->drive(*bench, clock);
    bench.step();
  }
  for (unsigned t = 0; t < 4 * kN; ++t) {
    clock.activation.assign(kN, t == 0 ? 1 : 0);  // one row, in cycle 0
    this->drive(*bench, clock);
    bench.settle();
    for (unsigned c = 0; c < kN; ++c) {
      const bool due = t == 1 + kN / TypeParam::kStageRows + c;
      EXPECT_EQ(lane<std::uint32_t>(bench->sum_o, c), due ? kN : 0u) << "column " << c << " " << t;
    }
    bench.edge();
  }
}

TYPED_TEST(Array, RandomTilesAgreeWithTheOracle) {
  for_seeds(1, 40, [this](std::mt19937& random) {
    ArrayPlan plan;
    plan.tiles = 12;
    plan.max_rows = draw(random, 1, 3 * TypeParam::kN);
    plan.max_gap = draw(random, 0, 2 * TypeParam::kN);
    plan.early_weights = random() % 2 == 0;
    plan.seed = static_cast<std::uint32_t>(random());
    this->run(plan);
  });
}

}  // namespace
}  // namespace gemm64::rtl_test
