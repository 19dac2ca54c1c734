// Which bytes a core's cache still holds when a program comes to them again.
//
//   touch [0, 4)  touch [4, 8)  touch [0, 4)     a cache of 8 or more: the last is warm; of 4: cold
//
// Each byte is held until as many have been touched as the cache has, itself and the others of its array among
// them, and afterwards the less likely the more they are: caches do not give up the oldest of all. Where a program goes round and
// round through w bytes and a cache of c replaces any of its bytes, a part p misses that makes
// 1 - p = exp(-p * w / c); exp(2 - 2 * w / c) of them are held, nearly so.
//
// Where others use the cache as well, as on a machine that is shared, what they bring into it meanwhile,
// o bytes that all miss, replaces too: 1 - p = exp(-(p * w + o) / c). So what is touched again soon is
// held, and the same bytes touched again later are not.
//
// Of several cores this follows the first. Where a kernel is divided among them, nobody says who takes
// which part, and a byte is afterwards in a core's cache with the probability of one in so many:
//
//   two cores    one core touches [0, 4)    it comes back: all warm    both come: half
//                both touch [0, 4)          half                       half
//
// Plain data.
#pragma once

#include <cstdint>
#include <limits>
#include <map>

namespace tessera::cost {

// The part of a byte that a cache still holds after so many bytes of the program's, and of others'.
double heldAfter(double touched, double capacity, double others = 0);

class CacheWalk {
public:
  explicit CacheWalk(double capacity) : capacity_(capacity) {}

  double capacity() const { return capacity_; }
  // Whatever is touched from here to the next one is at the same time, as a kernel's operands and results
  // are: what it has touched once is there.
  void begin() { begun_ = clock_; }
  // How many of [begin, end) have to come from beyond the cache, which holds them from now on.
  double touch(uint64_t begin, uint64_t end) {
    return touch(begin, end, begin < end ? static_cast<double>(end - begin) : 0);
  }
  // The same of a cache that sees only so many of them: the others are in one before it. `sharers`:
  // cores that divide them.
  double touch(uint64_t begin, uint64_t end, double seen, double sharers = 1);
  // Another core has written [begin, end).
  void forget(uint64_t begin, uint64_t end);
  // How many of so many bytes of [begin, end) it holds. All of them it gives up; a part is another one
  // each time, and of any as much is held as of all.
  double take(uint64_t begin, uint64_t end, double bytes);
  // Other devices of the program have touched so many bytes in between.
  void pass(double bytes) { clock_ += bytes; }
  // Other programs of the machine have brought so many into it.
  void passOthers(double bytes) { others_ += bytes; }

private:
  struct Range {
    uint64_t end;
    double at;      // of the clock, when its first byte was touched last
    double pace;    // how far the clock went on with each byte
    double others;  // of theirs, then
    double sharers; // cores of which one has it
  };
  void split(uint64_t at);
  double held(uint64_t begin, uint64_t end, double sharers, double pace);

  double capacity_;
  double clock_ = 0;                                       // bytes touched so far
  double begun_ = std::numeric_limits<double>::infinity(); // the clock, when a kernel began
  double others_ = 0;                                      // bytes that others have brought
  std::map<uint64_t, Range> ranges_;                       // by their begin, disjoint
};

} // namespace tessera::cost
