// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/svg.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gemm64 {

std::string xml_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

double text_width(const std::string& text, double size) {
  // Characters, not bytes of UTF-8; most letters of a sans-serif font are narrower than this.
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  });
  return 0.58 * size * static_cast<double>(characters);
}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& colour, double width,
               const std::string& dashes) {
  body_ += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
      "stroke-width=\"{}\"{}/>\n",
      x1, y1, x2, y2, colour, width,
      dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes));
}

void Svg::rect(double x, double y, double width, double height, const std::string& fill,
               const std::string& stroke) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
      "stroke=\"{}\"/>\n",
      x, y, width, height, fill, stroke);
}

void Svg::marker(Marker kind, double x, double y, double radius, const std::string& fill,
                 const std::string& title) {
  const std::string style = fmt::format("fill=\"{}\" stroke=\"#000\" stroke-width=\"0.8\"", fill);
  const std::string inside = title.empty() ? "" : fmt::format("<title>{}</title>", xml_text(title));
  if (kind == Marker::kCircle) {
    body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" {}>{}</circle>\n", x, y,
                         radius, style, inside);
    return;
  }
  std::string points;
  const auto point = [&](double dx, double dy) {
    points += fmt::format("{:.1f},{:.1f} ", x + dx * radius, y + dy * radius);
  };
  if (kind == Marker::kTriangle) {
    point(0, -1.2);
    point(1.1, 0.8);
    point(-1.1, 0.8);
  } else if (kind == Marker::kSquare) {
    point(-0.9, -0.9);
    point(0.9, -0.9);
    point(0.9, 0.9);
    point(-0.9, 0.9);
  } else {
    point(0, -1.3);
    point(1.1, 0);
    point(0, 1.3);
    point(-1.1, 0);
  }
  points.pop_back();
  body_ += fmt::format("<polygon points=\"{}\" {}>{}</polygon>\n", points, style, inside);
}

void Svg::text(double x, double y, const std::string& text, double size, Anchor anchor,
               double degrees, bool bold) {
  const char* const anchors[] = {"start", "middle", "end"};
  body_ += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"{}\"{}{}>{}</text>\n", x, y,
      size, anchors[static_cast<int>(anchor)],
      degrees == 0 ? "" : fmt::format(" transform=\"rotate({} {:.1f} {:.1f})\"", degrees, x, y),
      bold ? " font-weight=\"bold\"" : "", xml_text(text));
}

std::string Svg::document(double width, double height, const std::string& title) const {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}pt\" height=\"{1:.0f}pt\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"Helvetica, Arial, sans-serif\">\n"
      "<title>{2}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{3}</svg>\n",
      width, height, xml_text(title), body_);
}

std::string short_count(double value) {
  const char* const units[] = {"", " k", " M", " G", " T", " P", " E"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit < 6) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g}{}", value, units[unit]);
}

std::string short_name(const std::string& name, std::size_t most) {
  if (name.size() <= most) return name;
  std::size_t begin = name.size() - most;
  while (begin < name.size() && (static_cast<unsigned char>(name[begin]) & 0xc0) == 0x80) ++begin;
  return "…" + name.substr(begin);
}

}  // namespace gemm64
