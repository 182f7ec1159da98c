// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/image_file.hpp"

#include <fmt/format.h>
#include <stb/stb_image.h>

#include <memory>

#include "host/numerics/image_damage.hpp"
#include "host/util/error.hpp"
#include "host/util/file_kind.hpp"
#include "host/util/input_file.hpp"

namespace gemm64 {
namespace {

using namespace std::string_view_literals;

constexpr int kMaxSide = 16384;
constexpr std::int64_t kMaxPixels = std::int64_t{1} << 26;   // what they take stays below 1 GiB
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 28;  // of a file

constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n"sv;
constexpr std::string_view kJpeg = "\xff\xd8\xff"sv;

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace

bool is_image_file(const std::filesystem::path& path) {
  const std::string head = file_head(path);
  const std::string_view kind = file_kind(head);
  constexpr std::string_view kImage = " image";
  return kind.size() > kImage.size() && kind.substr(kind.size() - kImage.size()) == kImage;
}

std::string read_image_file(const std::filesystem::path& path) {
  return read_file(path.string(), kMaxBytes);
}

Image load_image(const std::filesystem::path& path, std::size_t channels) {
  return decode_image(read_image_file(path), path.string(), channels);
}

Image decode_image(std::string_view contents, const std::string& file, std::size_t channels) {
  const auto fails = [&file](const std::string& what) {
    return UsageError(fmt::format("{}: {}", file, what));
  };
  const bool png = starts_with(contents, kPng);
  if (!png && !starts_with(contents, kJpeg)) {
    throw fails(fmt::format("not a supported image: give PNG or JPEG; the file is {}",
                            file_kind(contents.substr(0, kKindBytes))));
  }
  const char* const kind = png ? "PNG" : "JPEG";
  const std::string damage = png ? png_damage(contents) : jpeg_damage(contents);
  if (!damage.empty()) throw fails(fmt::format("the {} image {}", kind, damage));
  // stb's own reasons are those of the last of its decoders, whatever the file is.
  const auto undecodable = [&] {
    return fails(
        fmt::format("the {} image cannot be decoded: it is damaged, or of an unsupported "
                    "variant ({})",
                    kind,
                    png ? "all variants of PNG are supported"
                        : "8-bit baseline and progressive are supported"));
  };
  const auto* data = reinterpret_cast<const stbi_uc*>(contents.data());
  const int size = static_cast<int>(contents.size());
  int columns = 0, rows = 0, stored = 0;
  if (stbi_info_from_memory(data, size, &columns, &rows, &stored) == 0) throw undecodable();
  if (columns > kMaxSide || rows > kMaxSide || std::int64_t{rows} * columns > kMaxPixels) {
    throw fails(
        fmt::format("is an image of {}x{}; a side may have at most {} pixels, the whole image {}",
                    columns, rows, kMaxSide, kMaxPixels));
  }
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(data, size, &columns, &rows, &stored, static_cast<int>(channels)),
      stbi_image_free);
  if (!pixels) throw undecodable();
  Image image{static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), channels, {}};
  image.pixels.assign(pixels.get(), pixels.get() + image.rows * image.columns * channels);
  return image;
}

}  // namespace gemm64
