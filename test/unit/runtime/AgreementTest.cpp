// What ranks must have alike, and what a rank knows of its peers: without processes.
#include "runtime/comm/exchange/Agreement.h"
#include "runtime/comm/mpi/PeerWatch.h"
#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

std::string outcome(const std::vector<Position> &ranks) { return compare(ranks).message(); }

TEST(AgreementTest, ADifferenceNamesWhoHasWhat) {
  Position usual{{}, {{"program", "5f"}, {"steps", "3"}}}, other{{}, {{"program", "77"}}};
  EXPECT_EQ(outcome({usual, usual, usual}), "");
  EXPECT_EQ(outcome({usual, other, usual, usual}),
            "the ranks differ: program 5f on ranks 0, 2-3, 77 on rank 1; steps 3 on ranks 0, 2-3, "
            "none on rank 1");
  EXPECT_EQ(compare({usual, other}).code(), Code::InvalidArgument);
}

TEST(AgreementTest, AFailureOfOneIsOneOfAll) {
  Position usual{{}, {{"program", "5f"}}}, failed{{Code::NotFound, "p.tsr: No such file"}, {}};
  EXPECT_EQ(outcome({usual, failed, failed}), "rank 1: p.tsr: No such file");
  EXPECT_EQ(compare({usual, failed}).code(), Code::NotFound);
}

TEST(AgreementTest, PositionsAsBytes) {
  Position position{{Code::Internal, "why"}, {{"short", "1"}, {"long", std::string(1000, 'x')}}};
  auto back = fromBytes(toBytes(position));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->status.message(), "why");
  EXPECT_EQ(back->facts[0].value, "1");
  EXPECT_LT(back->facts[1].value.size(), 200u);
  // What is cut off still counts.
  Position same = position, unlike = position;
  unlike.facts[1].value.back() = 'y';
  EXPECT_EQ(toBytes(same), toBytes(position));
  EXPECT_NE(toBytes(unlike), toBytes(position));
  for (const char *damaged : {"", "9", "x", "12", "0"})
    EXPECT_FALSE(fromBytes(damaged).ok()) << damaged;
}

using comm::Clock;
using comm::PeerWatch;
using comm::Waiting;
using std::chrono::milliseconds;
using std::chrono::seconds;

class PeerWatchTest : public testing::Test {
protected:
  void hear(int peer, Clock::duration waiting = {}) { watch.heard(peer, waiting, now); }

  Clock::time_point now = Clock::time_point() + seconds(1000);
  PeerWatch watch{0, 3, seconds(4), now};
};

TEST_F(PeerWatchTest, SilenceCountsUnlessOneSaidGoodbye) {
  now += seconds(3);
  hear(1);
  EXPECT_EQ(watch.check({}, now), "");
  now += seconds(2);
  EXPECT_EQ(watch.check({}, now), "rank 2: has been silent for 4 s");
  EXPECT_TRUE(watch.anyLost());
  PeerWatch polite(0, 2, seconds(4), now);
  polite.saidGoodbye(1);
  EXPECT_EQ(polite.check({}, now + seconds(100)), "");
  EXPECT_TRUE(polite.allGone());
  EXPECT_FALSE(polite.anyLost());
}

TEST_F(PeerWatchTest, AProcessThatEndedIsKnownAtOnce) {
  watch.processEnded(2);
  EXPECT_EQ(watch.check({}, now),
            "rank 2: its process has ended: killed, crashed, or out of memory");
  watch.saidGoodbye(1);
  watch.processEnded(1);
  EXPECT_EQ(watch.check({}, now), "");
}

// Who computes for long is well; when nobody does any more, all wait in vain.
TEST_F(PeerWatchTest, AllWaiting) {
  now += seconds(50);
  hear(1, seconds(50));
  hear(2);
  EXPECT_EQ(watch.check(seconds(50), now), "");
  hear(2, seconds(5));
  EXPECT_EQ(watch.check(milliseconds(10), now), "");
  EXPECT_EQ(watch.check(seconds(5), now),
            "the ranks wait for each other in vain since 4 s: they took different ways through the "
            "program or its calls");
  watch.saidGoodbye(2);
  EXPECT_EQ(watch.check(seconds(5), now), "rank 2: has finished and sends nothing more since 4 s");
}

// Its heart beats, it waits for nobody, and it comes to nothing: whoever waits says so.
TEST_F(PeerWatchTest, ARankThatIsStuck) {
  PeerWatch patient(0, 3, seconds(4), now, seconds(60));
  auto hear = [&](int peer, Clock::duration waiting, uint64_t collectives) {
    patient.heard(peer, waiting, now, collectives);
  };
  hear(1, {}, 11);
  hear(2, {}, 12);
  now += seconds(59);
  hear(1, {}, 11);
  hear(2, seconds(59), 12);
  EXPECT_EQ(patient.check(seconds(59), now, 12), "");
  now += seconds(1);
  hear(1, {}, 11);
  hear(2, seconds(60), 12);
  EXPECT_EQ(patient.check(seconds(10), now, 12), ""); // it has not been waited for so long
  EXPECT_EQ(
      patient.check(seconds(60), now, 12),
      "rank 1: its heart beats, but it has come to no collective for 60 s (to 11 before, this "
      "rank to 12): it is stuck in a kernel or a loop, or computes for longer than "
      "TESSERA_PROGRESS_TIMEOUT allows");
  hear(1, {}, 12); // it was only late
  EXPECT_EQ(patient.check(seconds(60), now, 12), "");
  now += seconds(1000);
  hear(1, milliseconds(1), 12); // waits
  hear(2, {}, 12);
  EXPECT_EQ(patient.check(seconds(60), now, 12).substr(0, 7), "rank 2:");
  PeerWatch endless(0, 2, seconds(4), now);
  now += seconds(100000);
  endless.heard(1, {}, now, 1);
  EXPECT_EQ(endless.check(seconds(100000), now, 2), ""); // no limit
}

TEST_F(PeerWatchTest, WaitingEndsWithWhatComesOrWhenNobodyAsks) {
  Waiting waiting;
  EXPECT_EQ(waiting.length(now), Clock::duration::zero());
  for (int i = 0; i <= 20; ++i, now += milliseconds(100))
    waiting.asked(now);
  EXPECT_EQ(waiting.length(now), milliseconds(2100));
  waiting.came(now);
  EXPECT_EQ(waiting.length(now), milliseconds(0));
  now += seconds(2); // it computes
  EXPECT_EQ(waiting.length(now), milliseconds(0));
  waiting.asked(now);
  EXPECT_EQ(waiting.length(now), milliseconds(0));
}

} // namespace
} // namespace tessera::runtime
