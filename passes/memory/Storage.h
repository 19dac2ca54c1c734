// Which values share one array, on plain data. Time: an op at position p reads at 4p (what it may
// overwrite), writes at 4p + 1, and reads everything else until 4p + 2.
#pragma once

#include "passes/memory/Arena.h"

namespace tessera::memory {

// Where an array lies. Arguments and results of the program are the caller's.
struct Place {
  enum Kind { Arena, Input, Output, Constant } kind = Arena;
  int64_t index = 0; // Input, Output: number; Constant: offset
  bool operator==(const Place &) const = default;
};

// What an array lies in, whoever has it: only arrays in the same memory are shared.
enum class Memory : uint8_t { Device, Host };

// Classes of values that share an array: a union-find with live segments.
class Storages {
public:
  // A new value in a class of its own. Only arena arrays and writable inputs may be shared.
  int add(int64_t bytes, Place place = {}, bool shareable = true, Memory memory = Memory::Device);
  void live(int value, int64_t begin, int64_t end);

  int find(int value) const;
  const Place &placeOf(int value) const { return classes[find(value)].place; }
  const Segments &liveOf(int value) const { return classes[find(value)].live; }
  Memory memoryOf(int value) const { return classes[find(value)].memory; }
  int64_t bytesOf(int value) const { return classes[find(value)].bytes; }
  size_t size() const { return classes.size(); }

  // Puts both into one array when they are not needed at the same time; at position `at`, `from` is
  // read for the last time by what writes `to`, a collective perhaps that ends at `until`; there are
  // several of these where branches write `to`. With `back`, `to` is what `from` becomes when a loop's
  // body ends there. Says whether they now share.
  bool share(int from, int to, llvm::ArrayRef<int64_t> at, int64_t back = -1, int64_t until = -1);
  // Lets `value` lie at a place of the caller's, in the same memory, unless it has one.
  bool moveTo(int value, Place place);

private:
  struct Class {
    int64_t bytes;
    Place place;
    bool shareable;
    Memory memory;
    Segments live;
  };
  mutable std::vector<int> parent;
  std::vector<Class> classes; // valid at representatives
};

// A move of one array's contents into another.
struct Move {
  int from, to;
  bool operator==(const Move &) const = default;
};

// An order of moves that happen at once, as single copies: a copy comes after all that read its
// target. Cycles go through `temporary()`, called once for each.
//   a->b, b->c     b->c, a->b
//   a->b, b->a     b->t, a->b, t->a
std::vector<Move> sequenced(llvm::ArrayRef<Move> moves, llvm::function_ref<int(int)> temporary);

} // namespace tessera::memory
