#include "runtime/comm/exchange/Exchange.h"
#include "runtime/array/ElementType.h"
#include "runtime/comm/Reduce.h"
#include <cstring>

namespace tessera::runtime {

using program::Collective;

Exchange::Range Exchange::sliceOf(size_t i, uint32_t r) const {
  int64_t element = byteSize(plan.type), count = plan.transfers[i].operandBytes / element,
          g = plan.groupSize;
  return {count * r / g * element, count * (r + 1) / g * element};
}

int64_t Exchange::bytes(size_t i, uint32_t from, uint32_t to) const {
  if (plan.kind != Collective::ALL_REDUCE)
    return plan.transfers[i].block.bytes();
  Range slice = sliceOf(i, phase == 0 ? to : from);
  return slice.end - slice.begin;
}

int64_t Exchange::bytes(uint32_t from, uint32_t to) const {
  int64_t sum = 0;
  for (size_t i = 0; i < plan.transfers.size(); ++i)
    sum += bytes(i, from, to);
  return sum;
}

bool Exchange::overlaps(size_t i) const {
  const Transfer &transfer = plan.transfers[i];
  const char *from = operand(i), *to = result(i);
  if (plan.kind == Collective::ALL_REDUCE && from == to)
    return false; // a slice is written when it has been read
  return from < to + transfer.resultBytes && to < from + transfer.operandBytes;
}

const char *Exchange::source(size_t i, uint32_t to) const {
  const Transfer &transfer = plan.transfers[i];
  if (overlaps(i))
    return nullptr;
  if (plan.kind == Collective::ALL_REDUCE)
    return phase == 0 ? operand(i) + sliceOf(i, to).begin : result(i) + sliceOf(i, rank).begin;
  return isCompact(transfer.block, transfer.block.from) ? operand(i) + to * transfer.fromStep
                                                        : nullptr;
}

char *Exchange::target(size_t i, uint32_t from) const {
  const Transfer &transfer = plan.transfers[i];
  if (reducesNext() || overlaps(i))
    return nullptr;
  if (plan.kind == Collective::ALL_REDUCE)
    return result(i) + sliceOf(i, from).begin;
  return isCompact(transfer.block, transfer.block.to) ? result(i) + from * transfer.toStep
                                                      : nullptr;
}

void Exchange::pack(size_t i, uint32_t to, char *message) const {
  const Transfer &transfer = plan.transfers[i];
  if (plan.kind == Collective::ALL_REDUCE) {
    const char *from =
        phase == 0 ? operand(i) + sliceOf(i, to).begin : result(i) + sliceOf(i, rank).begin;
    std::memcpy(message, from, bytes(i, rank, to));
    return;
  }
  forEachRun(transfer.block, 0, transfer.block.bytes(), [&](int64_t from, int64_t, int64_t run) {
    std::memcpy(message, operand(i) + to * transfer.fromStep + from, run);
    message += run;
  });
}

void Exchange::unpack(size_t i, uint32_t from, const char *message) const {
  const Transfer &transfer = plan.transfers[i];
  if (plan.kind == Collective::ALL_REDUCE) {
    std::memcpy(result(i) + sliceOf(i, from).begin, message, bytes(i, from, rank));
    return;
  }
  forEachRun(transfer.block, 0, transfer.block.bytes(), [&](int64_t, int64_t to, int64_t run) {
    std::memcpy(result(i) + from * transfer.toStep + to, message, run);
    message += run;
  });
}

void Exchange::keepOwn() const {
  for (size_t i = 0; i < plan.transfers.size(); ++i) {
    const Transfer &transfer = plan.transfers[i];
    if (plan.kind != Collective::ALL_REDUCE && plan.moves(rank, rank))
      copyBlock(transfer.block, operand(i) + rank * transfer.fromStep,
                result(i) + rank * transfer.toStep, 0, transfer.block.bytes());
    if (plan.kind == Collective::PERMUTE && plan.permutation.sourceOf(rank) < 0)
      std::memset(result(i), 0, transfer.resultBytes);
  }
}

void Exchange::reduce(const std::vector<std::vector<const char *>> &sources) const {
  ReduceFunction function = reduceFunction(plan.type, plan.reduction);
  std::vector<char> own;
  for (size_t i = 0; i < plan.transfers.size(); ++i) {
    const char *mine = operand(i) + rank * plan.transfers[i].fromStep;
    char *to = result(i);
    if (plan.kind == Collective::ALL_REDUCE) {
      mine = operand(i) + sliceOf(i, rank).begin;
      to += sliceOf(i, rank).begin;
    } else if (!isCompact(plan.transfers[i].block, plan.transfers[i].block.from)) {
      own.resize(bytes(i, rank, rank));
      pack(i, rank, own.data());
      mine = own.data();
    }
    std::vector<const char *> all = sources[i];
    all[rank] = mine;
    function(all.data(), plan.groupSize, &to, 1, bytes(i, rank, rank) / byteSize(plan.type));
  }
}

} // namespace tessera::runtime
