// SPDX-License-Identifier: Apache-2.0
// Save files: what is shown first, where the markers are, and what is refused.
#include "sim/waves/save_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gtkwave/fstapi.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/waves/fst_file.hpp"
#include "tests/folder.hpp"
#include "tests/says.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

class SaveFile : public InFolder {
 protected:
  SaveFile() {
    write_fst();
    std::ofstream(path("view.gtkw"))
        << "[*] start: top.go\n[timestart] -10\n*-4.5 -1 -1\n"
           "@2022\n^1 waves/filters/opcode.txt\n+{count} top.count[9:0]\n";
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// top.go is 1 from 41 ns on, top.count has 4 bits.
  void write_fst() const {
    void* const file = fstWriterCreate(path("t.fst").c_str(), 1);
    fstWriterSetScope(file, FST_ST_VCD_MODULE, "top", nullptr);
    const fstHandle go = fstWriterCreateVar(file, FST_VT_VCD_WIRE, FST_VD_IMPLICIT, 1, "go", 0);
    const fstHandle count =
        fstWriterCreateVar(file, FST_VT_VCD_WIRE, FST_VD_IMPLICIT, 4, "count [3:0]", 0);
    fstWriterSetUpscope(file);
    for (const auto& [time, value] : {std::pair{0, "0"}, {41, "1"}, {60, "0"}, {80, "1"}}) {
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
  // 41 ns: the register has its value in cycle 21, at 42 ns; the view begins 10 ns before.
  EXPECT_THAT(save(), Says("[timestart] 32\n", "\n*-4.5 -1 -1 "));
}

TEST_F(SaveFile, LooksForTheStartFromTheClockThatTheCallerGives) {
  SaveFileOptions options;
  options.first_clock = 30;  // 60 ns; the next 1 comes at 80 ns
  EXPECT_THAT(save(options), Says("[timestart] 70\n"));
  options.first_clock = 25;  // it is 1 there
  EXPECT_THAT(save(options), Says("[timestart] 40\n"));
}

TEST_F(SaveFile, StartsAtTheCallersClockWhereTheSignalNeverComes) {
  std::ofstream(path("view.gtkw")) << "[*] start: top.nothing\n[timestart] -10\n*-4.5 -1 -1\n";
  SaveFileOptions options;
  options.first_clock = 100;
  options.zoom = -3;
  EXPECT_THAT(save(options), Says("[timestart] 190\n", "\n*-3 -1 -1 "));
  options.first_clock = 2;  // the view's start would lie before all time
  EXPECT_THAT(save(options), Says("[timestart] 0\n"));
}

TEST_F(SaveFile, HasNamedMarkers) {
  SaveFileOptions options;
  options.markers = {{'A', 21, "begin"}, {'C', 30, ""}};
  const std::string text = save(options);
  EXPECT_THAT(text, testing::AllOf(Says("\n*-4.5 42 42 -1 60 -1 ", "\n[markername] Abegin\n"),
                                   Lacks("[markername] C")));
}

TEST_F(SaveFile, NamesTheWaveformAndItsFiltersByWholePaths) {
  const std::string text = save();
  EXPECT_THAT(text, testing::AllOf(Says("[dumpfile] \"" + path("t.fst") + "\"\n",
                                        "/waves/filters/opcode.txt\n+{count} top.count[3:0]\n"),
                                   Lacks("^1 waves/")));
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
            (std::map<std::string, std::string>{{"top.go", ""}, {"top.count", "[3:0]"}}));
  EXPECT_EQ(fst_first_one(path("t.fst"), "top.go"), 41u);
  EXPECT_EQ(fst_first_one(path("t.fst"), "top.nothing"), std::nullopt);
  EXPECT_EQ(fst_first_one(path("t.fst"), "top.go", 50), 50u);  // it is 1 there
  EXPECT_EQ(fst_first_one(path("t.fst"), "top.go", 60), 80u);
  EXPECT_EQ(fst_first_one(path("t.fst"), "top.nothing", 50), std::nullopt);
}

TEST(View, ThatDoesNotExistIsAUsageErrorThatNamesThoseThatDo) {
  EXPECT_THAT(view_file("array"), Says("waves/array.gtkw"));
  EXPECT_THAT([&] { view_file("arrays"); },
              Fails("accumulator, array, axi, commands, lanes, overview"));
}

/// What is read back is unpacked into a scratch file: one that could not be written was searched
/// for ever.
TEST_F(SaveFile, ReadsAWaveformThoughNothingMoreCanBeWritten) {
  const std::string file = path("t.fst");
  EXPECT_EXIT(
      {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit none{};
        setrlimit(RLIMIT_FSIZE, &none);
        alarm(20);
        const bool right = fst_signals(file).size() == 2 && fst_first_one(file, "top.go") == 41U;
        _exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gemm64
