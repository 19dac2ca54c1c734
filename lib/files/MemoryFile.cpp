#include "lib/files/MemoryFile.h"

#include "lib/files/Write.h"
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace tessera::files {

MemoryFile::MemoryFile(const char *name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {}

MemoryFile::MemoryFile(MemoryFile &&other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0)
    close(descriptor_);
}

int MemoryFile::write(std::string_view bytes) { return writeAll(descriptor_, bytes); }

} // namespace tessera::files
