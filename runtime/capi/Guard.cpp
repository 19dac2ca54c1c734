#include "runtime/capi/Guard.h"
#include <string>

namespace tessera::runtime {

static thread_local std::string lastError;

tessera_code report(const Status &status) noexcept {
  if (!status.ok()) {
    lastError.clear();
    try {
      lastError = status.message();
    } catch (...) {
      return reportNoMemory();
    }
  }
  return static_cast<tessera_code>(status.code());
}

tessera_code reportNoMemory() noexcept {
  lastError = "out of memory"; // has room in the string itself
  return TESSERA_RESOURCE_EXHAUSTED;
}

} // namespace tessera::runtime

extern "C" const char *tessera_error_message(void) { return tessera::runtime::lastError.c_str(); }
