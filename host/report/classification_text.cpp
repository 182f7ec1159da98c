// SPDX-License-Identifier: Apache-2.0
#include "host/report/classification_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/util/escaped.hpp"
#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kConfusionsShown = 5;
constexpr std::size_t kDisagreementsShown = 5;
constexpr std::size_t kImagesShown = 10;
constexpr std::int64_t kMatrixClasses = 100;

double part(std::uint64_t count, std::uint64_t of) {
  return of == 0 ? 0 : static_cast<double>(count) / static_cast<double>(of);
}

/// "6", or "6 (shirt)" where names are known.
std::string class_text(const Classification& of, std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  if (at >= of.names.size()) return std::to_string(index);
  return fmt::format("{} ({})", index, escaped(of.names[at]));
}

std::string accuracy_table(const Classification& of, bool quantized) {
  Table table;
  table.add_column("accuracy", Align::kLeft);
  table.add_column("top-1");
  table.add_column("images");
  table.add_column("top-5");
  table.add_column("images");
  const auto add = [&table](const char* name, const Accuracy& accuracy) {
    table.add_row({name, percent(part(accuracy.top1, accuracy.images)),
                   fmt::format("{} of {}", grouped(accuracy.top1), grouped(accuracy.images)),
                   percent(part(accuracy.top5, accuracy.images)), grouped(accuracy.top5)});
  };
  if (of.exact_accuracy) add("float32", *of.exact_accuracy);
  add(quantized ? "int8" : "float32", *of.accuracy);
  return table.render(0);
}

std::string confusions_text(const Classification& of) {
  const std::vector<Confusion> all = confusions(*of.accuracy);
  if (all.empty()) return "";
  std::string text = "Most confused: ";
  for (std::size_t i = 0; i < std::min(all.size(), kConfusionsShown); ++i) {
    text += fmt::format("{}{} taken for {} in {}", i == 0 ? "" : ", ", class_text(of, all[i].label),
                        class_text(of, all[i].found), counted(all[i].images, "image"));
  }
  return text + ".\n";
}

std::string disagreements_text(const Classification& of) {
  if (of.disagreements.empty()) return "";
  std::string text = "Another best class than in float32: ";
  for (std::size_t i = 0; i < std::min(of.disagreements.size(), kDisagreementsShown); ++i) {
    const Disagreement& one = of.disagreements[i];
    text += fmt::format(
        "{}image {} ({} became {}{})", i == 0 ? "" : ", ", one.image, one.exact, one.found,
        of.labels.empty() ? "" : fmt::format(", right is {}", of.labels[one.image]));
  }
  return text + (of.disagreements.size() > kDisagreementsShown ? ", ...\n" : ".\n");
}

std::string best_text(const Classification& of) {
  std::string text;
  for (std::size_t i = 0; i < std::min(of.best.size(), kImagesShown); ++i) {
    text += i < of.files.size() ? fmt::format("{}:\n", escaped(of.files[i]))
                                : fmt::format("image {}:\n", i);
    for (const ScoredClass& scored : of.best[i]) {
      text += fmt::format("  {:10.4g}  {}\n", scored.score, class_text(of, scored.index));
    }
  }
  if (of.best.size() > kImagesShown) {
    text +=
        fmt::format("... and {} more images, in --json.\n", grouped(of.best.size() - kImagesShown));
  }
  return text;
}

Json accuracy_json(const Accuracy& accuracy) {
  return {{"top1", accuracy.top1},
          {"top1_share", part(accuracy.top1, accuracy.images)},
          {"top5", accuracy.top5},
          {"top5_share", part(accuracy.top5, accuracy.images)}};
}

Json best_json(const Classification& of, const std::vector<std::vector<ScoredClass>>& best) {
  Json images = Json::array();
  for (const std::vector<ScoredClass>& classes : best) {
    Json image = Json::array();
    for (const ScoredClass& scored : classes) {
      image.push_back({{"class", scored.index}, {"score", scored.score}});
      const auto at = static_cast<std::size_t>(scored.index);
      if (at < of.names.size()) image.back()["name"] = of.names[at];
    }
    images.push_back(image);
  }
  return images;
}

Json matrix_json(const Accuracy& accuracy) {
  Json matrix = Json::array();
  for (std::int64_t label = 0; label < accuracy.classes; ++label) {
    Json row = Json::array();
    for (std::int64_t found = 0; found < accuracy.classes; ++found) {
      const auto images = accuracy.found.find({label, found});
      row.push_back(images == accuracy.found.end() ? 0 : images->second);
    }
    matrix.push_back(row);
  }
  return matrix;
}

}  // namespace

std::string classification_text(const Classification& of, bool quantized) {
  std::string text;
  if (of.accuracy) text += accuracy_table(of, quantized) + confusions_text(of);
  return text + disagreements_text(of) + best_text(of);
}

Json to_json(const Classification& of) {
  Json json = {{"images", of.images}};
  if (of.accuracy) {
    json.update(accuracy_json(*of.accuracy));
    if (of.exact_accuracy) json["float32"] = accuracy_json(*of.exact_accuracy);
    Json confused = Json::array();
    for (const Confusion& one : confusions(*of.accuracy)) {
      confused.push_back({{"label", one.label}, {"class", one.found}, {"images", one.images}});
    }
    json["confusions"] = confused;
    if (of.accuracy->classes <= kMatrixClasses) json["matrix"] = matrix_json(*of.accuracy);
  }
  if (of.has_exact) {
    Json differ = Json::array();
    for (const Disagreement& one : of.disagreements) {
      differ.push_back({{"image", one.image}, {"float32", one.exact}, {"int8", one.found}});
      if (!of.labels.empty()) differ.back()["label"] = of.labels[one.image];
    }
    json["differ"] = differ;
  }
  if (!of.best.empty()) {
    json["best"] = best_json(of, of.best);
    if (!of.exact_best.empty()) json["float32_best"] = best_json(of, of.exact_best);
  }
  return json;
}

}  // namespace gemm64
