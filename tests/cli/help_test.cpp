// SPDX-License-Identifier: Apache-2.0
// --help, the manual and the shells' completion, all made of the same commands and options.

#include "tests/cli/program.hpp"

namespace gemm64::cli_test {
namespace {

class Help : public Program {
 protected:
  /// The commands that --help lists.
  std::vector<std::string> commands() {
    std::vector<std::string> found;
    std::istringstream help(run("--help").out);
    bool listed = false;
    for (std::string line; std::getline(help, line);) {
      if (line == "Run:") listed = true;
      if (!listed || line.rfind("  ", 0) != 0 || line[2] == ' ') continue;
      found.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    EXPECT_GE(found.size(), 15U);
    return found;
  }
};

TEST_F(Help, FitsAScreenAndAHalf) {
  for (const std::string& command : commands()) {
    std::istringstream help(run(command + " --help").out);
    int lines = 0;
    for (std::string line; std::getline(help, line); ++lines) {
      EXPECT_LE(line.size(), 100U) << command << ": " << line;
    }
    EXPECT_LE(lines, 80) << command;  // a screen: 50
  }
}

TEST_F(Help, HasTheExitCodesOfEachCommand) {
  for (const std::string& command : commands()) {
    const std::string help = run(command + " --help").out;
    EXPECT_THAT(help, Says("Exit codes: 0 ")) << command;
    const bool checks = help.find("--check ") != std::string::npos;
    EXPECT_EQ(help.find(" 4 --check none") != std::string::npos, checks) << command;
  }
}

TEST_F(Help, PutsEveryOptionInAGroupOfItsKind) {
  for (const std::string& command : commands()) {
    std::istringstream help(run(command + " --help").out);
    std::set<std::string> headings;
    for (std::string line; std::getline(help, line);) {
      if (line.empty() || line[0] == ' ' || line.back() != ':') continue;
      EXPECT_NE(line, "Options:") << command;
      EXPECT_TRUE(headings.insert(line).second) << command << ": " << line << " stands twice";
    }
  }
}

TEST_F(Help, NamesTheArraysAndNoOtherRange) {
  for (const std::string& command : commands()) {
    const std::string help = run(command + " --help").out;
    EXPECT_THAT(help, Lacks("1048576")) << command;
    EXPECT_THAT(help, Lacks("}:")) << command;
    const std::size_t memory = help.find("memory topology");
    if (memory != std::string::npos) EXPECT_LT(help.find("|dram:lpddr4", memory), help.size());
    EXPECT_THAT(help, Lacks("-h,--help")) << command << ": in all commands, or in none";
  }
}

TEST_F(Help, HasAnExampleAndAUsage) {
  for (const std::string& command : commands()) {
    const std::string help = run(command + " --help").out;
    const std::size_t at = help.find("\nExample:\n  ");
    ASSERT_NE(at, std::string::npos) << command;
    EXPECT_THAT(help.substr(at), Says("gemm64 " + command)) << command;
    EXPECT_THAT(help, Says("\nUsage: gemm64 " + command)) << command;
    std::istringstream example(help.substr(at, help.find("\n\n", at + 1) - at));
    for (std::string word; example >> word;) {
      if (word.rfind("--", 0) != 0) continue;
      EXPECT_LT(help.find(word), at) << command << " has no option " << word;
    }
  }
}

TEST_F(Help, ShowsOptionsInGroups) {
  const std::string help = run("run --help").out;
  std::size_t at = 0;
  for (const char* group : {"\nNetwork:\n", "\nImages:\n", "\nQuantizing:\n", "\nHow it runs:\n",
                            "\nDevice:\n", "\nOutput:\n", "\nDebugging (--device rtl):\n"}) {
    const std::size_t next = help.find(group, at);
    ASSERT_NE(next, std::string::npos) << group;
    at = next;
  }
}

TEST_F(Help, ManualHasEveryOptionOfEveryCommand) {
  const std::string man = run("manual").out;
  const std::string markdown = run("manual --markdown").out;
  EXPECT_THAT(man, Says(".TH GEMM64 1"));
  for (const std::string& command : commands()) {
    EXPECT_THAT(man, Says(".SS " +
                          std::string(command == "make-linear"  ? "make\\-linear"
                                      : command == "make-model" ? "make\\-model"
                                                                : command) +
                          "\n"));
    std::istringstream help(run(command + " --help").out);
    for (std::string line; std::getline(help, line);) {
      if (line.rfind("  -", 0) != 0) continue;
      const std::size_t end = line.find(' ', 2);
      std::string option = line.substr(2, end - 2);
      option = option.substr(option.rfind(',') + 1);
      EXPECT_THAT(markdown, Says(option)) << command;
    }
  }
  // What --help leaves out.
  EXPECT_THAT(markdown, Says("the whole network runs on the host."));
  EXPECT_THAT(run("run --help").out, Lacks("the whole network runs on the host."));
  EXPECT_THAT(markdown, Says("needs --model"));
}

TEST_F(Help, EveryShellCompletesEveryCommand) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = run(std::string("completion ") + shell);
    EXPECT_EQ(outcome.code, 0);
    for (const std::string& command : commands()) EXPECT_THAT(outcome.out, Says(command));
    EXPECT_THAT(outcome.out, Says("memory-latency", "independent shared exclusive"));
  }
  expect_refused("completion tcsh", "'tcsh' is unknown; use one of bash, zsh, fish");
}

/// What bash offers at the end of these words.
class Completion : public Help {
 protected:
  std::vector<std::string> offered(const std::string& words) {
    std::ofstream(folder_ / "ask.sh")
        << "source <(" << program_path() << " completion bash)\nCOMP_WORDS=(" << words
        << ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_gemm64\n"
        << "printf '%s\\n' \"${COMPREPLY[@]}\"\n";
    const std::string ask = "cd " + folder_.string() + " && bash ask.sh > offered 2>&1";
    EXPECT_EQ(std::system(ask.c_str()), 0);
    std::istringstream in(contents(folder_ / "offered"));
    std::vector<std::string> found;
    for (std::string word; in >> word;) found.push_back(word);
    return found;
  }
};

TEST_F(Completion, OffersCommandsOptionsAndWords) {
  using testing::Contains;
  using testing::ElementsAre;
  EXPECT_THAT(offered("gemm64 fi"), ElementsAre("firmware"));
  EXPECT_THAT(offered("gemm64 run --calib"), ElementsAre("--calibrate", "--calibrate-images"));
  EXPECT_THAT(offered("gemm64 run --check ''"), ElementsAre("layers", "outputs", "none"));
  EXPECT_THAT(offered("gemm64 gemm --memory s"), ElementsAre("shared"));
  EXPECT_THAT(offered("gemm64 info --device t"), ElementsAre("tlm"));
  EXPECT_THAT(offered("gemm64 completion z"), ElementsAre("zsh"));
  EXPECT_THAT(offered("gemm64 run -"), Contains("--model"));
  EXPECT_THAT(offered("gemm64 run --model ''"), ElementsAre());  // bash offers files then
}

}  // namespace
}  // namespace gemm64::cli_test
