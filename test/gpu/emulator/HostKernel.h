// A kernel of a library that has a stand-in: what it does to the GPU's memory is computed by the host, in
// the stream's turn. What it touches is said, and checked as a kernel's accesses are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tessera::emulator {

class Stream;

struct HostKernel {
  // `rows` pieces of `bytes`, each `pitch` bytes after the one before.
  struct Range {
    const char *what;
    uint64_t address;
    size_t bytes, rows, pitch;
    bool isWritten;
  };
  std::string name;
  std::vector<Range> ranges;
  // With the host's pointer to each range.
  std::function<void(const std::vector<uint8_t *> &)> compute;
};

// At the end of what the stream has to do, or of the graph that is being captured.
__attribute__((visibility("default"))) void give(Stream *stream, HostKernel kernel);

} // namespace tessera::emulator
