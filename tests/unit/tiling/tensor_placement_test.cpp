// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/tensor_placement.hpp"

#include "host/tiling/job_program.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

constexpr std::uint32_t kN = 8;

Geometry with_words(std::uint32_t words) {
  Geometry geometry;
  geometry.n = kN;
  geometry.tensor_memory = true;
  geometry.tensor_words = words;
  return geometry;
}

/// A job of one tile of columns.
struct Work {
  std::uint64_t words = 1;  // of its results: rows
  std::optional<std::size_t> source = {}, operand = {};
  bool internal = true;
  std::uint64_t depth = 1;   // tiles of K: it reads `words` words of its source for each
  bool broadcasts = false;   // its operand has one row
  std::uint64_t map_at = 0;  // it is this row and those after it of a map of `map_rows`
  std::uint64_t map_rows = 0;
};

/// The host reads what it makes of another job's results.
Work reader(std::size_t source, std::uint64_t depth = 1) { return {1, source, {}, false, depth}; }

Job job_of(const Work& work) {
  Output output;
  output.format = ResultFormat(ResultCode::kInt8);
  output.low = -128;
  output.high = 127;
  if (work.operand) {
    output.vector = StoreCommand{};
    output.vector->add = 1;
    output.vector->broadcast = work.broadcasts ? 1 : 0;
  }
  if (work.map_rows != 0) output.part = ResultPart{0, kN, work.map_at, work.map_rows};
  Job job = make_job("job", {work.words, kN * work.depth, kN}, Accumulate::kDevice, with_words(64),
                     output);
  job.source = work.source;
  job.operand = work.operand;
  job.internal = work.internal;
  if (work.map_rows != 0) job.map = 1;
  return job;
}

constexpr int kNone = -1;

/// The first word of each job's results; kNone: they are in memory.
std::vector<int> words_of(const std::vector<Work>& works, std::uint32_t words,
                          const std::vector<JobStripes>& stripes = {}) {
  std::vector<Job> jobs;
  for (const Work& work : works) jobs.push_back(job_of(work));
  std::vector<int> found;
  for (const TensorPlace& place : place_tensors(jobs, with_words(words), stripes)) {
    found.push_back(place.word ? static_cast<int>(*place.word) : kNone);
  }
  return found;
}

struct PlacedCase {
  const char* name;
  std::uint32_t words;
  std::vector<Work> works;
  std::vector<int> expected;
  std::vector<JobStripes> stripes = {};
};

void check(const std::vector<PlacedCase>& cases) {
  for (const PlacedCase& one : cases) {
    EXPECT_EQ(words_of(one.works, one.words, one.stripes), one.expected) << one.name;
  }
}

TEST(TensorPlacement, TakesTheSmallestGapThatFits) {
  // Those of 6, 2, 4 and 2 words are placed in this order; then those of 6 and 4 are free again.
  const std::vector<Work> works = {{6},           {2}, {4},       {2},           reader(0, 200),
                                   reader(2, 40), {4}, reader(6), reader(1, 60), reader(3, 20)};
  // Another one while that of 4 words is used again.
  std::vector<Work> two = works;
  two[6].depth = 2;
  two.insert(two.begin() + 7, {4});
  two[8] = reader(6, 9);
  two.insert(two.begin() + 9, reader(7));
  check({{"gaps of 6, 4 and 6 words", 20, works, {0, 6, 8, 12, -1, -1, 8, -1, -1, -1}},
         {"gaps of 6, 4 and 4", 18, works, {0, 6, 8, 12, -1, -1, 8, -1, -1, -1}},
         {"then of 6 and 4", 18, two, {0, 6, 8, 12, -1, -1, 8, 14, -1, -1, -1, -1}},
         {"no gaps", 3, {{1}, {1}, {1}, reader(0), reader(1), reader(2)}, {0, 1, 2, -1, -1, -1}}});
}

TEST(TensorPlacement, CountsWordsOfAllTiles) {
  const auto words_of_columns = [](std::uint64_t columns, std::uint32_t words) {
    std::vector<Job> jobs = {job_of({4}), job_of(reader(0))};
    jobs[0].plan.shape.n = columns;
    return place_tensors(jobs, with_words(words))[0].text();
  };
  EXPECT_EQ(words_of_columns(17, 12), "scratchpad");
  EXPECT_EQ(words_of_columns(17, 11), "memory: it has 12 words, the tensor memory 11");
  EXPECT_EQ(words_of_columns(16, 8), "scratchpad");
}

TEST(TensorPlacement, FreesWordsAfterTheLastRead) {
  check({{"of one reader", 8, {{8}, reader(0), {8}, reader(2)}, {0, -1, 0, -1}},
         {"a second one", 8, {{8}, reader(0), {8}, reader(2), reader(0)}, {0, -1, -1, -1, -1}},
         {"in the job that writes", 8, {{8}, {8, 0}, reader(1)}, {0, -1, -1}}});
}

// In each case only one of the orders saves as much.
TEST(TensorPlacement, TakesTheOrderThatSavesMost) {
  check({{"by reads of a word and job",
          8,
          {{8}, {6}, reader(1), {6}, reader(3), reader(0, 5)},
          {-1, 0, -1, 0, -1, -1}},
         {"by reads of a word",
          8,
          {{8}, {8}, {2}, reader(2), reader(0), reader(1, 10)},
          {-1, 0, -1, -1, -1, -1}},
         {"by words", 8, {{2}, {8}, reader(0, 5), reader(1, 20)}, {-1, 0, -1, -1}},
         {"by the first job",
          8,
          {{4}, {4}, {6}, reader(0, 5), reader(1, 5), reader(2, 10)},
          {0, 4, -1, -1, -1, -1}}});
}

TEST(TensorPlacement, ReplacesOperandsReadLast) {
  check({{"with space left", 24, {{8}, {8}, {8, 1, 0}, reader(2)}, {8, 0, 8, -1}},
         {"of a sum", 16, {{8}, {8}, {8, 1, 0}, reader(2)}, {8, 0, 8, -1}},
         {"a later job reads it",
          16,
          {{8}, {8}, {8, 1, 0}, reader(2), reader(0)},
          {0, 8, -1, -1, -1}},
         {"it is the source, too", 8, {{8}, {8, 0, 0}, reader(1)}, {0, -1, -1}},
         {"it has more words", 16, {{8}, {8}, {4, 1, 0}, reader(2)}, {0, 8, -1, -1}},
         {"a row for all", 16, {{8}, {8}, {8, 1, 0, true, 1, true}, reader(2)}, {-1, 0, 8, -1}},
         {"of two parts of a map",
          16,
          {{8}, {8}, {4, 1, 0, true, 1, false, 0, 8}, {4, 1, {}, true, 1, false, 4, 8}, reader(3)},
          {8, 0, -1, -1, -1}}});
}

// The operand lives in jobs 0 and 1, the sum in 1 to 4; what all jobs from 3 on read is worth more.
TEST(TensorPlacement, PlacesAnOperandWithoutItsSum) {
  check(
      {{"of 8 words", 8, {{8}, {8, {}, 0}, {8}, reader(2, 1000), reader(1)}, {0, -1, 0, -1, -1}}});
}

TEST(TensorPlacement, KeepsMapsFromTheirFirstPart) {
  const Work first{4, {}, {}, true, 1, false, 0, 8}, second{4, {}, {}, true, 1, false, 4, 8};
  check({{"only writers", 8, {first, second, reader(1)}, {0, 0, -1}},
         {"read by its first part",
          8,
          {first, second, {8}, reader(2), reader(0)},
          {-1, -1, 0, -1, -1}},
         {"another tensor between its parts",
          8,
          {first, {8}, reader(1, 100), second, reader(3)},
          {-1, 0, -1, -1, -1}}});
}

TEST(TensorPlacement, OfStripesNeedsTheirRowsOnly) {
  const auto stripes = [](std::size_t first, std::vector<std::uint64_t> words,
                          std::vector<bool> in_place = {}) {
    in_place.resize(words.size());
    return std::vector{JobStripes{first, first + words.size() - 1, words, in_place}};
  };
  const std::vector<Work> chain = {{16}, {16, 0}, {16, 1, {}, false}};
  const std::vector<Work> sum = {{16}, {16, {}, 0}, {16, 1, {}, false}};
  check({{"two inner maps", 4, chain, {0, 2, -1}, stripes(0, {2, 2, 0})},
         {"three, each as long as it is read",
          4,
          {{16}, {16, 0}, {16, 1}, {16, 2, {}, false}},
          {0, 2, 0, -1},
          stripes(0, {2, 2, 2, 0})},
         {"the larger one first", 6, chain, {4, 0, -1}, stripes(0, {2, 4, 0})},
         {"in place", 4, sum, {0, 0, -1}, stripes(0, {4, 4, 0}, {false, true, false})},
         {"not in place", 8, sum, {0, 4, -1}, stripes(0, {4, 4, 0})},
         {"before what saves more",
          4,
          {{4}, {16, 0}, {16, 1, {}, false}, reader(0, 1000)},
          {-1, 0, -1, -1},
          stripes(1, {2, 0})}});
}

// Each stripe reads the map that enters its group, and writes rows of the one that leaves it.
TEST(TensorPlacement, KeepsWholeMapsWhileGroupsRun) {
  check({{"enters",
          6,
          {{2}, {16, 0}, {16, 1}, {16, 2, {}, false}},
          {4, 0, 2, -1},
          {{1, 3, {2, 2, 0}, {false, false, false}}}},
         {"leaves",
          6,
          {{16}, {16, 0}, {2, 1}, reader(2)},
          {0, 2, 4, -1},
          {{0, 2, {2, 2, 0}, {false, false, false}}}}});
}

TEST(TensorPlacement, ReportsWhyResultsAreInMemory) {
  const auto text_of = [](const Work& work, std::uint32_t words,
                          std::optional<ResultPart> part = std::nullopt) {
    std::vector<Job> jobs = {job_of(work), job_of(reader(0))};
    jobs[0].plan.output.part = part;
    return place_tensors(jobs, with_words(words))[0].text();
  };
  EXPECT_EQ(text_of({8}, 8), "scratchpad");
  EXPECT_EQ(text_of({9}, 8), "memory: it has 9 words, the tensor memory 8");
  EXPECT_EQ(text_of({8, {}, {}, false}, 8), "memory: the host reads it");
  EXPECT_EQ(text_of({4}, 8, ResultPart{8, 16}), "scratchpad");
  EXPECT_EQ(text_of({4}, 8, ResultPart{3, 16}), "memory: a word holds channels of several layers");
  EXPECT_EQ(place_tensors({job_of({8})}, with_words(8))[0].text(), "memory: no layer reads it");
}

/// Two writers and a reader of 8 words from word 4 on.
class TensorWordsTest : public testing::Test {
 protected:
  TensorWordsTest() {
    list_.jobs.resize(3);
    list_.jobs[0].name = "a";
    list_.jobs[1].name = "b";
    list_.jobs[2].name = "reader";
    list_.jobs[2].source = 0;
  }

  static std::uint64_t address(std::uint64_t word) {
    return with_words(16).tensor_base() + word * kN;
  }
  void add(std::size_t job, const Command& command) {
    list_.program.push_back(command);
    list_.origins.push_back({job, 0});
  }
  void store(std::size_t job, std::uint64_t word, std::uint32_t rows, std::uint32_t count = 1,
             std::uint32_t stride = 0, std::uint32_t blocks = 1) {
    StoreCommand command;
    command.rows = rows;
    command.count = count;
    command.stride = stride;
    command.blocks = blocks;
    command.address = address(word);
    add(job, command);
  }
  void load(std::uint64_t word, std::uint32_t rows, Opcode opcode = Opcode::kLoadActivations) {
    Command command;
    command.opcode = opcode;
    command.rows = rows;
    command.count = command.blocks = 1;
    command.set_address(address(word));
    add(2, command);
  }
  std::string refusal() const {
    return message_of<std::invalid_argument>([&] { check_tensor_words(list_, with_words(16)); });
  }

  JobProgram list_;
};

constexpr const char* kNotThere = "the tensor that it reads is not there";

TEST_F(TensorWordsTest, MayReachTheEndButNotPassIt) {
  store(0, 8, 8);
  EXPECT_EQ(refusal(), "");
  store(0, 9, 8);
  EXPECT_THAT(refusal(), Says("'a', command 1 (STORE", "passes the end of the tensor memory"));
}

TEST_F(TensorWordsTest, AreThoseThatTheSourceStored) {
  store(0, 4, 8);
  load(4, 8);
  EXPECT_EQ(refusal(), "");
  load(5, 8);
  EXPECT_THAT(refusal(), Says("'reader', command 2 (LOAD_ACTIVATIONS", kNotThere)) << "one word";
  list_.program.pop_back();
  list_.origins.pop_back();
  store(1, 11, 1);
  load(4, 8);
  EXPECT_THAT(refusal(), Says("command 3", kNotThere)) << "the last word is another job's";
}

TEST_F(TensorWordsTest, OfSeveralTilesHaveGaps) {
  // Blocks of 2 rows at 0 and 2, of tiles that are 8 words apart.
  store(0, 0, 2, 2, 8, 2);
  load(0, 4);
  load(8, 4);
  EXPECT_EQ(refusal(), "");
  for (const std::uint64_t word : {4, 7, 12}) {
    load(word, 1);
    EXPECT_THAT(refusal(), Says("command 3", kNotThere)) << word;
    list_.program.pop_back();
    list_.origins.pop_back();
  }
}

TEST_F(TensorWordsTest, OfOperandsAreOfTheirOwnJob) {
  store(0, 0, 4);
  store(1, 4, 4);
  list_.jobs[2].operand = 1;
  load(0, 4);
  load(4, 4, Opcode::kLoadOperands);
  EXPECT_EQ(refusal(), "");
  load(0, 4, Opcode::kLoadOperands);
  EXPECT_THAT(refusal(), Says("command 4 (LOAD_OPERANDS", kNotThere));
  list_.jobs[2].operand.reset();
  EXPECT_THAT(refusal(), Says("command 3 (LOAD_OPERANDS", kNotThere)) << "it has no operand";
}

TEST_F(TensorWordsTest, OfAMapMayBeOfAnyPart) {
  store(0, 0, 4);
  store(1, 4, 4);
  load(0, 8);
  EXPECT_THAT(refusal(), Says("command 2", kNotThere));
  list_.jobs[0].map = list_.jobs[1].map = 1;
  EXPECT_EQ(refusal(), "");
  list_.jobs[1].map = 2;
  EXPECT_THAT(refusal(), Says("command 2", kNotThere));
  list_.jobs[1].map = 1;
  load(8, 1);
  EXPECT_THAT(refusal(), Says("command 3", kNotThere)) << "no part stored it";
}

// Addresses below its base are those of memory, and other commands have none.
TEST_F(TensorWordsTest, AreNotThoseOfMemory) {
  load(0, 8);
  list_.program[0].set_address(address(0) - kN);
  Command other;
  other.opcode = Opcode::kLoadWeights;
  other.rows = other.count = other.blocks = 1;
  other.set_address(address(99));
  add(2, other);
  EXPECT_EQ(refusal(), "");
}

}  // namespace
}  // namespace gemm64
