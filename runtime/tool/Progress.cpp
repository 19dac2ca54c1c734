#include "runtime/tool/Progress.h"
#include "lib/text/Quantity.h"
#include "runtime/pool/Pool.h"
#include <cstdio>
#include <unistd.h>

namespace tessera::runtime {

Progress::Progress() : onTerminal_(isatty(STDERR_FILENO)), began_(Pool::now()) {}

void Progress::show(int64_t step, int64_t steps) {
  int64_t now = Pool::now();
  constexpr int64_t often = 100'000'000;
  if (!onTerminal_ || now - last_ < often || step == steps)
    return;
  double left = static_cast<double>(now - began_) * 1e-9 / static_cast<double>(step) *
                static_cast<double>(steps - step);
  std::fprintf(stderr, "\r\033[Ktessera: step %lld of %lld, %s left", static_cast<long long>(step),
               static_cast<long long>(steps), text::seconds(left).c_str());
  last_ = now;
  isShown_ = true;
}

void Progress::clear() {
  if (isShown_)
    std::fputs("\r\033[K", stderr);
  isShown_ = false;
}

} // namespace tessera::runtime
