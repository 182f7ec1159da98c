// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/network_input.hpp"

#include <stb/stb_image_write.h>

#include "host/runtime/input_passes.hpp"
#include "host/runtime/known_inputs.hpp"
#include "host/runtime/npy.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"
#include "tests/unit/runtime/tensors.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

/// All rows of all inputs.
NamedTensors make_inputs(const OnnxModel& model, const InputOptions& options) {
  return NetworkInputs::of(open_inputs(model, options)).take(0, 0);
}

NamedTensors make_inputs(const OnnxModel& model, const std::vector<std::string>& files,
                         std::int64_t batch, std::uint32_t seed) {
  InputOptions options;
  options.files = files;
  options.batch = batch;
  options.seed = seed;
  return make_inputs(model, options);
}

class NetworkInput : public InFolder {
 protected:
  std::string array(const Tensor& tensor) const {
    OutputFile file(folder_ / "x.npy");
    save_tensor(file, tensor);
    return folder_ / "x.npy";
  }

  std::string grey_image() const {
    const std::array<std::uint8_t, 4> pixels{0, 51, 102, 255};
    const std::string path = folder_ / "x.png";
    EXPECT_NE(stbi_write_png(path.c_str(), 2, 2, 1, pixels.data(), 2), 0);
    return path;
  }

  static std::string refusal(const OnnxModel& model, const std::vector<std::string>& files,
                             std::int64_t batch = 0) {
    return message_of([&] { make_inputs(model, files, batch, 1); });
  }

  const OnnxModel open_ = load_text("(float[N,2] x) => (float[N,2] y) {y = Relu(x)}");
};

TEST_F(NetworkInput, IsRandomFromTheSeedWithoutAFile) {
  const auto random = [&](std::uint32_t seed) {
    return values_of<float>(make_inputs(open_, {}, 0, seed).at("x"));
  };
  EXPECT_EQ(random(1), random(1));
  EXPECT_NE(random(1), random(2));
  EXPECT_EQ(random(1).size(), 2U);  // an open batch is 1
}

TEST_F(NetworkInput, HasTheBatchOfItsFile) {
  const NamedTensors inputs = make_inputs(open_, {array(floats({3, 2}, {1, 2, 3, 4, 5, 6}))}, 0, 1);
  EXPECT_EQ(inputs.at("x").dims(), (Dims{3, 2}));
  EXPECT_EQ(inputs.at("x").values<float>()[5], 6);
}

TEST_F(NetworkInput, MustFitTheModel) {
  EXPECT_THAT(refusal(open_, {array(floats({2, 3}, {1, 2, 3, 4, 5, 6}))}),
              Says("is 2x3; input 'x' of test.onnx takes N x 2"));
  EXPECT_THAT(refusal(open_, {array(floats({2}, {1, 2}))}), Says("takes N x 2"));
  EXPECT_THAT(refusal(open_, {array(ints({1, 2}))}),
              Says("holds int64 of shape (2,); float32 is needed"));
  EXPECT_THAT(refusal(open_, {array(floats({1, 2}, {1, 2}))}, 4), Says("--batch 4"));
  EXPECT_THAT(refusal(open_, {(folder_ / "none.npy").string()}), Says("cannot be read"));
  EXPECT_THAT(refusal(open_, {"z=" + array(floats({1, 2}, {1, 2}))}),
              Says("has no input 'z'; its inputs are: x"));
}

TEST_F(NetworkInput, HasAsManyRowsAsTheBatchAtLeast) {
  const std::string two = array(floats({2, 2}, {1, 2, 3, 4}));
  EXPECT_EQ(refusal(open_, {two}, 2), "");
  EXPECT_THAT(refusal(open_, {two}, 3), Says("is 2x2; --batch 3 needs a first size of at least"));
}

TEST_F(NetworkInput, NamesItsFilesWithoutItsOwnName) {
  EXPECT_EQ(input_files("x=a.npy"), (std::vector<std::string>{"a.npy"}));
  EXPECT_EQ(input_files("a.npy"), (std::vector<std::string>{"a.npy"}));
  EXPECT_EQ(input_files("x=1.5"), (std::vector<std::string>{})) << "a number for each value";
  const std::string file = (folder_ / "x=1").string();
  std::ofstream(file) << "exists";
  EXPECT_EQ(input_files(file), (std::vector<std::string>{file}));
}

TEST_F(NetworkInput, IsKnownWhereItIsANumber) {
  const OnnxModel model =
      load_text("(float[2] x, int32[1] i, bool[1] b, int64[1] l) => (float[2] y) {y = Relu(x)}");
  const auto known = [&](std::vector<std::string> texts) {
    const auto found = take_known_inputs(model, texts);
    EXPECT_TRUE(texts.empty()) << texts[0];
    return Tensor::from_proto(found.begin()->second);
  };
  EXPECT_EQ(values_of<float>(known({"x=1.5"})), (std::vector<float>{1.5F, 1.5F}));
  EXPECT_EQ(values_of<std::int32_t>(known({"i=-7"})), (std::vector<std::int32_t>{-7}));
  EXPECT_TRUE(known({"b=true"}).values<bool>()[0]);
  EXPECT_FALSE(known({"b=false"}).values<bool>()[0]);
  EXPECT_EQ(known({"l=9007199254740992"}).values<std::int64_t>()[0], std::int64_t{1} << 53);
  const auto refused = [&](const std::string& text) {
    std::vector<std::string> texts{text};
    return message_of([&] { take_known_inputs(model, texts); });
  };
  EXPECT_THAT(refused("i=1.5"), Says("--input i: 1.5 is no int32"));
  EXPECT_THAT(refused("i=2147483648"), Says("is no int32"));
  EXPECT_THAT(refused("i=-2147483649"), Says("is no int32"));
  EXPECT_THAT(refused("l=9223372036854775808"), Says("is no int64"));
  for (const std::string text : {"x=1.5x", "z=1", "x", "x=y.npy"}) {
    std::vector<std::string> texts{text};
    EXPECT_TRUE(take_known_inputs(model, texts).empty());
    EXPECT_EQ(texts, (std::vector<std::string>{text})) << "is left to others";
  }
}

TEST_F(NetworkInput, IsKnownIfAConditionNeedsIt) {
  const OnnxModel model = load_text(
      "(int64[N] n, float[1] x) => (float[M] y) {"
      "t = Constant <value_int = 1> () u = ReduceSum <keepdims = 0> (n) c = Equal(t, u) "
      "y = If <then_branch = () => (float[1] p) {p = Neg(x)}, "
      "else_branch = () => (float[2] q) {q = Concat <axis = 0> (x, x)}> (c)}");
  const auto left = [&](const std::string& file, const std::string& name = "n") {
    std::vector<std::string> texts{name + "=" + file};
    const auto found = take_known_inputs(model, texts);
    EXPECT_EQ(found.size() + texts.size(), 1U);
    return texts;
  };
  const std::string one = array(ints({1}));
  EXPECT_TRUE(left(one).empty());
  fs::copy_file(one, folder_ / "x.bin");
  EXPECT_EQ(left((folder_ / "x.bin").string()).size(), 1U);
  EXPECT_EQ(left(array(ints({1, 2}))).size(), 1U);
  EXPECT_EQ(left(array(floats({1}, {1})), "x").size(), 1U) << "no condition needs float values";
}

TEST_F(NetworkInput, IsNamedWhereThereAreSeveral) {
  const OnnxModel model =
      load_text("(float[1] a, int64[1] b) => (float[1] y) {c = Cast <to = 1> (b) y = Add(a, c)}");
  EXPECT_THAT(refusal(model, {}), Says("'b' is of int64; give it as --input b=FILE.npy"));
  const NamedTensors inputs = make_inputs(model, {"b=" + array(ints({7}))}, 0, 1);
  EXPECT_EQ(values_of<std::int64_t>(inputs.at("b")), (std::vector<std::int64_t>{7}));
  EXPECT_EQ(inputs.at("a").dims(), (Dims{1}));
  const std::string file = "b=" + array(ints({7}));
  EXPECT_THAT(refusal(model, {file, file}), Says("given twice"));
}

TEST_F(NetworkInput, MayBeAnImageForTheBatch) {
  ImportOptions options;
  options.batch = 2;
  const OnnxModel model =
      load_text("(float[N,1,2,2] x) => (float[N,1,2,2] y) {y = Relu(x)}", {}, 13, options);
  const Tensor x = make_inputs(model, {grey_image()}, 0, 1).at("x");
  EXPECT_EQ(x.dims(), (Dims{2, 1, 2, 2}));
  EXPECT_EQ(values_of<float>(x), (std::vector<float>{0, 0.2F, 0.4F, 1, 0, 0.2F, 0.4F, 1}));
  // A batch that is asked for takes as many images, as it takes as many rows of an array.
  EXPECT_THAT(refusal(model, {grey_image()}, 2), Says("1 image for a batch of 2", "--batch 1"));
  EXPECT_EQ(refusal(model, {grey_image(), grey_image()}, 2), "");
}

TEST_F(NetworkInput, IsNoImageWhereTheModelTakesNone) {
  EXPECT_THAT(refusal(open_, {grey_image()}), Says("batches of 1 or 3 channels"));
}

TEST_F(NetworkInput, NamesAnImageOfAnotherKind) {
  std::ofstream(folder_ / "x.gif") << "GIF89a and more than sixteen bytes";
  const OnnxModel model = load_text("(float[1,1,2,2] x) => (float[1,1,2,2] y) {y = Relu(x)}");
  EXPECT_THAT(refusal(model, {folder_ / "x.gif"}),
              Says("give PNG or JPEG; the file is a GIF image"));
}

TEST_F(NetworkInput, NamesADamagedImage) {
  const OnnxModel model = load_text("(float[1,1,2,2] x) => (float[1,1,2,2] y) {y = Relu(x)}");
  const std::string path = grey_image();
  fs::resize_file(path, 40);
  EXPECT_THAT(refusal(model, {path}), Says("x.png: the PNG image ends early"));
}

/// Grey images of one pixel, 10, 20, 30, as an idx file.
class IdxInput : public NetworkInput {
 protected:
  InputOptions options() const {
    InputOptions options;
    options.files = {(folder_ / "x.idx").string()};
    std::ofstream(folder_ / "x.idx", std::ios::binary)
        << std::string("\0\0\x8\x3\0\0\0\3\0\0\0\1\0\0\0\1\xa\x14\x1e", 19);
    options.pixels.values = preprocessing_named("raw");
    return options;
  }
  static OnnxModel model(const std::string& dims) {
    return load_text("(float[" + dims + "] x) => (float[" + dims + "] y) {y = Relu(x)}");
  }
};

TEST_F(IdxInput, FitsGreyColouredAndFlatInputs) {
  const std::vector<float> grey{10, 20, 30};
  EXPECT_EQ(values_of<float>(make_inputs(model("N,1,1,1"), options()).at("x")), grey);
  EXPECT_EQ(values_of<float>(make_inputs(model("N,1"), options()).at("x")), grey);
  EXPECT_EQ(values_of<float>(make_inputs(model("N,1,1"), options()).at("x")), grey);
  const Tensor colour = make_inputs(model("N,3,1,1"), options()).at("x");
  EXPECT_EQ(values_of<float>(colour), (std::vector<float>{10, 10, 10, 20, 20, 20, 30, 30, 30}));
}

TEST_F(IdxInput, GivesTheFirstImagesAndAnyRows) {
  InputOptions first = options();
  first.limit = 2;
  const InputSource source = open_inputs(model("N,1,1,1"), first).at("x");
  EXPECT_EQ(source.dims, (Dims{2, 1, 1, 1}));
  EXPECT_FALSE(source.in_memory);
  EXPECT_EQ(values_of<float>(source.rows(1, 1)), std::vector<float>{20});
}

TEST_F(IdxInput, IsRefusedWhereNoImageFits) {
  const auto refused = [&](const std::string& dims, const InputOptions& given) {
    return message_of([&] { open_inputs(model(dims), given); });
  };
  EXPECT_THAT(refused("N,2", options()), Says("images are for float32 batches"));
  EXPECT_THAT(refused("N,2,1,1", options()), Says("images are for float32 batches"));
  InputOptions three = options();
  three.pixels.values = preprocessing_named("imagenet");
  EXPECT_THAT(refused("N,1,1,1", three), Says("give one mean and deviation"));
  three.files = {array(floats({1, 1}, {1}))};
  EXPECT_THAT(refused("N,1", three), Says("arrays are taken as they are"));
}

TEST_F(NetworkInput, TakesImagesInOrderOfNames) {
  for (const char* name : {"b.png", "a.png"}) {
    const std::uint8_t pixel = name[0];
    EXPECT_NE(stbi_write_png((folder_ / name).c_str(), 1, 1, 1, &pixel, 1), 0);
  }
  std::ofstream(folder_ / "labels.txt") << "0\n1\n";
  InputOptions options;
  options.files = {folder_.string()};
  options.pixels.values = preprocessing_named("raw");
  const OnnxModel model = load_text("(float[N,1,1,1] x) => (float[N,1,1,1] y) {y = Relu(x)}");
  const InputSource source = open_inputs(model, options).at("x");
  EXPECT_EQ(values_of<float>(source.rows(0, 2)), (std::vector<float>{'a', 'b'}));
  EXPECT_EQ(source.files.at(1), (folder_ / "b.png").string());
  EXPECT_EQ(input_files(folder_.string()).size(), 2U);
  fs::remove(folder_ / "a.png");
  fs::remove(folder_ / "b.png");
  EXPECT_THAT(refusal(model, {folder_.string()}), Says("holds no PNG or JPEG images"));
}

}  // namespace
}  // namespace gemm64
