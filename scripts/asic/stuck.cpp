// SPDX-License-Identifier: Apache-2.0
// Simulates a netlist with one stuck pin in each of 512 copies, 511 faults a pass next to one copy
// without.
//
//   stuck NETLIST STIMULUS [VALUES]
//
// NETLIST, one item a line, nets by number:
//   nets COUNT                    0 is constant 0, 1 constant 1
//   input NET                     in the order of the stimulus
//   register NET DATA             a fault of its pin is that of gate "register's index, 0"
//   gate NET PINS PIN... STEP...  in an order in which each comes after its inputs; a step is the
//                                 index of a pin, or -1 not, -2 and, -3 or, -4 exclusive or
//   watch NET                     in the order of the stimulus
//   stem NET VALUE                a fault: the net is stuck
//   pin GATE PIN VALUE            the same of one pin that reads a net
//   load GATE VALUE               the same of what a register loads
// STIMULUS, a cycle: a byte for each input, then one for each watched net: is it looked at?
//   If it is "random COUNT" instead, registers and inputs have random values in each cycle, and
//   what registers load is looked at as well.
// VALUES gets a byte for each watched net in each cycle, of the copy without a fault.
// Prints the cycle in which each fault is first seen, or -1. Exit: 0 done, 2 bad input.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Word = std::uint64_t __attribute__((vector_size(64)));
constexpr unsigned kCopies = 512;
constexpr std::size_t kFirst = 100;  // cycles of the first look at all faults

struct Gate {
  unsigned net;
  std::vector<unsigned> pins;
  std::vector<int> steps;
};

struct Register {
  unsigned net, data;
};

struct Fault {
  enum { kStem, kPin, kLoad } kind;
  unsigned at, pin;
  bool value;
  long seen = -1;
};

/// Copies in which a place is stuck.
struct Stuck {
  unsigned pin;
  Word to_0, to_1;
};

Word all(bool value) { return value ? ~Word{} : Word{}; }
bool any(const Word& word) {
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < 8; ++i) bits |= word[i];
  return bits != 0;
}

class Netlist {
 public:
  explicit Netlist(const char* path) {
    std::ifstream file(path);
    std::string line, what;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      words >> what;
      if (what == "nets") {
        unsigned count;
        words >> count;
        values.resize(count);
      } else if (what == "input" || what == "watch") {
        unsigned net;
        words >> net;
        (what == "input" ? inputs : watched).push_back(net);
      } else if (what == "register") {
        Register one;
        words >> one.net >> one.data;
        registers.push_back(one);
      } else if (what == "gate") {
        Gate gate;
        std::size_t pins;
        words >> gate.net >> pins;
        gate.pins.resize(pins);
        for (unsigned& pin : gate.pins) words >> pin;
        for (int step; words >> step;) gate.steps.push_back(step);
        words.clear();
        gates.push_back(gate);
      } else if (what == "stem" || what == "pin" || what == "load") {
        Fault fault{};
        fault.kind = what == "stem" ? Fault::kStem : what == "pin" ? Fault::kPin : Fault::kLoad;
        words >> fault.at;
        if (what == "pin") words >> fault.pin;
        words >> fault.value;
        faults.push_back(fault);
      }
      if (words.fail()) {
        std::fprintf(stderr, "stuck: %s\n", line.c_str());
        std::exit(2);
      }
    }
    stems.resize(values.size());
    pins.resize(gates.size());
    loads.resize(registers.size());
  }

  /// The next faults that are not detected yet, one a copy, from the second on.
  std::vector<Fault*> take(std::size_t& from) {
    std::vector<Fault*> some;
    for (auto* list : {&stems, &pins, &loads}) {
      for (auto& one : *list) one.clear();
    }
    for (; from < faults.size() && some.size() + 1 < kCopies; ++from) {
      Fault& fault = faults[from];
      if (fault.seen >= 0) continue;
      some.push_back(&fault);
      auto& list = (fault.kind == Fault::kStem  ? stems
                    : fault.kind == Fault::kPin ? pins
                                                : loads)[fault.at];
      Stuck stuck{fault.pin, Word{}, Word{}};
      (fault.value ? stuck.to_1 : stuck.to_0)[some.size() / 64] |= std::uint64_t{1}
                                                                   << some.size() % 64;
      list.push_back(stuck);
    }
    return some;
  }

  static void hold(Word& word, const std::vector<Stuck>& list, unsigned pin) {
    for (const Stuck& stuck : list) {
      if (stuck.pin == pin) word = (word & ~stuck.to_0) | stuck.to_1;
    }
  }

  void set(unsigned net, const Word& value) {
    values[net] = value;
    if (!stems[net].empty()) hold(values[net], stems[net], 0);
  }

  void settle() {
    Word stack[16], in[8];
    for (std::size_t g = 0; g < gates.size(); ++g) {
      const Gate& gate = gates[g];
      for (unsigned pin = 0; pin < gate.pins.size(); ++pin) {
        in[pin] = values[gate.pins[pin]];
        if (!pins[g].empty()) hold(in[pin], pins[g], pin);
      }
      Word* top = stack;
      for (const int step : gate.steps) {
        switch (step) {
          case -1:
            top[-1] = ~top[-1];
            break;
          case -2:
            --top;
            top[-1] &= top[0];
            break;
          case -3:
            --top;
            top[-1] |= top[0];
            break;
          case -4:
            --top;
            top[-1] ^= top[0];
            break;
          default:
            *top++ = in[step];
        }
      }
      set(gate.net, stack[0]);
    }
  }

  void load() {
    next.resize(registers.size());
    for (std::size_t r = 0; r < registers.size(); ++r) {
      next[r] = values[registers[r].data];
      if (!loads[r].empty()) hold(next[r], loads[r], 0);
    }
  }

  std::vector<Word> values, next;
  std::vector<unsigned> inputs, watched;
  std::vector<Register> registers;
  std::vector<Gate> gates;
  std::vector<Fault> faults;

 private:
  std::vector<std::vector<Stuck>> stems, pins, loads;
};

/// Copies that differ from the first one.
Word different(const Word& word) { return word ^ all(word[0] & 1); }

/// A pass of some faults through the first `cycles` cycles.
void pass(Netlist& netlist, const std::vector<Fault*>& some,
          const std::vector<std::uint8_t>& stimulus, std::size_t cycles, bool random,
          std::ofstream* values = nullptr) {
  const std::size_t bytes = netlist.inputs.size() + netlist.watched.size();
  std::mt19937_64 noise(1);
  for (Word& value : netlist.values) value = Word{};
  netlist.values[1] = all(true);
  for (const Register& one : netlist.registers) netlist.set(one.net, Word{});
  Word left{};
  for (std::size_t i = 1; i <= some.size(); ++i) left[i / 64] |= std::uint64_t{1} << i % 64;
  for (std::size_t clock = 0; clock < cycles && (any(left) || values != nullptr); ++clock) {
    const std::uint8_t* const now = random ? nullptr : stimulus.data() + clock * bytes;
    if (random) {
      for (const Register& one : netlist.registers) netlist.set(one.net, all(noise() & 1));
    }
    for (std::size_t i = 0; i < netlist.inputs.size(); ++i) {
      netlist.set(netlist.inputs[i], all(random ? noise() & 1 : now[i]));
    }
    netlist.settle();
    netlist.load();
    if (values != nullptr) {
      for (const unsigned net : netlist.watched) {
        values->put(static_cast<char>(netlist.values[net][0] & 1));
      }
    }
    Word seen{};
    for (std::size_t i = 0; i < netlist.watched.size(); ++i) {
      if (random || now[netlist.inputs.size() + i]) {
        seen |= different(netlist.values[netlist.watched[i]]);
      }
    }
    if (random) {
      for (const Word& word : netlist.next) seen |= different(word);
    } else {
      for (std::size_t r = 0; r < netlist.registers.size(); ++r) {
        netlist.set(netlist.registers[r].net, netlist.next[r]);
      }
    }
    seen &= left;
    if (!any(seen)) continue;
    left &= ~seen;
    for (std::size_t i = 1; i <= some.size(); ++i) {
      if (seen[i / 64] >> i % 64 & 1) some[i - 1]->seen = static_cast<long>(clock);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  Netlist netlist(argv[1]);
  const std::string how = argv[2];
  const bool random = how.rfind("random ", 0) == 0;
  std::vector<std::uint8_t> stimulus;
  std::size_t cycles = 0;
  if (random) {
    cycles = std::stoul(how.substr(7));
  } else {
    std::ifstream file(how, std::ios::binary);
    stimulus.assign(std::istreambuf_iterator<char>(file), {});
    cycles = stimulus.size() / (netlist.inputs.size() + netlist.watched.size());
  }
  if (argc == 4) {
    std::ofstream values(argv[3], std::ios::binary);
    pass(netlist, {}, stimulus, cycles, random, &values);
  }
  // Most are seen soon; the others are put together again for the whole run.
  for (const std::size_t some_cycles : {std::min(cycles, kFirst), cycles}) {
    for (std::size_t from = 0; from < netlist.faults.size();) {
      const std::vector<Fault*> some = netlist.take(from);
      if (!some.empty()) pass(netlist, some, stimulus, some_cycles, random);
    }
  }
  for (const Fault& fault : netlist.faults) std::printf("%ld\n", fault.seen);
  return 0;
}
