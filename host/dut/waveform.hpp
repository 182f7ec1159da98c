// SPDX-License-Identifier: Apache-2.0
// The waveform of a failure, in the hierarchy of the user's design.
#pragma once

#include <filesystem>

#include "host/dut/conformance.hpp"
#include "host/dut/model_build.hpp"

namespace gemm64::dut {

/// Runs the failure's input again on a model that is built for waveforms. Writes `fst` and next to
/// it a save file for GTKWave, whose marker is at the failure's cycle; returns the save file.
std::filesystem::path write_waveform(const Description& description, const Failure& failure,
                                     const BuildOptions& build, const std::filesystem::path& fst);

}  // namespace gemm64::dut
