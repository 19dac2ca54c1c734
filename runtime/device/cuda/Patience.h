// When a GPU that does not come further is given up. A kernel that never ends cannot be ended: streams and
// memory that it may use are left alone from then on, and no step runs on the GPU any more.
//
//   moved .... moved ............ stands for TESSERA_PROGRESS_TIMEOUT (half an hour): given up
//   moved .. the step's time limit .......... 10 s later it still stands: given up
#pragma once

#include "runtime/pool/Run.h"
#include <functional>

namespace tessera::runtime::device {

// Not thread-safe. Of a wait for a GPU.
class Patience {
public:
  // Whether what it stands at is a message of somebody else, who may be late.
  using Waits = std::function<bool()>;

  // `longest`: nanoseconds that it may stand at one place; 0: any time.
  explicit Patience(int64_t longest, Waits waits = {})
      : longest_(longest), waits_(std::move(waits)), since_(Pool::now()) {}

  // It has come further, or has been given something after it had nothing to do.
  void moved() { since_ = Pool::now(), overdue_ = 0; }
  // Whether it is over. No step of `run` is under way otherwise.
  bool isOver(Run &run);
  // For how long it has stood there: "12 s".
  std::string stood() const;

private:
  const int64_t longest_;
  const Waits waits_;
  int64_t since_;
  int64_t overdue_ = 0; // since when the step is over its time limit
};

// What is said of the first of so many commands at which a GPU was given up; of none: of the last one before that
// place. `stood`: for how long.
std::string describeHang(uint32_t commands, const std::string &stood);

} // namespace tessera::runtime::device
