// SPDX-License-Identifier: Apache-2.0
#include "sim/waves/surfer_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "sim/waves/view_fitting.hpp"

namespace gemm64 {
namespace {

// GTKWave's flags of a trace, in hexadecimal after an @.
constexpr unsigned long kHexadecimal = 1UL << 1, kDecimal = 1UL << 2, kSigned = 1UL << 10;

struct Marker {
  std::string name;
  long long time;
};

/// A variable, or a group if it has no path.
struct Item {
  std::string label;
  std::vector<std::string> path;  // scopes, then the name
  std::string format;
  std::string color;
  int level;
};

struct View {
  std::vector<Item> items;
  std::vector<Marker> markers;
  long long start = 0;
  double zoom = 0;
};

/// A string of Rusty Object Notation.
std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + "\"";
}

std::string optional(const std::string& text) {
  return text.empty() ? "None" : "Some(" + quoted(text) + ")";
}

/// Of a name as save files have it. Surfer takes an array's name for a scope, and leaves out
/// ranges.
std::vector<std::string> path_of(std::string name) {
  const std::size_t range = name.rfind('[');
  if (range != std::string::npos && name.find(':', range) != std::string::npos) name.resize(range);
  std::vector<std::string> path;
  std::istringstream parts(name);
  for (std::string part; std::getline(parts, part, '.');) path.push_back(part);
  const std::size_t index = path.back().find('[');
  if (index != std::string::npos && index != 0) {
    const std::string place = path.back().substr(index);
    path.back().resize(index);
    path.push_back(place);
  }
  return path;
}

std::string format_of(unsigned long flags) {
  if (flags & kSigned) return "Signed";
  if (flags & kDecimal) return "Unsigned";
  return flags & kHexadecimal ? "Hexadecimal" : "";
}

/// The colors of GTKWave, from 1.
std::string color_of(int color) {
  static const char* const kColors[] = {"Red",  "Orange", "Yellow", "Green",
                                        "Blue", "Purple", "Violet"};
  return color >= 1 && color <= 7 ? kColors[color - 1] : "";
}

class SaveFileReader {
 public:
  View read(const std::string& save_file) {
    std::istringstream lines(save_file);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) take(line);
    }
    for (std::size_t i = 0; i < times_.size(); ++i) {
      if (times_[i] < 0) continue;
      const std::string letter(1, static_cast<char>('A' + i));
      view_.markers.push_back({names_[i].empty() ? letter : names_[i], times_[i]});
    }
    return std::move(view_);
  }

 private:
  void take(const std::string& line) {
    const auto number = [&line](const char* head) -> std::optional<long long> {
      if (line.rfind(head, 0) != 0) return std::nullopt;
      return std::atoll(line.c_str() + std::string(head).size());
    };
    if (const auto start = number("[timestart] ")) {
      view_.start = *start;
    } else if (const auto color = number("[color] ")) {
      color_ = static_cast<int>(*color);
    } else if (line.rfind("[markername] ", 0) == 0) {
      names_[static_cast<std::size_t>(line[13] - 'A')] = line.substr(14);
    } else if (line[0] == '*') {
      std::istringstream numbers(line.substr(1));
      long long primary = 0;
      numbers >> view_.zoom >> primary;
      for (long long& time : times_) numbers >> time;
    } else if (line[0] == '@') {
      flags_ = std::strtoul(&line[1], nullptr, 16);
    } else if (line[0] == '-') {
      if (flags_ & kGroupEnd) {
        level_ = std::max(0, level_ - 1);
      } else {
        add({line.substr(1), {}, "", "", level_});
        if (flags_ & kGroupBegin) ++level_;
      }
    } else if (line[0] != '[' && line[0] != '^') {
      traces(line);
    }
  }

  /// +{label} signal, #{label} bit bit bit, or a signal.
  void traces(const std::string& line) {
    std::string label;
    std::string rest = line;
    const bool made = line[0] == '#';
    if ((made || line[0] == '+') && line[1] == '{') {
      const std::size_t end = line.find("} ");
      label = line.substr(2, end - 2);
      rest = line.substr(end + 2);
    }
    std::istringstream signals(rest);
    std::vector<std::string> names;
    for (std::string name; signals >> name;) names.push_back(name);
    if (names.empty()) return;
    if (!made) {
      variable(label, names.front(), format_of(flags_));
    } else if (names.front()[0] == '(') {
      const std::string bus = names.front().substr(names.front().find(')') + 1);
      if (buses_.insert(bus).second) variable("", bus, "Hexadecimal");
    } else {
      add({label, {}, "", color_of(color_), level_});
      for (const std::string& name : names) variable("", name, "", 1);
    }
    color_ = 0;
  }

  void variable(const std::string& label, const std::string& name, const std::string& format,
                int deeper = 0) {
    add({label, path_of(name), format, color_of(color_), level_ + deeper});
  }

  void add(Item item) { view_.items.push_back(std::move(item)); }

  View view_;
  std::vector<long long> times_ = std::vector<long long>(26, -1);
  std::vector<std::string> names_ = std::vector<std::string>(26);
  std::set<std::string> buses_;  // that are shown already
  unsigned long flags_ = 0;
  int color_ = 0;
  int level_ = 0;
};

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

/// A number of any size, as Surfer keeps times: its sign and its digits to the base of 2^32.
std::string big(long long number) {
  const auto size = static_cast<std::uint64_t>(number);
  std::string digits = std::to_string(size & 0xffffffff);
  if (size >> 32) digits += ", " + std::to_string(size >> 32);
  return number == 0 ? "(0, [])" : "(1, [" + digits + "])";
}

std::string item_text(const Item& item) {
  const std::string look = fmt::format("color: {}, background_color: None", optional(item.color));
  if (item.path.empty()) {
    return fmt::format("Group((name: {}, {}, content: [], is_open: true))", quoted(item.label),
                       look);
  }
  std::vector<std::string> scopes;
  for (std::size_t i = 0; i + 1 < item.path.size(); ++i) scopes.push_back(quoted(item.path[i]));
  const std::string& name = item.path.back();
  return fmt::format(
      "Variable((variable_ref: (path: (strs: [{}], id: None), name: {}, id: None), {}, "
      "display_name: {}, display_name_type: Unique, manual_name: {}, format: {}, field_formats: "
      "[], height_scaling_factor: None))",
      joined(scopes, ", "), quoted(name), look, quoted(name), optional(item.label),
      optional(item.format));
}

std::string state_of(const View& view, const std::string& fst_file, std::uint64_t end) {
  std::string tree, items, markers;
  std::size_t number = 0;
  const auto add = [&](const std::string& item, int level) {
    ++number;
    tree += fmt::format("(item_ref: ({}), level: {}, unfolded: true, selected: false),\n", number,
                        level);
    items += fmt::format("({}): {},\n", number, item);
  };
  for (const Item& item : view.items) add(item_text(item), item.level);
  for (std::size_t i = 0; i < view.markers.size(); ++i) {
    const Marker& marker = view.markers[i];
    markers += fmt::format("{}: {}, ", i + 1, big(marker.time));
    add(fmt::format("Marker((color: None, background_color: None, name: {}, idx: {}))",
                    optional(marker.name), i + 1),
        0);
  }
  // GTKWave draws a unit of time 200 * 2^zoom pixels wide; some 1000 are there.
  const auto whole = static_cast<double>(std::max<std::uint64_t>(1, end));
  const double left = static_cast<double>(view.start) / whole;
  const double right = left + 5.0 / std::exp2(view.zoom) / whole;
  std::string port;
  for (const char* side : {"curr", "target", "move_start"}) {
    port += fmt::format("{0}_left: ({1:.9f}), {0}_right: ({2:.9f}), ", side, left, right);
  }
  return fmt::format(
      "(\nwaves: Some((\nsource: File({}),\nformat: Fst,\nactive_scope: None,\nitems_tree: (items: "
      "[\n{}]),\ndisplayed_items: {{\n{}}},\ndisplay_item_ref_counter: {},\nviewports: [({}"
      "move_duration: None, move_strategy: Instant)],\ncursor: {},\nmarkers: {{{}}},\n"
      "focused_item: None,\nfocused_transaction: (None, None),\ndefault_variable_name_type: "
      "Unique,\nscroll_offset: 0.0,\ndisplay_variable_indices: true,\ngraphics: {{}},\n)),\n"
      "drag_started: false,\ndrag_source_idx: None,\ndrag_target_idx: None,\nprevious_waves: "
      "None,\n"
      "count: None,\nblacklisted_translators: [],\nshow_about: false,\nshow_keys: false,\n"
      "show_gestures: false,\nshow_quick_start: false,\nshow_license: false,\n"
      "show_performance: false,\nshow_logs: false,\nshow_cursor_window: false,\n"
      "wanted_timeunit: Seconds,\ntime_string_format: None,\nshow_url_entry: false,\n"
      "variable_name_filter_focused: false,\nvariable_filter: (name_filter_type: Contain, "
      "name_filter_str: \"\", name_filter_case_insensitive: true, include_inputs: true, "
      "include_outputs: true, include_inouts: true, include_others: true, group_by_direction: "
      "false),\nsidepanel_width: None,\nui_zoom_factor: None,\n)\n",
      quoted(fst_file), tree, items, number, port,
      view.markers.empty() ? "None" : "Some(" + big(view.markers.front().time) + ")", markers);
}

/// A word of a command: a blank would end it.
std::string word(std::string text) {
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

std::string commands_of(const View& view, const std::string& fst_file) {
  std::string text = "# A cycle is a second.\nload_file " + fst_file + "\n";
  for (const Item& item : view.items) {
    text += item.path.empty() ? "divider_add " + word(item.label) + "\n"
                              : "variable_add " + joined(item.path, ".") + "\n";
  }
  for (const Marker& marker : view.markers) {
    text += fmt::format("marker_set {} {}\n", word(marker.name), marker.time);
  }
  if (!view.markers.empty()) text += fmt::format("cursor_set {}\n", view.markers.front().time);
  return text;
}

}  // namespace

SurferFiles surfer_files(const std::string& save_file, const std::string& fst_file,
                         std::uint64_t end) {
  const View view = SaveFileReader().read(save_file);
  return {state_of(view, fst_file, end), commands_of(view, fst_file)};
}

}  // namespace gemm64
