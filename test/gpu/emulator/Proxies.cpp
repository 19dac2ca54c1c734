#include "test/gpu/emulator/Proxies.h"

#include <algorithm>
#include <utility>

namespace tessera::emulator {

static constexpr uint64_t kUnit = 16, kBarrierBytes = 8;

Proxies::Proxies(uint32_t warps, uint64_t sharedBytes)
    : warps_(warps), clocks_(warps, Clock(warps)), units_((sharedBytes + kUnit - 1) / kUnit),
      reads_(units_.size() * warps), loads_(units_.size() * warps), stored_(warps) {
  for (uint32_t warp = 0; warp < warps; ++warp)
    clocks_[warp][warp] = 1;
}

void Proxies::join(Clock &clock, const Clock &other) {
  if (clock.size() < other.size())
    clock.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

//===--- Barriers ---===//

std::string Proxies::initBarrier(uint32_t warp, uint64_t address, uint64_t count) {
  if (address % kBarrierBytes || address + kBarrierBytes > units_.size() * kUnit)
    return "a barrier where there is no room for one";
  if (count < 1 || count >= (1 << 20))
    return "a barrier of " + std::to_string(count) + " arrivals";
  if (barriers_.count(address))
    return "a barrier that is made twice";
  auto number = warps_ + static_cast<uint32_t>(barriers_.size());
  Barrier made;
  made.number = number;
  made.count = made.pending = static_cast<uint32_t>(count);
  made.warp = warp, made.time = clocks_[warp][warp];
  barriers_.emplace(address, std::move(made));
  return "";
}

Proxies::Barrier *Proxies::find(uint32_t warp, uint64_t address, std::string &problem) {
  auto it = barriers_.find(address);
  if (it == barriers_.end())
    problem = "a barrier that nobody made";
  else if (!knows(warp, it->second.warp, it->second.time))
    problem = "a barrier that another warp makes, with no bar.sync between";
  return problem.empty() ? &it->second : nullptr;
}

void Proxies::endIfDone(Barrier &barrier) {
  if (barrier.pending || barrier.bytes)
    return;
  ++barrier.phase;
  barrier.pending = barrier.count;
  barrier.ended = std::exchange(barrier.arrived, {});
  barrier.ended.resize(std::max<size_t>(barrier.ended.size(), barrier.number + 1));
  barrier.ended[barrier.number] = barrier.phase;
  hasEnded_ = true;
}

std::string Proxies::arrive(uint32_t warp, uint64_t address, uint64_t arrivals, uint64_t bytes) {
  std::string problem;
  Barrier *barrier = find(warp, address, problem);
  if (!barrier)
    return problem;
  if (arrivals > barrier->pending)
    return "more arrive at a barrier than it counts (" + std::to_string(barrier->count) + ")";
  join(barrier->arrived, clocks_[warp]);
  ++clocks_[warp][warp];
  barrier->pending -= static_cast<uint32_t>(arrivals);
  barrier->bytes += static_cast<int64_t>(bytes);
  if (barrier->bytes >= (1 << 20))
    return "a barrier that is to count 2^20 bytes or more";
  endIfDone(*barrier);
  return "";
}

std::string Proxies::ask(uint32_t warp, uint64_t address, uint64_t parity, bool &isOver) {
  std::string problem;
  Barrier *barrier = find(warp, address, problem);
  if (!barrier)
    return problem;
  if (parity > 1)
    return "a parity other than 0 and 1";
  isOver = (barrier->phase & 1) != parity;
  if (isOver)
    join(clocks_[warp], barrier->ended);
  return "";
}

std::string Proxies::stateOf(uint64_t address) const {
  const Barrier &barrier = barriers_.at(address);
  return "phase " + std::to_string(barrier.phase) + " of it lacks " +
         std::to_string(barrier.pending) + " arrivals and " + std::to_string(barrier.bytes) +
         " bytes";
}

// What the warp stored, or knows that others have, is seen by copies and products from here on.
void Proxies::fence(uint32_t warp, bool ofBarriersOnly) {
  for (auto &[address, barrier] : barriers_)
    if (knows(warp, barrier.warp, barrier.time))
      barrier.isFenced = true;
  if (ofBarriersOnly)
    return;
  for (std::vector<uint64_t> &list : stored_)
    std::erase_if(list, [&](uint64_t number) {
      Unit &unit = units_[number];
      bool isKnown = unit.by == Unit::Thread && knows(warp, unit.warp, unit.time);
      unit.isFenced |= isKnown;
      return isKnown || unit.by != Unit::Thread;
    });
}

void Proxies::meet() {
  Clock all;
  for (const Clock &clock : clocks_)
    join(all, clock);
  for (uint32_t warp = 0; warp < warps_; ++warp) {
    clocks_[warp] = all;
    ++clocks_[warp][warp];
  }
}

//===--- Memory ---===//

std::string Proxies::notSeen(uint32_t warp, const Unit &unit) const {
  if (unit.isCopied)
    return "touches what a copy that is under way writes";
  if (unit.by == Unit::Copy && !knows(warp, unit.barrier, unit.phase + 1))
    return "touches what a copy brought for whose barrier it has not waited";
  return "";
}

std::string Proxies::notOver(uint32_t warp, uint64_t unit,
                             const std::vector<uint32_t> &reads) const {
  for (uint32_t other = 0; other < warps_; ++other)
    if (uint32_t time = reads[unit * warps_ + other];
        other != warp && time && !knows(warp, other, time))
      return "writes what warp " + std::to_string(other) +
             " read, and does not know that it is done";
  return "";
}

std::string Proxies::touch(uint32_t warp, uint64_t address, uint64_t bytes, bool isWrite) {
  auto barrier = barriers_.lower_bound(address < kBarrierBytes ? 0 : address - kBarrierBytes + 1);
  if (barrier != barriers_.end() && barrier->first < address + bytes)
    return "touches a barrier, but not as one";
  for (uint64_t number = address / kUnit; number <= (address + bytes - 1) / kUnit; ++number) {
    Unit &unit = units_[number];
    if (std::string problem = notSeen(warp, unit); !problem.empty())
      return problem;
    if (!isWrite) {
      loads_[number * warps_ + warp] = clocks_[warp][warp];
      continue;
    }
    if (unit.reads)
      return "writes what a product that is under way reads";
    if (std::string problem = notOver(warp, number, reads_); !problem.empty())
      return problem;
    if (unit.by != Unit::Thread || unit.isFenced || unit.warp != warp)
      stored_[warp].push_back(number);
    unit.by = Unit::Thread;
    unit.warp = warp, unit.time = clocks_[warp][warp];
    unit.isFenced = false;
  }
  return "";
}

std::string Proxies::beginCopy(uint32_t warp, uint64_t to, uint64_t bytes, uint64_t barrier) {
  std::string problem;
  Barrier *counts = find(warp, barrier, problem);
  if (!counts)
    return problem;
  if (!counts->isFenced)
    return "a copy that a barrier counts, with no fence since that was made";
  for (uint64_t number = to / kUnit; number < (to + bytes) / kUnit; ++number) {
    Unit &unit = units_[number];
    if (problem = notSeen(warp, unit); !problem.empty())
      return problem;
    if (unit.reads)
      return "writes what a product that is under way reads";
    if (unit.by == Unit::Thread && !(unit.isFenced && knows(warp, unit.warp, unit.time)))
      return "copies to what a thread wrote, with no fence.proxy.async between";
    for (const auto *reads : {&reads_, &loads_})
      if (problem = notOver(warp, number, *reads); !problem.empty())
        return problem;
    unit.isCopied = true;
  }
  return "";
}

std::string Proxies::landCopy(uint64_t to, uint64_t bytes, uint64_t barrier) {
  Barrier &counts = barriers_.at(barrier);
  for (uint64_t number = to / kUnit; number < (to + bytes) / kUnit; ++number) {
    Unit &unit = units_[number];
    unit.isCopied = false;
    unit.by = Unit::Copy;
    unit.barrier = counts.number, unit.phase = counts.phase;
  }
  counts.bytes -= static_cast<int64_t>(bytes);
  if (counts.bytes <= -(1 << 20))
    return "a barrier that counted 2^20 bytes too many";
  endIfDone(counts);
  return "";
}

std::string Proxies::beginRead(uint32_t warp, uint64_t address) {
  if (address / kUnit >= units_.size())
    return "a matrix outside of shared memory";
  Unit &unit = units_[address / kUnit];
  if (std::string problem = notSeen(warp, unit); !problem.empty())
    return problem;
  if (unit.by == Unit::Nobody)
    return "multiplies what nobody has written";
  if (unit.by == Unit::Thread && !(unit.isFenced && knows(warp, unit.warp, unit.time)))
    return "multiplies what a thread wrote, with no fence.proxy.async between";
  ++unit.reads;
  return "";
}

void Proxies::endRead(uint32_t warp, uint64_t address) {
  uint64_t number = address / kUnit;
  --units_[number].reads;
  reads_[number * warps_ + warp] = clocks_[warp][warp];
}

} // namespace tessera::emulator
