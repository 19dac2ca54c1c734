// Random numbers that are a function of a seed and an input's number, and the values that find
// mistakes in tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::fuzz {

class Random {
public:
  Random(uint64_t seed, uint64_t number) : state_(seed * 0x9E3779B97F4A7C15 + number) {
    next();
    state_ ^= number * 0xD1B54A32D192ED03;
  }
  uint64_t next() { // splitmix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number
                    // generators")
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t n) { return n ? next() % n : 0; }
  bool once(uint64_t in) { return below(in) == 0; }
  template <class T> const T &of(const std::vector<T> &list) { return list[below(list.size())]; }

private:
  uint64_t state_;
};

// What stands at the boundaries of types and sizes, or near `old`.
inline uint64_t interesting(Random &random, uint64_t old) {
  static const std::vector<uint64_t> boundaries = {0,          1,
                                                   2,          3,
                                                   4,          7,
                                                   8,          63,
                                                   64,         65,
                                                   127,        128,
                                                   255,        256,
                                                   4095,       4096,
                                                   65535,      65536,
                                                   0x7fffffff, 0x80000000,
                                                   0xffffffff, 1ull << 32,
                                                   1ull << 33, 1ull << 40,
                                                   1ull << 46, 1ull << 62,
                                                   INT64_MAX,  1ull << 63,
                                                   ~0ull,      ~0ull - 63,
                                                   ~0ull << 6, 1000,
                                                   1ull << 20, (1ull << 24) + 1};
  switch (random.below(8)) {
  case 0:
    return old + 1;
  case 1:
    return old - 1;
  case 2:
    return old * 2;
  case 3:
    return old / 2;
  case 4:
    return old ^ (1ull << random.below(64));
  case 5:
    return random.below(20);
  default:
    return random.of(boundaries);
  }
}

// Some bytes changed, taken out or doubled.
inline std::string damaged(Random &random, std::string bytes) {
  static const std::vector<size_t> counts = {1, 1, 2, 4, 16}, lengths = {1, 2, 4, 8, 32, 64};
  for (size_t n = random.of(counts); n > 0; --n) {
    if (bytes.empty())
      bytes.push_back(0);
    size_t at = random.below(bytes.size());
    switch (random.below(8)) {
    case 0:
    case 1:
    case 2:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      break;
    case 3:
    case 4:
      bytes[at] = static_cast<char>(random.once(2) ? random.next() : random.of(lengths) * 85 / 4);
      break;
    case 5:
      bytes.erase(at, random.of(lengths));
      break;
    case 6:
      bytes.insert(at, bytes.substr(random.below(bytes.size()), random.of(lengths)));
      break;
    default:
      if (random.once(4))
        bytes.resize(at);
      else if (size_t size = random.of(lengths); at + size <= bytes.size())
        bytes.replace(at, size, std::string(size, random.once(2) ? '\0' : '\xff'));
    }
  }
  return bytes;
}

} // namespace tessera::fuzz
