// SPDX-License-Identifier: Apache-2.0
// The smallest platform: an accelerator of 4x4, a memory, and a thread that gives it a product.
#include <cstdio>
#include <cstring>
#include <gemm64/rtl_accelerator.hpp>
#include <gemm64/tlm_accelerator.hpp>
#include <vector>

#include "product.h"

#ifdef TLM
using Accelerator = gemm64::TlmAccelerator;
#else
using Accelerator = gemm64::RtlAccelerator;
#endif

// A memory that grants no pointers, and is slow; without debug accesses too much is missing.
struct Memory : sc_core::sc_module {
  tlm_utils::simple_target_socket<Memory> socket{"socket"};
  std::vector<unsigned char> bytes = std::vector<unsigned char>(MEMORY_BYTES);
  Memory(sc_core::sc_module_name name, bool debugs) : sc_core::sc_module(name) {
    socket.register_b_transport(this, &Memory::transport);
    if (debugs) socket.register_transport_dbg(this, &Memory::debug);
  }
  unsigned debug(tlm::tlm_generic_payload& t) {
    if (t.get_address() >= bytes.size()) return 0;
    unsigned length = t.get_data_length();
    if (length > bytes.size() - t.get_address()) length = bytes.size() - t.get_address();
    unsigned char* place = bytes.data() + t.get_address();
    t.is_read() ? std::memcpy(t.get_data_ptr(), place, length)
                : std::memcpy(place, t.get_data_ptr(), length);
    return length;
  }
  void transport(tlm::tlm_generic_payload& t, sc_core::sc_time& delay) {
    delay += sc_core::sc_time(50, sc_core::SC_NS);
    t.set_response_status(debug(t) == t.get_data_length() ? tlm::TLM_OK_RESPONSE
                                                          : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
};

struct Software : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Software> socket{"socket"};
  sc_core::sc_in<bool> interrupt{"interrupt"};
  Memory& memory;
  int result = 1;
  SC_HAS_PROCESS(Software);
  Software(sc_core::sc_module_name name, Memory& its_memory)
      : sc_core::sc_module(name), memory(its_memory) {
    SC_THREAD(run);
  }
  int access(bool write, uint32_t offset, uint32_t* value) {
    tlm::tlm_generic_payload t;
    t.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    t.set_address(offset);
    t.set_data_ptr(reinterpret_cast<unsigned char*>(value));
    t.set_data_length(4);
    t.set_streaming_width(4);
    sc_core::sc_time delay;
    socket->b_transport(t, delay);
    wait(delay);
    return t.is_response_ok() ? 0 : -1;
  }
  void run() {
    gemm64_hooks hooks{};
    hooks.context = this;
    hooks.read = [](void* self, uint32_t offset, uint32_t* value) {
      return static_cast<Software*>(self)->access(false, offset, value);
    };
    hooks.write = [](void* self, uint32_t offset, uint32_t value) {
      return static_cast<Software*>(self)->access(true, offset, &value);
    };
    hooks.store = [](void* self, uint64_t address, const void* data, size_t bytes) {
      std::memcpy(static_cast<Software*>(self)->memory.bytes.data() + address, data, bytes);
      return 0;
    };
    hooks.wait = [](void* self, uint64_t limit) {
      Software& software = *static_cast<Software*>(self);
      if (!software.interrupt.read()) {
        software.wait(sc_core::sc_time(static_cast<double>(limit), sc_core::SC_NS),
                      software.interrupt.posedge_event());
      }
      return software.interrupt.read() ? 1 : 0;
    };
    uint64_t cycles = 0;
    result = product(&hooks, memory.bytes.data(), &cycles);
    std::printf("%s: %s, %llu cycles\n", name(), result ? "FAILED" : "a product of 5x6x7 is right",
                static_cast<unsigned long long>(cycles));
  }
};

int sc_main(int arguments, char**) {
  gemm64::AcceleratorOptions options;
  options.n = 4;
  Accelerator accelerator("accelerator", options);
  Memory memory("memory", arguments == 1);
  Software software("software", memory);
  sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> line;
  software.socket.bind(accelerator.registers);
  accelerator.memory.bind(memory.socket);
  accelerator.interrupt(line);
  software.interrupt(line);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
  return software.result;
}
