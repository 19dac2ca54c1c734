// An .npz file of a test.
#pragma once

#include "runtime/array/Npz.h"
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace tessera::runtime {

inline void writeArchive(const std::string &path,
                         const std::vector<std::pair<std::string, HostArray>> &arrays) {
  files::OutputFile file;
  ASSERT_EQ(file.open(path), "");
  NpzWriter writer(file);
  for (const auto &[name, array] : arrays) {
    Status status = writer.add(name, array);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  ASSERT_TRUE(writer.finish().ok());
  ASSERT_EQ(file.commit(), "");
}

} // namespace tessera::runtime
