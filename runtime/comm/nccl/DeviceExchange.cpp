#include "runtime/comm/nccl/DeviceExchange.h"
#include "runtime/array/ElementType.h"

namespace tessera::runtime {

using device::cuda::MovePart;
using program::Collective;

namespace {

constexpr int64_t kAlign = 256; // of pieces that are staged

// Of the place of a piece in staging: two for each rank, what it is sent and what came from it.
uint64_t slotBytes(const CollectivePlan &plan, const Transfer &transfer) {
  int64_t bytes = transfer.block.bytes();
  if (plan.kind == Collective::ALL_REDUCE)
    bytes = bytes / plan.groupSize + byteSize(plan.type); // a slice
  return static_cast<uint64_t>((bytes + kAlign - 1) / kAlign * kAlign);
}

Block rowOf(int64_t bytes) {
  Block block;
  block.row = bytes;
  return block;
}

// The same block, compact on one side.
Block compactSource(Block block) {
  int64_t next = block.row;
  for (size_t i = block.extent.size(); i-- > 0; next *= block.extent[i])
    block.from[i] = next;
  return block;
}
Block compactTarget(Block block) {
  int64_t next = block.row;
  for (size_t i = block.extent.size(); i-- > 0; next *= block.extent[i])
    block.to[i] = next;
  return block;
}

// Of one operand.
class Stages {
public:
  Stages(const CollectivePlan &plan, uint32_t rank, size_t operand,
         const std::vector<uint64_t> &buffers, uint64_t staging)
      : plan(plan), transfer(plan.transfers[operand]), rank(rank), g(plan.groupSize),
        operand(buffers[operand]), result(buffers[plan.transfers.size() + operand]),
        staging(staging) {}

  void allReduce(DeviceStage &scatter, DeviceStage &gather) const {
    MovePart sum = part(rowOf(sizeOf(rank)), g, 1);
    for (uint32_t peer = 0; peer < g; ++peer) {
      sum.addresses.push_back(peer == rank ? operand + beginOf(rank) : staged(peer));
      if (peer == rank)
        continue;
      scatter.sends.push_back({peer, operand + beginOf(peer), bytesOf(peer)});
      scatter.receives.push_back({peer, staged(peer), bytesOf(rank)});
      gather.sends.push_back({peer, result + beginOf(rank), bytesOf(rank)});
      gather.receives.push_back({peer, result + beginOf(peer), bytesOf(peer)});
    }
    sum.addresses.push_back(result + beginOf(rank));
    scatter.behind.push_back(std::move(sum));
    scatter.reduces = true;
  }

  void reduceScatter(DeviceStage &stage) const {
    const Block &block = transfer.block;
    MovePart sum = part(rowOf(block.bytes()), g, 1);
    for (uint32_t peer = 0; peer < g; ++peer) {
      uint64_t from = sendPlace(stage, peer, g + peer);
      sum.addresses.push_back(peer == rank ? from : staged(peer));
      if (peer == rank)
        continue;
      stage.sends.push_back({peer, from, size()});
      stage.receives.push_back({peer, staged(peer), size()});
    }
    sum.addresses.push_back(result);
    stage.behind.push_back(std::move(sum));
    stage.reduces = true;
  }

  void move(DeviceStage &stage) const {
    const Block &block = transfer.block;
    bool isWhole = isCompact(block, block.to);
    for (uint32_t peer = 0; peer < g; ++peer) {
      uint64_t to = result + peer * static_cast<uint64_t>(transfer.toStep);
      if (peer == rank) {
        if (plan.moves(rank, rank))
          stage.behind.push_back(copy(block, blockAt(rank), to));
        continue;
      }
      if (plan.moves(rank, peer))
        stage.sends.push_back({peer, sendPlace(stage, peer, g + peer), size()});
      if (!plan.moves(peer, rank))
        continue;
      stage.receives.push_back({peer, isWhole ? to : staged(peer), size()});
      if (!isWhole)
        stage.behind.push_back(copy(compactSource(block), staged(peer), to));
    }
    if (plan.kind == Collective::PERMUTE && plan.permutation.sourceOf(rank) < 0)
      stage.zeros.push_back({result, static_cast<uint64_t>(transfer.resultBytes)});
  }

private:
  static MovePart part(Block block, uint32_t sources, uint32_t targets) {
    MovePart made;
    made.block = std::move(block);
    made.jobs = 1, made.sources = sources, made.targets = targets;
    return made;
  }
  static MovePart copy(Block block, uint64_t from, uint64_t to) {
    MovePart made = part(std::move(block), 1, 1);
    made.addresses = {from, to};
    return made;
  }
  // Of an all-reduce: what rank r reduces.
  uint64_t beginOf(uint32_t r) const {
    int64_t element = byteSize(plan.type);
    return static_cast<uint64_t>(transfer.operandBytes / element * r / g * element);
  }
  uint64_t bytesOf(uint32_t r) const { return beginOf(r + 1) - beginOf(r); }
  int64_t sizeOf(uint32_t r) const { return static_cast<int64_t>(bytesOf(r)); }

  uint64_t size() const { return static_cast<uint64_t>(transfer.block.bytes()); }
  uint64_t blockAt(uint32_t peer) const {
    return operand + peer * static_cast<uint64_t>(transfer.fromStep);
  }
  uint64_t staged(uint32_t slot) const { return staging + slot * slotBytes(plan, transfer); }
  // Where the block for a peer lies in one piece.
  uint64_t sendPlace(DeviceStage &stage, uint32_t peer, uint32_t slot) const {
    const Block &block = transfer.block;
    if (isCompact(block, block.from))
      return blockAt(peer);
    stage.before.push_back(copy(compactTarget(block), blockAt(peer), staged(slot)));
    return staged(slot);
  }

  const CollectivePlan &plan;
  const Transfer &transfer;
  const uint32_t rank, g;
  const uint64_t operand, result, staging;
};

} // namespace

uint64_t stagingBytes(const CollectivePlan &plan) {
  uint64_t bytes = 0; // what is sent, and what is received
  for (const Transfer &transfer : plan.transfers)
    bytes += 2 * plan.groupSize * slotBytes(plan, transfer);
  return bytes;
}

std::vector<DeviceStage> stagesOf(const CollectivePlan &plan, uint32_t rank,
                                  const std::vector<uint64_t> &buffers, uint64_t staging) {
  std::vector<DeviceStage> stages(plan.kind == Collective::ALL_REDUCE ? 2 : 1);
  for (size_t i = 0; i < plan.transfers.size(); ++i) {
    Stages of(plan, rank, i, buffers, staging);
    if (plan.kind == Collective::ALL_REDUCE)
      of.allReduce(stages[0], stages[1]);
    else if (plan.kind == Collective::REDUCE_SCATTER)
      of.reduceScatter(stages[0]);
    else
      of.move(stages[0]);
    staging += 2 * plan.groupSize * slotBytes(plan, plan.transfers[i]);
  }
  for (DeviceStage &stage : stages) {
    auto isEmpty = [](const DeviceMessage &message) { return !message.bytes; };
    std::erase_if(stage.sends, isEmpty);
    std::erase_if(stage.receives, isEmpty);
    std::erase_if(stage.zeros, [](const device::cuda::Fill &fill) { return !fill.bytes; });
  }
  return stages;
}

} // namespace tessera::runtime
