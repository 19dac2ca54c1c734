// A directory of one test, gone when it ends.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace tessera::files {

class Directory {
public:
  Directory() { EXPECT_NE(mkdtemp(root_.data()), nullptr); }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  std::string path(const std::string &name) const { return root_ + "/" + name; }
  const std::string &root() const { return root_; }
  // Of all that is in it, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(root_))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

private:
  std::string root_ = testing::TempDir() + "tessera-files-XXXXXX";
};

inline std::string contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

} // namespace tessera::files
