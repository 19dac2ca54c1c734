// A shared object opened from memory.
#pragma once

#include "lib/files/MemoryFile.h"
#include "runtime/Status.h"
#include <memory>
#include <string>
#include <string_view>

namespace tessera::runtime {

class SharedObject {
public:
  static Result<std::shared_ptr<SharedObject>> open(std::string_view bytes);
  ~SharedObject();
  SharedObject(const SharedObject &) = delete;
  SharedObject &operator=(const SharedObject &) = delete;
  void *symbol(const std::string &name) const; // null when there is none

private:
  SharedObject(files::MemoryFile file, void *handle) : file_(std::move(file)), handle_(handle) {}
  files::MemoryFile file_; // open while loaded: the loader knows objects by their path
  void *handle_;
};

} // namespace tessera::runtime
