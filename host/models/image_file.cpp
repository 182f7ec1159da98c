// SPDX-License-Identifier: Apache-2.0
#include "host/models/image_file.hpp"

#include <fmt/format.h>
#include <stb/stb_image.h>

#include <array>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string_view>

#include "host/error.hpp"

namespace gemm64 {
namespace {

using namespace std::string_view_literals;

constexpr int kMostPixels = 16384;  // a side
constexpr std::array<std::string_view, 2> kSignatures = {"\x89PNG\r\n\x1a\n"sv, "\xff\xd8\xff"sv};

}  // namespace

bool is_image_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 8> head{};
  file.read(head.data(), head.size());
  const std::string_view start(head.data(), static_cast<std::size_t>(file.gcount()));
  for (const std::string_view signature : kSignatures) {
    if (start.substr(0, signature.size()) == signature) return true;
  }
  return false;
}

Image load_image(const std::filesystem::path& path, std::size_t channels) {
  const auto fails = [&path](const std::string& what) {
    return UsageError(fmt::format("{}: {}", path.string(), what));
  };
  if (!is_image_file(path)) throw fails("cannot be read as a PNG or JPEG image");
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw fails("is too large for an image");
  }
  const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int size = static_cast<int>(bytes.size());
  int columns = 0, rows = 0, stored = 0;
  if (stbi_info_from_memory(data, size, &columns, &rows, &stored) == 0) {
    throw fails(fmt::format("cannot be read as an image: {}", stbi_failure_reason()));
  }
  if (columns > kMostPixels || rows > kMostPixels) {
    throw fails(
        fmt::format("is an image of {}x{}; a side may have {} pixels", columns, rows, kMostPixels));
  }
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(data, size, &columns, &rows, &stored, static_cast<int>(channels)),
      stbi_image_free);
  if (!pixels) throw fails(fmt::format("cannot be read as an image: {}", stbi_failure_reason()));
  Image image{static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), channels, {}};
  image.pixels.assign(pixels.get(), pixels.get() + image.rows * image.columns * channels);
  return image;
}

}  // namespace gemm64
