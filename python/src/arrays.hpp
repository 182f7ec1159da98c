// SPDX-License-Identifier: Apache-2.0
// Arrays of NumPy as the host's tensors and matrices, and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "host/kernels/tensor.hpp"
#include "host/numerics/matrix.hpp"

namespace gemm64::python {

namespace nb = nanobind;

/// Any array of the host's memory, rows one after the other.
using AnyArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
/// A matrix of int8, as it is in NumPy's memory.
using ArrayI8 = nb::ndarray<const std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// A copy. Throws UsageError where NumPy's type is none of a tensor.
Tensor to_tensor(const AnyArray& array);

/// A new array with the tensor's values. Throws UsageError where NumPy has no such type.
nb::object to_array(const Tensor& tensor);

/// The matrix itself, whose memory NumPy takes over.
nb::object to_array(MatrixI32 matrix);

}  // namespace gemm64::python
