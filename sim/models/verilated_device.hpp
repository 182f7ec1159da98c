// SPDX-License-Identifier: Apache-2.0
// Drives one Verilated model of the accelerator. Only rtl_device.cpp includes this, and tests that
// look at registers.
//
// No output depends on an input of the same cycle (tests/signoff/formal/structure.sv). So the
// handshakes of a cycle are read before it: outputs are those that the last edge gave, inputs those
// that are driven.
//
// A cycle is two evaluations: with clk_i low the model settles on this cycle's inputs, then clk_i
// rises. A model without debug access takes one, with its clock set low before. Of
// gemm64_ahead.v only the inputs of the register port reach logic, so a cycle that leaves these as
// they were evaluates the edge only.
#pragma once

#include <verilated.h>
#include <verilated_fst_c.h>

#include <cstdint>
#include <cstring>
#include <iomanip>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/util/error.hpp"
#include "host/util/lost_outputs.hpp"
#include "host/util/output_file.hpp"
#include "sim/models/inside.hpp"
#include "sim/models/port_views.hpp"
#include "sim/models/rtl_device.hpp"
#include "sim/waves/cycle_time.hpp"
#include "sim/waves/fst_writer.hpp"

namespace gemm64 {

/// Does Verilator keep the level that clk_i had at the last evaluation under the name that 5.006
/// gives it? Where it does not, each cycle takes two evaluations.
template <class Model, class = void>
struct KeepsClockLevel : std::false_type {};
template <class Model>
struct KeepsClockLevel<
    Model, std::void_t<decltype(std::declval<Model&>().rootp->__Vtrigrprev__TOP__clk_i)>>
    : std::true_type {};

/// Was the model built with --trace-fst?
template <class Model, class = void>
struct CanTrace : std::false_type {};
template <class Model>
struct CanTrace<
    Model, std::void_t<decltype(std::declval<Model&>().trace(std::declval<VerilatedFstC*>(), 0))>>
    : std::true_type {};

/// Is the accelerator busy in this cycle? The names are those that Verilator gives the RTL's
/// signal: of the accelerator by itself, and of gemm64_ahead. Called with 0.
template <class Root>
auto is_busy(const Root& root, int) -> decltype(root.gemm64__DOT__busy != 0) {
  return root.gemm64__DOT__busy != 0;
}
template <class Root>
auto is_busy(const Root& root, long) -> decltype(root.gemm64_ahead__DOT__gemm64__DOT__busy != 0) {
  return root.gemm64_ahead__DOT__gemm64__DOT__busy != 0;
}
template <class Root>
bool is_busy(const Root&, ...) {
  throw UsageError("this model hides whether the accelerator is busy, so no DRAM can rest with it");
}

/// `Model` is what Verilator made of the module gemm64; `kDebug` says that it was built with
/// debug.vlt, and so can be looked into; `kAhead` that it was made of gemm64_ahead.v. Lines of the
/// trace are at 2 * clock ns (clk_i low, inputs of the clock settled) and at 2 * clock + 1 ns
/// (clk_i high, registers updated).
template <class Model, bool kDebug, bool kAhead = false>
class VerilatedDevice final : public RtlDevice {
 public:
  static constexpr bool kTraced = kDebug && CanTrace<Model>::value;
  static constexpr unsigned kWidth =
      sizeof(std::remove_reference_t<decltype(Model::m_weights_rdata_i)>);

  explicit VerilatedDevice(const RtlOptions& options)
      : RtlDevice(options, kWidth),
        trace_begin_(options.trace_begin),
        trace_end_(options.trace_end),
        stalls_(options.memory.stall_probability),
        seed_(options.seed),
        random_(options.seed) {
    if constexpr (kTraced) {
      if (!options.trace_file.empty()) {
        waveform_ = std::make_unique<OutputFile>(options.trace_file, "the waveform");
      }
    }
    context_ = std::make_unique<VerilatedContext>();
    context_->fatalOnError(false);  // a failed assertion becomes a DeviceError, not abort()
    context_->randReset(2);         // where the model was built for it, registers start with noise
    context_->randSeed(static_cast<int>(options.seed & 0x7fffffffu));
    if constexpr (kTraced) context_->traceEverOn(true);
    model_ = std::make_unique<Model>(context_.get(), "gemm64");
    context_->timeunit(-9);  // nanoseconds; after the model, whose constructor sets its own default
    context_->timeprecision(-9);
    if constexpr (kDebug) inside_ = std::make_unique<Inside>(*context_, kWidth);
    reset();
  }

  ~VerilatedDevice() override {
    end_trace();
    model_->final();
    // The model takes its scopes out of the thread's context, which is that of the device made
    // last.
    Verilated::threadContextp(context_.get());
    model_.reset();
  }

  /// What Verilator made, for tests that look at registers.
  Model& model() { return *model_; }

  void run(std::uint64_t cycles) override {
    for (; cycles != 0; --cycles) step();
  }

  bool interrupt() const override { return model_->irq_o != 0; }

  bool wait_interrupt(std::uint64_t max_cycles) override {
    for (; model_->irq_o == 0; --max_cycles) {
      if (max_cycles == 0) return false;
      step();
    }
    return true;
  }

  void reset() override {
    weights_.reset();
    data_.reset();
    results_.reset();
    if (arbiter_) arbiter_->reset();
    if (dram_) dram_->reset();
    random_.seed(seed_);
    // What of Verilator asks the thread, such as $stop, must not find another device's context.
    Verilated::threadContextp(context_.get());
    drive_idle();
    model_->rst_ni = 0;
    for (unsigned i = 0; i < kResetCycles; ++i) {
      evaluate_low();
      evaluate_high();
    }
    model_->rst_ni = 1;
    if constexpr (kAhead) {  // the first of these edges was one too early, and this one is no cycle
      drive_ports(clock_);
      evaluate_low();
      evaluate_high();
      --clock_;
    }
  }

  void observe(Observer& observer) override {
    need_debug();
    observers_.push_back(&observer);
  }

  void trace(std::uint64_t begin, std::uint64_t end) override {
    need_debug();
    trace_begin_ = begin;
    trace_end_ = end;
  }

  NamedSignals signals() override {
    NamedSignals all = port_views(*model_);
    if constexpr (kDebug) {
      for (auto& view : inside_views(*context_)) all.push_back(std::move(view));
    }
    return all;
  }

  void start_trace(const std::string& file, std::uint64_t begin, std::uint64_t end) override {
    need_debug();
    if (end <= begin)
      throw UsageError("the trace window is empty; its end must be after its begin");
    end_trace();
    if constexpr (kTraced) waveform_ = std::make_unique<OutputFile>(file, "the waveform");
    trace(begin, end);
  }

  void end_trace() override {
    if constexpr (kTraced) {
      if (trace_) close_trace();
    }
    waveform_.reset();
  }

  void inject(const Fault& fault) override {
    need_debug();
    faults_.push_back(fault);
  }

  void reset_at(std::uint64_t clock) override {
    if (clock < clock_) throw std::invalid_argument("reset_at: the clock cannot go back");
    clock_ = clock;
    reset();
  }

  std::uint32_t read_register(std::uint32_t offset) override {
    Model& m = *model_;
    m.s_axil_araddr_i = static_cast<std::uint16_t>(register_address(offset));
    bool requested = false;
    bool answered = false;
    std::uint32_t value = 0;
    unsigned response = 0;
    for (unsigned waited = 0; !answered; ++waited) {
      if (waited == kRegisterCycles) fail_register("read of", offset);
      settled_ = false;
      m.s_axil_arvalid_i = !requested && (m.s_axil_arvalid_i != 0 || willing());
      m.s_axil_rready_i = willing();
      if (m.s_axil_arvalid_i && m.s_axil_arready_o) requested = true;
      if (m.s_axil_rvalid_o && m.s_axil_rready_i) {
        answered = true;
        value = m.s_axil_rdata_o;
        response = m.s_axil_rresp_o;
      }
      step();
      if (requested) m.s_axil_arvalid_i = 0;
    }
    m.s_axil_rready_i = 0;
    settled_ = false;
    check_response("read of", offset, response);
    return value;
  }

  void write_register(std::uint32_t offset, std::uint32_t value) override {
    Model& m = *model_;
    m.s_axil_awaddr_i = static_cast<std::uint16_t>(register_address(offset));
    m.s_axil_wdata_i = value;
    m.s_axil_wstrb_i = 0xf;
    bool address_taken = false;
    bool data_taken = false;
    bool answered = false;
    unsigned response = 0;
    for (unsigned waited = 0; !answered; ++waited) {
      if (waited == kRegisterCycles) fail_register("write of", offset);
      settled_ = false;
      m.s_axil_awvalid_i = !address_taken && (m.s_axil_awvalid_i != 0 || willing());
      m.s_axil_wvalid_i = !data_taken && (m.s_axil_wvalid_i != 0 || willing());
      m.s_axil_bready_i = willing();
      if (m.s_axil_awvalid_i && m.s_axil_awready_o) address_taken = true;
      if (m.s_axil_wvalid_i && m.s_axil_wready_o) data_taken = true;
      if (m.s_axil_bvalid_o && m.s_axil_bready_i) {
        answered = true;
        response = m.s_axil_bresp_o;
      }
      step();
      if (address_taken) m.s_axil_awvalid_i = 0;
      if (data_taken) m.s_axil_wvalid_i = 0;
    }
    m.s_axil_bready_i = 0;
    settled_ = false;
    check_response("write of", offset, response);
  }

 private:
  static constexpr std::uint32_t kRegisterSpace = 1u << 12;  // s_axil_*addr_i has 12 bits

  void step() {
    if (dram_ && !is_busy(*model_->rootp, 0)) dram_->rest(clock_);
    if constexpr (!kAhead) drive_ports(clock_);
    if constexpr (!kDebug && KeepsClockLevel<Model>::value) {
      end_clock();
      if constexpr (kAhead) drive_ports(clock_ + 1);
      context_->time(2 * clock_);
      if constexpr (kAhead) {
        if (settled_) return evaluate_settled(*model_->rootp);
        settled_ = true;
      }
      model_->rootp->__Vtrigrprev__TOP__clk_i = 0;
    } else {
      evaluate_low();
      if constexpr (kDebug) {
        for (Observer* observer : observers_) observer->clock(clock_, *inside_);
      }
      if (kDebug && !faults_.empty()) {
        end_upset_clock();
      } else {
        end_clock();
      }
      if constexpr (kAhead) drive_ports(clock_ + 1);
    }
    evaluate_high();
  }

  /// The edge of a model made of gemm64_ahead.v. model_table.cmake declares evaluate_edge().
  template <class Root>
  void evaluate_settled(Root& root) {
    root.__VnbaTriggered.at(0) = 1;
    evaluate_edge(&root);
    ++clock_;
  }

  /// The memory ports' inputs of `clock`.
  void drive_ports(std::uint64_t clock) {
    begin_read(clock, weights_, model_->m_weights_arready_i, model_->m_weights_rvalid_i,
               model_->m_weights_rid_i, model_->m_weights_rdata_i, model_->m_weights_rresp_i,
               model_->m_weights_rlast_i);
    begin_read(clock, data_, model_->m_data_arready_i, model_->m_data_rvalid_i,
               model_->m_data_rid_i, model_->m_data_rdata_i, model_->m_data_rresp_i,
               model_->m_data_rlast_i);
    Model& m = *model_;
    results_.begin_clock(clock);
    m.m_results_awready_i = results_.awready();
    m.m_results_wready_i = results_.wready();
    m.m_results_bvalid_i = results_.bvalid();
    m.m_results_bid_i = results_.bid();
    m.m_results_bresp_i = static_cast<std::uint8_t>(results_.bresp());
  }

  /// What an injected fault makes of the rules is the device's error, not the program's.
  void end_upset_clock() {
    try {
      end_clock();
    } catch (const std::logic_error& broken_rule) {
      throw DeviceError(broken_rule.what());
    }
  }

  void end_clock() {
    Model& m = *model_;
    weights_.end_clock({m.m_weights_arvalid_o != 0,
                        {m.m_weights_araddr_o, m.m_weights_arlen_o, m.m_weights_arsize_o,
                         m.m_weights_arburst_o, m.m_weights_arid_o},
                        m.m_weights_rready_o != 0});
    data_.end_clock({m.m_data_arvalid_o != 0,
                     {m.m_data_araddr_o, m.m_data_arlen_o, m.m_data_arsize_o, m.m_data_arburst_o,
                      m.m_data_arid_o},
                     m.m_data_rready_o != 0});
    results_.end_clock({m.m_results_awvalid_o != 0,
                        {m.m_results_awaddr_o, m.m_results_awlen_o, m.m_results_awsize_o,
                         m.m_results_awburst_o, m.m_results_awid_o},
                        m.m_results_wvalid_o != 0,
                        &m.m_results_wdata_o,
                        m.m_results_wstrb_o,
                        m.m_results_wlast_o != 0,
                        m.m_results_bready_o != 0});
  }

  template <class Bit, class Data>
  static void drive_payload(const AxiReadPort& port, Bit& id, Data& data, Bit& response,
                            Bit& last) {
    id = port.rid();
    std::memcpy(&data, port.rdata(), kWidth);  // little endian, as the RTL's byte lanes are
    response = static_cast<std::uint8_t>(port.rresp());
    last = port.rlast();
  }

  template <class Bit, class Data>
  void begin_read(std::uint64_t clock, AxiReadPort& port, Bit& arready, Bit& rvalid, Bit& id,
                  Data& data, Bit& response, Bit& last) {
    port.begin_clock(clock);
    arready = port.arready();
    rvalid = port.rvalid();
    if (port.payload_changed()) drive_payload(port, id, data, response, last);
  }

  /// Every input but clock and reset inactive, as the ports are after their reset.
  void drive_idle() {
    Model& m = *model_;
    settled_ = false;
    m.s_axil_awvalid_i = m.s_axil_wvalid_i = m.s_axil_bready_i = 0;
    m.s_axil_arvalid_i = m.s_axil_rready_i = 0;
    m.s_axil_awprot_i = m.s_axil_arprot_i = 0;
    m.m_weights_arready_i = m.m_weights_rvalid_i = 0;
    m.m_data_arready_i = m.m_data_rvalid_i = 0;
    m.m_results_awready_i = m.m_results_wready_i = m.m_results_bvalid_i = 0;
    drive_payload(weights_, m.m_weights_rid_i, m.m_weights_rdata_i, m.m_weights_rresp_i,
                  m.m_weights_rlast_i);
    drive_payload(data_, m.m_data_rid_i, m.m_data_rdata_i, m.m_data_rresp_i, m.m_data_rlast_i);
  }

  void evaluate_low() {
    context_->time(2 * clock_);
    model_->clk_i = 0;
    model_->eval();
    if constexpr (kTraced) {
      if (in_window()) {
        if (!trace_) open_trace();
        trace_->dump(kTimeOfCycle * clock_);
      }
    }
  }

  void evaluate_high() {
    if constexpr (kDebug) context_->time(2 * clock_ + 1);
    model_->clk_i = 1;
    model_->eval();
    if constexpr (kDebug) {
      if (!faults_.empty()) put_faults(clock_ + 1);
    }
    if constexpr (kTraced) {
      if (in_window()) {
        if (!trace_) open_trace();
        trace_->dump(kTimeOfCycle * clock_ + kTimeOfEdge);
        if (clock_ + 1 == trace_end_) close_trace();
      }
    }
    if (context_->gotError()) fail_assertion();
    ++clock_;
  }

  bool in_window() const {
    return clock_ >= trace_begin_ && clock_ < trace_end_ && waveform_ != nullptr;
  }

  /// The registers hold what they will hold in `clock`: the time to change it.
  void put_faults(std::uint64_t clock) {
    for (const Fault& fault : faults_) {
      if (fault.stuck) {
        if (fault.clock <= clock) inside_->hold(fault);
      } else if (fault.clock == clock && !put_outside(fault)) {
        inside_->flip(fault);
      }
    }
  }

  static void need_debug() {
    if constexpr (!kDebug) throw std::logic_error("this model cannot be inspected");
  }

  void open_trace() {
    trace_ = std::make_unique<VerilatedFstC>();
    trace_cycles();
    model_->trace(trace_.get(), 99);
    trace_->set_time_resolution(kTimeResolution);
    trace_->open(waveform_->temporary().c_str());
    if (!trace_->isOpen()) {
      throw UsageError(waveform_->path().string() +
                       ": cannot be written: its scratch files cannot");
    }
  }

  /// The first signal of the waveform counts cycles.
  void trace_cycles() {
    VerilatedFst& trace = *trace_->spTrace();
    trace.addInitCb(
        [](void* device, VerilatedFst* to, std::uint32_t code) {
          static_cast<VerilatedDevice*>(device)->cycle_code_ = code;
          to->declQuad(code, "cycle", -1, FST_VD_IMPLICIT, FST_VT_VCD_WIRE, false, -1, 63, 0);
        },
        this);
    trace.addFullCb(
        [](void* device, VerilatedFst::Buffer* to) {
          const auto& self = *static_cast<VerilatedDevice*>(device);
          to->fullQData(to->oldp(self.cycle_code_), self.clock_, 64);
        },
        this);
    trace.addChgCb(
        [](void* device, VerilatedFst::Buffer* to) {
          const auto& self = *static_cast<VerilatedDevice*>(device);
          to->chgQData(to->oldp(self.cycle_code_), self.clock_, 64);
        },
        this);
  }

  /// The waveform appears, or is reported as lost; the simulation goes on either way.
  void close_trace() {
    trace_->close();
    keep_going([this] {
      const std::string file = waveform_->path().string();
      if (take_fst_loss(waveform_->temporary().string())) {
        throw OutputError(file,
                          file + ": the waveform is lost: no space is left, or the disk failed");
      }
      waveform_->commit();
    });
    waveform_.reset();
    trace_.reset();
  }

  /// Without stalls the register port's master is always willing, like the memory ports.
  bool willing() { return stalls_ == 0 || uniform_(random_) >= stalls_; }

  static std::string in_words(const char* access, std::uint32_t offset) {
    std::ostringstream text;
    text << access << " the register at 0x" << std::hex << std::setw(3) << std::setfill('0')
         << offset;
    return text.str();
  }

  static std::uint32_t register_address(std::uint32_t offset) {
    if (offset % 4 == 0 && offset < kRegisterSpace) return offset;
    throw DeviceError(in_words("access to", offset) + ": offsets are multiples of 4 below 0x1000");
  }

  /// Withdraws what the master drives; only reset() brings a port back that never answered.
  [[noreturn]] void fail_register(const char* access, std::uint32_t offset) {
    Model& m = *model_;
    m.s_axil_awvalid_i = m.s_axil_wvalid_i = m.s_axil_bready_i = 0;
    m.s_axil_arvalid_i = m.s_axil_rready_i = 0;
    settled_ = false;
    throw DeviceError(in_words(access, offset) + ": no answer within " +
                      std::to_string(kRegisterCycles) + " cycles, at cycle " +
                      std::to_string(clock_));
  }

  static void check_response(const char* access, std::uint32_t offset, unsigned response) {
    if (response == 0) return;
    throw DeviceError(in_words(access, offset) + ": answered with " +
                      (response == 2   ? "SLVERR"
                       : response == 3 ? "DECERR"
                                       : "EXOKAY"));
  }

  [[noreturn]] void fail_assertion() const {
    throw DeviceError("an assertion of the RTL failed at cycle " + std::to_string(clock_) +
                      "; Verilator's message is on standard output");
  }

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<std::conditional_t<kTraced, VerilatedFstC, int>> trace_;
  std::unique_ptr<Inside> inside_;
  std::vector<Observer*> observers_;
  std::vector<Fault> faults_;
  std::unique_ptr<OutputFile> waveform_;  // until it is closed
  std::uint32_t cycle_code_ = 0;          // of the waveform's first signal
  bool settled_ = false;  // the register port's inputs are those of the last evaluation
  std::uint64_t trace_begin_;
  std::uint64_t trace_end_;
  const double stalls_;
  const std::uint32_t seed_;
  std::mt19937 random_;
  std::uniform_real_distribution<double> uniform_;
};

}  // namespace gemm64
