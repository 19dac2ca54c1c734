// A file in memory: no directory has room for it or has not, and nothing of it is ever left.
#pragma once

#include <string>
#include <string_view>

namespace tessera::files {

class MemoryFile {
public:
  /// `name` is what /proc shows. Where isOpen is false, errno says why.
  explicit MemoryFile(const char *name);
  MemoryFile(MemoryFile &&other) noexcept;
  MemoryFile(const MemoryFile &) = delete;
  ~MemoryFile();

  bool isOpen() const { return descriptor_ >= 0; }
  /// Under which this process can open it while the object lives.
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  /// Appends. Returns 0 or errno.
  int write(std::string_view bytes);

private:
  int descriptor_;
};

} // namespace tessera::files
