#include "runtime/session/Array.h"

namespace tessera::runtime {

static uint64_t nextIdentity() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

Array::Array(std::shared_ptr<const LoadedProgram> file, const LoadedProgram::Place &place,
             uint64_t number)
    : file(std::move(file)), program(*place.program), parameter(*place.parameter), number(number),
      identity(nextIdentity()) {}

} // namespace tessera::runtime
