// What a file that cannot be read or written is to a caller: a code beside the message.
#pragma once

#include "runtime/Status.h"
#include <cerrno>
#include <unistd.h>

namespace tessera::runtime {

inline Status cannotRead(const std::string &path, std::string message) {
  Code code = Code::Unavailable;
  if (access(path.c_str(), R_OK) != 0)
    code = errno == ENOENT || errno == ENOTDIR ? Code::NotFound
           : errno == EACCES                   ? Code::PermissionDenied
                                               : Code::Unavailable;
  return {code, std::move(message)};
}

} // namespace tessera::runtime
