// SPDX-License-Identifier: Apache-2.0
// An array of 8x8 for tests of what runs on a device: results can be damaged, and jobs are noted.
#pragma once

#include "host/check/job_observer.hpp"
#include "host/device/reference_device.hpp"
#include "tests/test.hpp"
#include "tests/unit/device/wrapped_device.hpp"

namespace gemm64 {

inline Geometry small_geometry() {
  Geometry geometry;
  geometry.n = 8;
  return geometry;
}

/// A reference device whose results can be damaged on their way to the host.
class DamagedDevice : public WrappedDevice<ReferenceDevice> {
 public:
  DamagedDevice() : WrappedDevice(small_geometry(), std::uint64_t{16} << 20) {}

  void read_memory(std::uint64_t address, void* data, std::size_t bytes) override {
    inner_.read_memory(address, data, bytes);
    if (damage) static_cast<std::uint8_t*>(data)[0] ^= 1;
  }
  bool wait_interrupt(std::uint64_t max_cycles) override {
    ++runs;
    return inner_.wait_interrupt(max_cycles);
  }

  bool damage = false;  // flips a bit of the first sum
  int runs = 0;         // jobs begun
};

/// Records its calls: "announce a b", "begin a", "end".
class JobNotes : public JobObserver {
 public:
  void announce(const std::vector<Job>& jobs) override {
    std::string note = "announce";
    for (const Job& job : jobs) note += " " + job.name;
    notes.push_back(note);
    announced = jobs;
    if (refuse) throw UsageError("none of these jobs will do");
  }
  void begin(const Job& job, std::uint64_t) override { notes.push_back("begin " + job.name); }
  void begin(const JobProgram& list, std::uint64_t) override {
    std::string note = "begin together";
    for (const Job& job : list.jobs) note += " " + job.name;
    notes.push_back(note);
  }
  void clock(std::uint64_t, const Probe&) override {}
  void end(std::uint64_t) override { notes.push_back("end"); }

  std::vector<std::string> notes;
  std::vector<Job> announced;
  bool refuse = false;
};

}  // namespace gemm64
