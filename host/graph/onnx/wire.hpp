// SPDX-License-Identifier: Apache-2.0
// A look at a protobuf file before it is parsed.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <cstdint>

namespace gemm64 {

/// Counts the objects (messages and strings) that parsing a message of type `descriptor` from
/// `stream` would make, at most `most` + 1 of them: two bytes of a file can ask for some hundred of
/// memory. Long packed lists count for more than one. Skips values without reading them, and counts
/// as far as the bytes can be read; whether they are a valid message, the parser decides.
std::uint64_t count_objects(google::protobuf::io::ZeroCopyInputStream& stream,
                            const google::protobuf::Descriptor& descriptor, std::uint64_t most);

}  // namespace gemm64
