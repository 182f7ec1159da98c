// SPDX-License-Identifier: Apache-2.0
// The program, run as a user runs it, in a folder of its own.
#pragma once

#include <sys/wait.h>

#include "tests/test.hpp"

namespace gemm64::cli_test {

namespace fs = std::filesystem;

/// The program of the build, or what GEMM64_TEST_PROGRAM names, as tests of mutants do.
inline std::string program_path() {
  const char* const other = std::getenv("GEMM64_TEST_PROGRAM");
  return other == nullptr ? GEMM64_PROGRAM : other;
}

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

class Program : public InFolder {
 protected:
  Outcome run(const std::string& arguments) const { return run_program(program_path(), arguments); }

  Outcome run_program(const fs::path& program, const std::string& arguments) const {
    const fs::path out = folder_ / "stdout";
    const fs::path err = folder_ / "stderr";
    const std::string command = "cd " + folder_.string() + " && " + program.string() + " " +
                                arguments + " > " + out.string() + " 2> " + err.string();
    const int status = std::system(command.c_str());
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(out), contents(err)};
    fs::remove(out);
    fs::remove(err);
    return outcome;
  }

  /// Runs it: it ends with `code`, and prints each of `words`.
  template <class... Words>
  void expect(int code, const std::string& arguments, const Words&... words) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, code) << arguments << '\n' << outcome.out << outcome.err;
    if constexpr (sizeof...(words) != 0) EXPECT_THAT(outcome.out, Says(words...));
  }

  /// Runs a shell's line in the folder, where $G is the program; nothing is redirected. What
  /// hangs is ended, and SIGINT is not ignored, as it is in a script's background.
  int shell(const std::string& line) const {
    const std::string all =
        "cd " + folder_.string() + " && ulimit -t 60 && export G=" + program_path() + "; " + line;
    const int status = std::system(("env --default-signal=INT bash -c '" + all + "'").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// Bad usage: exit 2, and one line on standard error that says `reason`.
  static void expect_bad(const Outcome& outcome, const std::string& reason) {
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, Says(reason));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  void expect_bad(const std::string& arguments, const std::string& reason) const {
    SCOPED_TRACE(arguments);
    expect_bad(run(arguments), reason);
  }
  /// The same, and no file is left.
  void expect_refused(const std::string& arguments, const std::string& reason) const {
    expect_bad(arguments, reason);
    EXPECT_TRUE(fs::is_empty(folder_)) << arguments << ": something was left half written";
  }

  template <class Json = nlohmann::json>
  Json json_of(const std::string& name) const {
    return Json::parse(read(name));
  }

  /// Writes a .npy file of one type and shape, little endian.
  template <class T>
  fs::path write_npy(const std::string& name, const std::string& type, int rows, int columns,
                     const std::vector<T>& values) const {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
                         std::to_string(rows) + ", " + std::to_string(columns) + "), }";
    header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
    header += '\n';
    const fs::path path = folder_ / name;
    std::ofstream file(path, std::ios::binary);
    file.write("\x93NUMPY\x01\x00", 8);
    file.put(static_cast<char>(header.size() & 0xff)).put(static_cast<char>(header.size() >> 8));
    file << header;
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(T)));
    return path;
  }
};

}  // namespace gemm64::cli_test
