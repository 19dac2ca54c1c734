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

PeerWatch::PeerWatch(int rank, int size, Clock::duration limit, Clock::time_point now)
    : rank_(rank), limit_(limit), peers_(size, Peer{now}) {}

void PeerWatch::heard(int peer, Clock::duration waiting, Clock::time_point now) {
  peers_[peer].lastHeard = now;
  peers_[peer].waiting = waiting;
}

static std::string seconds(Clock::duration time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", std::chrono::duration<double>(time).count());
  return text;
}

std::string PeerWatch::check(Clock::duration waiting, Clock::time_point now) {
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
  return wrong.empty() ? checkStall(waiting) : wrong;
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
