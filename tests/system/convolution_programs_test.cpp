// SPDX-License-Identifier: Apache-2.0
// Programs of convolutions and products of which each reads the results of any layer before it:
// values, bytes and cycles.
#include "tests/system/convolution_programs.hpp"

namespace gemm64::system_test {
namespace {

struct Setting {
  int n;
  double stalls;
  unsigned bytes_per_cycle;
  bool tight;
};

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << (setting.tight ? "TightN" : "N") << setting.n << (setting.stalls > 0 ? "Stalling" : "")
       << (setting.bytes_per_cycle != 0 ? "Throttled" : "");
}

class ConvolutionPrograms : public testing::TestWithParam<Setting> {
 protected:
  static Rig rig() {
    const Setting& setting = GetParam();
    RtlOptions options = Rig::options(setting.n, setting.stalls, 3, setting.bytes_per_cycle);
    options.tight = setting.tight;
    return Rig(options);
  }
};

/// Layers of which most read the results of another one. `tight`: some may not fit the scratchpad.
std::vector<ProgramPart> random_layers(std::mt19937& random, const Geometry& geometry, bool tight) {
  const unsigned channels = geometry.n * draw(random, 1, 6);
  ProgramParts program(random, geometry);
  std::vector<std::optional<Convolution>> layers;  // none: a product, whose results none reads
  const unsigned count = draw(random, 2, 7);
  while (layers.size() < count) {
    std::vector<std::size_t> sources;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (layers[i]) sources.push_back(i);
    }
    // Mostly the layer before; else any other, or none.
    std::optional<std::size_t> source;
    if (!sources.empty() && draw(random, 0, 4) != 0) {
      source = draw(random, 0, 2) != 0 ? sources.back() : sources[random() % sources.size()];
    }
    try {
      if (source && draw(random, 0, 5) == 0) {
        const Convolution& c = *layers[*source];
        program.add(GemmShape{c.out_pixels(), c.out_channels, draw(random, 1, channels)},
                    random_output(random), source);
        layers.emplace_back();
      } else {
        const Convolution c =
            source ? convolution_behind(random, *layers[*source], channels, 12, 400'000)
                   : random_convolution(random, channels, 12, 400'000);
        program.add(c, int8_output(random), source);
        layers.push_back(c);
      }
    } catch (const UsageError&) {
      EXPECT_TRUE(tight);
    }
  }
  return program.parts;
}

TEST_P(ConvolutionPrograms, AreExact) {
  Rig rig = this->rig();
  for_seeds(3100, 40, [&](std::mt19937& random) {
    rig.set_latency(draw(random, 1, 150));
    expect_program(rig, random_layers(random, rig.driver.geometry(), GetParam().tight));
  });
}

/// The number of layers whose results stay in the tensor memory, and of those whose do not for lack
/// of space. The memory seems to have `words` at most.
std::pair<unsigned, unsigned> expect_on_chip(Rig& rig, unsigned seed, std::uint32_t words) {
  unsigned on_chip = 0, spilled = 0;
  for_all_seeds(seed, 15, [&](std::mt19937& random) {
    rig.set_latency(draw(random, 1, 150));
    Geometry geometry = rig.driver.geometry().with_tensor_memory();
    std::vector<ProgramPart> parts = random_layers(random, geometry, false);
    for (const ProgramPart& part : parts) {
      if (part.job.source) parts[*part.job.source].job.internal = random() % 8 != 0;
    }
    geometry.tensor_words = std::min(geometry.tensor_words, words);
    expect_program(rig, parts, geometry);
    for (const TensorPlace& place : jobs_of(parts, geometry).places) {
      on_chip += place.word ? 1 : 0;
      spilled += place.why.find("no space") == 0 || place.why.find("it has") == 0 ? 1 : 0;
    }
  });
  return {on_chip, spilled};
}

TEST(TensorPrograms, KeepResultsOnTheChipExactly) {
  for (const int n : {4, 8}) {
    for (const MemorySharing sharing :
         {MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kDram}) {
      for (const double stalls : {0.0, 0.3}) {
        if (stalls != 0 && sharing == MemorySharing::kDram) continue;
        SCOPED_TRACE(fmt::format("N = {}, {}, stalls {}", n, name(sharing), stalls));
        RtlOptions options = Rig::options(n, stalls, 3);
        options.memory.sharing = sharing;
        Rig rig(options);
        const auto [all, none] = expect_on_chip(rig, 3300, ~std::uint32_t{0});
        EXPECT_GT(all, at_least(3));
        const auto [few, spilled] = expect_on_chip(rig, 3340, 120);
        EXPECT_GT(few, at_least(3));
        EXPECT_GT(spilled, at_least(1));
      }
    }
  }
}

TEST_P(ConvolutionPrograms, WithRowsInStripsAreExact) {
  Rig rig = this->rig();
  unsigned strips = 0;
  for_seeds(3200, 20, [&](std::mt19937& random) {
    rig.set_latency(draw(random, 1, 150));
    const unsigned channels = static_cast<unsigned>(GetParam().n) * draw(random, 1, 4);
    ProgramParts program(random, rig.driver.geometry());
    const Convolution first = random_wide_convolution(random, channels, 100'000);
    program.add(first, int8_output(random), {}, true);
    for (unsigned i = 0; i < 3; ++i) {
      Convolution c = first;  // of rows as wide as those that it reads
      c.height = first.out_height;
      c.width = first.out_width;
      c.kernel_height = c.kernel_width = draw(random, 1, 3);
      c.pad_top = c.pad_left = 0;
      c.stride_height = c.stride_width = c.dilation_height = c.dilation_width = 1;
      if (!draw_output(random, c)) continue;
      program.add(c, int8_output(random), draw(random, 0, 1) != 0 ? std::optional(0) : std::nullopt,
                  true);
    }
    for (const ProgramPart& part : program.parts) {
      if (part.job.plan.lanes && part.job.plan.lanes->in_strips()) ++strips;
    }
    expect_program(rig, program.parts);
  });
  EXPECT_GE(strips, at_least(seeds_to_run(9)));
}

/// Calls it for 20 seeds from `first` on, for each array and memory that tensors on chip are tested
/// with.
template <class Function>
void in_memories(unsigned first, Function&& function) {
  for (const int n : {4, 8}) {
    for (const MemorySharing sharing :
         {MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kDram}) {
      for (const double stalls : {0.0, 0.3}) {
        if (stalls != 0 && sharing == MemorySharing::kDram) continue;
        SCOPED_TRACE(fmt::format("N = {}, {}, stalls {}", n, name(sharing), stalls));
        RtlOptions options = Rig::options(n, stalls, 3);
        options.memory.sharing = sharing;
        Rig rig(options);
        for_all_seeds(first, 20, [&](std::mt19937& random) {
          rig.set_latency(draw(random, 1, 150));
          function(rig, random);
        });
      }
    }
  }
}

// Chains of convolutions whose maps exceed the tensor memory.
TEST(TensorPrograms, RunChainsInStripesExactly) {
  unsigned chains = 0;
  in_memories(3400, [&](Rig& rig, std::mt19937& random) {
    Geometry geometry = rig.driver.geometry().with_tensor_memory();
    const unsigned channels = rig.driver.geometry().n * draw(random, 1, 3);
    ProgramParts program(random, geometry);
    Convolution c;
    do {
      c = random_convolution(random, channels, 14, 200'000);
    } while (c.images != 1 || c.out_height < 6);
    for (unsigned i = draw(random, 3, 5); i != 0; --i) {
      const std::size_t before = program.parts.size();
      program.add(c, int8_output(random), before == 0 ? std::nullopt : std::optional(before - 1));
      c = convolution_behind(random, c, channels, 14, 200'000);
    }
    for (ProgramPart& part : program.parts) {
      part.job.internal = &part != &program.parts.back();
    }
    geometry.tensor_words = draw(random, 20, 160);
    expect_program(rig, program.parts, geometry);
    chains += static_cast<unsigned>(jobs_of(program.parts, geometry).stripes.size());
  });
  EXPECT_GT(chains, at_least(15));
}

/// A convolution with the same map as another one's results, perhaps of other channels.
Convolution same_map(std::mt19937& random, const Convolution& of, unsigned channels) {
  Convolution c = of;
  c.channels = of.out_channels;
  c.out_channels = channels;
  c.groups = 1;
  c.height = of.out_height;
  c.width = of.out_width;
  c.kernel_height = c.kernel_width = draw(random, 0, 1) != 0 ? 3 : 1;
  c.pad_top = c.pad_left = c.kernel_height / 2;
  c.stride_height = c.stride_width = c.dilation_height = c.dilation_width = 1;
  c.out_height = c.height;
  c.out_width = c.width;
  return c;
}

// Residual blocks whose maps exceed the tensor memory: additions of maps of the same stripe, of
// earlier ones and of maps in memory, after packed windows of the first layer and a pool or
// depthwise layer.
TEST(TensorPrograms, RunResidualBlocksInStripes) {
  unsigned inner = 0, in_place = 0, products = 0, additions = 0, from_memory = 0;
  in_memories(3500, [&](Rig& rig, std::mt19937& random) {
    Geometry geometry = rig.driver.geometry().with_tensor_memory();
    const auto channels = [&] { return rig.driver.geometry().n * draw(random, 1, 2); };
    ProgramParts program(random, geometry);
    Convolution c;
    c.height = c.out_height = draw(random, 8, 14);
    c.width = c.out_width = draw(random, 4, 10);
    c.channels = c.out_channels = channels();
    if (draw(random, 0, 1) != 0) {
      program.add(GemmShape{c.out_pixels(), draw(random, 1, 2 * channels()), c.out_channels},
                  int8_output(random), {});
    } else {
      program.add(c, int8_output(random), {}, false);
    }
    if (draw(random, 0, 1) != 0 && program.parts[0].job.plan.convolution() != nullptr) {
      program.add_maximum(0);
      c = *program.parts[1].job.plan.convolution();
    }
    std::size_t map = program.parts.size() - 1;
    for (unsigned i = draw(random, 1, 4); i != 0; --i) {
      Convolution next = same_map(random, c, channels());
      program.add(next, int8_output(random), map, false);
      std::size_t operand = map;
      const unsigned shape = draw(random, 0, 3);
      if (shape == 0) {  // a layer on both branches
        operand = program.parts.size();
        program.add(same_map(random, c, next.out_channels), int8_output(random), map, false);
      }
      Convolution last = same_map(random, next, shape == 1 ? c.out_channels : next.out_channels);
      if (shape == 3) {
        program.add_with_operand(last, program.parts.size() - 1, {});
      } else if (shape != 2) {
        program.add_with_operand(last, shape == 0 ? operand - 1 : program.parts.size() - 1,
                                 operand);
      } else {
        program.add(last, int8_output(random), program.parts.size() - 1, false);
      }
      c = last;
      map = program.parts.size() - 1;
    }
    for (ProgramPart& part : program.parts) {
      part.job.internal = &part != &program.parts.back();
    }
    geometry.tensor_words = draw(random, 40, 240);
    expect_program(rig, program.parts, geometry);
    for (const JobStripes& group : jobs_of(program.parts, geometry).stripes) {
      for (std::size_t i = group.first; i <= group.last; ++i) {
        inner += group.is_inner(i) ? 1 : 0;
        in_place += group.in_place[i - group.first] ? 1 : 0;
        additions += program.parts[i].job.operand ? 1 : 0;
        from_memory += program.parts[i].second.size() != 0 ? 1 : 0;
        products += program.parts[i].job.plan.convolution() == nullptr ? 1 : 0;
      }
    }
  });
  EXPECT_GT(inner, at_least(60));
  EXPECT_GT(additions, at_least(20));
  EXPECT_GT(from_memory, at_least(5));
  EXPECT_GT(in_place, at_least(5));
  EXPECT_GT(products, at_least(10));
}

// Enlarged maps of more words than the scratchpad has, whose reader begins before their end.
TEST(RepeatedPixels, OfLargeMapsAreExact) {
  RtlOptions options = Rig::options(4, 0, 3);
  options.tight = true;
  Rig rig(options);
  const Geometry geometry = rig.driver.geometry();
  unsigned cut = 0, larger = 0;
  for_all_seeds(3600, 60, [&](std::mt19937& random) {
    rig.set_latency(draw(random, 1, 150));
    ProgramParts program(random, geometry);
    Convolution c;
    c.height = c.out_height = draw(random, 4, 12);
    c.width = c.out_width = draw(random, 2, 10);
    c.channels = geometry.n;
    c.out_channels = geometry.n * draw(random, 1, 2);
    program.add(c, int8_output(random), {}, false);
    program.add_repeated(0, {draw(random, 1, 3), draw(random, 1, 3)});
    const Convolution map = *program.parts[1].job.plan.convolution();
    Convolution next = same_map(random, map, geometry.n);
    next.kernel_height = next.kernel_width = 1;
    next.pad_top = next.pad_left = 0;
    program.add(next, int8_output(random), 1, false);
    expect_program(rig, program.parts);
    for (const CommandOrigin& origin : jobs_of(program.parts, geometry).origins) {
      cut += origin.parts_job && origin.job == 1 ? 1 : 0;
    }
    larger += map.out_pixels() > geometry.scratchpad_words ? 1 : 0;
  });
  EXPECT_GT(cut, at_least(10));
  EXPECT_GT(larger, at_least(10));
}

INSTANTIATE_TEST_SUITE_P(Settings, ConvolutionPrograms,
                         testing::Values(Setting{2, 0, 0, false}, Setting{4, 0, 0, false},
                                         Setting{4, 0.3, 0, false}, Setting{8, 0, 0, false},
                                         Setting{8, 0, 5, false}, Setting{8, 0.4, 0, false},
                                         Setting{4, 0, 0, true}, Setting{4, 0.3, 0, true}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace gemm64::system_test
