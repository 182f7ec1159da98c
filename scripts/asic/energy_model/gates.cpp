// SPDX-License-Identifier: Apache-2.0
// Simulates a netlist of gates with a delay each, 128 copies in parallel, and counts how often
// each net changes.
//
//   gates NETLIST STIMULUS OUTPUT
//
// NETLIST, one item a line, nets by number:
//   nets COUNT                       0 is constant 0, 1 constant 1
//   input NET DELAY                  in the order of the stimulus
//   back NET SOURCE SHIFT DELAY      a register's output, of the copy SHIFT places before; copies
//   without one get 0 register NET DATA ENABLE DELAY   ENABLE -1: loads in every clock gate NET
//   DELAY STEP...           nets, and -1 not, -2 and, -3 or, -4 exclusive or, each after its
//   operands; sorted watch NET                        its settled value of each cycle goes to the
//   output
// STIMULUS, a cycle: 128 bits that say which copies count, then 128 bits for each input.
// OUTPUT: for each net its changes, its changes from settled to settled value, and its cycles at 1,
// as 64 bits each;
//   then, a cycle, 128 bits for each watched net.
//
// A gate gives a value when its inputs have asked for it as long as its delay is: shorter pulses do
// not pass. Exit: 0 done, 2 bad input.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Word = unsigned long long __attribute__((vector_size(16)));  // a bit for each copy

int Count(Word word) { return __builtin_popcountll(word[0]) + __builtin_popcountll(word[1]); }
bool Any(Word word) { return (word[0] | word[1]) != 0; }

Word ShiftUp(Word word, int places) {
  unsigned __int128 bits;
  std::memcpy(&bits, &word, 16);
  bits <<= places;
  std::memcpy(&word, &bits, 16);
  return word;
}

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "gates: %s\n", why.c_str());
  std::exit(2);
}

struct Net {
  Word before{}, settled{};  // at the end of the last cycle, and of this one
  int first = 0, end = 0;    // steps between which it changes in this cycle; equal: it does not
  size_t wave = 0;           // its values there, from `first` on
  uint64_t changes = 0, settled_changes = 0, ones = 0;
};

struct Input {
  int net, delay;
};
struct Back {
  int net, source, shift, delay;
};
struct Register {
  int net, data, enable, delay;
};
struct Gate {
  int net, delay;
  std::vector<int> steps;
};

class Simulation {
 public:
  explicit Simulation(const char* path) {
    std::ifstream file(path);
    if (!file) Fail(std::string(path) + ": no such file");
    std::string line, kind;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      words >> kind;
      if (kind == "nets") {
        size_t count = 0;
        words >> count;
        nets_.resize(count);
      } else if (kind == "input") {
        inputs_.push_back({});
        words >> inputs_.back().net >> inputs_.back().delay;
      } else if (kind == "back") {
        backs_.push_back({});
        words >> backs_.back().net >> backs_.back().source >> backs_.back().shift >>
            backs_.back().delay;
      } else if (kind == "register") {
        registers_.push_back({});
        words >> registers_.back().net >> registers_.back().data >> registers_.back().enable >>
            registers_.back().delay;
      } else if (kind == "gate") {
        gates_.push_back({});
        words >> gates_.back().net >> gates_.back().delay;
        gates_.back().steps.assign(std::istream_iterator<int>(words), {});
      } else if (kind == "watch") {
        watched_.push_back(0);
        words >> watched_.back();
      } else {
        Fail(std::string(path) + ": no item is called " + kind);
      }
    }
    if (nets_.size() < 2) Fail(std::string(path) + ": names no nets");
    nets_[1].before = nets_[1].settled = ~Word{};
    for (int pass = 0; pass < 2; ++pass) Settle();
    for (Net& net : nets_) net.before = net.settled;
  }

  void Run(const char* stimulus, const char* output) {
    std::ifstream in(stimulus, std::ios::binary);
    std::ofstream out(output, std::ios::binary);
    std::vector<Word> words(1 + inputs_.size()), seen(watched_.size());
    std::vector<Word> cycles;
    while (in.read(reinterpret_cast<char*>(words.data()),
                   static_cast<std::streamsize>(words.size() * sizeof(Word)))) {
      Clock(words);
      for (int net : watched_) cycles.push_back(nets_[net].settled);
    }
    for (const Net& net : nets_)
      for (uint64_t count : {net.changes, net.settled_changes, net.ones})
        out.write(reinterpret_cast<const char*>(&count), sizeof count);
    out.write(reinterpret_cast<const char*>(cycles.data()),
              static_cast<std::streamsize>(cycles.size() * sizeof(Word)));
    out.close();
    if (!out) Fail(std::string(output) + ": cannot be written");
  }

 private:
  // A step of a gate's function on the top of a stack.
  static void Apply(int step, Word*& top) {
    if (step == -1) {
      top[-1] = ~top[-1];
      return;
    }
    --top;
    if (step == -2) top[-1] &= top[0];
    if (step == -3) top[-1] |= top[0];
    if (step == -4) top[-1] ^= top[0];
  }

  void Settle() {
    Word stack[16];
    for (const Back& back : backs_)
      nets_[back.net].settled = ShiftUp(nets_[back.source].settled, back.shift);
    for (const Gate& gate : gates_) {
      Word* top = stack;
      for (int step : gate.steps) {
        if (step >= 0)
          *top++ = nets_[step].settled;
        else
          Apply(step, top);
      }
      nets_[gate.net].settled = stack[0];
    }
  }

  // A net that steps once, from its old value to its new one.
  void Step(int number, int delay) {
    Net& net = nets_[number];
    net.first = net.end = 0;
    if (!Any(net.before ^ net.settled)) return;
    net.first = delay;
    net.end = delay + 1;
    net.wave = waves_.size();
    waves_.push_back(net.settled);
  }

  void Ripple(const Gate& gate) {
    Net& out = nets_[gate.net];
    out.first = out.end = 0;
    int first = 1 << 30, end = 0;
    for (int step : gate.steps)
      if (step >= 0 && nets_[step].end > nets_[step].first) {
        first = std::min(first, nets_[step].first);
        end = std::max(end, nets_[step].end);
      }
    if (first >= end) return;
    // What the inputs ask for, from `first - delay` to `end + delay`; it is settled from `end - 1`
    // on.
    const int delay = gate.delay, length = end - first + 2 * delay;
    if (all_.size() < static_cast<size_t>(length)) {
      all_.resize(length);
      some_.resize(length);
      stack_.resize(16);
      for (auto& level : stack_) level.clear();
    }
    int depth = 0;
    for (int step : gate.steps) {
      if (step >= 0) {
        auto& level = stack_[depth++];
        if (level.size() < static_cast<size_t>(end - first)) level.resize(end - first);
        const Net& net = nets_[step];
        const int from = net.end > net.first ? std::max(net.first, first) : end;
        const int to = net.end > net.first ? net.end : end;
        for (int t = first; t < from; ++t) level[t - first] = net.before;
        if (from < to)
          std::memcpy(level.data() + (from - first), &waves_[net.wave + (from - net.first)],
                      (to - from) * sizeof(Word));
        for (int t = to; t < end; ++t) level[t - first] = net.settled;
      } else if (step == -1) {
        for (int t = 0; t < end - first; ++t) stack_[depth - 1][t] = ~stack_[depth - 1][t];
      } else {
        --depth;
        Word* left = stack_[depth - 1].data();
        const Word* right = stack_[depth].data();
        if (step == -2)
          for (int t = 0; t < end - first; ++t) left[t] &= right[t];
        if (step == -3)
          for (int t = 0; t < end - first; ++t) left[t] |= right[t];
        if (step == -4)
          for (int t = 0; t < end - first; ++t) left[t] ^= right[t];
      }
    }
    for (int t = 0; t < delay; ++t) all_[t] = out.before;
    std::memcpy(all_.data() + delay, stack_[0].data(), (end - first) * sizeof(Word));
    for (int t = delay + end - first; t < length; ++t) all_[t] = out.settled;
    std::memcpy(some_.data(), all_.data(), length * sizeof(Word));
    // Windows of `delay` steps, by doubling.
    int window = 1;
    while (window < delay) {
      const int more = std::min(window, delay - window);
      for (int t = 0; t + more < length; ++t) {
        all_[t] &= all_[t + more];
        some_[t] |= some_[t + more];
      }
      window += more;
    }
    // Entry t holds the steps from `first - delay + t` on; they make the value in step `first + t`.
    Word value = out.before;
    const size_t wave = waves_.size();
    int begin = -1, last = 0;
    for (int t = 0; t <= end - first + delay - 1; ++t) {
      const Word next = all_[t] | (value & some_[t]);
      const Word change = next ^ value;
      if (Any(change)) {
        if (begin < 0) begin = t;
        last = t;
        out.changes += Count(change & counted_);
      }
      value = next;
      if (begin >= 0) waves_.push_back(value);
    }
    if (Any(value ^ out.settled)) Fail("a gate does not settle");
    if (begin < 0) return;
    waves_.resize(wave + last - begin + 1);
    out.wave = wave;
    out.first = first + begin;
    out.end = first + last + 1;
  }

  void Clock(const std::vector<Word>& words) {
    counted_ = words[0];
    waves_.clear();
    std::vector<Word> next(registers_.size());
    for (size_t i = 0; i < registers_.size(); ++i) {
      const Register& r = registers_[i];
      const Word enable = r.enable < 0 ? ~Word{} : nets_[r.enable].settled;
      next[i] = (nets_[r.data].settled & enable) | (nets_[r.net].settled & ~enable);
    }
    for (Net& net : nets_) net.before = net.settled;
    for (size_t i = 0; i < registers_.size(); ++i) nets_[registers_[i].net].settled = next[i];
    for (size_t i = 0; i < inputs_.size(); ++i) nets_[inputs_[i].net].settled = words[1 + i];
    Settle();
    if (!backs_.empty()) Settle();

    auto step = [&](int net, int delay) {
      Step(net, delay);
      nets_[net].changes += Count((nets_[net].before ^ nets_[net].settled) & counted_);
    };
    for (const Register& r : registers_) step(r.net, r.delay);
    for (const Input& input : inputs_) step(input.net, input.delay);
    for (const Back& back : backs_) step(back.net, back.delay);
    for (const Gate& gate : gates_) Ripple(gate);
    for (Net& net : nets_) {
      net.settled_changes += Count((net.before ^ net.settled) & counted_);
      net.ones += Count(net.settled & counted_);
    }
  }

  std::vector<Net> nets_;
  std::vector<Input> inputs_;
  std::vector<Back> backs_;
  std::vector<Register> registers_;
  std::vector<Gate> gates_;
  std::vector<int> watched_;
  std::vector<Word> waves_, all_, some_;
  std::vector<std::vector<Word>> stack_;
  Word counted_{};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) Fail("takes NETLIST STIMULUS OUTPUT");
  Simulation simulation(argv[1]);
  simulation.Run(argv[2], argv[3]);
  return 0;
}
