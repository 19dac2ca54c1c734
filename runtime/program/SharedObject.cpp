#include "runtime/program/SharedObject.h"
#include <cerrno>
#include <cstring>
#include <dlfcn.h>

namespace tessera::runtime {

Result<std::shared_ptr<SharedObject>> SharedObject::open(std::string_view bytes) {
  files::MemoryFile file("tessera-kernels");
  int reason = file.isOpen() ? file.write(bytes) : errno;
  if (reason)
    return Status(Code::Unimplemented,
                  std::string("memory for the program's code: ") + std::strerror(reason));
  void *handle = dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *problem = dlerror();
    return invalidProgram(std::string("the code section cannot be loaded: ") +
                          (problem ? problem : "unknown reason"));
  }
  return std::shared_ptr<SharedObject>(new SharedObject(std::move(file), handle));
}

SharedObject::~SharedObject() { dlclose(handle_); }

void *SharedObject::symbol(const std::string &name) const { return dlsym(handle_, name.c_str()); }

} // namespace tessera::runtime
