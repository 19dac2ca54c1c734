// Runs kernels thread by thread, in random order, as PTX defines it, and counts.
//
// Errors: an access outside of what is allocated or that is not aligned; two threads at one byte,
// one of them writing, with no barrier between; a barrier or shuffle to which not all come; what is
// not known. They name kernel, line of the PTX, block and thread.
#pragma once

#include "test/gpu/emulator/Memory.h"
#include "test/gpu/emulator/Ptx.h"

#include <random>
#include <string>
#include <unordered_set>

namespace tessera::emulator {

struct Shape {
  uint32_t blocks = 1, threads = 1;
  uint64_t sharedBytes = 0; // beside what the kernel declares
};

struct Counts {
  uint64_t launches = 0, instructions = 0, barriers = 0;
  uint64_t blocks = 0, carriedOut = 0;          // of all launches; those of them that were
  uint64_t bytesRead = 0, bytesWritten = 0;     // of global memory, by all threads
  uint64_t leastRead = 0, leastWritten = 0;     // each byte once a launch
  uint64_t sectorsRead = 0, sectorsWritten = 0; // of 32 bytes, by warps
  uint64_t blockSectorsRead = 0, blockSectorsWritten = 0; // each once a block
  uint64_t leastSectorsRead = 0, leastSectorsWritten = 0; // each once a launch
  // Of shared memory, in one block of each launch: how often its banks are asked, and how often that would
  // be if none had two words to give at a time.
  uint64_t bankTurns = 0, leastBankTurns = 0;
  uint64_t tensorCopies = 0, warpgroupProducts = 0; // the latter by warps
};

// Of a launch.
struct Sectors {
  std::unordered_set<uint64_t> read, written;
};

class Machine {
public:
  Machine(const Module &module, const std::map<std::string, uint64_t> &globals, Memory &memory,
          uint64_t seed, uint64_t sample = 0)
      : module_(module), globals_(globals), memory_(memory), random_(seed), sample_(sample) {}

  // Empty: it ran. `parameters` as the kernel declares them. With a sample: so many blocks, or all of a small launch,
  // of the first that `counts` knows, which is enough to count by.
  std::string run(const Kernel &kernel, const Shape &shape, const uint8_t *parameters,
                  uint32_t launch, Counts &counts);

private:
  const Module &module_;
  const std::map<std::string, uint64_t> &globals_;
  Memory &memory_;
  std::mt19937_64 random_;
  const uint64_t sample_;
};

} // namespace tessera::emulator
