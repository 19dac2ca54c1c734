#include "passes/memory/BufferRanges.h"

namespace tessera::memory {

using namespace tessera::exec;

int64_t outputSpace(ProgramOp program, int64_t output) {
  int64_t alias = mlir::cast<ParameterAttr>(program.getOutputs()[output]).getAlias();
  return alias >= 0 ? 2 + 2 * alias : 3 + 2 * output;
}

ByteRange rangeOf(ProgramOp program, mlir::Value buffer) {
  auto op = buffer.getDefiningOp<BufferOp>();
  int64_t index = op.getIndex(), begin = op.getOffset(), end = begin + op.getBytes();
  switch (op.getSpace()) {
  case Space::Arena:
    return {0, begin, end};
  case Space::Constant:
    return {1, begin, end};
  case Space::Input:
    return {2 + 2 * index, begin, end};
  case Space::Output:
    return {outputSpace(program, index), begin, end};
  case Space::HostArena:
    return {-1, begin, end};
  case Space::FileArena:
    return {-2, begin, end};
  case Space::Argument:
    return {-3 - index, begin, end};
  }
  return {0, 0, 0};
}

} // namespace tessera::memory
