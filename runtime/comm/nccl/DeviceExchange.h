// What a rank of a collective gives the others and gets from them, where they are GPUs of their own:
// messages between buffers, and what is moved on the GPU before and behind them. Plain data.
//
//   all-reduce   1. slice r of the operand goes to rank r, which reduces what it got, in the order of the ranks
//                2. the reduced slice goes to all
//   others       each block to its rank; where it is not in one piece, by way of a place beside (staging)
//
// The reductions are the runtime's own, so that their bits are those of any other communicator.
#pragma once

#include "runtime/device/cuda/MoveTable.h"

namespace tessera::runtime {

struct DeviceMessage {
  uint32_t peer; // rank in the group
  uint64_t address, bytes;
  bool operator==(const DeviceMessage &) const = default;
};

// One after the other.
struct DeviceStage {
  std::vector<device::cuda::MovePart> before; // copied
  std::vector<DeviceMessage> sends, receives; // all at once; of two ranks they come in order
  std::vector<device::cuda::MovePart> behind; // copied, or reduced
  bool reduces = false;
  std::vector<device::cuda::Fill> zeros;
};

// `buffers`: operands, then results. `staging`: of stagingBytes at least.
std::vector<DeviceStage> stagesOf(const CollectivePlan &plan, uint32_t rank,
                                  const std::vector<uint64_t> &buffers, uint64_t staging);
uint64_t stagingBytes(const CollectivePlan &plan);

} // namespace tessera::runtime
