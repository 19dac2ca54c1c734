// Which arrays of a device program are whole at one place in it: what is written over a part of one
// destroys it.
//   write [0, 64)   write [32, 96)   read [0, 32): refused
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <vector>

namespace tessera::memory {

// A byte range of a memory space.
struct ByteRange {
  int64_t space;
  int64_t begin, end;
  bool overlaps(const ByteRange &other) const {
    return space == other.space && begin < other.end && other.begin < end;
  }
  auto operator<=>(const ByteRange &) const = default;
};

class WrittenArrays {
public:
  void add(const ByteRange &range);
  void remove(const ByteRange &range);

  // Whether the range is an array, or some fill it.
  bool has(const ByteRange &range) const;
  // Whether the range lies in an array.
  bool hasAround(const ByteRange &range) const;

  // What one way through the program changes.
  struct Changes {
    std::vector<ByteRange> added, removed;
  };
  // The place from which changes can be taken back.
  size_t mark() const { return journal.size(); }
  // The arrays are as they were at `mark`.
  Changes takeBack(size_t mark);
  // Leaves what all ways leave that the program may take from here: time goes with what they change.
  void join(llvm::ArrayRef<Changes> ways);

private:
  struct Entry {
    ByteRange range;
    bool added;
  };
  void apply(const Changes &changes);
  void put(const ByteRange &range);

  std::map<int64_t, std::map<int64_t, int64_t>> spaces; // begin to end
  std::vector<Entry> journal;
};

} // namespace tessera::memory
