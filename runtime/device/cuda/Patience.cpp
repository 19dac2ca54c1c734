#include "runtime/device/cuda/Patience.h"
#include <algorithm>
#include <cstdio>

namespace tessera::runtime::device {

static constexpr int64_t kGrace = 10'000'000'000; // nanoseconds beyond a step's time limit

bool Patience::isOver(Run &run) {
  int64_t now = Pool::now();
  if (run.failed() && run.status().code() == Code::DeadlineExceeded) {
    if (!overdue_)
      overdue_ = now;
    return now - overdue_ >= (longest_ ? std::min(longest_, kGrace) : kGrace);
  }
  if (!longest_ || now - since_ < longest_)
    return false;
  if (!waits_ || !waits_())
    return true;
  since_ = now;
  return false;
}

std::string Patience::stood() const {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", static_cast<double>(Pool::now() - since_) * 1e-9);
  return text + std::string(overdue_ ? "" : " (TESSERA_PROGRESS_TIMEOUT)");
}

std::string describeHang(uint32_t commands, const std::string &stood) {
  std::string which = commands ? "it does not end" : "what comes behind it does not end";
  if (commands > 1)
    which += ", or one of the " + std::to_string(commands - 1) +
             " commands after it does not (CUDA_LAUNCH_BLOCKING=1 names the one)";
  return which + ": the GPU has stood there for " + stood;
}

} // namespace tessera::runtime::device
