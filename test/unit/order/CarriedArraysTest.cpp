// Copies at the end of a trip.
#include "passes/order/CarriedArrays.h"

#include <gtest/gtest.h>

using namespace tessera::order;
using tessera::cost::Step;
using tessera::cost::Task;

// Storage 0 is this trip's, which task 1 reads; task 0 writes the next one's, storage 1.
static std::vector<Task> tasks() {
  Task writer, reader;
  writer.writes.push_back(1);
  reader.reads.push_back(0);
  return {writer, reader};
}
static const std::vector<Carry> kCarries = {{0, 1, 5}};

TEST(CarriedArrays, WrittenWhileItIsReadIsCopied) {
  std::vector<Step> early = {{Step::Run, 0}, {Step::Run, 1}},
                    late = {{Step::Run, 1}, {Step::Run, 0}};
  EXPECT_EQ(copySeconds(tasks(), 2, early, kCarries), 5);
  EXPECT_EQ(copySeconds(tasks(), 2, late, kCarries), 0);
}

// A collective reads until its wait.
TEST(CarriedArrays, CollectivesReadUntilTheirWait) {
  std::vector<Task> some = tasks();
  some[1].links = 1;
  std::vector<Step> over = {{Step::Start, 1}, {Step::Run, 0}, {Step::Wait, 1}},
                    after = {{Step::Start, 1}, {Step::Wait, 1}, {Step::Run, 0}};
  EXPECT_EQ(copySeconds(some, 2, over, kCarries), 5);
  EXPECT_EQ(copySeconds(some, 2, after, kCarries), 0);
}

TEST(CarriedArrays, AnUpdateInPlaceIsNotCopied) {
  Task update;
  update.reads.push_back(0);
  update.writes.push_back(1);
  std::vector<Step> steps = {{Step::Run, 0}};
  EXPECT_EQ(copySeconds({update}, 2, steps, kCarries), 5);
  update.inPlace.push_back({1, 0});
  EXPECT_EQ(copySeconds({update}, 2, steps, kCarries), 0);
}

TEST(CarriedArrays, WritersComeAfterReaders) {
  std::vector<Task> some = tasks();
  std::swap(some[0], some[1]);
  EXPECT_EQ(withoutCopies(some, 2, kCarries)[1].operands, (llvm::SmallVector<int, 4>{0}));
  // Where the base order has it the other way round, it may be needed so.
  EXPECT_TRUE(withoutCopies(tasks(), 2, kCarries)[0].operands.empty());
}
