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
  // Of a flat tile whose lines are even: behind every `together` of them an element is left out, so that columns
  // lie in all banks, and behind every `all` of them what is left of `all` elements. Either fill the banks a
  // whole number of times: who is at elements side by side, over the ends of lines, meets each bank once, too.
  struct Gaps {
    int64_t together = 0, all = 0; // 0: there are none
    // Elements that are left out before a line.
    int64_t before(int64_t line) const {
      return together ? line % all / together + line / all * all : 0;
    }
  };
  Gaps gaps(int64_t bytes) const;
};

TurnedTile turnedTile(const TurnedPlane &plane);

} // namespace tessera::codegen::gpu
