// Files that commands read. Nothing is mapped: a file that somebody cuts off while it is read gives
// an error, where a mapped one ends the process with SIGBUS. Nothing is endless either: only a
// regular file is read whole whatever its size, as it has one.
//
// Errors are "PATH: REASON".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tessera::files {

// A regular file, read by position.
class InputFile {
public:
  // A pipe, a device, a directory is refused.
  static std::optional<InputFile> open(const std::string &path, std::string &wrong);
  InputFile(InputFile &&other) noexcept;
  InputFile &operator=(InputFile &&other) = delete;
  ~InputFile();

  // Bytes, when it was opened.
  uint64_t size() const { return size_; }
  // Fills `to` with the bytes from `offset` on. Empty, or why not: it may have become shorter.
  // Thread-safe.
  [[nodiscard]] std::string read(uint64_t offset, char *to, size_t bytes) const;

private:
  InputFile(std::string path, int descriptor, uint64_t size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

  std::string path_;
  int descriptor_;
  uint64_t size_;
};

// All of a file, of a pipe, or of standard input ("-"); up to 512 MiB of what is no regular file.
// A device is refused; a named pipe that nobody opens for writing is given up after 5 seconds.
std::optional<std::string> readWhole(const std::string &path, std::string &wrong);

} // namespace tessera::files
