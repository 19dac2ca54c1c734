// Nothing is left of what is not finished, however the process ends.
#include "lib/files/UnfinishedFile.h"
#include "test/unit/files/Directory.h"

#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::files {
namespace {

class UnfinishedFileTest : public testing::Test {
protected:
  void SetUp() override {
    opened = open(directory.root().c_str(), O_RDONLY | O_DIRECTORY);
    ASSERT_GE(opened, 0);
  }
  ~UnfinishedFileTest() override { close(opened); }

  // How a child ends that has an unfinished file, and then does this; what is left of it is
  // counted.
  template <class F> int statusOfChild(F end) {
    pid_t child = fork();
    if (child == 0) {
      UnfinishedFile file;
      if (file.create(opened, 0666) != 0 || write(file.descriptor(), "part", 4) != 4)
        _exit(9);
      end();
      _exit(8);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  Directory directory;
  int opened = -1;
};

TEST_F(UnfinishedFileTest, MovedOrRemoved) {
  UnfinishedFile file, other;
  ASSERT_EQ(file.create(opened, 0666), 0);
  ASSERT_EQ(other.create(opened, 0666), 0);
  EXPECT_EQ(directory.names().size(), 2u);
  EXPECT_EQ(file.moveTo("whole"), 0);
  other.remove();
  EXPECT_EQ(directory.names(), std::vector<std::string>{"whole"});
}

TEST_F(UnfinishedFileTest, RemovedOnSignals) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGABRT}) {
    int status = statusOfChild([&] { raise(signal); });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << signal;
    EXPECT_EQ(directory.names().size(), 0u) << signal;
  }
  int status = statusOfChild([] { std::exit(5); });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5);
  EXPECT_EQ(directory.names().size(), 0u);
}

TEST_F(UnfinishedFileTest, SignalsThatAreIgnoredStayIgnored) {
  auto ignored = std::signal(SIGHUP, SIG_IGN);
  int status = statusOfChild([] {
    raise(SIGHUP);
    _exit(3);
  });
  std::signal(SIGHUP, ignored);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

// Before the first file is made.
const auto handledBefore = std::signal(SIGXCPU, [](int) {});

// Where a handler that was there before ours goes on, the file is gone, and that is an error.
TEST_F(UnfinishedFileTest, AProcessThatSurvivesASignal) {
  pid_t child = fork();
  if (child == 0) {
    UnfinishedFile file, next;
    if (file.create(opened, 0666) != 0)
      _exit(9);
    raise(SIGXCPU);
    _exit(file.moveTo("whole") == ENOENT && next.create(opened, 0666) == EINTR ? 0 : 8);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(directory.names().size(), 0u);
}

TEST_F(UnfinishedFileTest, WhatIsLeftAfterSigkillIsRemovedByTheNext) {
  UnfinishedFile living;
  ASSERT_EQ(living.create(opened, 0666), 0);
  std::string mine = directory.names().front();
  int status = statusOfChild([] { raise(SIGKILL); });
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  // Not those of others, though their names are alike.
  std::vector<std::string> others = {".tessera-0123456789abcdef",
                                     "tessera-0123456789abcdef.partial",
                                     ".tessera-0123456789ABCDEF.partial"};
  for (const std::string &name : others)
    std::ofstream(directory.path(name)) << "theirs";
  std::filesystem::create_symlink("elsewhere", directory.path(".tessera-0000000000000000.partial"));
  EXPECT_EQ(directory.names().size(), 6u);
  removeLeftOvers(opened);
  EXPECT_EQ(directory.names().size(), 5u);
  EXPECT_TRUE(std::filesystem::exists(directory.path(mine)));
  EXPECT_EQ(living.moveTo("whole"), 0);
}

// The signals of a child that was forked are no reason to remove what its parent writes.
TEST_F(UnfinishedFileTest, AChildLeavesItsParentsAlone) {
  UnfinishedFile file;
  ASSERT_EQ(file.create(opened, 0666), 0);
  pid_t child = fork();
  if (child == 0) {
    raise(SIGTERM);
    _exit(8);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  EXPECT_EQ(file.moveTo("whole"), 0);
}

} // namespace
} // namespace tessera::files
