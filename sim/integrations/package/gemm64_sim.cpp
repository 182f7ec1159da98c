// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/package/gemm64_sim.h"

#include <exception>
#include <memory>
#include <string>

#include "host/util/error.hpp"
#include "sim/models/devices.hpp"

struct gemm64_sim {
  std::unique_ptr<gemm64::Device> device;
  std::string error;
};

namespace {

thread_local std::string create_error;

/// What `action` returns; -1, and the message kept, where it throws.
template <class Action>
int guard(gemm64_sim* sim, Action action) {
  try {
    return action();
  } catch (const std::exception& error) {
    sim->error = error.what();
    return -1;
  }
}

}  // namespace

gemm64_sim* gemm64_sim_create(const gemm64_sim_options* options) {
  try {
    gemm64::DeviceOptions device;
    device.array = options->array;
    device.memory.latency = options->memory_latency;
    device.memory.bytes_per_cycle = options->bytes_per_cycle;
    const std::string name = options->device == nullptr ? "rtl" : options->device;
    if (device.memory.latency == 0) throw gemm64::UsageError("memory_latency: 0; at least 1");
    auto sim = std::make_unique<gemm64_sim>();
    sim->device = gemm64::devices().find(name, device).make(device);
    return sim.release();
  } catch (const std::exception& error) {
    create_error = error.what();
    return nullptr;
  }
}

void gemm64_sim_destroy(gemm64_sim* sim) { delete sim; }

int gemm64_sim_read(gemm64_sim* sim, std::uint32_t offset, std::uint32_t* value) {
  return guard(sim, [&] {
    *value = sim->device->read_register(offset);
    return 0;
  });
}

int gemm64_sim_write(gemm64_sim* sim, std::uint32_t offset, std::uint32_t value) {
  return guard(sim, [&] {
    sim->device->write_register(offset, value);
    return 0;
  });
}

int gemm64_sim_read_memory(gemm64_sim* sim, std::uint64_t address, void* data, std::size_t bytes) {
  return guard(sim, [&] {
    sim->device->read_memory(address, data, bytes);
    return 0;
  });
}

int gemm64_sim_write_memory(gemm64_sim* sim, std::uint64_t address, const void* data,
                            std::size_t bytes) {
  return guard(sim, [&] {
    sim->device->write_memory(address, data, bytes);
    return 0;
  });
}

int gemm64_sim_run(gemm64_sim* sim, std::uint64_t max_cycles) {
  return guard(sim, [&] { return sim->device->wait_interrupt(max_cycles) ? 1 : 0; });
}

std::uint64_t gemm64_sim_clocks(const gemm64_sim* sim) { return sim->device->cycles(); }

int gemm64_sim_reset(gemm64_sim* sim) {
  return guard(sim, [&] {
    sim->device->reset();
    return 0;
  });
}

const char* gemm64_sim_error(const gemm64_sim* sim) {
  return sim == nullptr ? create_error.c_str() : sim->error.c_str();
}
