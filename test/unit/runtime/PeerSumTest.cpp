// Sums in each other's memory: here of ranks of one process, whose memory it reaches as a peer's.
#include "runtime/comm/exchange/PeerSum.h"
#include "runtime/comm/Reduce.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <unistd.h>

using namespace tessera::runtime;
using tessera::program::Collective;

namespace {

constexpr uint32_t kRanks = 3;

CollectivePlan sumOf(std::vector<int64_t> elements) {
  CollectivePlan plan;
  plan.kind = Collective::ALL_REDUCE;
  plan.reduction = Collective::SUM;
  plan.type = tessera::program::F32;
  plan.groupSize = kRanks;
  for (int64_t count : elements) {
    Transfer transfer;
    transfer.operandBytes = transfer.resultBytes = count * 4;
    plan.transfers.push_back(transfer);
    plan.bytes += count * 4;
  }
  return plan;
}

using Arrays = std::vector<std::vector<float>>; // of a rank

Arrays valuesOf(const CollectivePlan &plan, uint32_t rank) {
  Arrays arrays;
  for (const Transfer &transfer : plan.transfers) {
    std::vector<float> &array = arrays.emplace_back(transfer.operandBytes / 4);
    for (size_t i = 0; i < array.size(); ++i)
      array[i] = 1.0f / static_cast<float>(1 + (i * 7 + rank * 31) % 1013);
  }
  return arrays;
}

Arrays wanted(const CollectivePlan &plan) {
  std::vector<Arrays> all;
  for (uint32_t r = 0; r < kRanks; ++r)
    all.push_back(valuesOf(plan, r));
  Arrays sums = all[0];
  for (size_t i = 0; i < sums.size(); ++i) {
    std::vector<const char *> sources;
    for (Arrays &arrays : all)
      sources.push_back(reinterpret_cast<const char *>(arrays[i].data()));
    auto *to = reinterpret_cast<char *>(sums[i].data());
    reduceFunction(plan.type, plan.reduction)(sources.data(), kRanks, &to, 1,
                                              static_cast<int64_t>(sums[i].size()));
  }
  return sums;
}

// All ranks, in turns, until each has its slices everywhere. `segments` of them, where they have any;
// how many peers' segments rank 0 has mapped.
size_t run(const CollectivePlan &plan, std::vector<std::vector<void *>> &buffers,
           const std::vector<SharedSegment> &segments = std::vector<SharedSegment>(kRanks)) {
  std::vector<Exchange> exchanges;
  std::vector<std::unique_ptr<PeerSum>> sums;
  std::vector<int64_t> processes(kRanks, getpid());
  for (uint32_t r = 0; r < kRanks; ++r)
    exchanges.push_back({plan, r, 0, buffers[r].data()});
  for (Exchange &exchange : exchanges)
    sums.push_back(std::make_unique<PeerSum>(exchange, processes, segments[exchange.rank]));
  std::vector<PeerSum::Views> views(kRanks);
  for (uint32_t own = 0; own < kRanks; ++own) {
    for (uint32_t r = 0; r < kRanks; ++r)
      sums[own]->addressesOf(r) = sums[r]->ownAddresses();
    sums[own]->mapPeers(views[own]);
  }
  for (bool goesOn = true; goesOn;) {
    goesOn = false;
    for (uint32_t r = 0; r < kRanks; ++r)
      if (!sums[r]->isDone(exchanges[r])) {
        auto moved = sums[r]->advance(exchanges[r]);
        EXPECT_TRUE(moved.ok()) << moved.status().message();
        goesOn = moved.ok();
      }
  }
  return static_cast<size_t>(std::count_if(views[0].begin(), views[0].end(),
                                           [](const auto &view) { return view != nullptr; }));
}

} // namespace

// Slices of unequal sizes, of several operands, one without an element for each rank.
TEST(PeerSumTest, SameBitsAsAReduction) {
  CollectivePlan plan = sumOf({500003, 2, 70001});
  std::vector<Arrays> operands, results;
  std::vector<std::vector<void *>> buffers(kRanks);
  for (uint32_t r = 0; r < kRanks; ++r) {
    operands.push_back(valuesOf(plan, r));
    results.push_back(operands.back());
  }
  for (uint32_t r = 0; r < kRanks; ++r)
    for (std::vector<Arrays> *side : {&operands, &results})
      for (std::vector<float> &array : (*side)[r])
        buffers[r].push_back(array.data());
  run(plan, buffers);
  for (uint32_t r = 0; r < kRanks; ++r) {
    EXPECT_EQ(results[r], wanted(plan)) << r;
    EXPECT_EQ(operands[r], valuesOf(plan, r)) << r;
  }
}

// Rank 0 has all it has in a segment, rank 1 its operands, rank 2 nothing: a peer's view is used for
// what is there, and the system's calls for the rest.
TEST(PeerSumTest, SegmentsGiveTheSameBits) {
  CollectivePlan plan = sumOf({500003, 2, 70001});
  std::vector<std::shared_ptr<SharedMemory>> memory;
  std::vector<SharedSegment> segments(kRanks);
  std::vector<Arrays> operands, elsewhere;
  std::vector<std::vector<void *>> buffers(kRanks);
  for (uint32_t r = 0; r < kRanks; ++r) {
    memory.push_back(r < 2 ? SharedMemory::make(16 << 20) : nullptr);
    if (!memory[r] && r < 2)
      GTEST_SKIP() << "this system has no files in memory";
    segments[r] = r < 2 ? memory[r]->segment() : SharedSegment();
    operands.push_back(valuesOf(plan, r));
    elsewhere.push_back(operands.back());
    for (bool isResult : {false, true})
      for (size_t i = 0; i < plan.transfers.size(); ++i) {
        std::vector<float> &values = (isResult ? elsewhere : operands)[r][i];
        bool isShared = r == 0 || (r == 1 && !isResult);
        void *data = isShared ? memory[r]->take(values.size() * 4) : values.data();
        ASSERT_NE(data, nullptr);
        std::memcpy(data, values.data(), values.size() * 4);
        buffers[r].push_back(data);
      }
  }
  EXPECT_EQ(run(plan, buffers, segments), 1u);
  for (uint32_t r = 0; r < kRanks; ++r)
    for (size_t i = 0; i < plan.transfers.size(); ++i) {
      const auto *result = static_cast<const float *>(buffers[r][plan.transfers.size() + i]);
      const std::vector<float> want = wanted(plan)[i];
      EXPECT_TRUE(std::equal(want.begin(), want.end(), result)) << r << " " << i;
    }
}

// Rank 0 in place, rank 1 into its operand's second half, rank 2 apart: nobody asks the others.
TEST(PeerSumTest, ResultsOverOperands) {
  CollectivePlan plan = sumOf({300000});
  size_t count = 300000, shift = 777;
  std::vector<std::vector<float>> memory(kRanks, std::vector<float>(2 * count));
  std::vector<size_t> resultAt = {0, shift, count};
  std::vector<std::vector<void *>> buffers(kRanks);
  for (uint32_t r = 0; r < kRanks; ++r) {
    std::vector<float> values = valuesOf(plan, r)[0];
    std::copy(values.begin(), values.end(), memory[r].begin());
    buffers[r] = {memory[r].data(), memory[r].data() + resultAt[r]};
  }
  run(plan, buffers);
  for (uint32_t r = 0; r < kRanks; ++r) {
    auto begin = memory[r].begin() + static_cast<ptrdiff_t>(resultAt[r]);
    EXPECT_EQ(std::vector<float>(begin, begin + static_cast<ptrdiff_t>(count)), wanted(plan)[0])
        << r;
  }
}

TEST(PeerSumTest, OnlyLargeSumsAmongPeersThatReachEachOther) {
  std::vector<int64_t> all(kRanks, 1), some = {1, 0, 1};
  EXPECT_TRUE(PeerSum::isFor(sumOf({100000}), all));
  EXPECT_FALSE(PeerSum::isFor(sumOf({100000}), some));
  EXPECT_FALSE(PeerSum::isFor(sumOf({1000}), all));
  CollectivePlan gather = sumOf({100000});
  gather.kind = Collective::ALL_GATHER;
  EXPECT_FALSE(PeerSum::isFor(gather, all));
}

// A process that has ended is no error yet: its transport knows more.
TEST(PeerSumTest, APeerThatHasEnded) {
  CollectivePlan plan = sumOf({100000});
  std::vector<float> operand(100000), result(100000);
  std::vector<void *> buffers = {operand.data(), result.data()};
  Exchange exchange{plan, 0, 0, buffers.data()};
  constexpr int64_t nobody = 1 << 30; // above any number that Linux gives
  PeerSum sum(exchange, {getpid(), nobody, nobody});
  auto moved = sum.advance(exchange);
  ASSERT_TRUE(moved.ok()) << moved.status().message();
  EXPECT_EQ(*moved, 0);
  EXPECT_FALSE(sum.isDone(exchange));
}

// Memory that is not there is.
TEST(PeerSumTest, AddressesThatAreNone) {
  CollectivePlan plan = sumOf({100000});
  std::vector<float> operand(100000), result(100000);
  std::vector<void *> buffers = {operand.data(), result.data()};
  Exchange exchange{plan, 0, 0, buffers.data()};
  PeerSum sum(exchange, std::vector<int64_t>(kRanks, getpid()));
  for (uint32_t r = 1; r < kRanks; ++r)
    sum.addressesOf(r) = {8, 8};
  EXPECT_FALSE(sum.advance(exchange).ok());
}
