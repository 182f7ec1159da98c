// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/npy.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

using Element = NpyType::Element;
using Shape = std::vector<std::int64_t>;

class Npy : public InFolder {
 protected:
  std::string raw(const std::string& contents) const {
    std::ofstream(folder_ / "x.npy", std::ios::binary) << contents;
    return folder_ / "x.npy";
  }

  std::string file(int version, const std::string& header, const std::string& data) const {
    std::string contents = "\x93NUMPY";
    contents += static_cast<char>(version);
    contents += '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
      contents += static_cast<char>(header.size() >> (8 * i) & 0xff);
    }
    return raw(contents + header + data);
  }

  std::string array(const std::string& descr, const std::string& shape, const std::string& data,
                    bool fortran = false) const {
    return file(1,
                "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                    ", 'shape': " + shape + ", }\n",
                data);
  }

  template <class T>
  static std::vector<T> values(const std::string& path) {
    NpyFile npy(path);
    std::vector<T> values(npy.elements());
    npy.read(values.data());
    return values;
  }

  static std::string refusal(const std::string& path) {
    return message_of([&] {
      NpyFile npy(path);
      std::vector<char> values(npy.elements() * npy.type().bytes);
      npy.read(values.data());
    });
  }
};

TEST_F(Npy, ReadsVersionsOneToThree) {
  for (const int version : {1, 2, 3}) {
    const std::string path =
        file(version, "{\"shape\": (3L,), 'fortran_order': False, 'descr': '|u1'}", "\1\2\xff");
    EXPECT_EQ(values<std::uint8_t>(path), (std::vector<std::uint8_t>{1, 2, 255})) << version;
  }
}

TEST_F(Npy, ReadsFortranOrderRowByRow) {
  const std::string path = array("|i1", "(2, 3)", "\1\4\2\5\3\6", true);
  EXPECT_EQ(values<std::int8_t>(path), (std::vector<std::int8_t>{1, 2, 3, 4, 5, 6}));
  const std::string cube = array("|i1", "(2, 2, 2)", std::string("\0\4\2\6\1\5\3\7", 8), true);
  EXPECT_EQ(values<std::int8_t>(cube), (std::vector<std::int8_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(Npy, ReadsTheOtherByteOrder) {
  const std::string path = array(">i4", "(2,)", std::string("\0\0\1\2\xff\xff\xff\xfe", 8));
  EXPECT_EQ(values<std::int32_t>(path), (std::vector<std::int32_t>{258, -2}));
  const std::string both = array(">i2", "(2, 2)", std::string("\0\1\0\3\0\2\0\4", 8), true);
  EXPECT_EQ(values<std::int16_t>(both), (std::vector<std::int16_t>{1, 2, 3, 4}));
}

TEST_F(Npy, ReadsEveryType) {
  const std::pair<const char*, Element> types[] = {
      {"|b1", Element::kBool},    {"|i1", Element::kInt8},    {"<i2", Element::kInt16},
      {"<i4", Element::kInt32},   {"<i8", Element::kInt64},   {"|u1", Element::kUint8},
      {"<u2", Element::kUint16},  {"<u4", Element::kUint32},  {"<u8", Element::kUint64},
      {"<f2", Element::kFloat16}, {"<f4", Element::kFloat32}, {"<f8", Element::kFloat64}};
  for (const auto& [descr, element] : types) {
    const NpyFile npy(array(descr, "()", "12345678"));
    EXPECT_EQ(npy.type().element, element) << descr;
    EXPECT_EQ(npy.elements(), 1U);
    EXPECT_EQ(npy.type().bytes, bytes_of(element));
  }
}

TEST_F(Npy, MakesTruthOfAnyByte) {
  EXPECT_EQ(values<std::uint8_t>(array("|b1", "(3,)", std::string("\0\1\7", 3))),
            (std::vector<std::uint8_t>{0, 1, 1}));
}

TEST_F(Npy, SaysInNumPysWordsWhatAFileHolds) {
  const std::pair<const char*, const char*> types[] = {
      {"<c16", "complex128 of shape (2,)"},
      {"<U5", "text of 5 characters of shape (2,)"},
      {"<M8[ns]", "datetime64 of shape (2,)"},
      {"|O", "Python objects of shape (2,)"},
      {"<f8", "float64 of shape (2,)"}};
  for (const auto& [descr, words] : types) {
    const NpyFile npy(array(descr, "(2,)", std::string(100, '\0')));
    EXPECT_EQ(npy.describe(), words);
    EXPECT_THAT([&] { npy.require(Element::kFloat32); }, Fails("float32 is needed"));
  }
  const NpyFile list(
      file(1, "{'descr': [('a', '<i4', (2,)), ('b)', '|S3')], 'fortran_order': False, 'shape': ()}",
           ""));
  EXPECT_EQ(list.describe(), "a structured type of shape ()");
}

TEST_F(Npy, BelievesNoSizeBeforeTheFileHasIt) {
  EXPECT_THAT(refusal(array("<f4", "(100000, 100000)", "1234")),
              Says("ends 39,999,999,996 bytes early: its header promises float32 of shape "
                   "(100000, 100000)"));
  EXPECT_THAT(refusal(array("<f8", "(4294967296, 4294967296)", "")),
              Says("too large for any memory"));
  EXPECT_THAT(refusal(array("<f8", "(4294967296, 4294967297, 0)", "", true)),
              Says("too large for any memory"));
  EXPECT_THAT(refusal(array("|i1", "(99999999999999999999,)", "")),
              Says("too large for any memory"));
  EXPECT_THAT(refusal(array("|i1", "(-1, -1)", "1")), Says("a negative size, -1"));
  std::string long_header = "\x93NUMPY";
  long_header += std::string("\2\0\xff\xff\xff\xff", 6);
  EXPECT_THAT(refusal(raw(long_header)), Says("its header has 4294967295 bytes"));
}

TEST_F(Npy, RefusesWhatIsNone) {
  EXPECT_THAT(refusal(folder_ / "none"), Says("No such file"));
  EXPECT_THAT(refusal(folder_), Says("it is a folder"));
  EXPECT_THAT(refusal(raw("")), Says("the file is empty"));
  EXPECT_THAT(refusal(raw("GIF89a.....")), Says("the file is a GIF image"));
  EXPECT_THAT(refusal(raw("PK\3\4......")), Says("the file is a ZIP archive, as .npz"));
  EXPECT_THAT(refusal(raw("\x93NUMPY")), Says("ends within the header"));
  EXPECT_THAT(refusal(raw(std::string("\x93NUMPY\1\0\x20\0{'descr'", 18))),
              Says("ends within the header"));
  for (const int version : {0, 4}) {
    EXPECT_THAT(refusal(file(version, "", "")),
                Says(fmt::format("version {}; versions 1 to 3 are supported", version)));
  }
  EXPECT_THAT(refusal(file(1, "{'descr': '<f4', 'shape': ()}", "")), Says("lacks one of its"));
  EXPECT_THAT(refusal(file(1, "{'descr': '<f4', 'descr': '<f4'}", "")), Says("twice"));
  EXPECT_THAT(refusal(file(1, "{'other': 1}", "")), Says("has a key 'other'"));
  EXPECT_THAT(refusal(array("<q9", "()", "")), Says("no type '<q9'"));
  EXPECT_THAT(refusal(array("", "()", "")), Says("no type ''"));
  EXPECT_THAT(refusal(array("<f4", "(x,)", "")), Says("not a tuple of numbers"));
}

TEST_F(Npy, NoHeaderOfAFewBytesDoesHarm) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  for (std::size_t end = 0; end < good.size(); ++end) {
    refusal(file(1, good.substr(0, end), std::string(24, '1')));
    for (const char c : std::string("({['\"},:0L\0", 11)) {
      std::string bad = good;
      bad[end] = c;
      refusal(file(1, bad, std::string(24, '1')));
    }
  }
}

TEST_F(Npy, WritesWhatNumPyWrites) {
  MatrixI32 matrix(2, 1);
  matrix << 1, -2;
  {
    OutputFile output(folder_ / "x.npy");
    save_npy(output, matrix);
  }
  std::ifstream stream(folder_ / "x.npy", std::ios::binary);
  const std::string contents{std::istreambuf_iterator<char>(stream), {}};
  ASSERT_EQ(contents.size(), 128U + 8);
  EXPECT_EQ(contents.substr(0, 10), std::string("\x93NUMPY\1\0\x76\0", 10));
  EXPECT_EQ(contents.substr(10, 60),
            "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1), } ");
  EXPECT_EQ(contents[127], '\n');
  EXPECT_EQ(contents.substr(128), std::string("\1\0\0\0\xfe\xff\xff\xff", 8));
  EXPECT_EQ(values<std::int32_t>(folder_ / "x.npy"), (std::vector<std::int32_t>{1, -2}));
}

TEST_F(Npy, LoadsMatricesOnly) {
  EXPECT_EQ(load_npy<std::int8_t>(array("|i1", "(2, 1)", "\1\2"))(1, 0), 2);
  const auto matrix = [&](const std::string& path) { return load_npy<std::int8_t>(path); };
  EXPECT_THAT([&] { matrix(array("|i1", "(2,)", "\1\2")); }, Fails("a matrix is needed"));
  EXPECT_THAT([&] { matrix(array("|i1", "(2, 0)", "")); }, Fails("a matrix is needed"));
  EXPECT_THAT([&] { matrix(array("<i8", "(1, 1)", "12345678")); }, Fails("array.astype('int8')"));
}

TEST_F(Npy, ReadsTextsOfEitherKindAndOrder) {
  const auto texts = [](const std::string& path) { return NpyFile(path).read_texts(); };
  const std::string little("a\0\0\0b\0\0\0\xe4\0\0\0\0\0\0\0", 16);
  const std::string big("\0\0\0a\0\0\0b\0\0\0\xe4\0\0\0\0", 16);
  const std::vector<std::string> expected{"ab", "\xc3\xa4"};
  EXPECT_EQ(texts(array("<U2", "(2,)", little)), expected);
  EXPECT_EQ(texts(array(">U2", "(2,)", big)), expected);
  EXPECT_EQ(texts(array("|S2", "(2,)", std::string("abc\0", 4))),
            (std::vector<std::string>{"ab", "c"}));
  EXPECT_EQ(texts(array("|S3", "(2, 2)", "aaabbbcccddd", true)),
            (std::vector<std::string>{"aaa", "ccc", "bbb", "ddd"}));
  EXPECT_THAT(message_of([&] { texts(array("<f4", "(1,)", "abcd")); }), Says("texts are needed"));
}

TEST_F(Npy, EncodesTheLastCodesOfEachLength) {
  const std::string replacement = "\xef\xbf\xbd";
  const std::vector<std::pair<std::uint32_t, std::string>> codes = {
      {0x7f, "\x7f"},
      {0x80, "\xc2\x80"},
      {0x7ff, "\xdf\xbf"},
      {0x800, "\xe0\xa0\x80"},
      {0xd7ff, "\xed\x9f\xbf"},
      {0xd800, replacement},  // halves of pairs are no characters
      {0xdfff, replacement},
      {0xe000, "\xee\x80\x80"},
      {0xffff, "\xef\xbf\xbf"},
      {0x10000, "\xf0\x90\x80\x80"},
      {0x10ffff, "\xf4\x8f\xbf\xbf"},
      {0x110000, replacement}};
  for (const auto& [code, text] : codes) {
    const std::string stored(reinterpret_cast<const char*>(&code), sizeof code);
    EXPECT_EQ(NpyFile(array("<U1", "(1,)", stored)).read_texts(), std::vector<std::string>{text})
        << code;
  }
}

}  // namespace
}  // namespace gemm64
