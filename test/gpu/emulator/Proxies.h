// What goes on in a block's shared memory beside its threads: copies of tensors, whose bytes barriers
// count, and products of warpgroups, which read their operands for themselves. Who may touch what is known
// by vector clocks of warps, which arriving at a barrier hands on, and waiting for it takes over:
//
//   warp 8   copy to stage 0 begins        its barrier's phase 0 ends when the bytes have come
//   warp 0   waits for phase 0             knows that: may multiply what lies there
//            products .. done; arrives at the stage's other barrier
//   warp 8   waits for that                knows that warp 0 is done: may copy to stage 0 again
//
// Of loads and stores among themselves BlockRun knows (by bar.sync alone: what these barriers order of
// them is not known here, and an error there).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::emulator {

class Proxies {
public:
  Proxies(uint32_t warps, uint64_t sharedBytes);

  // Each is done by a warp, and says what is wrong with it, or "".
  std::string initBarrier(uint32_t warp, uint64_t address, uint64_t count);
  std::string arrive(uint32_t warp, uint64_t address, uint64_t arrivals, uint64_t bytes);
  // Whether the phase of the parity is over, which the warp knows then.
  std::string ask(uint32_t warp, uint64_t address, uint64_t parity, bool &isOver);
  void fence(uint32_t warp, bool ofBarriersOnly);
  // A load or store of a thread.
  std::string touch(uint32_t warp, uint64_t address, uint64_t bytes, bool isWrite);
  std::string beginCopy(uint32_t warp, uint64_t to, uint64_t bytes, uint64_t barrier);
  std::string landCopy(uint64_t to, uint64_t bytes, uint64_t barrier);
  // Of 16 bytes, from the product's begin until the warp knows that it is over.
  std::string beginRead(uint32_t warp, uint64_t address);
  void endRead(uint32_t warp, uint64_t address);
  // All warps are at one place (bar.sync).
  void meet();
  // Whether some phase has ended since this was asked.
  bool takeEnded() { return std::exchange(hasEnded_, false); }
  // Of a barrier's phase that goes on, among all.
  uint64_t numberOf(uint64_t address) const {
    const Barrier &barrier = barriers_.at(address);
    return uint64_t{barrier.number} << 32 | (barrier.phase + 1);
  }
  // What a barrier waits for: of who waits in vain.
  std::string stateOf(uint64_t address) const;

private:
  // By warp, how much of it is known; and by barrier, how many of its phases.
  using Clock = std::vector<uint32_t>;
  struct Barrier {
    uint32_t number = 0, count = 0, pending = 0, phase = 0;
    int64_t bytes = 0;           // that are to come
    uint32_t warp = 0, time = 0; // of who made it
    bool isFenced = false;
    Clock arrived, ended; // of the phase that goes on, and of the one before
  };
  struct Unit { // 16 bytes
    enum By : uint8_t { Nobody, Thread, Copy } by = Nobody;
    bool isCopied = false, isFenced = false; // isCopied: by one that is under way
    uint16_t reads = 0;                      // that are under way
    uint32_t warp = 0, time = 0;             // of a thread
    uint32_t barrier = 0, phase = 0;         // of a copy
  };
  bool knows(uint32_t warp, uint32_t number, uint32_t least) const {
    const Clock &clock = clocks_[warp];
    return number < clock.size() && clock[number] >= least;
  }
  static void join(Clock &clock, const Clock &other);
  Barrier *find(uint32_t warp, uint64_t address, std::string &problem);
  void endIfDone(Barrier &barrier);
  std::string notSeen(uint32_t warp, const Unit &unit) const;
  // Whether the warp knows that all reads before are over.
  std::string notOver(uint32_t warp, uint64_t unit, const std::vector<uint32_t> &reads) const;

  const uint32_t warps_;
  std::vector<Clock> clocks_;
  std::map<uint64_t, Barrier> barriers_; // by address
  std::vector<Unit> units_;
  std::vector<uint32_t> reads_, loads_;       // by unit and warp: when the last of them was
  std::vector<std::vector<uint64_t>> stored_; // by warp: units since its last fence
  bool hasEnded_ = false;
};

} // namespace tessera::emulator
