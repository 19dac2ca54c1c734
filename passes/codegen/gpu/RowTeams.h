// How a block's threads and its shared memory are divided over rows: plain data, decided without IR.
#pragma once

#include <cstdint>
#include <optional>

namespace tessera::codegen::gpu {

// Rows of fewer elements are added up by a thread each.
inline constexpr int64_t kLeastTogether = 64;

// Of shared memory each row takes: what is kept of it, values that it has one of, and the sums of parts
// of it, which a team of sixteen threads may have in registers.
struct RowSizes {
  int64_t elements = 0, bytes = 0, valueBytes = 0, sumBytes = 0;
  int64_t sumBytesOfSixteen = 0;
  int64_t widest = 4; // bytes of an element
  int64_t arrays = 1; // that something is kept of
};

// Of a row that finds no room: one is in shared memory, the others in the threads' registers.
struct RowWindows {
  int64_t count = 1, elements = 0;
};

// As few as hold a row; whole parts of its sums (BlockSum.h). None: registers have no room for it either.
std::optional<RowWindows> rowWindows(int64_t elements, int64_t elementBytes, int64_t threads,
                                     int64_t mostBytes);

// A team has `threads` threads: one, or a multiple of sixteen.
struct RowTeams {
  int64_t rows = 0, threads = 0;                   // of a block; of a row
  int64_t pitch = 0, sumPitch = 0, valueBytes = 0; // from row to row, in bytes

  // Of one of so many arrays, and from it to the next: those of a thread's rows lie one behind the other.
  int64_t step(int64_t arrays) const { return threads == 1 ? pitch / arrays : pitch; }
  int64_t sumsAt() const { return rows * pitch; }
  int64_t valuesAt() const { return sumsAt() + rows * sumPitch; }
  int64_t bytes() const { return valuesAt() + rows * valueBytes; }
};

// Of blocks of `threads`. Rows are short, or `areTogether`: a team computes their sums as BlockSum.h says.
// None: a row finds no room, or no order that a team keeps.
std::optional<RowTeams> rowTeams(const RowSizes &row, bool areTogether, int64_t threads,
                                 int64_t mostBytes);

} // namespace tessera::codegen::gpu
