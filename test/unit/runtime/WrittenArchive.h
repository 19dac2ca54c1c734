// A file of arrays of a test, in the format of its path, and what a program expects of one.
#pragma once

#include "runtime/array/ArrayFile.h"
#include "runtime/array/Npz.h"
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace tessera::runtime {

// Whole on each device.
inline program::Parameter parameter(program::ElementType type, const std::vector<int64_t> &shape) {
  program::Parameter p;
  p.set_type(type);
  for (int64_t n : shape) {
    p.add_global_shape(n);
    p.add_layout()->set_tile(n);
  }
  return p;
}

inline void writeArchive(const std::string &path,
                         const std::vector<std::pair<std::string, HostArray>> &arrays) {
  files::OutputFile file;
  ASSERT_EQ(file.open(path), "");
  std::vector<ArrayEntry> entries;
  for (const auto &[name, array] : arrays)
    entries.push_back({name, array.type, array.shape});
  auto writer = ArrayWriter::make(path, file, entries);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  for (const auto &[name, array] : arrays) {
    Status status = (*writer)->add(name, array);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  ASSERT_TRUE((*writer)->finish().ok());
  ASSERT_EQ(file.commit(), "");
}

} // namespace tessera::runtime
