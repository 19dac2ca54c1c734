// What is read is bounded, and may change meanwhile.
#include "lib/files/InputFile.h"
#include "test/unit/files/Directory.h"

#include <sys/stat.h>
#include <thread>

namespace tessera::files {
namespace {

std::optional<std::string> read(const std::string &path, std::string &wrong) {
  wrong.clear();
  return readWhole(path, wrong);
}

TEST(InputFileTest, WholeFilesAndPipes) {
  Directory directory;
  std::string wrong, path = directory.path("text"), pipe = directory.path("pipe");
  std::string text(3 << 20, 'x');
  std::ofstream(path) << text;
  EXPECT_EQ(read(path, wrong), text) << wrong;
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << text; });
  EXPECT_EQ(read(pipe, wrong), text) << wrong;
  writer.join();
  auto status = read("/proc/self/status", wrong); // which says that it has no bytes
  ASSERT_TRUE(status) << wrong;
  EXPECT_NE(status->find("Name:"), std::string::npos);
}

TEST(InputFileTest, WhatIsNoFile) {
  std::string wrong;
  EXPECT_FALSE(read("/none", wrong));
  EXPECT_EQ(wrong, "/none: cannot be read: No such file or directory");
  EXPECT_FALSE(read("/", wrong));
  EXPECT_EQ(wrong, "/: cannot be read: Is a directory");
  EXPECT_FALSE(read("/dev/zero", wrong));
  EXPECT_EQ(wrong, "/dev/zero: cannot be read: it is a device");
}

TEST(InputFileTest, AFileThatIsCutOffMeanwhile) {
  Directory directory;
  std::string path = directory.path("file"), wrong;
  std::ofstream(path) << std::string(8192, 'x');
  auto file = InputFile::open(path, wrong);
  ASSERT_TRUE(file) << wrong;
  std::string bytes(8192, '\0');
  EXPECT_EQ(file->read(0, bytes.data(), bytes.size()), "");
  EXPECT_EQ(bytes, std::string(8192, 'x'));
  std::filesystem::resize_file(path, 5000);
  EXPECT_EQ(file->read(4096, bytes.data(), 4096),
            path + ": it ends after 5000 bytes (was it changed meanwhile?)");
}

} // namespace
} // namespace tessera::files
