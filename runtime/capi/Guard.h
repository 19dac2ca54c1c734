// What every function of the C interface does: codes instead of exceptions, and the message of the
// last failure.
#pragma once

#include "include/tessera/c_api.h"
#include "runtime/Status.h"
#include <exception>
#include <new>

namespace tessera::runtime {

// Keeps the message for this thread.
tessera_code report(const Status &status) noexcept;
// The same for want of memory, without taking any.
tessera_code reportNoMemory() noexcept;

// For functions that return no code.
template <class T> T without(const char *function, T value) noexcept {
  report(invalidArgument(std::string(function) + ": a null argument"));
  return value;
}

// Runs f, which returns a Status; turns what is thrown (memory, above all) into one.
template <class F> tessera_code guarded(F f) noexcept {
  try {
    return report(f());
  } catch (const std::bad_alloc &) {
    return reportNoMemory();
  } catch (const std::exception &e) {
    return report({Code::Internal, e.what()});
  } catch (...) {
    return report({Code::Internal, "failed"});
  }
}

} // namespace tessera::runtime
