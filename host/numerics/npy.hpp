// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, versions 1 to 3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/numerics/matrix.hpp"
#include "host/numerics/npy_type.hpp"
#include "host/util/input_file.hpp"
#include "host/util/output_file.hpp"

namespace gemm64 {

/// A file whose header was read and checked; nothing of its size is believed before.
class NpyFile {
 public:
  /// `path` may be "-" for standard input. Throws UsageError, in NumPy's words, if the file
  /// cannot be read, is no .npy file, or holds fewer values than its header promises.
  explicit NpyFile(const std::string& path);

  const std::string& name() const { return file_.name(); }
  const NpyType& type() const { return type_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::uint64_t elements() const { return elements_; }
  /// "float32 of shape (2, 3)".
  std::string describe() const;
  /// Throws UsageError, which says how to convert, if the type is another.
  void require(NpyType::Element element) const;

  /// Reads all values, in row-major order and in this machine's bytes, to where there is room for
  /// elements() of type().bytes each. To be called once, for a type that is an element.
  void read(void* to);
  /// The same for texts, in UTF-8. Throws UsageError if the file holds something else.
  std::vector<std::string> read_texts();

 private:
  void parse_header(const std::string& header);
  void check_size();
  void need(std::uint64_t wanted, std::uint64_t found) const;

  InputFile file_;
  NpyType type_;
  bool fortran_ = false;
  std::vector<std::int64_t> shape_;
  std::uint64_t elements_ = 0;
  std::string piped_;  // the values, where their size could not be asked for
};

/// "(2, 3)", "(2,)", "()": a shape as NumPy writes it.
std::string shape_text(const std::vector<std::int64_t>& shape);

/// Writes a version 1 file of row-major `values`. Commits the file; throws OutputError if it is
/// lost.
void write_npy(OutputFile& file, NpyType::Element element, const std::vector<std::int64_t>& shape,
               const void* values);

/// The same of texts of UTF-8.
void write_npy(OutputFile& file, const std::vector<std::int64_t>& shape,
               const std::vector<std::string>& texts);

/// Reads an array of two dimensions, none of them 0, of T (std::int8_t or float). Throws UsageError
/// if the file cannot be read or holds something else.
template <class T>
Matrix<T> load_npy(const std::string& path);

/// Writes a matrix and commits the file. Throws OutputError if it is lost.
void save_npy(OutputFile& file, const MatrixI32& matrix);
void save_npy(OutputFile& file, const MatrixF& matrix);

}  // namespace gemm64
