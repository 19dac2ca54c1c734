// A shared object opened from memory.
#pragma once

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
  SharedObject(int fd, void *handle) : fd_(fd), handle_(handle) {}
  int fd_; // open while loaded: the loader knows objects by path, and the path is /proc/self/fd/N
  void *handle_;
};

} // namespace tessera::runtime
