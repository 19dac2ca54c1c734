// The collectives that a rank's stream was given, and in which of them it stands. A site comes again before
// the stream has come to it once, so each collective has marks of its own.
//
//   stream   wait for the operands | begun | kernels | messages | kernels | messages | ended | ..
//                                            0          1         2          3
#pragma once

#include "runtime/device/cuda/CudaBackend.h"
#include "runtime/program/Blocks.h"
#include <deque>
#include <vector>

namespace tessera::runtime {

// Not thread-safe.
class UnderWay {
public:
  explicit UnderWay(const device::CudaBackend &backend) : backend_(backend) {}
  ~UnderWay();
  UnderWay(const UnderWay &) = delete;
  UnderWay &operator=(const UnderWay &) = delete;

  // Behind what comes before a collective in the stream, before its messages and behind them in turns, and
  // behind the collective.
  Status begin(device::cuda::Stream stream);
  Status turn(device::cuda::Stream stream);
  Status end(device::cuda::Stream stream, const CollectivePlan &plan);

  void forgetEnded();
  // That is not over, the oldest; null for none.
  const CollectivePlan *first() const { return given_.empty() ? nullptr : given_.front().plan; }
  // That was given last; null before any.
  const CollectivePlan *last() const { return last_; }
  // Whether the stream stands in the first: its operands are there, its results are not.
  bool isIn() const;
  // Whether it stands at messages there, not at kernels of the collective's.
  bool isAtMessages() const;
  // To how many it has come.
  uint64_t count() const { return ended_ + isIn(); }

private:
  using Events = std::vector<device::cuda::EventHandle>;
  struct Given {
    const CollectivePlan *plan;
    device::cuda::EventHandle begun, ended;
    Events turns;
  };
  void release(const Given &given);
  device::cuda::EventHandle mark(device::cuda::Stream stream);

  const device::CudaBackend &backend_;
  std::deque<Given> given_; // oldest first
  Events free_;             // marks
  device::cuda::EventHandle begun_ = nullptr;
  Events turns_; // of what is begun
  const CollectivePlan *last_ = nullptr;
  uint64_t ended_ = 0;
};

} // namespace tessera::runtime
