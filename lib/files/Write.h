// Writing to descriptors in a process that may be somebody else's.
#pragma once

#include <csignal>
#include <string_view>

namespace tessera::files {

/// While it lives, what this thread writes past the limit of a file's size (`ulimit -f`) is an
/// error, EFBIG, and not SIGXFSZ, which would end the process. The limit counts for files in
/// memory, too.
class SizeLimitIsAnError {
public:
  SizeLimitIsAnError();
  ~SizeLimitIsAnError();
  SizeLimitIsAnError(const SizeLimitIsAnError &) = delete;

private:
  sigset_t before_;
  bool wasPending_;
};

/// Returns 0 or errno.
int writeAll(int descriptor, std::string_view bytes);

} // namespace tessera::files
