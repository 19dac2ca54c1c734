// Which attention is one kernel that never has its scores in memory.
#pragma once

#include <cstdint>

namespace tessera::fusion {

// Of one head, and how many there are.
struct Attention {
  int64_t heads = 0, queries = 0, keys = 0;
  int64_t sharing =
      1; // heads of queries that share the keys of one, where they are no heads of their own
  int64_t queryElements = 0, valueElements = 0; // of one query, of one value
  // All of its keys, by positions that are known when it runs, as a causal ring's blocks are: its
  // kernel then costs next to nothing.
  bool mayBeHidden = false;
};

struct AttentionLimits {
  int64_t queries = 8, keys = 64; // at least: of fewer, its rows' beginnings and ends are most
  int64_t elements = 512;         // of a query or a value: tiles of them stay in a cache
  int64_t scoreBytes = 256 << 10; // of all scores: fewer stay in a cache between kernels
  int64_t hiddenBytes = 64 << 10; // likewise, where they may be hidden

  // Of queries and keys.
  constexpr int64_t leastPairs(bool mayBeHidden = false) const {
    return (mayBeHidden && hiddenBytes < scoreBytes ? hiddenBytes : scoreBytes) / 4;
  }
};

constexpr int64_t leastPairs = AttentionLimits().leastPairs();

// Where few scores are to be no array either.
constexpr AttentionLimits ofFewScores() {
  AttentionLimits limits;
  limits.scoreBytes = 0;
  return limits;
}

inline bool attentionStays(const Attention &attention, const AttentionLimits &limits = {}) {
  return attention.queries >= limits.queries && attention.keys >= limits.keys &&
         attention.queryElements <= limits.elements && attention.valueElements <= limits.elements &&
         attention.queryElements >= 8 && attention.valueElements >= 8 &&
         attention.heads * attention.sharing * attention.queries * attention.keys >=
             limits.leastPairs(attention.mayBeHidden);
}

// Into how many parts a gradient's kernel takes the keys of a head: each part is a cell, and has sums of
// its own for all queries. None where they are too few, or uneven, for enough cells.
inline int64_t keyParts(const Attention &attention) {
  constexpr int64_t manyCells = 16, enoughCells = 8, mostParts = 4, leastKeys = 128;
  int64_t found = 1;
  for (int64_t parts = 2; parts <= mostParts && attention.heads * found < manyCells; ++parts)
    if (attention.keys % parts == 0 && attention.keys / parts >= leastKeys)
      found = parts;
  return attention.heads * found >= enoughCells ? found : 0;
}

} // namespace tessera::fusion
