#include "runtime/program/SharedObject.h"
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tessera::runtime {

Result<std::shared_ptr<SharedObject>> SharedObject::open(std::string_view bytes) {
  int fd = memfd_create("tessera-kernels", MFD_CLOEXEC);
  if (fd < 0)
    return Status(Code::Unsupported,
                  std::string("memory for the program's code: ") + std::strerror(errno));
  while (!bytes.empty()) {
    ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      Status status(Code::Unsupported,
                    std::string("memory for the program's code: ") + std::strerror(errno));
      close(fd);
      return status;
    }
    bytes.remove_prefix(written < 0 ? 0 : written);
  }
  void *handle = dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    close(fd);
    return invalidProgram(std::string("the code section cannot be loaded: ") +
                          (reason ? reason : "unknown reason"));
  }
  return std::shared_ptr<SharedObject>(new SharedObject(fd, handle));
}

SharedObject::~SharedObject() {
  dlclose(handle_);
  close(fd_);
}

void *SharedObject::symbol(const std::string &name) const { return dlsym(handle_, name.c_str()); }

} // namespace tessera::runtime
