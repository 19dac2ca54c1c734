#include "test/tools/fuzz-files/Batches.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::fuzz {

namespace {

constexpr uint64_t kBatch = 256;

// What a child tells, also when it ends in the middle.
struct Shared {
  uint64_t number, done; // the input that is being run; how many are done
  uint64_t ends[5];
  double slowest;
  uint64_t slowestNumber;
  long largest; // KiB
  uint64_t bad;
};

long residentKiB() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Batches {
public:
  Batches(const std::string &name, Inputs &inputs, const BatchOptions &options)
      : name_(name), inputs_(inputs), options_(options),
        shared_(static_cast<Shared *>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                                           MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Batches() { munmap(shared_, sizeof(Shared)); }

  // In a child too: no thread is there when others are made.
  bool seedsAreGood() {
    std::fflush(nullptr);
    pid_t pid = fork();
    if (pid == 0) {
      std::string wrong = inputs_.checkSeeds();
      if (!wrong.empty())
        std::fprintf(stderr, "error: %s\n", wrong.c_str());
      _exit(wrong.empty() ? 0 : 1);
    }
    int status = 0;
    return waitpid(pid, &status, 0) == pid && status == 0;
  }

  bool run() {
    if (!seedsAreGood())
      return false;
    uint64_t end = options_.first + options_.count;
    for (uint64_t at = options_.first; at < end;) {
      std::fflush(nullptr);
      uint64_t until = std::min(end, at + kBatch);
      shared_->number = at;
      pid_t pid = fork();
      if (pid == 0)
        child(at, until);
      int status = 0;
      while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        at = until;
        continue;
      }
      at = shared_->number + 1;
      ++shared_->bad;
      std::string what = !WIFSIGNALED(status) ? "exit code " + std::to_string(WEXITSTATUS(status))
                         : WTERMSIG(status) == SIGALRM
                             ? "no end in " + std::to_string(options_.seconds) + " s"
                             : std::string("signal ") + strsignal(WTERMSIG(status));
      Random random(options_.seed, shared_->number);
      report(shared_->number, inputs_.make(random), what);
    }
    static const char *names[] = {"refused", "loaded", "ran", "failed", "bad"};
    std::printf("%s: seed %llu, %llu inputs:", name_.c_str(),
                static_cast<unsigned long long>(options_.seed),
                static_cast<unsigned long long>(options_.count));
    for (int i = 0; i < 4; ++i)
      std::printf(" %llu %s,", static_cast<unsigned long long>(shared_->ends[i]), names[i]);
    std::printf(" %llu bad; slowest %.2f s (%llu), grew by %ld MiB at most\n",
                static_cast<unsigned long long>(shared_->bad), shared_->slowest,
                static_cast<unsigned long long>(shared_->slowestNumber), shared_->largest >> 10);
    return shared_->bad == 0;
  }

private:
  [[noreturn]] void child(uint64_t from, uint64_t until) {
    rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    long before = residentKiB();
    for (uint64_t number = from; number < until; ++number) {
      shared_->number = number;
      Random random(options_.seed, number);
      std::string input = inputs_.make(random);
      itimerval limit{{0, 0}, {options_.seconds, 0}};
      setitimer(ITIMER_REAL, &limit, nullptr);
      double begin = now();
      Outcome outcome = inputs_.run(input);
      double took = now() - begin;
      if (took > shared_->slowest) {
        shared_->slowest = took;
        shared_->slowestNumber = number;
      }
      long grown = residentKiB() - before;
      shared_->largest = std::max(shared_->largest, grown);
      if (options_.bytes && static_cast<uint64_t>(grown) << 10 > options_.bytes) {
        outcome = {End::Bad, "grew by " + std::to_string(grown >> 10) + " MiB"};
        before += grown; // once
      }
      if (outcome.end != End::Bad && outcome.end != End::Ran && outcome.end != End::Loaded &&
          outcome.text.empty())
        outcome = {End::Bad, "an error without a message"};
      ++shared_->ends[static_cast<int>(outcome.end)];
      if (outcome.end == End::Bad) {
        ++shared_->bad;
        report(number, input, outcome.text);
      }
    }
    std::fflush(nullptr);
    _exit(0);
  }

  void report(uint64_t number, const std::string &input, const std::string &what) {
    std::printf("%s --seed=%llu --only=%llu: %s\n", name_.c_str(),
                static_cast<unsigned long long>(options_.seed),
                static_cast<unsigned long long>(number), what.c_str());
    std::fflush(stdout);
    if (!options_.keep.empty())
      std::ofstream(options_.keep + "/" + "program-" + std::to_string(options_.seed) + "-" +
                        std::to_string(number),
                    std::ios::binary)
          << input;
  }

  std::string name_;
  Inputs &inputs_;
  BatchOptions options_;
  Shared *shared_;
};

} // namespace

bool runBatches(const std::string &name, Inputs &inputs, const BatchOptions &options) {
  return Batches(name, inputs, options).run();
}

} // namespace tessera::fuzz
