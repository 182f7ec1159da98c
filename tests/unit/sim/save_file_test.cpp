// SPDX-License-Identifier: Apache-2.0
// Save files: what is shown first, where the markers are, and what is refused.
#include "sim/waves/save_file.hpp"

#include <gtkwave/fstapi.h>
#include <sys/resource.h>

#include <csignal>

#include "sim/waves/fst_file.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

class SaveFile : public InFolder {
 protected:
  SaveFile() {
    write_fst();
    std::ofstream(path("view.gtkw"))
        << "[*] start: top.go\n[timestart] -5000\n*-4.5 -1 -1\n"
           "@2022\n^1 waves/filters/opcode.txt\n+{count} top.count[9:0]\n";
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// top.go is 1 from 20.5 s on, top.count has 4 bits; `cycle` is in no scope.
  void write_fst() const {
    void* const file = fstWriterCreate(path("t.fst").c_str(), 1);
    fstWriterCreateVar(file, FST_VT_VCD_INTEGER, FST_VD_IMPLICIT, 64, "cycle [63:0]", 0);
    fstWriterSetScope(file, FST_ST_VCD_MODULE, "top", nullptr);
    const fstHandle go = fstWriterCreateVar(file, FST_VT_VCD_WIRE, FST_VD_IMPLICIT, 1, "go", 0);
    const fstHandle count =
        fstWriterCreateVar(file, FST_VT_VCD_WIRE, FST_VD_IMPLICIT, 4, "count [3:0]", 0);
    fstWriterSetUpscope(file);
    for (const auto& [time, value] :
         {std::pair{0, "0"}, {20500, "1"}, {30000, "0"}, {40000, "1"}}) {
      fstWriterEmitTimeChange(file, static_cast<std::uint64_t>(time));
      fstWriterEmitValueChange(file, go, value);
      fstWriterEmitValueChange(file, count, "0101");
    }
    fstWriterClose(file);
  }

  std::string save(const SaveFileOptions& options = {}) const {
    write_save_file(path("view.gtkw"), path("t.fst"), path("t.gtkw"), options);
    std::ostringstream text;
    text << std::ifstream(path("t.gtkw")).rdbuf();
    return text.str();
  }
};

TEST_F(SaveFile, StartsWhereTheViewSays) {
  // 20.5 s: the register has its value in cycle 21; the view begins 5 cycles before.
  EXPECT_THAT(save(), Says("[timestart] 16000\n", "\n*-4.5 -1 -1 "));
}

TEST_F(SaveFile, LooksForStartFromGivenCycle) {
  SaveFileOptions options;
  options.first_clock = 30;  // the next 1 comes in cycle 40
  EXPECT_THAT(save(options), Says("[timestart] 35000\n"));
  options.first_clock = 25;  // it is 1 there
  EXPECT_THAT(save(options), Says("[timestart] 20000\n"));
}

TEST_F(SaveFile, StartsAtGivenCycleWithoutSignal) {
  std::ofstream(path("view.gtkw")) << "[*] start: top.nothing\n[timestart] -5000\n*-4.5 -1 -1\n";
  SaveFileOptions options;
  options.first_clock = 100;
  options.cycles = 40;
  EXPECT_THAT(save(options), Says("[timestart] 95000\n", "\n*-12.9658 -1 -1 "));
  options.first_clock = 2;  // the view's start would lie before all time
  EXPECT_THAT(save(options), Says("[timestart] 0\n"));
}

TEST_F(SaveFile, HasNamedMarkers) {
  SaveFileOptions options;
  options.markers = {{'A', 21, "begin"}, {'C', 30, ""}};
  const std::string text = save(options);
  EXPECT_THAT(text,
              testing::AllOf(Says("\n*-4.5 21000 21000 -1 30000 -1 ", "\n[markername] Abegin\n"),
                             Lacks("[markername] C")));
}

TEST_F(SaveFile, NamesWaveformByWholePath) {
  const std::string text = save();
  EXPECT_THAT(text, testing::AllOf(Says("[dumpfile] \"" + path("t.fst") + "\"\n",
                                        "/waves/filters/opcode.txt\n+{count} top.count[3:0]\n"),
                                   Lacks("^1 waves/")));
}

TEST_F(SaveFile, WidensTheNamesUntilTheirValuesFit) {
  const auto width = [this](const std::string& label) {
    std::ofstream(path("view.gtkw"))
        << "[timestart] 0\n[signals_width] 290\n*-4.5 -1 -1\n@24\n+{" << label << "} cycle[63:0]\n";
    const std::string text = save();
    return std::stoi(text.substr(text.find("[signals_width] ") + 16));
  };
  // A letter has 9 pixels, a number up to 11 letters.
  EXPECT_GE(width("cycle"), 9 * (5 + 1 + 11));
  EXPECT_GE(width("a name of forty letters, all to be seen!"), 9 * (40 + 1 + 11));
}

TEST_F(SaveFile, ShowsTheSameInSurfer) {
  std::ofstream(path("view.gtkw"))
      << "[timestart] 1000\n*-12 -1 -1\n@24\n+{cycle} cycle[63:0]\n@800200\n-group\n@420\n[color] "
         "2\n+{\"n\"} top.count[3:0]\n@28\n#{both} top.go top.go\n#{low} (3)top.count[3:0]\n"
         "@1000200\n-group\n@28\n+{go} top.go\n";
  SaveFileOptions options;
  options.markers = {{'A', 21, "it begins"}, {'B', 5000000, ""}};
  save(options);
  const auto contents = [this](const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  };
  EXPECT_EQ(contents("t.sucl"), "# A cycle is a second.\nload_file " + path("t.fst") +
                                    "\nvariable_add cycle\ndivider_add group\nvariable_add "
                                    "top.count\ndivider_add both\nvariable_add top.go\n"
                                    "variable_add top.go\nvariable_add top.count\nvariable_add "
                                    "top.go\nmarker_set it_begins 21000\nmarker_set B 5000000000\n"
                                    "cursor_set 21000\n");
  EXPECT_THAT(
      contents("t.surf.ron"),
      Says("source: File(\"" + path("t.fst") + "\")",
           "(strs: [\"top\"], id: None), name: \"count\", id: None), color: "
           "Some(\"Orange\"), background_color: None, display_name: \"count\", "
           "display_name_type: Unique, manual_name: Some(\"\\\"n\\\"\"), format: "
           "Some(\"Signed\")",
           "(item_ref: (3), level: 1,", "(item_ref: (5), level: 2,", "(item_ref: (8), level: 0,",
           "markers: {1: (1, [21000]), 2: (1, [705032704, 1]), }", "cursor: Some((1, [21000]))",
           "curr_left: (0.025000000)", "wanted_timeunit: Seconds"));
}

TEST_F(SaveFile, RefusesWhatItCannotReadOrWrite) {
  const auto refuses = [&](const std::string& view, const std::string& fst,
                           const std::string& saved, const std::string& what) {
    EXPECT_THAT([&] { write_save_file(path(view), path(fst), path(saved)); }, Fails(path(what)));
  };
  refuses("no.gtkw", "t.fst", "t.gtkw", "no.gtkw");
  refuses("view.gtkw", "no.fst", "t.gtkw", "no.fst");
  refuses("view.gtkw", "view.gtkw", "t.gtkw", "view.gtkw");  // no FST file
  refuses("view.gtkw", "t.fst", "no/t.gtkw", "no/t.gtkw");
  EXPECT_FALSE(fs::exists(path("t.gtkw")));
}

TEST_F(SaveFile, FindsSignalsAndTheirFirstOne) {
  EXPECT_EQ(fst_signals(path("t.fst")),
            (std::map<std::string, std::string>{
                {"cycle", "[63:0]"}, {"top.go", ""}, {"top.count", "[3:0]"}}));
  EXPECT_EQ(fst_first_one(path("t.fst"), "top.go"), 20500u);
  EXPECT_EQ(fst_first_one(path("t.fst"), "top.nothing"), std::nullopt);
  EXPECT_EQ(fst_first_one(path("t.fst"), "top.go", 25000), 25000u);  // it is 1 there
  EXPECT_EQ(fst_first_one(path("t.fst"), "top.go", 30000), 40000u);
  EXPECT_EQ(fst_first_one(path("t.fst"), "top.nothing", 25000), std::nullopt);
}

TEST(View, ThatDoesNotExistIsAUsageError) {
  EXPECT_THAT(view_file("array"), Says("waves/array.gtkw"));
  EXPECT_THAT([&] { view_file("arrays"); },
              Fails("accumulator, array, axi, commands, lanes, overview"));
}

/// What is read back is unpacked into a scratch file: one that could not be written was searched
/// for ever.
TEST_F(SaveFile, ReadsWaveformOnFullDisk) {
  const std::string file = path("t.fst");
  EXPECT_EXIT(
      {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit none{};
        setrlimit(RLIMIT_FSIZE, &none);
        alarm(20);
        const bool right = fst_signals(file).size() == 3 && fst_first_one(file, "top.go") == 20500U;
        _exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gemm64
