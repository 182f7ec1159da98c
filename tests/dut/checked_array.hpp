// SPDX-License-Identifier: Apache-2.0
// Arrays that tests compile and check.
#pragma once

#include "host/dut/conformance.hpp"
#include "host/dut/description.hpp"
#include "host/dut/model_build.hpp"
#include "host/dut/templates.hpp"
#include "host/dut/verilated_bench.hpp"
#include "tests/test.hpp"

namespace gemm64::dut {

inline CheckResult check_file(const std::filesystem::path& file,
                              Simulator simulator = Simulator::kVerilator) {
  const Description description = read_description(file);
  BuildOptions options;
  options.cache = GEMM64_DUT_CACHE;
  options.simulator = simulator;
  const BuiltModel model = build_model(description, options);
  VerilatedBench bench(description, model);
  std::uint32_t seed = 1;
  return check_conformance(
      description,
      [&](std::uint32_t wanted) -> VerilatedBench& {
        if (wanted != seed) bench.restart(wanted);
        seed = wanted;
        return bench;
      },
      [](const std::string&, double) {}, simulator);
}

/// "rule: problem; diagnosis" of each failure, a line each.
inline std::string failures(const CheckResult& result) {
  std::string text;
  for (const RuleResult& rule : result.rules) {
    if (!rule.failure) continue;
    text += rule.rule + ": " + rule.failure->problem + "; " + rule.failure->diagnosis + "\n";
  }
  return text;
}

/// A change of a file of a template.
/// The name of a case whose parameter is a template: "weightstationary".
inline constexpr auto template_name = [](const auto& one) {
  std::string name = one.param;
  name.erase(name.find('-'), 1);
  return name;
};

struct Edit {
  std::string file, from, to;
};

/// A template of 4 x 4, or another size, with changes.
class EditedTemplate {
 public:
  EditedTemplate(const std::string& name, const std::vector<Edit>& edits, unsigned size = 4) {
    write_template(name, size, folder_.path());
    for (const Edit& edit : edits) {
      std::string text = contents(folder_ / edit.file);
      const std::size_t at = text.find(edit.from);
      EXPECT_NE(at, std::string::npos) << edit.file << " has no " << edit.from;
      if (at == std::string::npos) continue;
      folder_.write(edit.file, text.replace(at, edit.from.size(), edit.to));
    }
  }
  std::filesystem::path file() const { return folder_ / "array.toml"; }
  const TestFolder& folder() const { return folder_; }

 private:
  static std::string contents(const std::filesystem::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TestFolder folder_;
};

}  // namespace gemm64::dut
