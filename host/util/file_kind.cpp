// SPDX-License-Identifier: Apache-2.0
#include "host/util/file_kind.hpp"

#include <algorithm>
#include <fstream>

namespace gemm64 {
namespace {

using namespace std::string_view_literals;

struct Kind {
  std::string_view signature;
  const char* name;
};

constexpr Kind kKinds[] = {
    {"\x93NUMPY"sv, "a NumPy array (.npy)"},
    {"\x89PNG\r\n\x1a\n"sv, "a PNG image"},
    {"\xff\xd8\xff"sv, "a JPEG image"},
    {"GIF8"sv, "a GIF image"},
    {"BM"sv, "a BMP image"},
    {"II*\0"sv, "a TIFF image"},
    {"MM\0*"sv, "a TIFF image"},
    {"PK\3\4"sv, "a ZIP archive, as .npz and .pt are"},
    {"PK\5\6"sv, "an empty ZIP archive"},
    {"\x1f\x8b"sv, "compressed by gzip"},
    {"BZh"sv, "compressed by bzip2"},
    {"\xfd"
     "7zXZ\0"sv,
     "compressed by xz"},
    {"\x28\xb5\x2f\xfd"sv, "compressed by zstd"},
    {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file"},
    {"%PDF"sv, "a PDF document"},
    {"\x80\2"sv, "a Python pickle"},
    {"\x80\3"sv, "a Python pickle"},
    {"\x80\4"sv, "a Python pickle"},
    {"\x80\5"sv, "a Python pickle"},
    {"\x7f"
     "ELF"sv,
     "a program"},
    {"version https://git-lfs"sv, "a Git LFS pointer; git lfs pull fetches the file itself"},
    {"GEMM64X\n"sv, "a compiled network (.g64)"},
    {"{"sv, "text, perhaps JSON"},
};

bool is_text(unsigned char byte) {
  return byte >= 0x80 || (byte >= 0x20 && byte != 0x7f) || byte == '\n' || byte == '\r' ||
         byte == '\t';
}

}  // namespace

const char* file_kind(std::string_view head) {
  if (head.empty()) return "empty";
  for (const Kind& kind : kKinds) {
    if (head.substr(0, kind.signature.size()) == kind.signature) return kind.name;
  }
  if (head.size() >= 12 && head.substr(0, 4) == "RIFF" && head.substr(8, 4) == "WEBP") {
    return "a WebP image";
  }
  // FlatBuffers have their kind after the first offset.
  if (head.size() >= 8 && head.substr(4, 4) == "TFL3") {
    return "a TensorFlow Lite model (.tflite); tf2onnx converts it";
  }
  if (head.size() >= 8 && head.substr(4, 4) == "ORTM") {
    return "a model in ONNX Runtime's own format (.ort); take the .onnx file that it was made from";
  }
  return std::all_of(head.begin(), head.end(), is_text) ? "text" : kUnknownKind.data();
}

std::string file_head(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return "";
  std::ifstream file(path, std::ios::binary);
  std::string head(kKindBytes, '\0');
  file.read(head.data(), kKindBytes);
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

}  // namespace gemm64
