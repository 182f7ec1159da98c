// SPDX-License-Identifier: Apache-2.0
// A recorded timeline, small enough for a page.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace gemm64 {

/// Reads the file of a timeline (TraceEvents) and gives its tracks for the page:
///
///     {"begin": clock, "shortest": S, "causes": [...], "texts": [...],
///      "tracks": [{"name": ..., "gaps": [...], "cycles": [...], "causes": [...], "texts": [...]},
///      ...]}
///
/// A track's slices stand one after the other without overlap: each begins `gaps` cycles after the
/// end of the one before. Its `causes` are places in the list of all causes; its `texts` too, each
/// as the difference from the one before, since tiles follow each other. Commands as a whole are
/// left out, tiles stand between the waits inside them. Where there are more than `most` slices,
/// neighbours of fewer than S cycles become one; S is 1 where all are there. Throws UsageError
/// if the file is none of a timeline.
nlohmann::ordered_json page_recording(const std::string& file, std::size_t most);

/// As many slices as leave the page room below 1.5 MB.
inline constexpr std::size_t kPageSlices = 36000;

}  // namespace gemm64
