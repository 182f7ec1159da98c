// SPDX-License-Identifier: Apache-2.0
// What the program says to people, checked to the last byte.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gemm64 {

/// To be called first. Standard streams that the caller has closed are taken by what cannot be
/// written, so that no file gets their numbers and no table lands in it. Pipes without a reader
/// any more, and limits of file size, become errors of the writes in question instead of ending the
/// program.
void secure_standard_streams();

/// Returns the columns of the terminal that an open file is, standard output by default; 0 if it is
/// none.
std::size_t terminal_width(int file = STDOUT_FILENO);

/// Writes to standard output, with all escaped that a terminal would act upon; or to standard
/// error, where standard output belongs to a file that was asked for as "-". On a terminal, prose
/// is cut at words, and verdicts and warnings have their color, unless NO_COLOR is set or TERM is
/// "dumb". Never throws: what could not be written is remembered.
void print_report(std::string_view text);

/// The same for text that another program reads, such as a shell's: no line is cut or colored.
void print_exactly(std::string_view text);

/// The same, formatted.
template <class... Args>
void print_report(fmt::format_string<Args...> format, Args&&... args) {
  print_report(std::string_view(fmt::format(format, std::forward<Args>(args)...)));
}

/// From now on reports go to standard error.
void give_standard_output_away();

/// Returns why some or all of the report is lost, or nothing if none is. The reason is empty if the
/// reader closed the pipe, as `| head` does: that needs no message.
std::optional<std::string> report_loss();

/// Writes "gemm64: message" as one line to standard error, with all escaped that a terminal would
/// act upon; on a terminal it is cut at words. Every message about an error passes here. Never
/// throws.
void print_error(std::string_view message) noexcept;

/// The same for a message of several lines, which stay lines.
void print_error_lines(std::string_view message) noexcept;

}  // namespace gemm64
