// In which order collectives of several ranks of a process are given.
#include "runtime/comm/nccl/StartOrder.h"
#include <gtest/gtest.h>
#include <string>

namespace tessera::runtime {
namespace {

// Ranks 0, 1 and 2 are here. Collective 0 is of all of them, collective 1 of ranks 0 and 1 and, in
// another group, of rank 2; collective 2 of each with ranks elsewhere.
class StartOrderTest : public testing::Test {
protected:
  static std::vector<size_t> members(const StartOrder::Start &start) {
    if (start.collective == 0)
      return {0, 1, 2};
    if (start.collective == 2)
      return {start.group};
    return start.group ? std::vector<size_t>{2} : std::vector<size_t>{0, 1};
  }
  // What can be given once the rank has started it: "0:012 1:2", each with its ranks.
  std::string start(size_t rank, uint32_t collective) {
    uint32_t group = collective == 2 ? static_cast<uint32_t>(rank) : collective && rank == 2;
    order.add(rank, {10 + collective, collective, group, {100 * rank + collective}});
    std::string given;
    while (auto ready = order.next()) {
      given += (given.empty() ? "" : " ") + std::to_string(ready->starts.front().collective) + ":";
      for (size_t i = 0; i < ready->ranks.size(); ++i) {
        given += std::to_string(ready->ranks[i]);
        EXPECT_EQ(ready->starts[i].buffers[0], 100 * ready->ranks[i] + ready->starts[i].collective);
      }
    }
    return given;
  }
  StartOrder order{3, members};
};

TEST_F(StartOrderTest, WhenAllRanksHereHaveCome) {
  EXPECT_EQ(start(1, 0), "");
  EXPECT_EQ(start(0, 0), "");
  EXPECT_TRUE(order.isPending(1, 10));
  EXPECT_FALSE(order.isPending(2, 10));
  EXPECT_EQ(start(2, 0), "0:012");
  EXPECT_FALSE(order.isPending(1, 10));
}

// Else rank 0's stream would stand at what comes behind that which others wait for.
TEST_F(StartOrderTest, EachRankInItsOwnOrder) {
  EXPECT_EQ(start(0, 0), "");
  EXPECT_EQ(start(0, 2), ""); // nobody else here is in it, but it is behind
  EXPECT_EQ(start(1, 0), "");
  EXPECT_TRUE(order.isPending(0, 12));
  EXPECT_EQ(start(2, 0), "0:012 2:0");
}

TEST_F(StartOrderTest, GroupsGoOnByThemselves) {
  EXPECT_EQ(start(2, 1), "1:2");
  EXPECT_EQ(start(2, 0), "");
  EXPECT_EQ(start(0, 1), "");
  EXPECT_EQ(start(1, 1), "1:01");
  EXPECT_EQ(start(1, 0), "");
  EXPECT_EQ(start(0, 0), "0:012");
}

// They wait for each other in vain, and nothing is given.
TEST_F(StartOrderTest, DifferentOrders) {
  EXPECT_EQ(start(0, 0), "");
  EXPECT_EQ(start(1, 1), "");
  EXPECT_EQ(start(0, 1), "");
  EXPECT_EQ(start(1, 0), "");
  EXPECT_EQ(start(2, 0), "");
  order.clear();
  EXPECT_FALSE(order.isPending(0, 10));
  EXPECT_EQ(start(2, 1), "1:2");
}

} // namespace
} // namespace tessera::runtime
