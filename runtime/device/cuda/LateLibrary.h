// A library that is opened when a program first wants it, so that nothing of it is linked.
#pragma once

#include "runtime/Status.h"

#include <dlfcn.h>
#include <string>

namespace tessera::runtime::device::cuda {

// The process's one `Library`, or why there is none: `load`, a function of it to its Status, runs once,
// by whoever comes first.
template <class Library, class Load> Result<const Library *> openOnce(Load load) {
  static Library library;
  static const Status status = load(library);
  if (!status.ok())
    return status;
  return static_cast<const Library *>(&library);
}

// Finds functions of an opened library.
class LateFunctions {
public:
  explicit LateFunctions(void *library) : library_(library) {}

  template <class Function> void find(Function &function, const char *name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (!function)
      missing_ = name;
  }
  // The last that was not there; empty: none.
  const std::string &missing() const { return missing_; }

private:
  void *library_;
  std::string missing_;
};

} // namespace tessera::runtime::device::cuda
