// Files of one run of a test program: in a directory of its own, gone when it ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace tessera::runtime {

inline std::string temporaryFile(const std::string &name) {
  struct Directory {
    std::string path = testing::TempDir() + "tessera-test-XXXXXX";
    Directory() { EXPECT_NE(mkdtemp(path.data()), nullptr); }
    ~Directory() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static Directory directory;
  return directory.path + "/" + name;
}

} // namespace tessera::runtime
