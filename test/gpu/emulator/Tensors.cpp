// Copies of a tensor's boxes to shared memory, and the barriers that count their bytes.
#include "test/gpu/emulator/BlockRun.h"

#include <algorithm>
#include <cstring>

namespace tessera::emulator {

// Whether the thread goes on. Where the phase is not over, some warps are told so, once, and go round
// their loops; the others are asked again when a phase has ended.
bool BlockRun::atBarrierOfBytes(Thread &thread, const Instruction &i) {
  uint32_t warp = thread.number / kWarp;
  uint64_t address = sharedAddress(thread, i.a);
  std::string problem;
  bool goesOn = true;
  if (i.code == Code::MBarrierInit) {
    problem = proxies_->initBarrier(warp, address, value(thread, i.b));
  } else if (i.code == Code::MBarrierArrive) {
    uint64_t number = i.b.kind == Operand::None ? 1 : value(thread, i.b);
    problem =
        proxies_->arrive(warp, address, i.expectsBytes ? 1 : number, i.expectsBytes ? number : 0);
    set(thread, i.to, 0x7ff7fff7deadbeef, Type::B64); // a state that nobody reads
  } else {
    bool isOver = false;
    problem = proxies_->ask(warp, address, value(thread, i.b), isOver);
    uint64_t wait = problem.empty() ? proxies_->numberOf(address) : 0;
    bool isTold = std::hash<uint64_t>()((wait * 31 + warp) * 0x9e3779b97f4a7c15) >> 32 & 1;
    goesOn = isOver || (isTold && thread.told != wait);
    thread.told = wait;
    if (goesOn)
      set(thread, i.to, isOver, Type::Pred);
    else
      thread.state = Thread::AtPhase;
  }
  if (!problem.empty())
    fail(thread, problem);
  return goesOn;
}

void BlockRun::wakeAtPhases(std::vector<uint32_t> &ready) {
  if (!proxies_ || !proxies_->takeEnded())
    return;
  for (Thread &thread : threads_)
    if (thread.state == Thread::AtPhase) {
      thread.state = Thread::Ready;
      ready.push_back(thread.number);
    }
}

namespace {

// Line after line of a box, each a run of elements along the innermost dimension.
template <class Visit> void forLines(const TensorCopy &copy, const Visit &visit) {
  const TensorMap &map = copy.map;
  uint64_t lines = map.boxBytes() / map.elementBytes / map.box[0];
  for (uint64_t line = 0; line < lines; ++line) {
    uint64_t rest = line, from = map.address;
    bool isInside = true;
    for (unsigned i = 1; i < map.rank; ++i) {
      int64_t at = copy.first[i] + static_cast<int64_t>(rest % map.box[i]);
      rest /= map.box[i];
      isInside &= at >= 0 && at < static_cast<int64_t>(map.sizes[i]);
      from += static_cast<uint64_t>(at) * map.strides[i];
    }
    int64_t size = static_cast<int64_t>(map.sizes[0]),
            begin = std::clamp<int64_t>(copy.first[0], 0, size);
    int64_t end = std::clamp<int64_t>(copy.first[0] + map.box[0], 0, size);
    if (!isInside)
      end = begin;
    visit(line, from + static_cast<uint64_t>(begin) * map.elementBytes,
          static_cast<uint64_t>(begin - copy.first[0]) * map.elementBytes,
          static_cast<uint64_t>(end - begin) * map.elementBytes);
  }
}

} // namespace

void BlockRun::startTensorCopy(Thread &thread, const Instruction &i) {
  uint64_t from = value(thread, i.b) - kParamWindow;
  TensorCopy copy;
  if (from % 64 || from > kernel_.parameterBytes || kernel_.parameterBytes - from < 128)
    fail(thread, "a tensor map that is no aligned parameter of the kernel");
  std::memcpy(&copy.map, parameters_ + from, sizeof copy.map);
  const TensorMap &map = copy.map;
  if (map.mark != TensorMap::kMark || map.rank != i.width || i.c.count != map.rank)
    fail(thread, "a tensor map of another rank, or none");
  for (uint32_t k = 0; k < map.rank; ++k)
    copy.first[k] = static_cast<int32_t>(part(thread, i.c, k));
  copy.to = sharedAddress(thread, i.a), copy.barrier = sharedAddress(thread, i.d);
  uint64_t bytes = map.boxBytes(),
           aligned = map.swizzle == Swizzle::None ? 128 : 128 << static_cast<unsigned>(map.swizzle);
  if (copy.to % aligned || copy.to + bytes > shared_.size())
    fail(thread, "a box where there is no room for it, or not aligned to " +
                     std::to_string(aligned) + " bytes");
  forLines(copy, [&](uint64_t, uint64_t address, uint64_t, uint64_t size) {
    if (size)
      global(thread, address, static_cast<unsigned>(size), /*isWrite=*/false);
  });
  for (uint64_t byte = copy.to; byte < copy.to + bytes; ++byte)
    note(thread, sharedTraces_[byte], /*isWrite=*/true);
  if (std::string problem =
          proxies_->beginCopy(thread.number / kWarp, copy.to, bytes, copy.barrier);
      !problem.empty())
    fail(thread, problem);
  ++counts_.tensorCopies;
  tensorCopies_.push_back(copy);
}

void BlockRun::landTensorCopy() {
  size_t which = random_() % tensorCopies_.size();
  TensorCopy copy = tensorCopies_[which];
  tensorCopies_.erase(tensorCopies_.begin() + static_cast<int64_t>(which));
  const TensorMap &map = copy.map;
  uint64_t line = uint64_t{map.box[0]} * map.elementBytes;
  std::vector<uint8_t> bytes(line);
  forLines(copy, [&](uint64_t number, uint64_t address, uint64_t at, uint64_t size) {
    std::fill(bytes.begin(), bytes.end(), 0);
    size_t offset;
    if (Memory::Block *block = size ? memory_.find(address, size, offset) : nullptr)
      std::memcpy(bytes.data() + at, block->bytes.get() + offset, size);
    for (uint64_t unit = 0; unit < line; unit += 16)
      std::memcpy(shared_.data() + swizzled(copy.to + number * line + unit, map.swizzle),
                  bytes.data() + unit, 16);
  });
  if (std::string problem = proxies_->landCopy(copy.to, map.boxBytes(), copy.barrier);
      !problem.empty())
    throw Wrong(problem);
}

} // namespace tessera::emulator
