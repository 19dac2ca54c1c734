// What a rank knows of its peers, and when that is a failure. Plain data; time is given.
//
//   heard of lately                                      well, however long it computes
//   said goodbye                                         has finished; silence and its end are right
//   its process ended without                            failed: killed, out of memory
//   silent for longer than the limit                     failed: stopped, or its machine is gone
//   all that are left have waited longer than the limit  failed: they wait for each other in vain
//   waited for, and has come to no collective for longer
//   than a limit of its own, generous                    failed: stuck in a kernel or a loop
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::comm {

using Clock = std::chrono::steady_clock;

// How long this process has been waiting for messages without one that came.
class Waiting {
public:
  void asked(Clock::time_point now); // a message is not there yet
  void came(Clock::time_point now) { since_ = now; }
  Clock::duration length(Clock::time_point now) const;

private:
  // Who waits asks all the time; after a pause it is another wait.
  static constexpr std::chrono::milliseconds kPause{500};
  Clock::time_point since_{}, asked_{};
};

class PeerWatch {
public:
  // `stuckLimit`: zero for none.
  PeerWatch(int rank, int size, Clock::duration limit, Clock::time_point now,
            Clock::duration stuckLimit = {});

  // A heartbeat, which tells how long the peer has been waiting, and how many collectives it has come to.
  void heard(int peer, Clock::duration waiting, Clock::time_point now, uint64_t collectives = 0);
  void saidGoodbye(int peer) { peers_[peer].gone = true; }
  void processEnded(int peer) { peers_[peer].ended = true; }
  // What has gone wrong, if anything: "rank 1: ..". `waiting`, `collectives`: of this process.
  std::string check(Clock::duration waiting, Clock::time_point now, uint64_t collectives = 0);

  // Nobody is left to wait for.
  bool allGone() const;
  // A peer went without a goodbye, so that nothing can be done by all ranks together any more.
  bool anyLost() const { return anyLost_; }

private:
  struct Peer {
    Clock::time_point lastHeard, lastMoved; // moved: waited, or came to a collective
    Clock::duration waiting{};
    uint64_t collectives = 0;
    bool gone = false, ended = false;
  };
  std::string checkStall(Clock::duration waiting) const;
  std::string checkStuck(Clock::duration waiting, Clock::time_point now,
                         uint64_t collectives) const;

  int rank_;
  Clock::duration limit_, stuckLimit_;
  std::vector<Peer> peers_; // by rank; one's own is unused
  bool anyLost_ = false;
};

} // namespace tessera::comm
