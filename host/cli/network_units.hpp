// SPDX-License-Identifier: Apache-2.0
// `run` in units that other processes run, perhaps on other machines: a unit is one pass of images.
// What goes from one to another is bytes (CBOR).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/cli/run_command.hpp"
#include "host/runtime/network_parts.hpp"

namespace gemm64 {

/// The side that hands units out and makes the report. What it writes and prints is what `run` does
/// with the same options, wall times apart.
class NetworkUnits {
 public:
  /// `arguments`: the command line after `run`. Throws UsageError as that does, and
  /// where options look into one device.
  explicit NetworkUnits(const std::vector<std::string>& arguments);

  /// How many there are.
  std::int64_t count() const { return inputs().passes(); }
  std::int64_t images() const { return static_cast<std::int64_t>(command_.source().batch); }
  std::string model_name() const { return command_.source().name; }
  /// The images of a unit, each by its file, or as "image 5", counted from 0.
  std::vector<std::string> images_of(std::int64_t unit) const;
  /// The network with its weights, for UnitWorker.
  std::string model() const;
  /// What else decides what comes of a unit, as JSON: an object of plain values.
  std::string settings() const;
  /// A unit's inputs; image files as they are. Throws UsageError where one cannot be read.
  std::string unit(std::int64_t unit) const;

  /// What UnitWorker::run gave of the next unit; returns what was wrong with it, a line, or
  /// nothing.
  std::string add(std::string_view part);
  /// The report of all; returns the exit code. To be called once.
  int finish();

 private:
  const NetworkInputs& inputs() const { return command_.source().inputs; }

  NetworkCommand command_;
  PartJoin join_;
};

/// The side that runs units, one after the other.
class UnitWorker {
 public:
  /// Prepares the network of NetworkUnits::model() on a device by the same arguments.
  UnitWorker(const std::vector<std::string>& arguments, std::string_view model);
  ~UnitWorker();

  /// Runs a unit. Throws UsageError where an image is at fault; an error of the device is part of
  /// what comes back.
  std::string run(std::string_view unit);

 private:
  struct Prepared;
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace gemm64
