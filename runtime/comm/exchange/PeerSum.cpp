#include "runtime/comm/exchange/PeerSum.h"
#include "runtime/array/ElementType.h"
#include "runtime/comm/Reduce.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/uio.h>

namespace tessera::runtime {

namespace {

constexpr size_t kSegmentWords = sizeof(SharedSegment) / sizeof(uint64_t);
constexpr int64_t kInCache = 256 << 10; // bytes of all ranks' parts together
constexpr int64_t kAtOnce = 1 << 20;    // bytes of a slice, until others get their turn

// One of process_vm_readv and process_vm_writev: the same bytes there and here.
template <class Move>
Result<int64_t> moveWhole(Move move, int64_t process, uint64_t there, void *here, int64_t bytes) {
  for (int64_t at = 0; at < bytes;) {
    auto left = static_cast<size_t>(bytes - at);
    iovec own = {static_cast<char *>(here) + at, left};
    iovec other = {reinterpret_cast<void *>(there + static_cast<uint64_t>(at)), left};
    ssize_t moved = move(static_cast<pid_t>(process), &own, 1, &other, 1, 0);
    if (moved < 0 && errno == ESRCH)
      return int64_t{0}; // it has ended
    if (moved <= 0)
      return Status(Code::Internal, "the memory of process " + std::to_string(process) +
                                        " cannot be reached: " + std::strerror(errno));
    at += moved;
  }
  return bytes;
}

} // namespace

bool PeerSum::isFor(const CollectivePlan &plan, const std::vector<int64_t> &processes) {
  return plan.kind == program::Collective::ALL_REDUCE && plan.groupSize > 1 &&
         plan.bytes / plan.groupSize >= Exchange::kApart &&
         std::find(processes.begin(), processes.end(), 0) == processes.end();
}

PeerSum::PeerSum(const Exchange &exchange, std::vector<int64_t> processes,
                 const SharedSegment &segment)
    : rank_(exchange.rank), processes_(std::move(processes)), addresses_(processes_.size()),
      views_(processes_.size()), parts_(processes_.size()) {
  size_t count = exchange.plan.transfers.size();
  operands_.resize(count);
  for (auto &addresses : addresses_)
    addresses.resize(kSegmentWords + 2 * count);
  std::memcpy(addresses_[rank_].data(), &segment, sizeof segment);
  for (size_t i = 0; i < count; ++i) {
    const char *from = exchange.operand(i);
    if (exchange.overlaps(i)) {
      operands_[i].assign(from, from + exchange.plan.transfers[i].operandBytes);
      from = operands_[i].data();
    }
    addresses_[rank_][kSegmentWords + i] = reinterpret_cast<uint64_t>(from);
    addresses_[rank_][kSegmentWords + count + i] = reinterpret_cast<uint64_t>(exchange.result(i));
  }
}

void PeerSum::mapPeers(Views &views) {
  views.resize(processes_.size());
  for (uint32_t r = 0; r < processes_.size(); ++r) {
    SharedSegment segment;
    std::memcpy(&segment, addresses_[r].data(), sizeof segment);
    if (r == rank_ || !segment.bytes)
      continue;
    if (!views[r] || views[r]->segment() != segment)
      views[r] = SharedView::map(processes_[r], segment);
    views_[r] = views[r].get();
  }
}

uint64_t PeerSum::addressOf(uint32_t rank, size_t buffer) const {
  return addresses_[rank][kSegmentWords + buffer];
}

char *PeerSum::direct(uint32_t rank, size_t buffer, int64_t at, int64_t bytes) const {
  uint64_t address = addressOf(rank, buffer) + static_cast<uint64_t>(at);
  return views_[rank] ? views_[rank]->at(address, static_cast<uint64_t>(bytes)) : nullptr;
}

Result<int64_t> PeerSum::reducePart(const Exchange &exchange, int64_t at, int64_t bytes) {
  const CollectivePlan &plan = exchange.plan;
  auto offset = static_cast<uint64_t>(at);
  size_t result = plan.transfers.size() + operand_;
  std::vector<const char *> sources(processes_.size());
  std::vector<char *> targets = {exchange.result(operand_) + at};
  std::vector<uint32_t> written; // of the others, by the system's call
  for (uint32_t r = 0; r < processes_.size(); ++r) {
    if (r == rank_) {
      sources[r] = reinterpret_cast<const char *>(addressOf(r, operand_) + offset);
      continue;
    }
    if (char *target = direct(r, result, at, bytes))
      targets.push_back(target);
    else
      written.push_back(r);
    if ((sources[r] = direct(r, operand_, at, bytes)))
      continue;
    parts_[r].resize(static_cast<size_t>(std::max<int64_t>(bytes, parts_[r].size())));
    sources[r] = parts_[r].data();
    auto read = moveWhole(process_vm_readv, processes_[r], addressOf(r, operand_) + offset,
                          parts_[r].data(), bytes);
    if (!read.ok() || *read == 0)
      return read;
  }
  reduceFunction(plan.type, plan.reduction)(sources.data(), plan.groupSize, targets.data(),
                                            static_cast<uint32_t>(targets.size()),
                                            bytes / byteSize(plan.type));
  for (uint32_t r : written) {
    auto moved = moveWhole(process_vm_writev, processes_[r], addressOf(r, result) + offset,
                           targets[0], bytes);
    if (!moved.ok() || *moved == 0)
      return moved;
  }
  return bytes;
}

Result<int64_t> PeerSum::advance(const Exchange &exchange) {
  int64_t most = kInCache / static_cast<int64_t>(processes_.size());
  most = std::max<int64_t>(most & ~int64_t{4095}, 4096); // whole elements of any type
  int64_t reduced = 0;
  while (!isDone(exchange) && reduced < kAtOnce) {
    Exchange::Range slice = exchange.sliceOf(operand_, rank_);
    int64_t bytes = std::min(most, slice.end - slice.begin - done_);
    if (bytes > 0) {
      Result<int64_t> moved = reducePart(exchange, slice.begin + done_, bytes);
      if (!moved.ok() || *moved == 0)
        return moved;
      reduced += bytes;
      done_ += bytes;
      continue;
    }
    ++operand_;
    done_ = 0;
  }
  return reduced;
}

} // namespace tessera::runtime
