// SPDX-License-Identifier: Apache-2.0
// Nothing lost unsaid, nothing destroyed: outputs as a shell, a full disk and a signal treat them.
#include <sys/resource.h>

#include <thread>

#include "tests/cli/onnx_bytes.hpp"
#include "tests/cli/program.hpp"

namespace gemm64::cli_test {
namespace {

using nlohmann::json;

class Outputs : public Program {
 protected:
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string read(const std::string& name) const { return contents(folder_ / name); }
};

TEST_F(Outputs, DashIsStandardOutput) {
  EXPECT_EQ(shell("$G info --json - > out 2> err"), 0);
  EXPECT_EQ(json::parse(read("out"))["n"], 64);
  EXPECT_THAT(read("err"), Says("activation scratchpad"));
  EXPECT_EQ(shell("$G info --json /dev/stdout > out 2> err"), 0);
  EXPECT_EQ(json::parse(read("out"))["n"], 64);
  EXPECT_EQ(files(), (std::vector<std::string>{"err", "out"}));
}

TEST_F(Outputs, DevicesStayDevices) {
  EXPECT_EQ(shell("$G info --json /dev/null > out"), 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(shell("mkfifo p; cat p > copy & $G info --json p > out; wait"), 0);
  EXPECT_TRUE(fs::is_fifo(folder_ / "p"));
  EXPECT_EQ(json::parse(read("copy"))["n"], 64);
}

TEST_F(Outputs, LostReportIsExit3) {
  for (const char* closed : {"> /dev/full 2> err", ">&- 2> err", "> /dev/full 2>&-"}) {
    fs::remove(folder_ / "x.json");
    EXPECT_EQ(shell(std::string("$G info --json x.json ") + closed), 3) << closed;
    EXPECT_EQ(json::parse(read("x.json"))["n"], 64) << closed;
  }
  EXPECT_EQ(shell("$G info --json x.json > out 2>&-"), 0);
  // A file that is open while the report is printed gets none of it.
  EXPECT_NE(shell("$G gemm 4 4 4 --array 4 --timeline t.json >&- 2> err"), 0);
  EXPECT_THAT(read("t.json"), Lacks("VERIFIED"));
  EXPECT_EQ(shell("$G info 2>&1 >/dev/full | grep -q \"is lost: No space left on device\""), 0);
  EXPECT_EQ(shell("$G --help > /dev/full 2> err"), 3);
  // The reader is gone before anything is written, as with `| head`: no message.
  EXPECT_EQ(shell("{ sleep 0.2; $G info --json x.json 2> err; echo $? > code; } | true; sleep 1"),
            0);
  for (int i = 0; i < 100 && read("code").empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(read("code"), "3\n");
  EXPECT_EQ(read("err"), "");
}

TEST_F(Outputs, FullDeviceIsExit3) {
  EXPECT_EQ(shell("$G info --json /dev/full > out 2> err"), 3);
  EXPECT_THAT(read("out"), Says("activation scratchpad"));
  EXPECT_THAT(read("err"), Says("/dev/full: ", "is lost: No space left on device"));
}

TEST_F(Outputs, NoFileIsTwoThings) {
  fs::copy(GEMM64_TEST_DATA "/alexnet.onnx", folder_ / "m.onnx");
  const std::string before = read("m.onnx");
  fs::create_symlink("m.onnx", folder_ / "link");
  for (const char* arguments : {"analyze m.onnx --json m.onnx", "analyze m.onnx --csv ./m.onnx",
                                "analyze m.onnx --plot link", "tile m.onnx -o m.onnx",
                                "analyze m.onnx --json new --csv new"}) {
    EXPECT_EQ(shell(std::string("$G ") + arguments + " > out 2> err"), 2) << arguments;
    EXPECT_THAT(read("err"), Says("name another")) << arguments;
    EXPECT_EQ(read("out"), "");
    EXPECT_EQ(read("m.onnx"), before);
  }
  EXPECT_EQ(shell("$G info --json out > out 2> err"), 2);
  EXPECT_THAT(read("err"), Says("standard output goes to"));
  EXPECT_EQ(files(), (std::vector<std::string>{"err", "link", "m.onnx", "out"}));
}

TEST_F(Outputs, NoOutputReplacesAModelsExternalData) {
  const std::string weights(16, 'w');
  write("w.bin", weights);
  fs::create_symlink("w.bin", folder_ / "link");
  write("m.onnx",
        onnx::model({onnx::node("MatMul", {"x", "w"}, "y"), onnx::outside("w", {2, 2}, "w.bin"),
                     onnx::input("x", {1, 2}), onnx::output("y", {1, 2})}));
  for (const char* arguments : {"tile m.onnx -o w.bin", "tile m.onnx -o o.onnx --json ./w.bin",
                                "analyze m.onnx --json w.bin", "analyze m.onnx --csv link",
                                "run --model m.onnx --array 4 --json w.bin",
                                "run --model m.onnx --array 4 --output w.bin"}) {
    EXPECT_EQ(shell(std::string("$G ") + arguments + " > out 2> err"), 2) << arguments;
    EXPECT_THAT(read("err"), Says("the model's external data, w.bin: is the file that",
                                  "would write; name another"));
    EXPECT_EQ(read("out"), "");
    EXPECT_EQ(read("w.bin"), weights);
  }
  EXPECT_EQ(shell("$G tile m.onnx -o o.onnx > out 2> err"), 0) << read("err");
  EXPECT_EQ(files(), (std::vector<std::string>{"err", "link", "m.onnx", "o.onnx", "out", "w.bin"}));
}

TEST_F(Outputs, NamesOfFilesStayOnTheirLine) {
  const std::string name = "$(printf \"a\\033[2J\\n\")b";
  for (const std::string& command :
       {"make-linear 2 2 2 -o \"" + name + ".onnx\"", "make-model lenet -o \"" + name + ".onnx\"",
        "tile \"" + name + ".onnx\" -o \"" + name + "2.onnx\"",
        "run --model \"" + name + ".onnx\" --device tlm --array 4",
        "gemm 4 4 4 --array 4 --trace \"" + name + ".fst\"",
        "gemm 8 24 8 --array 8 --memory-latency 7 --inject accumulator:0,2,3:9@172 "
        "--trace-mismatch "
        "\"" +
            name + "f.fst\""}) {
    const int code = shell("$G " + command + " > out 2> err");
    EXPECT_TRUE(code == 0 || code == 1) << command << "\n" << read("err");
    EXPECT_THAT(read("out"), Says("a\\x1b[2J")) << command;
    EXPECT_THAT(read("out"), Lacks("\x1b")) << command;
    EXPECT_THAT(read("err"), Lacks("\x1b")) << command;
  }
}

TEST_F(Outputs, AWaveformAppearsWholeOrNotAtAll) {
  write("w.fst", "old");
  // 40 blocks of 1 KiB: neither the waveform nor its scratch files fit.
  for (const char* limit : {"1", "8", "40"}) {
    EXPECT_EQ(shell(std::string("ulimit -f ") + limit +
                    "; $G gemm 40 200 40 --array 8 --trace w.fst > out 2> err"),
              3)
        << limit;
    EXPECT_THAT(read("err"), Says("w.fst: the waveform is lost"));
    EXPECT_THAT(read("out"), Says("VERIFIED"));
    EXPECT_EQ(read("w.fst"), "old");
  }
  // Here the scratch files fit, and the waveform does not.
  EXPECT_EQ(shell("ulimit -f 800; $G gemm 60 60 60 --array 2 --trace w.fst > out 2> err"), 3);
  EXPECT_THAT(read("err"), Says("w.fst: the waveform is lost"));
  EXPECT_EQ(read("w.fst"), "old");
  EXPECT_EQ(files(), (std::vector<std::string>{"err", "out", "w.fst"}));
  EXPECT_EQ(shell("$G gemm 40 200 40 --array 8 --trace w.fst > out 2> err"), 0);
  EXPECT_GT(fs::file_size(folder_ / "w.fst"), 1000U);
  EXPECT_EQ(files(),
            (std::vector<std::string>{"err", "out", "w.fst", "w.gtkw", "w.sucl", "w.surf.ron"}));
}

TEST_F(Outputs, SignalKeepsFinishedWork) {
  const std::pair<const char*, int> signals[] = {{"INT", 130}, {"TERM", 143}, {"HUP", 129}};
  for (const auto& [name, code] : signals) {
    write("w.fst", "old");
    write("x.json", "old");
    EXPECT_EQ(shell(std::string("timeout --foreground --preserve-status -s ") + name +
                    " 1 $G gemm 4096 512 512 --array 8 --trace w.fst --json x.json > out 2> err"),
              code);
    EXPECT_THAT(read("err"), testing::StartsWith("gemm64: ")) << name;
    EXPECT_THAT(read("err"), Says("finished")) << name;
    EXPECT_EQ(read("w.fst"), "old");
    EXPECT_EQ(read("x.json"), "old");
    EXPECT_EQ(files(), (std::vector<std::string>{"err", "out", "w.fst", "x.json"}));
  }
}

TEST_F(Outputs, AKillLeavesTheFilesBefore) {
  write("w.fst", "old");
  write("x.json", "old");
  shell(
      "timeout -s KILL 0.7 $G gemm 4096 512 512 --array 8 --trace w.fst --json x.json > out 2> "
      "err");
  EXPECT_EQ(read("w.fst"), "old");
  EXPECT_EQ(read("x.json"), "old");
}

TEST_F(Outputs, ReplayKeepsItsInput) {
  ASSERT_EQ(run("gemm 8 24 8 --array 8 --memory-latency 7 --inject accumulator:0,2,3:9@172").code,
            1);
  const std::string before = read("failure.json");
  EXPECT_EQ(run("replay failure.json").code, 1);
  EXPECT_EQ(read("failure.json"), before);
  for (const char* option : {"--json failure.json", "--trace ./failure.json"}) {
    const Outcome outcome = run(std::string("replay failure.json ") + option);
    EXPECT_EQ(outcome.code, 2) << option;
    EXPECT_THAT(outcome.err, Says("the failure is read from"));
  }
  EXPECT_EQ(read("failure.json"), before);
}

TEST_F(Outputs, InfoNeedsLittleAddressSpace) {
  EXPECT_EQ(shell("ulimit -v 500000; $G info > out 2> err"), 0) << read("err");
  EXPECT_EQ(shell("ulimit -v 500000; $G info --device reference > out 2> err"), 0) << read("err");
}

}  // namespace
}  // namespace gemm64::cli_test
