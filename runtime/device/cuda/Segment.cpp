#include "runtime/device/cuda/Segment.h"

namespace tessera::runtime::device::cuda {

static constexpr size_t kLeastCommands = 2; // one is as quick by itself
static constexpr size_t kMostGraphs = 512;

uint64_t Segment::hash() const {
  uint64_t hash = 0x9e3779b97f4a7c15;
  auto mix = [&](uint64_t number) {
    hash = (hash ^ number) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  };
  for (const Command &command : commands) {
    mix(uint64_t{command.kind} << 32 | command.tag);
    mix(command.from);
    mix(command.to);
    mix(command.bytes);
  }
  for (Pointer operand : operands)
    mix(operand);
  return hash;
}

namespace {

// As the driver has it.
struct alignas(64) EncodedMap {
  uint8_t bytes[128];
};

ResultCode encode(const Driver &driver, const OperandMap &map, Pointer operand, EncodedMap &made) {
  constexpr int kF16 = 6, kBf16 = 9, kNoInterleave = 0, kSwizzle128 = 3, kPromotion256 = 3,
                kZeros = 0;
  const std::vector<uint32_t> steps(map.sizes.size(), 1);
  return driver.cuTensorMapEncodeTiled(
      &made, map.type == program::BF16 ? kBf16 : kF16, static_cast<unsigned>(map.sizes.size()),
      operand + map.offset, map.sizes.data(), map.strides.data(), map.box.data(), steps.data(),
      kNoInterleave, kSwizzle128, kPromotion256, kZeros);
}

} // namespace

ResultCode give(const Driver &driver, const Segment &segment, const Command &command,
                Stream stream) {
  switch (command.kind) {
  case Command::Copy:
    return driver.cuMemcpyAsync(command.to, command.from, command.bytes, stream);
  case Command::Write:
    return driver.cuMemsetD32Async(command.to, static_cast<unsigned>(command.bytes), 1, stream);
  case Command::Multiply:
    return ofProductLibrary(
        command.product->give(&segment.operands[command.firstOperand], command.to, stream));
  case Command::Launch:
    break;
  }
  const KernelLaunch &launch = *command.launch;
  const Pointer *operands = &segment.operands[command.firstOperand];
  std::vector<EncodedMap> maps(launch.maps.size());
  std::vector<void *> parameters(command.operands + maps.size());
  for (uint32_t i = 0; i < command.operands; ++i)
    parameters[i] = const_cast<Pointer *>(operands + i);
  for (size_t i = 0; i < maps.size(); ++i) {
    parameters[command.operands + i] = &maps[i];
    const OperandMap &map = launch.maps[i];
    if (ResultCode code = encode(driver, map, operands[map.operand], maps[i]); code != kSuccess)
      return code;
  }
  return driver.cuLaunchKernel(command.function, launch.grid, 1, 1, launch.threads, 1, 1,
                               launch.sharedBytes, stream, parameters.data(), nullptr);
}

GraphExec Graphs::of(const Segment &segment, Stream stream) {
  if (refused_ || segment.commands.size() < kLeastCommands)
    return nullptr;
  uint64_t hash = segment.hash();
  auto [begin, end] = known_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    Known &known = it->second;
    if (known.graph && known.segment == segment)
      return known.graph;
    if (known.graph)
      continue;
    known.graph = capture(segment, stream);
    known.segment = segment;
    refused_ = !known.graph;
    return known.graph;
  }
  known_.emplace(hash, Known());
  return nullptr;
}

// Only what this function gives comes into the graph: other threads go on with other streams.
GraphExec Graphs::capture(const Segment &segment, Stream stream) {
  constexpr int kRelaxed = 2; // mode
  if (driver_.cuStreamBeginCapture(stream, kRelaxed) != kSuccess)
    return nullptr;
  bool isWhole = true;
  for (const Command &command : segment.commands)
    isWhole = isWhole && give(driver_, segment, command, stream) == kSuccess;
  Graph graph = nullptr;
  GraphExec made = nullptr;
  isWhole = driver_.cuStreamEndCapture(stream, &graph) == kSuccess && isWhole;
  if (isWhole && driver_.cuGraphInstantiate(&made, graph, 0) != kSuccess)
    made = nullptr;
  if (graph)
    driver_.cuGraphDestroy(graph);
  return made;
}

void Graphs::tidy() {
  if (known_.size() > kMostGraphs)
    clear();
}

void Graphs::clear() {
  for (auto &[hash, known] : known_)
    if (known.graph)
      driver_.cuGraphExecDestroy(known.graph);
  known_.clear();
}

} // namespace tessera::runtime::device::cuda
