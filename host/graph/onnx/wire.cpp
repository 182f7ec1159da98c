// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/wire.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

namespace gemm64 {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

/// The parser refuses what is nested deeper.
constexpr int kDeepest = 100;
/// Bytes of a packed list that are counted as one object.
constexpr std::uint64_t kPackedBytes = 128;

/// Counts to the end of the message or of its `limit`; false where the count passed `most` or the
/// bytes are no message.
bool count(google::protobuf::io::CodedInputStream& input, const Descriptor* descriptor, int depth,
           std::uint64_t most, std::uint64_t& objects) {
  while (const std::uint32_t tag = input.ReadTag()) {
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      // Groups are no part of ONNX: as unknown fields they are counted like any other.
      if (++objects > most || !WireFormatLite::SkipField(&input, tag)) return false;
      continue;
    }
    const FieldDescriptor* field =
        descriptor == nullptr
            ? nullptr
            : descriptor->FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
    int length = 0;
    if (!input.ReadVarintSizeAsInt(&length)) return false;
    const bool packed = field != nullptr && field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE &&
                        field->cpp_type() != FieldDescriptor::CPPTYPE_STRING;
    // A byte of a packed list may become a number of eight.
    objects += packed ? static_cast<std::uint64_t>(length) / kPackedBytes : 1;
    if (objects > most) return false;
    if (field == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      if (!input.Skip(length)) return false;
      continue;
    }
    if (depth == kDeepest) return false;
    const auto limit = input.PushLimit(length);
    if (!count(input, field->message_type(), depth + 1, most, objects)) return false;
    if (input.BytesUntilLimit() != 0) return false;
    input.PopLimit(limit);
  }
  return true;
}

}  // namespace

std::uint64_t count_objects(google::protobuf::io::ZeroCopyInputStream& stream,
                            const Descriptor& descriptor, std::uint64_t most) {
  google::protobuf::io::CodedInputStream input(&stream);
  std::uint64_t objects = 0;
  count(input, &descriptor, 0, most, objects);
  return objects;
}

}  // namespace gemm64
