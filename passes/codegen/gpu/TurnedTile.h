// How large the blocks are that are turned in shared memory, and where their elements lie: plain data, decided
// without IR.
#pragma once

#include <cstdint>

namespace tessera::codegen::gpu {

inline constexpr int64_t kSectorBytes = 32; // of memory that are moved at once

// What is turned: `along` the lines that are read, and `across` them, along those that are written.
struct TurnedPlane {
  int64_t along = 0, across = 0;           // elements
  int64_t alongBytes = 4, acrossBytes = 4; // of the narrowest element that lies along them
  bool beginSectors = true;                // lines of both, at each multiple of a sector's elements
};

struct TurnedTile {
  // Whole lines, which follow each other in memory and have fewer elements than a warp has threads: they lie in
  // the tile as there.
  enum Flat { None, Along, Across };

  int64_t along = 0, across = 0; // elements
  Flat flat = None;

  // Elements of so many bytes from line to line, and of all lines. Lines of the tile are those that are read, but
  // for a tile that is flat across.
  int64_t pitch(int64_t bytes) const;
  int64_t elements(int64_t bytes) const;
  // Of a flat tile whose lines are even: every so many lines begin one element later, of so many, and end with
  // those before it. So columns lie in all banks.
  struct Turns {
    int64_t count = 1, lines = 1;
  };
  Turns turns(int64_t bytes) const;
};

TurnedTile turnedTile(const TurnedPlane &plane);

} // namespace tessera::codegen::gpu
