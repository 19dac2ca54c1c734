#include "runtime/comm/mpi/PeerWatch.h"
#include <cstdio>

namespace tessera::comm {

void Waiting::asked(Clock::time_point now) {
  if (now - asked_ > kPause)
    since_ = now;
  asked_ = now;
}

Clock::duration Waiting::length(Clock::time_point now) const {
  return now - asked_ > kPause ? Clock::duration::zero() : now - since_;
}

PeerWatch::PeerWatch(int rank, int size, Clock::duration limit, Clock::time_point now,
                     Clock::duration stuckLimit)
    : rank_(rank), limit_(limit), stuckLimit_(stuckLimit), peers_(size, Peer{now, now}) {}

void PeerWatch::heard(int peer, Clock::duration waiting, Clock::time_point now,
                      uint64_t collectives) {
  Peer &of = peers_[peer];
  of.lastHeard = now;
  if (waiting > Clock::duration::zero() || of.collectives != collectives)
    of.lastMoved = now;
  of.waiting = waiting;
  of.collectives = collectives;
}

static std::string seconds(Clock::duration time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", std::chrono::duration<double>(time).count());
  return text;
}

std::string PeerWatch::check(Clock::duration waiting, Clock::time_point now, uint64_t collectives) {
  std::string wrong;
  for (size_t p = 0; p < peers_.size(); ++p) {
    Peer &peer = peers_[p];
    bool silent = now - peer.lastHeard > limit_;
    if (static_cast<int>(p) == rank_ || peer.gone || (!peer.ended && !silent))
      continue;
    if (wrong.empty())
      wrong = "rank " + std::to_string(p) +
              (peer.ended ? ": its process has ended: killed, crashed, or out of memory"
                          : ": has been silent for " + seconds(limit_));
    peer.gone = anyLost_ = true;
  }
  if (wrong.empty())
    wrong = checkStall(waiting);
  return wrong.empty() ? checkStuck(waiting, now, collectives) : wrong;
}

// Of those that have come to nothing for so long the one that is least far.
std::string PeerWatch::checkStuck(Clock::duration waiting, Clock::time_point now,
                                  uint64_t collectives) const {
  if (stuckLimit_ == Clock::duration::zero() || waiting < stuckLimit_)
    return "";
  int stuck = -1;
  for (int p = 0; p < static_cast<int>(peers_.size()); ++p)
    if (p != rank_ && !peers_[p].gone && now - peers_[p].lastMoved >= stuckLimit_ &&
        (stuck < 0 || peers_[p].collectives < peers_[stuck].collectives))
      stuck = p;
  if (stuck < 0)
    return "";
  return "rank " + std::to_string(stuck) +
         ": its heart beats, but it has come to no collective for " + seconds(stuckLimit_) +
         " (to " + std::to_string(peers_[stuck].collectives) + " before, this rank to " +
         std::to_string(collectives) +
         "): it is stuck in a kernel or a loop, or computes for longer than "
         "TESSERA_PROGRESS_TIMEOUT allows";
}

std::string PeerWatch::checkStall(Clock::duration waiting) const {
  if (waiting < limit_)
    return "";
  int finished = 0, last = 0;
  for (size_t p = 0; p < peers_.size(); ++p) {
    if (static_cast<int>(p) == rank_)
      continue;
    if (!peers_[p].gone && peers_[p].waiting < limit_)
      return "";
    finished += peers_[p].gone;
    last = peers_[p].gone ? static_cast<int>(p) : last;
  }
  if (finished == 0)
    return "the ranks wait for each other in vain since " + seconds(limit_) +
           ": they took different ways through the program or its calls";
  return "rank " + std::to_string(last) + ": has finished" +
         (finished > 1 ? ", as have others," : "") + " and sends nothing more since " +
         seconds(limit_);
}

bool PeerWatch::allGone() const {
  for (size_t p = 0; p < peers_.size(); ++p)
    if (static_cast<int>(p) != rank_ && !peers_[p].gone)
      return false;
  return true;
}

} // namespace tessera::comm
