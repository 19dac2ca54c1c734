// How long a collective takes over links of one kind: the formulas that the compiler decides by and
// that the runtime's simulated links take. Needs nothing else.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tessera::links {

// What connects a device with the others along a mesh axis, or within a host, a rack, a pod.
struct Link {
  double alpha = 0;       // seconds before the first byte arrives
  double beta = 1;        // bytes per second and device, in each direction
  int64_t directions = 1; // 2: neighbours are wired in a ring, and a device sends both ways at once
  bool operator==(const Link &) const = default;
};

// What a group along several axes gets.
inline Link slower(const Link &a, const Link &b) {
  return {std::max(a.alpha, b.alpha), std::min(a.beta, b.beta),
          std::min(a.directions, b.directions)};
}

enum class Pattern { AllReduce, AllGather, ReduceScatter, AllToAll, Permute, Broadcast };

// What a device sends in a ring, where `bytes` is what it receives or reduces: the result's bytes,
// of a reduce-scatter the operand's. With g devices in the group:
//   all-reduce                               2(g-1)/g x bytes
//   all-gather, all-to-all, reduce-scatter   (g-1)/g x bytes
//   permute, broadcast                       bytes
inline double wireBytes(Pattern pattern, double bytes, int64_t group) {
  double others = static_cast<double>(group - 1) / static_cast<double>(group);
  switch (pattern) {
  case Pattern::AllReduce:
    return 2 * others * bytes;
  case Pattern::AllGather:
  case Pattern::ReduceScatter:
  case Pattern::AllToAll:
    return others * bytes;
  case Pattern::Permute:
  case Pattern::Broadcast:
    return group > 1 ? bytes : 0;
  }
  return 0;
}

// Steps in which a group of any size reaches all of it by doubling.
inline int doublingSteps(int64_t group) { return std::bit_width(static_cast<uint64_t>(group - 1)); }

// Parts of 2^i devices scatter and gather what the parts then exchange by recursive doubling, for
// the best i: few bytes are doubled only, many scattered all the way. (Thakur, Rabenseifner & Gropp
// 2005, Optimization of Collective Communication Operations in MPICH, has the two ends.)
inline double allReduceSeconds(const Link &link, double bytes, int64_t group) {
  int depth = doublingSteps(group);
  double best = 2 * depth * link.alpha + wireBytes(Pattern::AllReduce, bytes, group) / link.beta;
  double part = 1;
  for (int i = 0; i < depth; ++i, part *= 2) {
    double sent = 2 * (part - 1) / part * bytes + (depth - i) * bytes / part;
    best = std::min(best, (depth + i) * link.alpha + sent / link.beta);
  }
  return best;
}

// Around the ring both ways: half of the bytes, or of the way, in each direction.
inline double ringSeconds(Pattern pattern, double bytes, int64_t group, const Link &link) {
  auto g = static_cast<double>(group);
  double half = static_cast<double>(group / 2);
  switch (pattern) {
  case Pattern::AllReduce:
    return 2 * (g - 1) * (link.alpha + bytes / g / 2 / link.beta);
  case Pattern::AllGather:
  case Pattern::ReduceScatter:
    return half * link.alpha + (g - 1) / 2 * bytes / g / link.beta;
  case Pattern::AllToAll: // each part goes a quarter of the ring's length, on average
    return half * link.alpha + bytes * g / 8 / link.beta;
  case Pattern::Permute:
    return link.alpha + bytes / link.beta;
  case Pattern::Broadcast: // a half each way, in pieces that follow each other
    return half * link.alpha + bytes / 2 / link.beta;
  }
  return 0;
}

// The best of the ways that libraries take. Without a ring: latency is that of a tree, bytes are
// those of a ring; an all-reduce is as above. A group of one takes no time.
inline double seconds(Pattern pattern, double bytes, int64_t group, const Link &link) {
  if (group <= 1)
    return 0;
  int steps = pattern == Pattern::Permute ? 1 : doublingSteps(group);
  double direct = pattern == Pattern::AllReduce
                      ? allReduceSeconds(link, bytes, group)
                      : steps * link.alpha + wireBytes(pattern, bytes, group) / link.beta;
  if (link.directions < 2)
    return direct;
  double ring = ringSeconds(pattern, bytes, group, link);
  return pattern == Pattern::AllToAll ? ring : std::min(direct, ring);
}

} // namespace tessera::links
