// Clients, buffers and calls from the outside: libtessera_runtime.so, on each kind of device.
#include "include/tessera/runtime.h"
#include "test/unit/runtime/CompiledKernels.h"
#include <atomic>
#include <cfenv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

namespace tessera {
namespace {

using runtime::accumulator;
using runtime::accumulatorCode;
using runtime::fileWithCode;

// state + the sum of all devices' steps; the step itself.
Program accumulatorOf(const std::vector<int64_t> &mesh, bool donate) {
  auto builder = accumulator(mesh, donate);
  return Program(fileWithCode(builder, accumulatorCode()));
}

class ClientTest : public testing::TestWithParam<const char *> {
protected:
  static ClientSettings settings() {
    ClientSettings settings;
    settings.workers = 2;
    settings.device = GetParam();
    return settings;
  }
  // Of tiles of one row, the same on each device.
  std::vector<Buffer> tiles(size_t devices, float value) {
    std::vector<Buffer> tiles;
    for (uint32_t d = 0; d < devices; ++d)
      tiles.emplace_back(client, d, "f32", std::vector<int64_t>{1, 3},
                         std::vector<float>(3, value));
    return tiles;
  }
  static void expectAll(const std::vector<Buffer> &tiles, float value) {
    for (const Buffer &tile : tiles)
      EXPECT_EQ(tile.read<float>(), std::vector<float>(3, value));
  }
  template <class F> static void expectError(tessera_code code, const char *part, F f) {
    try {
      f();
      FAIL() << part;
    } catch (const Error &error) {
      EXPECT_EQ(error.code, code) << error.what();
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  Client client{settings()};
};

TEST_P(ClientTest, APreparedCallRebindsWhatChanges) {
  Executable executable(client, accumulatorOf({2, 2}, true));
  EXPECT_EQ(executable.devices(), 4u);
  EXPECT_EQ(executable.inputTile(0).shape, (std::vector<int64_t>{1, 3}));
  EXPECT_TRUE(executable.inputTile(0).donated);
  Call call(executable);
  std::vector<Buffer> state = tiles(4, 0);
  call.bind(1, tiles(4, 1)); // held by the call
  for (int step = 1; step <= 5; ++step) {
    call.bind(0, state);
    EXPECT_FALSE(state[0].valid());
    auto [outputs, done] = call.start();
    done.wait();
    state = std::move(outputs[0]);
    expectAll(state, 4.0f * static_cast<float>(step));
    expectAll(outputs[1], 1);
  }
  tessera_counters counters{};
  counters.struct_size = sizeof counters;
  ASSERT_EQ(tessera_call_counters(call.get(), &counters), TESSERA_OK);
  EXPECT_EQ(counters.collectives, 1u);
  EXPECT_EQ(counters.collective_bytes, 12u);
  expectError(TESSERA_INVALID_ARGUMENT, "input 0 ('in0') is not bound", [&] { call.start(); });
}

// Steps of two calls, each of which waits for the other's outputs, are started without a wait.
TEST_P(ClientTest, StepsAreStartedBeforeTheirInputsAreThere) {
  Executable executable(client, accumulatorOf({4}, true));
  CallSettings slow;
  slow.topology = R"({"alpha": 0.01, "beta": 1e9})";
  Call calls[2] = {Call(executable, slow), Call(executable, slow)};
  for (Call &call : calls)
    call.bind(1, tiles(4, 1));
  std::vector<Buffer> state = tiles(4, 0);
  std::vector<Event> events;
  for (int step = 0; step < 2; ++step) {
    calls[step].bind(0, state);
    auto [outputs, done] = calls[step].start();
    state = std::move(outputs[0]);
    events.push_back(std::move(done));
  }
  EXPECT_FALSE(events[1].ready());
  expectError(TESSERA_FAILED_PRECONDITION, "is being executed",
              [&] { calls[0].bind(0, tiles(4, 0)); });
  EXPECT_FALSE(events[1].waitFor(0));
  std::atomic<int> called{0};
  tessera_event *ready = nullptr;
  ASSERT_EQ(tessera_buffer_ready(state[0].get(), &ready), TESSERA_OK);
  ASSERT_EQ(tessera_event_when_ready(
                ready,
                [](void *user, tessera_code code) {
                  *static_cast<std::atomic<int> *>(user) = code == TESSERA_OK ? 1 : 2;
                },
                &called),
            TESSERA_OK);
  expectAll(state, 8); // waits
  events[1].wait();
  while (!called)
    std::this_thread::yield();
  EXPECT_EQ(called, 1);
  tessera_event_free(ready);
}

TEST_P(ClientTest, ADonatedBufferThatIsHeldElsewhereIsCopied) {
  Executable executable(client, accumulatorOf({2}, true));
  Call call(executable);
  call.bind(1, tiles(2, 1));
  std::vector<Buffer> state = tiles(2, 5);
  std::vector<Buffer> kept;
  kept.push_back(state[0].share());
  call.bind(0, state);
  EXPECT_FALSE(state[0].valid());
  EXPECT_TRUE(kept[0].valid());
  auto [outputs, done] = call.start();
  expectAll(outputs[0], 7);
  expectAll(kept, 5);
}

// With a little more memory each time, so that every allocation is once the one that fails.
TEST_P(ClientTest, AStepWithoutMemoryForACopyLeavesTheInputUnbound) {
  if (GetParam() != std::string("shadow"))
    GTEST_SKIP() << "only shadow can have too little memory";
  Program program = accumulatorOf({2}, true);
  int failures = 0;
  bool fits = false;
  for (int bytes = 12; !fits && bytes <= 4096; bytes += 12) {
    setenv("TESSERA_SHADOW_MEMORY", std::to_string(bytes).c_str(), 1);
    Client little(settings());
    unsetenv("TESSERA_SHADOW_MEMORY");
    auto rows = [&](float value) {
      std::vector<Buffer> tiles;
      for (uint32_t d = 0; d < 2; ++d)
        tiles.emplace_back(little, d, "f32", std::vector<int64_t>{1, 3},
                           std::vector<float>(3, value));
      return tiles;
    };
    try {
      Executable executable(little, program);
      Call call(executable);
      call.bind(1, rows(1));
      std::vector<Buffer> state = rows(5);
      std::vector<Buffer> kept;
      for (Buffer &tile : state)
        kept.push_back(tile.share());
      call.bind(0, state);
      try {
        auto [outputs, done] = call.start();
        expectAll(outputs[0], 7);
        expectAll(kept, 5);
        fits = true;
      } catch (const Error &error) {
        if (std::string(error.what()).find("no memory for a copy of input 'in0'") ==
            std::string::npos)
          throw;
        ++failures;
        expectAll(kept, 5);
        expectError(TESSERA_INVALID_ARGUMENT, "input 0 ('in0') is not bound",
                    [&] { call.start(); });
        call.bind(0, kept); // nobody else's now: no copy
        try {
          auto [outputs, done] = call.start();
          expectAll(outputs[0], 7);
        } catch (const Error &again) {
          EXPECT_EQ(again.code, TESSERA_RESOURCE_EXHAUSTED) << again.what();
        }
      }
    } catch (const Error &error) {
      EXPECT_EQ(error.code, TESSERA_RESOURCE_EXHAUSTED) << error.what();
    }
  }
  EXPECT_TRUE(fits);
  EXPECT_GT(failures, 0);
}

TEST_P(ClientTest, WhatDoesNotFitIsSaid) {
  Executable executable(client, accumulatorOf({2}, true));
  Call call(executable);
  auto refused = [&](const char *part, size_t input, const std::vector<Buffer> &given) {
    expectError(TESSERA_INVALID_ARGUMENT, part, [&] { call.bind(input, given); });
  };
  refused("1 buffers are given, this process has 2 devices", 0, tiles(1, 0));
  std::vector<Buffer> twisted = tiles(2, 0);
  std::swap(twisted[0], twisted[1]);
  refused("lies on device 1", 0, twisted);
  std::vector<Buffer> wide = tiles(1, 0);
  wide.emplace_back(client, 1, "f32", std::vector<int64_t>{1, 4}, std::vector<float>(4));
  refused("is f32[1,4], the program expects f32[2,3] in tiles [1,3]", 0, wide);
  Client other{settings()};
  std::vector<Buffer> foreign = tiles(1, 0);
  foreign.emplace_back(other, 1, "f32", std::vector<int64_t>{1, 3}, std::vector<float>(3));
  refused("belongs to another client", 0, foreign);
  std::vector<Buffer> state = tiles(2, 0);
  call.bind(0, state);
  refused("was taken over by a step", 0, state);
  expectError(TESSERA_OUT_OF_RANGE, "there is no input 2", [&] { call.bind(2, tiles(2, 0)); });
  expectError(TESSERA_INVALID_ARGUMENT, "there is no element type 'f33'",
              [&] { Buffer(client, 0, "f33", std::vector<int64_t>{1}, std::vector<float>(1)); });
  expectError(TESSERA_INVALID_ARGUMENT, "bytes are given",
              [&] { Buffer(client, 0, "f32", std::vector<int64_t>{2}, std::vector<float>(1)); });
  ClientSettings unknown = settings();
  unknown.device = "abacus";
  expectError(TESSERA_UNIMPLEMENTED, "abacus", [&] { Client{unknown}; });
}

// The outputs of a step that fails have no contents, and steps that wait for them fail.
TEST_P(ClientTest, AFailureReachesWhatWaitsForIt) {
  Executable executable(client, accumulatorOf({2}, true));
  Call one(executable), two(executable);
  one.bind(0, tiles(2, 13)); // the kernel refuses 13
  one.bind(1, tiles(2, 1));
  two.bind(1, tiles(2, 1));
  auto first = one.start();
  two.bind(0, first.outputs[0]);
  auto second = two.start();
  expectError(TESSERA_INTERNAL, "kernel 'add' failed with code 9", [&] { first.done.wait(); });
  expectError(TESSERA_INTERNAL, "an input could not be made", [&] { second.done.wait(); });
  expectError(TESSERA_INTERNAL, "an input could not be made",
              [&] { second.outputs[0][0].read<float>(); });
  two.bind(0, tiles(2, 1)); // the calls go on
  expectAll(two.start().outputs[0], 3);
}

TEST_P(ClientTest, CallsThatShareAnArenaDoNotOverlap) {
  Executable small(client, accumulatorOf({2}, true)), large(client, accumulatorOf({2, 2}, true));
  const Executable *both[] = {&small, &large};
  Arena arena(both);
  CallSettings slow;
  slow.topology = R"({"alpha": 0.05, "beta": 1e9})";
  slow.arena = &arena;
  Call one(small, slow), two(large, slow);
  one.bind(0, tiles(2, 0));
  one.bind(1, tiles(2, 1));
  two.bind(1, tiles(4, 1));
  auto running = one.start();
  two.bind(0, tiles(4, 0));
  expectError(TESSERA_FAILED_PRECONDITION, "shares its arena", [&] { two.start(); });
  running.done.wait();
  two.bind(0, tiles(4, 0));
  expectAll(two.start().outputs[0], 4);
  const Executable *first[] = {&small};
  Arena narrow(first);
  slow.arena = &narrow;
  expectError(TESSERA_INVALID_ARGUMENT, "the arena was made for other executables",
              [&] { Call(large, slow); });
}

// Steps of two calls that share an arena are started without a wait, and executed one after the other.
TEST_P(ClientTest, QueuedCallsWaitForTheirTurnOnAnArena) {
  Executable executable(client, accumulatorOf({2}, true));
  const Executable *one = &executable;
  Arena arena({&one, 1});
  CallSettings queued;
  queued.arena = &arena;
  queued.isQueued = true;
  queued.topology = R"({"alpha": 0.005, "beta": 1e9})";
  Call calls[3] = {Call(executable, queued), Call(executable, queued), Call(executable, queued)};
  std::vector<Call::Step> steps;
  for (Call &call : calls) {
    call.bind(0, tiles(2, static_cast<float>(10 * steps.size())));
    call.bind(1, tiles(2, 1));
    steps.push_back(call.start());
  }
  calls[1].cancel(); // whose turn comes after it gets it nevertheless
  expectError(TESSERA_CANCELLED, "cancelled", [&] { steps[1].done.wait(); });
  steps[2].done.wait();
  expectAll(steps[0].outputs[0], 2);
  expectAll(steps[2].outputs[0], 22);
  expectError(TESSERA_INVALID_ARGUMENT, "not bound", [&] { calls[0].start(); }); // takes no turn
  calls[0].bind(0, tiles(2, 5));
  auto [outputs, done] = calls[0].start();
  done.wait();
  expectAll(outputs[0], 7);
}

// Inputs that stay with the caller: nobody else holds them when the step is over.
TEST_P(ClientTest, UnheldInputsAreTheCallers) {
  Executable executable(client, accumulatorOf({2}, true));
  CallSettings unheld;
  unheld.isUnheld = true;
  Call reads(executable, unheld), takes(executable);
  std::vector<Buffer> shared = tiles(2, 1);
  reads.bind(0, tiles(2, 0));
  reads.bind(1, shared);
  reads.start().done.wait();
  const void *before = shared[0].hostView();
  takes.bind(0, shared); // taken over without a copy
  takes.bind(1, tiles(2, 1));
  auto [outputs, done] = takes.start();
  done.wait();
  expectAll(outputs[0], 3);
  EXPECT_EQ(outputs[0][0].hostView(), before);
}

TEST_P(ClientTest, BuffersAreMadeFromAndReadToPartsOfHostArrays) {
  std::vector<float> global = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; // [3,4]
  const int64_t shape[] = {2, 3}, strides[] = {16, 4}, extent[] = {2, 2};
  Buffer buffer = Buffer::fromPart(client, 0, "f32", shape, global.data() + 5, strides, extent);
  EXPECT_EQ(buffer.read<float>(), (std::vector<float>{5, 6, 0, 9, 10, 0})); // padded
  std::vector<float> back(12, -1);
  const int64_t columns[] = {4, 16}; // transposed
  buffer.readPart(back.data(), columns, extent);
  EXPECT_EQ(back, (std::vector<float>{5, 9, -1, -1, 6, 10, -1, -1, -1, -1, -1, -1}));
  const int64_t more[] = {2, 4};
  expectError(TESSERA_INVALID_ARGUMENT, "4 elements along dimension 1, where the buffer has 3",
              [&] { buffer.readPart(back.data(), strides, more); });
  if (std::string(GetParam()) == "cpu")
    EXPECT_EQ(static_cast<const float *>(buffer.hostView())[4], 10);
  else
    EXPECT_EQ(buffer.hostView(), nullptr);
}

TEST_P(ClientTest, ExecutablesSayWhereTilesLie) {
  Program program = accumulatorOf({4}, true);
  Executable executable(client, program);
  EXPECT_EQ(executable.inputDevices(0), (std::pair<size_t, size_t>(0, 4)));
  auto part = executable.outputPart(1, 2);
  EXPECT_EQ(part.extent, (std::vector<int64_t>{1, 3}));
  expectError(TESSERA_OUT_OF_RANGE, "no device 4", [&] { executable.outputPart(1, 4); });
  EXPECT_NE(program.info().find("\"inputs\""), std::string_view::npos);
}

TEST_P(ClientTest, AStepIsCancelledAndACallIsFreedWhileItRuns) {
  Executable executable(client, accumulatorOf({2}, true));
  CallSettings slow;
  slow.topology = R"({"alpha": 0.2, "beta": 1e9})";
  std::vector<Buffer> left;
  {
    Call call(executable, slow);
    call.bind(0, tiles(2, 0));
    call.bind(1, tiles(2, 1));
    auto step = call.start();
    call.cancel();
    expectError(TESSERA_CANCELLED, "cancelled", [&] { step.done.wait(); });
    call.bind(0, tiles(2, 0));
    left = std::move(call.start().outputs[0]);
  }
  expectError(TESSERA_CANCELLED, "cancelled", [&] { left[0].read<float>(); });
}

TEST_P(ClientTest, ThreadsHaveCallsOfTheirOwnOfOneExecutable) {
  Executable executable(client, accumulatorOf({2}, true));
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      Call call(executable);
      call.bind(1, tiles(2, 1));
      std::vector<Buffer> state = tiles(2, 0);
      for (int step = 0; step < 50; ++step) {
        call.bind(0, state);
        auto [outputs, done] = call.start();
        done.wait();
        state = std::move(outputs[0]);
      }
      right += state[1].read<float>() == std::vector<float>(3, 100);
    });
  for (auto &thread : threads)
    thread.join();
  EXPECT_EQ(right, 8);
}

// A step that is over before a worker would have woken up is over when it is started; how the host
// rounds is nothing to it, and stays.
TEST_P(ClientTest, AShortStepIsCarriedOutByTheThreadThatStartsIt) {
  Executable executable(client, accumulatorOf({2}, true));
  Call call(executable);
  call.bind(1, tiles(2, 1e-8f));
  std::fesetround(FE_UPWARD);
  for (int step = 0; step < 3; ++step) {
    call.bind(0, tiles(2, 1));
    auto [outputs, done] = call.start();
    if (std::string(GetParam()) == "cpu") // commands of shadow come late
      EXPECT_TRUE(done.ready());
    done.wait();
    expectAll(outputs[0], 1);
  }
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
}

// Lets go of everything on the thread that ends the step: a worker, or the one of time limits.
TEST_P(ClientTest, TheEndOfAStepMayFreeItsClient) {
  struct Everything {
    std::optional<Client> client;
    std::optional<Call> call;
    std::vector<std::vector<Buffer>> outputs;
    std::atomic<int> freed{0};
  } all;
  ClientSettings alone = settings();
  alone.workers = 3; // a pool that nobody else has
  all.client.emplace(alone);
  auto tiles = [&](float value) {
    std::vector<Buffer> tiles;
    for (uint32_t d = 0; d < 2; ++d)
      tiles.emplace_back(*all.client, d, "f32", std::vector<int64_t>{1, 3},
                         std::vector<float>(3, value));
    return tiles;
  };
  CallSettings slow;
  slow.topology = R"({"alpha": 0.2, "beta": 1e9})";
  slow.timeLimit = 0.02;
  all.call.emplace(Executable(*all.client, accumulatorOf({2}, true)), slow);
  all.call->bind(0, tiles(0));
  all.call->bind(1, tiles(1));
  auto step = all.call->start();
  all.outputs = std::move(step.outputs);
  ASSERT_EQ(tessera_event_when_ready(
                step.done.get(),
                [](void *user, tessera_code code) {
                  auto *all = static_cast<Everything *>(user);
                  all->outputs.clear();
                  all->call.reset();
                  all->client.reset();
                  all->freed = code;
                },
                &all),
            TESSERA_OK);
  while (!all.freed)
    std::this_thread::yield();
  EXPECT_EQ(all.freed, TESSERA_DEADLINE_EXCEEDED);
}

// Sessions of a client share its memory, and take arrays by name.
TEST_P(ClientTest, SessionsOfAClientTakeArraysByName) {
  SessionSettings settings;
  settings.client = &client;
  Program program = accumulatorOf({2}, false);
  Session session(program, settings);
  Array state = session.place(0, std::vector<float>(6, 1));
  Array step = session.place(1, std::vector<float>(6, 2));
  EXPECT_EQ(program.inputIndex("in1"), 1u);
  expectError(TESSERA_NOT_FOUND, "there is no 'x': the program expects in0 f32[2,3], in1 f32[2,3]",
              [&] { program.inputIndex("x"); });
  auto outputs = session.execute({{"in1", &step}, {"in0", &state}});
  EXPECT_EQ(outputs[0].read<float>(), std::vector<float>(6, 5));
  expectError(TESSERA_NOT_FOUND, "array 'in1' is missing", [&] {
    session.execute(std::vector<std::pair<std::string, const Array *>>{{"in0", &state}});
  });
  expectError(TESSERA_NOT_FOUND, "array 'in2' is given and is none of the program's",
              [&] { session.execute({{"in1", &step}, {"in0", &state}, {"in2", &state}}); });
}

size_t openFiles() {
  auto files = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}
size_t residentKilobytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmRSS:"))
      return std::stoul(line.substr(6));
  return 0;
}

TEST_P(ClientTest, StepsAndLoadsLeaveNothing) {
  auto file = [] {
    auto builder = accumulator({2}, true);
    return fileWithCode(builder, accumulatorCode());
  }();
  auto steps = [&](int loads, int count) {
    for (int load = 0; load < loads; ++load) {
      Executable executable(client, Program(file));
      CallSettings limited;
      limited.timeLimit = 60;
      Call call(executable, limited);
      call.bind(1, tiles(2, 1));
      std::vector<Buffer> state = tiles(2, 0);
      for (int i = 0; i < count; ++i) {
        call.bind(0, state);
        auto [outputs, done] = call.start();
        done.wait();
        state = std::move(outputs[0]);
      }
    }
  };
  steps(20, 20);
  size_t files = openFiles();
  [[maybe_unused]] size_t memory = residentKilobytes();
  steps(100, 2);
  steps(1, 2000);
  EXPECT_EQ(openFiles(), files);
#if !__has_feature(address_sanitizer) // which keeps what is freed for a while
  EXPECT_LT(residentKilobytes(), memory + 2048);
#endif
}

INSTANTIATE_TEST_SUITE_P(Devices, ClientTest, testing::Values("cpu", "shadow"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace tessera
