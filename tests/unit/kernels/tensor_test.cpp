// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/tensor.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

using onnx::TensorProto;

TensorProto proto_of(int type, const Dims& dims) {
  TensorProto proto;
  proto.set_name("w");
  proto.set_data_type(type);
  for (const std::int64_t dim : dims) proto.add_dims(dim);
  return proto;
}

TEST(Tensor, CopiesAndReshapedOnesShareTheirValues) {
  const Tensor tensor = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor copy = tensor;
  const Tensor reshaped = tensor.reshaped({3, 2});
  EXPECT_EQ(copy.values<float>(), tensor.values<float>());
  EXPECT_EQ(reshaped.values<float>(), tensor.values<float>());
  EXPECT_EQ(reshaped.dims(), (Dims{3, 2}));
  EXPECT_THROW(tensor.reshaped({4, 2}), std::logic_error);
}

TEST(Tensor, IsFreedWithItsLastCopy) {
  Tensor tensor = Tensor::of<float>({1}, {1});
  const std::weak_ptr<const void> storage = tensor.storage();
  {
    const Tensor reshaped = tensor.reshaped({1, 1});
    tensor = Tensor();
    EXPECT_FALSE(storage.expired());
  }
  EXPECT_TRUE(storage.expired());
}

TEST(Tensor, UsesWeightsWhereTheFileHoldsThem) {
  TensorProto raw = proto_of(TensorProto::FLOAT, {16});
  raw.set_raw_data(std::string(64, '\0'));
  EXPECT_EQ(static_cast<const void*>(Tensor::from_proto(raw).raw()), raw.raw_data().data());

  TensorProto typed = proto_of(TensorProto::INT64, {2});
  typed.add_int64_data(5);
  typed.add_int64_data(-6);
  const Tensor tensor = Tensor::from_proto(typed);
  EXPECT_EQ(tensor.values<std::int64_t>(), typed.int64_data().data());
  EXPECT_EQ(tensor.values<std::int64_t>()[1], -6);
}

TEST(Tensor, ReadsTypesWithoutAFieldOfTheirOwn) {
  TensorProto flags = proto_of(TensorProto::BOOL, {2});
  flags.add_int32_data(0);
  flags.add_int32_data(1);
  EXPECT_FALSE(Tensor::from_proto(flags).values<bool>()[0]);
  EXPECT_TRUE(Tensor::from_proto(flags).values<bool>()[1]);

  TensorProto bytes = proto_of(TensorProto::INT8, {1});
  bytes.add_int32_data(-128);
  EXPECT_EQ(Tensor::from_proto(bytes).values<std::int8_t>()[0], -128);

  TensorProto half = proto_of(TensorProto::FLOAT16, {1});
  half.add_int32_data(0x3c00);
  EXPECT_EQ(static_cast<float>(Tensor::from_proto(half).values<Eigen::half>()[0]), 1.0F);
}

TEST(Tensor, RefusesTensorsWithoutTheirData) {
  EXPECT_THROW(Tensor::from_proto(proto_of(TensorProto::FLOAT, {2})), UsageError);
  TensorProto few = proto_of(TensorProto::FLOAT, {2});
  few.set_raw_data(std::string(4, '\0'));
  EXPECT_THROW(Tensor::from_proto(few), UsageError);
  TensorProto elsewhere = proto_of(TensorProto::FLOAT, {1});  // uint32 is there, float does not
  elsewhere.add_uint64_data(5);
  EXPECT_THROW(Tensor::from_proto(elsewhere), UsageError);
  elsewhere.set_data_type(TensorProto::UINT32);
  EXPECT_EQ(Tensor::from_proto(elsewhere).values<std::uint32_t>()[0], 5U);
}

TEST(Tensor, RefusesWhatCannotBeHeld) {
  const auto make = [](const Dims& dims) { return Tensor(TensorProto::FLOAT, dims); };
  EXPECT_THROW(make({-1}), UsageError);
  EXPECT_THROW(make({std::int64_t{1} << 35}), UsageError);
  EXPECT_THROW(make({std::int64_t{1} << 33, std::int64_t{1} << 33}), UsageError);
  EXPECT_THROW(make({0, std::int64_t{1} << 62, 4}), UsageError);
  EXPECT_THROW(Tensor(TensorProto::COMPLEX64, {1}), UsageError);
  EXPECT_EQ(make({0, 5}).elements(), 0);
  EXPECT_EQ(make({}).elements(), 1);
}

TEST(Tensor, IsReadAsItsOwnTypeOnly) {
  const Tensor tensor = Tensor::of<std::int32_t>({1}, {7});
  EXPECT_EQ(*tensor.values<std::int32_t>(), 7);
  EXPECT_THROW(tensor.values<float>(), std::logic_error);
}

TEST(Tensor, IsCutIntoRowsAndStackedAgain) {
  const Tensor whole = Tensor::of<std::int32_t>({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor last = rows(whole, 1, 2);
  EXPECT_EQ(last.dims(), (Dims{2, 2}));
  EXPECT_EQ(last.values<std::int32_t>()[0], 3);
  const Tensor again = stacked({rows(whole, 0, 1), last});
  EXPECT_EQ(again.dims(), whole.dims());
  EXPECT_TRUE(std::equal(again.values<std::int32_t>(), again.values<std::int32_t>() + 6,
                         whole.values<std::int32_t>()));
  EXPECT_EQ(stacked({Tensor::of<float>({}, {1}), Tensor::of<float>({}, {2})}).dims(), (Dims{2}));
  EXPECT_EQ(rows(Tensor(TensorProto::FLOAT, {0, 2}), 0, 0).dims(), (Dims{0, 2}));
  EXPECT_THROW(stacked({whole, Tensor::of<std::int32_t>({1, 1}, {1})}), UsageError);
  EXPECT_THROW(stacked({whole, Tensor::of<float>({1, 2}, {1, 2})}), UsageError);
}

}  // namespace
}  // namespace gemm64
