// How a GPU runs a file's kernels, by what an image of code says of them.
#pragma once

#include "include/tessera/program.pb.h"
#include "runtime/Status.h"

#include <vector>

namespace tessera::runtime {

// An operand as copies of boxes into shared memory see it (program.proto, TensorMap).
struct OperandMap {
  uint32_t operand = 0;
  uint64_t offset = 0;
  program::ElementType type = program::ELEMENT_INVALID;
  std::vector<uint64_t> sizes, strides; // strides: one fewer, in bytes
  std::vector<uint32_t> box;
};

struct KernelLaunch {
  uint32_t grid = 1, threads = 1, sharedBytes = 0;
  std::vector<OperandMap> maps;
};

// One for each kernel of the file, within what any GPU runs; maps lie within their operands.
Result<std::vector<KernelLaunch>> readLaunches(const program::File &file,
                                               const program::CodeImage &image);

} // namespace tessera::runtime
