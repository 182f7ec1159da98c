// SPDX-License-Identifier: Apache-2.0
#include "sim/web/work.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <optional>
#include <random>
#include <utility>

#include "host/tiling/packing.hpp"
#include "host/util/error.hpp"

namespace gemm64::web {
namespace {

using Json = nlohmann::json;

// What a person can look at, and a page's memory can hold.
constexpr int kMostSize = 512;

int number(const Json& said, const char* name, int least, int most, int otherwise) {
  if (!said.contains(name)) return otherwise;
  const Json& value = said.at(name);
  if (!value.is_number_integer() || value.get<double>() < least || value.get<double>() > most) {
    throw UsageError(fmt::format("{} is {}; give a whole number from {} to {}", name, value.dump(),
                                 least, most));
  }
  return value.get<int>();
}

MatrixI8 drawn(Eigen::Index rows, Eigen::Index columns, std::mt19937& random) {
  MatrixI8 matrix(rows, columns);
  for (Eigen::Index i = 0; i < matrix.size(); ++i) {
    matrix.data()[i] = static_cast<std::int8_t>(random() >> 24);
  }
  return matrix;
}

/// The rows of numbers under `name`, or random ones.
MatrixI8 matrix(const Json& said, const char* name, Eigen::Index rows, Eigen::Index columns,
                std::mt19937& random) {
  if (!said.contains(name)) return drawn(rows, columns, random);
  const Json& lines = said.at(name);
  const auto wrong = [&](const std::string& what) {
    return UsageError(fmt::format("{} {}; give {} rows of {} whole numbers from -128 to 127", name,
                                  what, rows, columns));
  };
  if (!lines.is_array() || static_cast<Eigen::Index>(lines.size()) != rows) {
    throw wrong(fmt::format("has {} rows", lines.size()));
  }
  MatrixI8 matrix(rows, columns);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const Json& line = lines[static_cast<std::size_t>(r)];
    if (!line.is_array() || static_cast<Eigen::Index>(line.size()) != columns) {
      throw wrong(fmt::format("has {} numbers in row {}", line.size(), r + 1));
    }
    for (Eigen::Index c = 0; c < columns; ++c) {
      const Json& value = line[static_cast<std::size_t>(c)];
      if (!value.is_number_integer() || value.get<double>() < -128 || value.get<double>() > 127) {
        throw wrong(fmt::format("has {} in row {}, column {}", value.dump(), r + 1, c + 1));
      }
      matrix(r, c) = static_cast<std::int8_t>(value.get<int>());
    }
  }
  return matrix;
}

/// Sums as they are, or 8-bit results that most sums of `k` random products fall into.
Output output_of(const Json& said) {
  const std::string results = said.value("results", "int32");
  if (results == "int32") return {};
  if (results != "int8") {
    throw UsageError(fmt::format("results are '{}'; they can be int32 or int8", results));
  }
  return {ResultFormat(ResultCode::kInt8), 0, -128, 127};
}

void draw_parameters(Operands& operands, std::uint64_t k, std::uint64_t n, std::mt19937& random) {
  const float deviation = 5476 * std::sqrt(static_cast<float>(k));  // of a random int8 product
  for (std::uint64_t i = 0; i < n; ++i) {
    operands.bias.push_back(static_cast<std::int32_t>(random()) >> 18);
    operands.scale.push_back(48 / deviation * (1 + static_cast<float>(random() % 100) / 400));
  }
}

Convolution convolution_of(const Json& said) {
  Convolution made;
  const auto size = [&said](const char* name, int least, int most, int otherwise) {
    return static_cast<std::uint32_t>(number(said, name, least, most, otherwise));
  };
  made.channels = size("channels", 1, 64, 4);
  made.out_channels = size("out_channels", 1, 64, 4);
  made.height = size("height", 1, 32, 6);
  made.width = size("width", 1, 32, 6);
  made.kernel_height = made.kernel_width = size("kernel", 1, 7, 3);
  made.stride_height = made.stride_width = size("stride", 1, 4, 1);
  made.pad_top = made.pad_left = size("pad", 0, 6, 1);
  if (made.pad_top >= made.kernel_height) {
    throw UsageError(fmt::format("pad is {} and the kernel {}x{}; give a pad below {}",
                                 made.pad_top, made.kernel_height, made.kernel_height,
                                 made.kernel_height));
  }
  const auto out = [&](std::uint32_t in) -> std::uint32_t {
    if (in + 2 * made.pad_top < made.kernel_height) {
      throw UsageError(fmt::format("a kernel of {0}x{0} does not fit a map of {1}x{2} with pad {3}",
                                   made.kernel_height, made.height, made.width, made.pad_top));
    }
    return (in + 2 * made.pad_top - made.kernel_height) / made.stride_height + 1;
  };
  made.out_height = out(made.height);
  made.out_width = out(made.width);
  return made;
}

Work product(const Json& said, const Geometry& geometry, std::mt19937& random) {
  const auto size = [&said](const char* name) {
    return static_cast<std::uint64_t>(number(said, name, 1, kMostSize, 8));
  };
  const GemmShape shape = {size("m"), size("k"), size("n")};
  const std::string place = said.value("accumulate", "device");
  if (place != "device" && place != "host") {
    throw UsageError(fmt::format("accumulate is '{}'; it can be device or host", place));
  }
  const Output output = output_of(said);
  Work work;
  work.list = make_job_program(
      {make_job("product", shape, place == "host" ? Accumulate::kHost : Accumulate::kDevice,
                geometry, output)},
      geometry);
  const auto index = [](std::uint64_t value) { return static_cast<Eigen::Index>(value); };
  Operands operands;
  operands.activations = matrix(said, "a", index(shape.m), index(shape.k), random);
  operands.weights = matrix(said, "w", index(shape.n), index(shape.k), random);
  if (output.format.takes_parameters()) draw_parameters(operands, shape.k, shape.n, random);
  work.operands.push_back(std::move(operands));
  return work;
}

Operands convolution_operands(const Json& said, const Convolution& convolution, bool has_source,
                              bool narrow, std::mt19937& random) {
  const auto index = [](std::uint64_t value) { return static_cast<Eigen::Index>(value); };
  Operands operands;
  const Eigen::Index k = index(std::uint64_t{convolution.channels} * convolution.taps());
  if (!has_source) {
    operands.activations =
        matrix(said, "a", index(convolution.pixels()), index(convolution.channels), random);
  }
  operands.weights =
      matrix(has_source ? Json::object() : said, "w", index(convolution.out_channels), k, random);
  if (narrow) {
    draw_parameters(operands, static_cast<std::uint64_t>(k), convolution.out_channels, random);
  }
  return operands;
}

/// Results to which what entered is added, each as it is, in the element-wise unit.
Output adding(const Output& output) {
  const auto byte = [](int value) { return static_cast<std::uint32_t>(value) & 0xff; };
  constexpr std::uint32_t kOne = 0x3f800000;  // float32
  StoreCommand store;
  store.add = 1;
  store.result_scale = store.operand_scale = kOne;
  store.function_min = byte(output.low);
  store.function_max = byte(output.high);
  Output made = output;
  made.vector = store;
  return made;
}

enum class Next { kNothing, kConvolution, kResidual };

Work convolutions(const Json& said, Next next, const Geometry& geometry, std::mt19937& random) {
  const bool chain = next != Next::kNothing;
  const Convolution first = convolution_of(said);
  if (next == Next::kResidual &&
      (first.out_height != first.height || first.out_width != first.width)) {
    throw UsageError(fmt::format(
        "a map of {}x{} becomes one of {}x{}, to which what entered cannot be added; give stride 1 "
        "and a pad of half the kernel, which is odd",
        first.height, first.width, first.out_height, first.out_width));
  }
  Json as_said = said;
  if (chain) as_said["results"] = "int8";
  const Output output = output_of(as_said);
  std::vector<Job> jobs = {make_job("convolution", first, geometry, output)};
  Work work;
  work.operands.push_back(
      convolution_operands(said, first, false, output.format.takes_parameters(), random));
  if (chain) {
    Convolution second = first;
    second.channels = first.out_channels;
    second.height = first.out_height;
    second.width = first.out_width;
    second.stride_height = second.stride_width = 1;
    second.kernel_height = second.kernel_width = 1;
    second.pad_top = second.pad_left = 0;
    second.out_height = second.height;
    second.out_width = second.width;
    if (next == Next::kResidual) second.out_channels = first.channels;
    Job job = make_job("second convolution", second, geometry,
                       next == Next::kResidual ? adding(output) : output);
    job.source = 0;
    jobs.push_back(std::move(job));
    work.operands.push_back(convolution_operands(said, second, true, true, random));
    if (next == Next::kResidual) work.operands[1].second = work.operands[0].activations;
  }
  work.list = make_job_program(jobs, geometry);
  return work;
}

/// Each channel for itself, on the lanes.
Work on_lanes(const Json& said, LaneSum sum, const Geometry& geometry, std::mt19937& random) {
  Json as_said = said;
  as_said["out_channels"] = number(said, "channels", 1, 64, 4);
  Convolution convolution = convolution_of(as_said);
  convolution.groups = convolution.channels;
  const bool pool = sum == LaneSum::kMaximum;
  if (pool) convolution.zero = -128;  // nothing is less
  const Output output = output_of(as_said);
  std::optional<Job> job =
      make_lanes_job(pool ? "pool" : "depthwise convolution", convolution, geometry, output, sum);
  if (!job) {
    throw UsageError(fmt::format(
        "the lanes cannot run a map {} wide with a kernel of {} and a pad of {}; give a width of 2 "
        "or more, and a pad of less than half the kernel, or half of an odd one",
        convolution.width, convolution.kernel_height, convolution.pad_top));
  }
  const auto index = [](std::uint64_t value) { return static_cast<Eigen::Index>(value); };
  const auto taps = pool ? 0 : convolution.taps();
  Operands operands;
  operands.activations =
      matrix(said, "a", index(convolution.pixels()), index(convolution.channels), random);
  operands.weights = pool ? MatrixI8(index(convolution.channels), 0)
                          : matrix(said, "w", index(convolution.channels), index(taps), random);
  if (output.format.takes_parameters() && pool) {  // the largest value as it is
    operands.bias.assign(convolution.channels, 0);
    operands.scale.assign(convolution.channels, 1.0F);
  } else if (output.format.takes_parameters()) {
    draw_parameters(operands, taps, convolution.channels, random);
  }
  Work work;
  work.list = make_job_program({*std::move(job)}, geometry);
  work.operands.push_back(std::move(operands));
  return work;
}

/// Convolutions of 8-bit results, each after the other; every number is given.
Work network(const Json& said, const Geometry& geometry, std::mt19937& random) {
  std::vector<Job> jobs;
  Work work;
  Json input = said;  // of the next layer
  input["channels"] = 1;
  for (const Json& layer : said.at("layers")) {
    const Json& weights = layer.at("weights");
    for (const char* name : {"kernel", "stride", "pad"}) input[name] = layer.at(name);
    input["out_channels"] = weights.size();
    const Convolution convolution = convolution_of(input);
    const int low = number(layer, "low", -128, 127, -128);
    Job job = make_job(fmt::format("layer {}", jobs.size() + 1), convolution, geometry,
                       {ResultFormat(ResultCode::kInt8), 0, low, 127});
    if (!jobs.empty()) job.source = jobs.size() - 1;
    jobs.push_back(std::move(job));
    const auto index = [](std::uint64_t value) { return static_cast<Eigen::Index>(value); };
    Operands operands;
    if (work.operands.empty()) {
      operands.activations = matrix(said, "a", index(convolution.pixels()), 1, random);
    }
    operands.weights =
        matrix({{"w", weights}}, "w", index(convolution.out_channels),
               index(std::uint64_t{convolution.channels} * convolution.taps()), random);
    operands.bias = layer.at("bias").get<std::vector<std::int32_t>>();
    operands.scale = layer.at("scale").get<std::vector<float>>();
    work.operands.push_back(std::move(operands));
    input["channels"] = convolution.out_channels;
    input["height"] = convolution.out_height;
    input["width"] = convolution.out_width;
  }
  if (jobs.empty()) throw UsageError("the network has no layers; give at least one");
  work.list = make_job_program(jobs, geometry);
  return work;
}

Work of_kind(const Json& said, const Geometry& geometry) {
  std::mt19937 random(static_cast<std::uint32_t>(number(said, "seed", 0, 1000000000, 1)));
  const std::string kind = said.value("kind", "product");
  if (kind == "product") return product(said, geometry, random);
  if (kind == "convolution") return convolutions(said, Next::kNothing, geometry, random);
  if (kind == "chain") return convolutions(said, Next::kConvolution, geometry, random);
  if (kind == "residual") return convolutions(said, Next::kResidual, geometry, random);
  if (kind == "depthwise") return on_lanes(said, LaneSum::kProducts, geometry, random);
  if (kind == "pool") return on_lanes(said, LaneSum::kMaximum, geometry, random);
  if (kind == "network") return network(said, geometry, random);
  throw UsageError(fmt::format(
      "the work is a '{}'; it can be a product, a convolution, a chain, a residual, a depthwise, a "
      "pool or a network",
      kind));
}

}  // namespace

Work make_work(const Json& said, const Geometry& geometry) {
  Work work = of_kind(said, geometry);
  for (std::size_t i = 0; i < work.operands.size(); ++i) {
    const Job& job = work.list.jobs[i];
    const Operands& operands = work.operands[i];
    work.weights.push_back(pack_weights(job, operands.weights));
    work.parameters.push_back(job.plan.results().takes_parameters()
                                  ? pack_parameters(job, operands.bias, operands.scale)
                                  : std::vector<std::uint8_t>{});
  }
  return work;
}

std::vector<JobOperands> Work::for_driver() const {
  std::vector<JobOperands> made;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    made.push_back({weights[i], operands[i].activations,
                    parameters[i].empty() ? nullptr : &parameters[i],
                    operands[i].second.size() == 0 ? nullptr : &operands[i].second});
  }
  return made;
}

Drawn draw_work(std::uint32_t seed, std::uint32_t array) {
  std::mt19937 random(seed);
  const auto upto = [&random](std::uint32_t most) { return static_cast<int>(1 + random() % most); };
  Drawn drawn;
  Json& work = drawn.work;
  const int most = static_cast<int>(4 * array);
  switch (random() % 6) {
    case 0:
    case 1:
      work = {{"kind", "product"}};
      work["m"] = upto(static_cast<std::uint32_t>(2 * most));
      work["k"] = upto(static_cast<std::uint32_t>(most));
      work["n"] = upto(static_cast<std::uint32_t>(most));
      if (random() % 4 == 0) {
        work["accumulate"] = "host";
      } else if (random() % 2 == 0) {
        work["results"] = "int8";
      }
      break;
    default:
      static constexpr const char* kKinds[] = {"convolution", "chain", "residual", "depthwise",
                                               "pool"};
      const std::string kind = kKinds[random() % std::size(kKinds)];
      work = {{"kind", kind}};
      work["channels"] = upto(2 * array);
      work["out_channels"] = upto(2 * array);
      work["height"] = 3 + upto(7);
      work["width"] = 3 + upto(7);
      work["kernel"] = 1 + static_cast<int>(random() % 3);
      work["stride"] = upto(2);
      work["pad"] = static_cast<int>(random() % 2) * (work["kernel"].get<int>() / 2);
      if (kind == "depthwise" || kind == "pool") {
        // Beyond an even kernel's last sum the lanes would need words of the next plane too soon.
        work["pad"] = (work["kernel"].get<int>() - 1) / 2;
      }
      if (kind == "residual") {
        work["kernel"] = 1 + 2 * static_cast<int>(random() % 3);
        work["stride"] = 1;
        work["pad"] = work["kernel"].get<int>() / 2;
      }
      if (random() % 2 == 0) work["results"] = "int8";
      break;
  }
  work["seed"] = static_cast<int>(random() % 1000000);
  drawn.memory.latency = static_cast<std::uint32_t>(upto(150));
  drawn.memory.sharing = static_cast<MemorySharing>(random() % 3);
  return drawn;
}

}  // namespace gemm64::web
