// SPDX-License-Identifier: Apache-2.0
#include "host/report/classification_text.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

/// Three images of three classes; the last is right in float32 only.
Classification example(std::vector<std::string> names = {}) {
  MatrixF found(3, 3), exact(3, 3);
  found << 1, 2, 3, 3, 2, 1, 1, 2, 3;
  exact << 1, 2, 3, 3, 2, 1, 1, 3, 2;
  return classify(found, exact, {2, 1, 1}, std::move(names));
}

TEST(ClassificationText, ComparesInt8WithFloat32) {
  const std::string text = classification_text(example(), true);
  EXPECT_THAT(text, Says("float32   66.67 %  2 of 3  100.00 %       3\n",
                         "int8      33.33 %  1 of 3  100.00 %       3\n",
                         "Most confused: 1 taken for 0 in 1 image, 1 taken for 2 in 1 image.",
                         "Another best class than in float32: image 2 (1 became 2, right is "
                         "1).\n"));
}

TEST(ClassificationText, NamesBestClasses) {
  Classification named = example({"cat", "dog", "a\nb"});
  EXPECT_THAT(classification_text(named, true),
              Says("image 1:\n           3  0 (cat)\n           2  1 (dog)\n           1  2 "
                   "(a\\nb)\nimage 2:\n"));
  named.files = {"x.png", "y.png", "z.png"};
  EXPECT_THAT(classification_text(named, true), Says("y.png:\n"));
}

TEST(ClassificationText, IsShortWithoutLabels) {
  MatrixF found(1, 2);
  found << 1, 2;
  const Classification plain = classify(found, {}, {}, {"a", "b"});
  EXPECT_THAT(classification_text(plain, true), Lacks("accuracy", "Another"));
  EXPECT_FALSE(to_json(plain).contains("top1"));
}

TEST(ClassificationJson, HoldsAllOfIt) {
  const nlohmann::ordered_json json = to_json(example({"a", "b", "c"}));
  EXPECT_EQ(json["images"], 3);
  EXPECT_EQ(json["top1"], 1);
  EXPECT_EQ(json["top5"], 3);
  EXPECT_EQ(json["float32"]["top1"], 2);
  EXPECT_EQ(json["matrix"].dump(), "[[0,0,0],[1,0,1],[0,0,1]]");
  EXPECT_EQ(json["confusions"].size(), 2U);
  EXPECT_EQ(json["differ"].dump(), R"([{"image":2,"float32":1,"int8":2,"label":1}])");
  EXPECT_EQ(json["best"][2][0]["name"], "c");
  EXPECT_EQ(json["float32_best"][2][0]["class"], 1);
}

}  // namespace
}  // namespace gemm64
