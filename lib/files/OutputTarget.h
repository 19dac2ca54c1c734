// Where the path of an output leads, and whether it can be written there.
#pragma once

#include <string>
#include <sys/types.h>

namespace tessera::files {

struct OutputTarget {
  enum class Kind {
    File,           // one that is there or will be: replaced as a whole
    Stream,         // a pipe, a device, or a name of an open file (/dev/fd/3): written as it is
    StandardOutput, // "-" and /dev/stdout
  };

  OutputTarget() = default;
  ~OutputTarget();
  OutputTarget(const OutputTarget &) = delete;
  OutputTarget &operator=(const OutputTarget &) = delete;

  // Follows symbolic links, which stay: what they lead to is the target. Empty, or why nothing can
  // be written there: a directory, no permission, a file that cannot be replaced, links in circles.
  std::string find(const std::string &path);

  Kind kind = Kind::File;
  // Of a file: the directory's descriptor (owned) and the name in it.
  int directory = -1;
  std::string name;
  // Of a file that is there.
  bool exists = false;
  mode_t mode = 0;
  uid_t owner = 0;
  gid_t group = 0;

private:
  std::string checkReplaceable();
};

} // namespace tessera::files
