// Where a program's buffers lie, and whether an instruction may have them: within their space, aligned, in
// a memory that it reaches, and written only where the program may.
#pragma once

#include "runtime/program/Decoded.h"

namespace tessera::runtime {

class BufferPlaces {
public:
  // Which memories an instruction reaches.
  enum class Reach { Device, Host, Anywhere };

  explicit BufferPlaces(const program::Program &program);

  // `bytes`: what the instruction needs, 0 for whatever the buffer has. `function`: in whose body it is;
  // null: the program's own.
  Result<Slot> slotOf(const program::Buffer &buffer, uint64_t bytes, bool written, Reach reach,
                      const program::Function *function) const;

private:
  bool mayOverwrite(uint32_t input) const;

  const program::Program &program_;
  std::vector<bool> isAliased_; // by input
};

} // namespace tessera::runtime
