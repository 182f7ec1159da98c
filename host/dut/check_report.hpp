// SPDX-License-Identifier: Apache-2.0
// The result of the conformance suite as text, JSON and JUnit's XML.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "host/dut/conformance.hpp"

namespace gemm64::dut {

/// A line for each rule, then each failure. `waveform`: where the first one's is; may be empty.
std::string check_text(const Description& description, const CheckResult& result,
                       const std::string& waveform);
/// A failure with its place, values and input, over several lines; the same as JSON.
std::string failure_text(const Description& description, const Failure& failure);
nlohmann::ordered_json failure_json(const Description& description, const Failure& failure);

nlohmann::ordered_json check_json(const Description& description, const CheckResult& result,
                                  const std::string& waveform);
/// A test case for each rule, as course autograders and CI read it.
std::string check_junit(const Description& description, const CheckResult& result);
/// Rules that held of those that were tried, from 0 to 100.
double score(const CheckResult& result);

}  // namespace gemm64::dut
