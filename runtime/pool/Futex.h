// Sleeping on a 32-bit word, with an optional limit in time. Linux.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tessera::runtime {

// Sleeps while word == expected, at most `nanoseconds` (negative: without limit). Wakes for no
// reason too.
inline void futexWait(std::atomic<uint32_t> &word, uint32_t expected, int64_t nanoseconds = -1) {
  timespec limit = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nanoseconds < 0 ? nullptr : &limit,
          nullptr, 0);
}

inline void futexWake(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace tessera::runtime
