// A row that shared memory does not hold, in windows: one lies there, the others in the threads' registers.
//
//   filled   shared memory   window 0, then 1, then 2        registers: 0, 1 as they make room
//   a pass   shared memory   2, 0, 1                         what comes changes places with what was there
//   next     shared memory   1, 0, 2
//
// A thread's part of a window is the same in all: it moves what it has moved before, and asks nobody. What is
// there of the row stays as it is.
#pragma once

#include "passes/codegen/gpu/EntryFunction.h"

#include <utility>

namespace tessera::codegen::gpu {

class RowRegisters {
public:
  // Of windows of so many bytes, a multiple of what the block moves at once; `space`: where one of them lies.
  RowRegisters(EntryFunction &function, Emitter &e, Value space, int64_t bytes)
      : function(function), e(e), space(space), bytes(bytes) {}

  // Bytes that all threads of a block move at once.
  static int64_t pieceBytes(int64_t threads) { return threads * kAccessBytes; }

  // Window `number` lies in shared memory, where all threads have written it.
  void filled(int64_t number) { here = number; }
  // The window goes to registers; its place is free for all threads.
  void put();
  // The window comes to shared memory, for all threads.
  void bring(int64_t number);
  int64_t window() const { return here; }

private:
  Value placeOf(int64_t piece);

  EntryFunction &function;
  Emitter &e;
  Value space;
  const int64_t bytes;
  int64_t here = 0;
  llvm::SmallVector<std::pair<int64_t, llvm::SmallVector<Value>>> others; // window, pieces
};

} // namespace tessera::codegen::gpu
