// What is written over a file: all of it or nothing.
#include "lib/files/OutputFile.h"
#include "test/unit/files/Directory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tessera::files {
namespace {

class OutputFileTest : public testing::Test {
protected:
  // Empty, or what went wrong.
  static std::string writeTo(const std::string &path, const std::string &bytes) {
    OutputFile file;
    std::string wrong = file.open(path);
    if (wrong.empty())
      wrong = file.write(bytes);
    return wrong.empty() ? file.commit() : wrong;
  }

  Directory directory;
  std::string path = directory.path("out");
};

TEST_F(OutputFileTest, NewAndReplaced) {
  EXPECT_EQ(writeTo(path, "one"), "");
  EXPECT_EQ(contentsOf(path), "one");
  EXPECT_EQ(writeTo(path, std::string(1 << 20, 'x')), "");
  EXPECT_EQ(contentsOf(path), std::string(1 << 20, 'x'));
  EXPECT_EQ(directory.names(), std::vector<std::string>{"out"});
}

TEST_F(OutputFileTest, TheOldOneStaysUntilTheNewOneIsThere) {
  ASSERT_EQ(writeTo(path, "old"), "");
  {
    OutputFile file;
    ASSERT_EQ(file.open(path), "");
    ASSERT_EQ(file.write(std::string(1 << 20, 'x')), "");
    ASSERT_EQ(file.finish(), "");
    EXPECT_EQ(contentsOf(path), "old");
    EXPECT_EQ(directory.names().size(), 2u);
  }
  EXPECT_EQ(contentsOf(path), "old");
  EXPECT_EQ(directory.names(), std::vector<std::string>{"out"});
}

TEST_F(OutputFileTest, AFullDiskLeavesTheOldOne) {
  ASSERT_EQ(writeTo(path, "old"), "");
  rlimit before, small = {1 << 20, RLIM_INFINITY};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  small.rlim_max = before.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0); // SIGXFSZ would end the process
  std::string wrong = writeTo(path, std::string(4 << 20, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(wrong, path + ": cannot be written: File too large");
  EXPECT_EQ(contentsOf(path), "old");
  EXPECT_EQ(directory.names(), std::vector<std::string>{"out"});
}

TEST_F(OutputFileTest, SymbolicLinksStayAndLeadToWhatIsReplaced) {
  ASSERT_TRUE(std::filesystem::create_directory(directory.path("real")));
  ASSERT_EQ(writeTo(directory.path("real/file"), "old"), "");
  std::filesystem::create_symlink("real/link", directory.path("link"));
  std::filesystem::create_symlink("file", directory.path("real/link"));
  EXPECT_EQ(writeTo(directory.path("link"), "new"), "");
  EXPECT_TRUE(std::filesystem::is_symlink(directory.path("link")));
  EXPECT_TRUE(std::filesystem::is_symlink(directory.path("real/link")));
  EXPECT_EQ(contentsOf(directory.path("real/file")), "new");
  std::filesystem::create_symlink("real/later", directory.path("ahead"));
  EXPECT_EQ(writeTo(directory.path("ahead"), "made"), "");
  EXPECT_EQ(contentsOf(directory.path("real/later")), "made");
  std::filesystem::create_symlink("circle", directory.path("circle"));
  EXPECT_NE(writeTo(directory.path("circle"), "x"), "");
}

TEST_F(OutputFileTest, TheModeIsThatOfTheOldOne) {
  ASSERT_EQ(writeTo(path, "old"), "");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  ASSERT_EQ(writeTo(path, "new"), "");
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  mode_t before = umask(027);
  ASSERT_EQ(writeTo(directory.path("fresh"), "new"), "");
  umask(before);
  ASSERT_EQ(stat(directory.path("fresh").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(OutputFileTest, WhatCannotBeWrittenIsSaidWhenItIsOpened) {
  OutputFile none, folder, below;
  EXPECT_EQ(none.open("/none/out"), "/none/out: cannot be written: No such file or directory");
  EXPECT_EQ(folder.open("/tmp/"), "/tmp/: cannot be written: Is a directory");
  ASSERT_EQ(writeTo(path, "a file"), "");
  EXPECT_EQ(below.open(path + "/out"), path + "/out: cannot be written: Not a directory");
  if (geteuid() != 0) {
    OutputFile kept;
    ASSERT_EQ(chmod(path.c_str(), 0400), 0);
    EXPECT_EQ(kept.open(path), path + ": cannot be written: Permission denied");
  }
}

TEST_F(OutputFileTest, LongNames) {
  std::string longest = directory.path(std::string(255, 'n'));
  EXPECT_EQ(writeTo(longest, "new"), "");
  EXPECT_EQ(contentsOf(longest), "new");
  EXPECT_EQ(writeTo(longest + "n", "new"), longest + "n: cannot be written: File name too long");
}

TEST_F(OutputFileTest, DevicesAndPipesAreWrittenAsTheyAre) {
  EXPECT_EQ(writeTo("/dev/null", "x"), "");
  EXPECT_EQ(writeTo("/dev/full", "x"), "/dev/full: cannot be written: No space left on device");
  std::string pipe = directory.path("pipe"), read;
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread reader([&] { read = contentsOf(pipe); });
  EXPECT_EQ(writeTo(pipe, std::string(1 << 20, 'x')), "");
  reader.join();
  EXPECT_EQ(read, std::string(1 << 20, 'x'));
  EXPECT_EQ(directory.names(), std::vector<std::string>{"pipe"});

  // The name of an open file, as shells give for >(command).
  int open = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  EXPECT_EQ(writeTo("/dev/fd/" + std::to_string(open), "through it"), "");
  close(open);
  EXPECT_EQ(contentsOf(path), "through it");
}

TEST_F(OutputFileTest, TogetherOrNotAtAll) {
  ASSERT_EQ(writeTo(path, "old"), "");
  OutputFile file, full, unused;
  ASSERT_EQ(file.open(path), "");
  ASSERT_EQ(full.open("/dev/full"), "");
  ASSERT_EQ(file.write("new"), "");
  ASSERT_EQ(full.write("new"), "");
  EXPECT_NE(commitTogether({&file, &unused, &full}), "");
  EXPECT_EQ(contentsOf(path), "old");
}

} // namespace
} // namespace tessera::files
