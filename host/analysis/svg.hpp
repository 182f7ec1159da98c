// SPDX-License-Identifier: Apache-2.0
// A drawing as SVG: black on white, in sizes that stay readable on paper.
#pragma once

#include <cstddef>
#include <string>

namespace gemm64 {

enum class Anchor { kStart, kMiddle, kEnd };
enum class Marker { kCircle, kTriangle, kSquare, kDiamond };

/// Lengths are in points: at 100 % an SVG's unit is printed about so large.
class Svg {
 public:
  void line(double x1, double y1, double x2, double y2, const std::string& colour = "#000",
            double width = 1, const std::string& dashes = "");
  void rect(double x, double y, double width, double height, const std::string& fill,
            const std::string& stroke = "none");
  void marker(Marker kind, double x, double y, double radius, const std::string& fill,
              const std::string& title = "");
  /// `degrees` turn the text around its anchor, clockwise.
  void text(double x, double y, const std::string& text, double size = 11,
            Anchor anchor = Anchor::kStart, double degrees = 0, bool bold = false);

  /// The whole file, on a white page of that size.
  std::string document(double width, double height, const std::string& title) const;

 private:
  std::string body_;
};

/// Text with the characters replaced that have a meaning in XML.
std::string xml_text(const std::string& text);

/// About how wide a text is printed.
double text_width(const std::string& text, double size);

/// "2.42 G": three digits and the unit's letter.
std::string short_count(double value);

/// The end of a name, which tells more than its beginning.
std::string short_name(const std::string& name, std::size_t most);

}  // namespace gemm64
