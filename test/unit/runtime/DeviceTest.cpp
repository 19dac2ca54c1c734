// What every back end of runtime/device must do: one suite for all of them.
#include "runtime/comm/local/LocalCommunicator.h"
#include "runtime/device/HostAccess.h"
#include "runtime/execute/Backends.h"
#include "test/unit/runtime/ProgramBuilder.h"
#include <functional>
#include <numeric>
#include <thread>

namespace tessera::runtime {
namespace {

using device::Address;
using device::Backend;
using device::Memory;
using device::Outcome;
using device::Queue;
using device::Space;
using program::Collective;

int32_t increment(const TesseraKernelArgs *args, uint32_t, uint32_t) {
  ++*static_cast<int32_t *>(args->buffers[0]);
  return 0;
}

int32_t failWith42(const TesseraKernelArgs *, uint32_t, uint32_t) { return 42; }

// y = x[cell] + scratch, which is 1
int32_t cellsThroughScratch(const TesseraKernelArgs *args, uint32_t begin, uint32_t end) {
  auto *scratch = static_cast<int32_t *>(args->scratch);
  for (uint32_t cell = begin; cell < end; ++cell) {
    scratch[15] = 1;
    static_cast<int32_t *>(args->buffers[1])[cell] =
        static_cast<const int32_t *>(args->buffers[0])[cell] + scratch[15];
  }
  return 0;
}

KernelEntry kernelOf(TesseraKernel function, uint32_t operands, uint32_t grid = 1,
                     uint32_t chunk = 1) {
  return {function, grid, chunk, false, "kernel", operands};
}

// Gives commands one after the other, each with its place in the list as tag.
class Script final : public device::Issuer {
public:
  using Step = std::function<Outcome(Queue &, Worker &, uint32_t tag)>;

  Script(Run &run, Communicator &communicator, Backend &backend, uint32_t position, uint32_t sites,
         std::vector<Step> steps)
      : run_(run), steps_(std::move(steps)),
        queue(backend.makeQueue({position, run, communicator, *this, 64, sites})) {
    home = position % run.pool().size();
  }

  void run(Worker &worker) override {
    while (!run_.failed() && at < steps_.size()) {
      Outcome outcome = steps_[at](*queue, worker, at);
      if (outcome == Outcome::Parked)
        return run_.retire();
      if (outcome == Outcome::Failed)
        break;
      ++at;
    }
    if (queue->finish(worker) == Outcome::Parked)
      return run_.retire();
    ended = true;
    run_.deviceEnded();
    run_.retire();
  }
  void kernelFailed(uint32_t tag, int32_t code) override {
    run_.fail({Code::Internal, "command " + std::to_string(tag) + ": " + std::to_string(code)});
  }
  void commandFailed(uint32_t tag, const Status &status) override {
    run_.fail(ofCommand(tag, status));
  }
  Status ofCommand(uint32_t tag, const Status &status) const override {
    return {status.code(), "command " + std::to_string(tag) + ": " + status.message()};
  }
  void executed(uint32_t tag, int64_t begin, int64_t end) override {
    EXPECT_LE(begin, end);
    tags.push_back(tag);
  }

  std::vector<uint32_t> tags;
  bool ended = false;

private:
  Run &run_;
  uint32_t at = 0;
  std::vector<Step> steps_;

public:
  std::unique_ptr<Queue> queue;
};

// For queues without collectives.
class NoPeers final : public Communicator {
public:
  bool inPlace() const override { return true; }
  Status start(Worker &, uint32_t, const CollectivePlan &, const Address *) override {
    return {Code::Internal, "there are no peers"};
  }
  Outcome wait(Worker &, Task &, uint32_t, uint32_t) override { return Outcome::Failed; }
  void wakeAll() override {}
  std::string describeWait(uint32_t, uint32_t) const override { return ""; }
  void reset() override {}
};

class DeviceTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    unsetenv("TESSERA_TARGET");
    auto made = makeBackend(GetParam(), pool);
    ASSERT_TRUE(made.ok()) << made.status().message();
    backend = *made;
    ASSERT_EQ(backend->name(), GetParam());
  }

  template <class T> std::shared_ptr<Memory> memoryOf(const std::vector<T> &values) {
    auto memory = backend->allocate(Space::Device, values.size() * sizeof(T));
    EXPECT_TRUE(
        backend->copyFromHost(memory->address(), values.data(), memory->bytes())->wait().ok());
    return memory;
  }
  template <class T> std::vector<T> valuesIn(const Memory &memory) {
    std::vector<T> values(memory.bytes() / sizeof(T));
    EXPECT_TRUE(backend->copyToHost(values.data(), memory.address(), memory.bytes())->wait().ok());
    return values;
  }

  void begin(const std::vector<Script *> &scripts) {
    over = std::make_shared<device::Event>();
    run.over = [this] {
      auto event = over; // the test may be over before the signal is
      event->signal();
    };
    run.begin(static_cast<int32_t>(scripts.size()));
    Task *chain = nullptr;
    for (Script *script : scripts) {
      script->next = chain;
      chain = script;
    }
    run.wake(chain);
  }
  void end() { over->wait(); }
  // One device's commands.
  Status carryOut(std::vector<Script::Step> steps) {
    Script script(run, peers, *backend, 0, 0, std::move(steps));
    begin({&script});
    end();
    EXPECT_TRUE(script.ended);
    return run.status();
  }

  std::shared_ptr<Pool> pool = *Pool::shared(2);
  std::shared_ptr<Backend> backend;
  runtime::Run run{*pool};
  std::shared_ptr<device::Event> over = device::Event::past();
  NoPeers peers;
};

Script::Step launch(const KernelEntry &kernel, const Address *buffers) {
  return [&kernel, buffers](Queue &queue, Worker &worker, uint32_t tag) {
    return queue.launch(worker, tag, kernel, buffers, /*hasScratch=*/false);
  };
}
Script::Step read(Address from, uint32_t bytes, uint32_t &value) {
  return [=, &value](Queue &queue, Worker &worker, uint32_t tag) {
    return queue.read(worker, tag, from, bytes, value);
  };
}
Script::Step write(int32_t value, Address to) {
  return [=](Queue &queue, Worker &worker, uint32_t tag) {
    return queue.write(worker, tag, value, to);
  };
}

TEST_P(DeviceTest, MemoryOfEverySpaceIsCopiedFromAndTo) {
  std::vector<int32_t> values(1000), back(1000);
  std::iota(values.begin(), values.end(), 1);
  std::vector<std::shared_ptr<Memory>> held;
  for (Space space : {Space::Device, Space::Host, Space::File}) {
    auto memory = backend->allocate(space, 4000);
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->bytes(), 4000u);
    EXPECT_EQ(memory->space(), space);
    EXPECT_EQ(&memory->backend(), backend.get());
    EXPECT_EQ(memory->address().number() % 64, 0u);
    for (const auto &other : held)
      EXPECT_FALSE(other->address() == memory->address());
    if (held.empty())
      backend->copyFromHost(memory->address(), values.data(), 4000)->wait();
    else
      backend->copy(memory->address(), held.back()->address(), 4000)->wait();
    held.push_back(memory);
  }
  // The second half, from the last of them.
  backend->copyToHost(back.data(), held.back()->address() + 2000, 2000)->wait();
  EXPECT_EQ(std::vector<int32_t>(back.begin(), back.begin() + 500),
            std::vector<int32_t>(values.begin() + 500, values.end()));
  EXPECT_TRUE(backend->allocate(Space::Device, 0));
  EXPECT_TRUE(backend->allocate(Space::File, 0));
}

TEST_P(DeviceTest, EventsTellWhenACopyIsThere) {
  auto memory = memoryOf<int32_t>({7, 8});
  for (int i = 0; i < 50; ++i) {
    int32_t back[2] = {};
    std::atomic<int> told{0};
    auto event = backend->copyToHost(back, memory->address(), 8);
    event->then([&] { told += event->ready() && back[1] == 8; });
    EXPECT_TRUE(event->wait().ok());
    EXPECT_EQ(back[0], 7);
    event->then([&] { told += 10; });
    while (told != 11)
      std::this_thread::yield();
  }
}

// The host's view is the memory itself, or there is none, and the address faults.
TEST_P(DeviceTest, TheHostSeesDeviceMemoryByItsViewOnly) {
  auto memory = memoryOf<int32_t>({7, 8});
  if (void *view = backend->hostView(memory->address() + 4)) {
    EXPECT_EQ(*static_cast<int32_t *>(view), 8);
  } else {
#if !__has_feature(thread_sanitizer) // which looks the address up itself, and dies at once
    EXPECT_DEATH(std::printf("%d", *static_cast<volatile int32_t *>(memory->address().bits())), "");
#endif
  }
  ASSERT_TRUE(device::writeWhole(memory, [](void *data) {
                static_cast<int32_t *>(data)[0] = 1;
                static_cast<int32_t *>(data)[1] = 2;
              }).ok());
  auto readable = device::readable(memory);
  ASSERT_TRUE(readable.ok());
  EXPECT_EQ(static_cast<const int32_t *>(readable->get())[1], 2);
}

TEST_P(DeviceTest, ConstantsKeepWhatTheyAreMadeFrom) {
  auto values = std::make_shared<std::vector<int32_t>>(16, 5);
  std::weak_ptr<std::vector<int32_t>> watched = values;
  auto memory = backend->constant(values->data(), 64, values);
  values.reset();
  EXPECT_EQ(valuesIn<int32_t>(*memory), std::vector<int32_t>(16, 5));
  memory.reset();
  EXPECT_TRUE(watched.expired());
}

TEST_P(DeviceTest, CommandsAreCarriedOutInOrder) {
  auto memory = memoryOf<int32_t>({1, 0, 0});
  Address x = memory->address(), y = x + 4, z = x + 8;
  KernelEntry kernel = kernelOf(increment, 1);
  uint32_t value = 0, byte = 0;
  Status status = carryOut({
      launch(kernel, &x), // 2
      [&](Queue &q, Worker &w, uint32_t tag) { return q.copy(w, tag, x, y, 4); },
      launch(kernel, &x), // 3
      launch(kernel, &y), // 3
      write(-7, z),
      launch(kernel, &z), // -6
      read(y, 4, value),
      write(0x1ff, y),
      read(y, 1, byte),
  });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(value, 3u);
  EXPECT_EQ(byte, 0xffu);
  EXPECT_EQ(valuesIn<int32_t>(*memory), (std::vector<int32_t>{3, 0x1ff, -6}));
}

TEST_P(DeviceTest, ALoopThatDataDecides) {
  auto memory = memoryOf<int32_t>({0});
  Address x = memory->address();
  KernelEntry kernel = kernelOf(increment, 1);
  std::vector<Script::Step> steps;
  std::vector<uint32_t> seen(300);
  for (uint32_t &value : seen) {
    steps.push_back(launch(kernel, &x));
    steps.push_back(read(x, 4, value));
  }
  EXPECT_TRUE(carryOut(std::move(steps)).ok());
  std::vector<uint32_t> want(300);
  std::iota(want.begin(), want.end(), 1);
  EXPECT_EQ(seen, want);
}

// More than a queue holds: the issuer waits for it.
TEST_P(DeviceTest, ManyCommands) {
  auto memory = memoryOf<int32_t>({0});
  Address x = memory->address();
  KernelEntry kernel = kernelOf(increment, 1);
  EXPECT_TRUE(carryOut(std::vector<Script::Step>(3000, launch(kernel, &x))).ok());
  EXPECT_EQ(valuesIn<int32_t>(*memory), std::vector<int32_t>{3000});
}

TEST_P(DeviceTest, GridsAreSharedAndHaveScratch) {
  std::vector<int32_t> values(1000), want(1000, 11);
  auto memory = memoryOf(std::vector<int32_t>(1000, 10)), out = memoryOf(values);
  Address buffers[] = {memory->address(), out->address()};
  KernelEntry kernel = kernelOf(cellsThroughScratch, 2, 1000, 10);
  EXPECT_TRUE(carryOut({launch(kernel, buffers)}).ok());
  EXPECT_EQ(valuesIn<int32_t>(*out), want);
}

TEST_P(DeviceTest, CopiesBesideOtherCommandsLand) {
  auto memory = memoryOf<int32_t>({1, 2, 0, 0, 0});
  Address x = memory->address(), other = x + 16;
  KernelEntry kernel = kernelOf(increment, 1);
  std::vector<Script::Step> steps;
  for (uint32_t number : {0u, 1u})
    steps.push_back([=](Queue &q, Worker &w, uint32_t tag) {
      return q.startCopy(w, tag, number, x + 4 * number, x + 8 + 4 * number, 4);
    });
  steps.push_back(launch(kernel, &other));
  for (uint32_t number : {1u, 0u})
    steps.push_back([=](Queue &q, Worker &w, uint32_t tag) { return q.land(w, tag, number); });
  Address first = x + 8;
  steps.push_back(launch(kernel, &first));
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(carryOut(steps).ok());
    EXPECT_EQ(valuesIn<int32_t>(*memory), (std::vector<int32_t>{1, 2, 2, 2, i + 1}));
  }
}

TEST_P(DeviceTest, AFailedKernelEndsTheRunAndWhatFollowsIsDropped) {
  auto memory = memoryOf<int32_t>({0});
  Address x = memory->address();
  KernelEntry kernel = kernelOf(increment, 1), bad = kernelOf(failWith42, 0);
  for (uint32_t follow : {0u, 20u, 1000u}) {
    std::vector<Script::Step> steps(3, launch(kernel, &x));
    steps.push_back(launch(bad, &x));
    steps.resize(steps.size() + follow, launch(kernel, &x));
    uint32_t value;
    steps.push_back(read(x, 4, value));
    Status status = carryOut(std::move(steps));
    EXPECT_EQ(status.message(), "command 3: 42");
  }
  EXPECT_EQ(valuesIn<int32_t>(*memory), std::vector<int32_t>{9});
}

TEST_P(DeviceTest, AFailureFromOutsideEndsEndlessCommands) {
  auto memory = memoryOf<int32_t>({0});
  Address x = memory->address();
  KernelEntry kernel = kernelOf(increment, 1);
  uint32_t value;
  Script script(run, peers, *backend, 0, 0,
                {[&, at = 0](Queue &q, Worker &w, uint32_t tag) mutable {
                  // Gives one command after the other and never ends.
                  while (true) {
                    if (run.failed())
                      return Outcome::Failed;
                    Outcome outcome = at % 100 == 99 ? q.read(w, tag, x, 4, value)
                                                     : q.launch(w, tag, kernel, &x, false);
                    if (outcome != Outcome::Done)
                      return outcome;
                    ++at;
                  }
                }});
  begin({&script});
  EXPECT_FALSE(over->waitUntil(Pool::now() + 30'000'000));
  run.failFromOutside({Code::Cancelled, "enough"});
  end();
  EXPECT_TRUE(script.ended);
  EXPECT_EQ(run.status().message(), "enough");
}

// A program of four devices that all-reduce, over and over: what each adds counts.
struct FourDevices {
  FourDevices() {
    auto in = builder.addInput(program::I32, {1}), out = builder.addOutput(program::I32, {1});
    ProgramBuilder::start(
        builder.body(), 0,
        builder.collective(Collective::ALL_REDUCE, {0}, program::I32, {1, 1}, in, out));
    ProgramBuilder::wait(builder.body(), 0);
    loaded = *builder.load();
  }
  ProgramBuilder builder{{4}};
  const DeviceProgram &program() const { return loaded->programs().front(); }
  std::shared_ptr<const LoadedProgram> loaded;
};

TEST_P(DeviceTest, CollectivesTakeTheirTurnInTheQueue) {
  FourDevices devices;
  for (bool simulated : {false, true}) {
    std::shared_ptr<const Links> links;
    if (simulated)
      links = std::make_shared<Links>(links::Network{{1e-5, 1e9}, {}, {}},
                                      devices.program().manifest().mesh());
    LocalCommunicator communicator(devices.program(), run, links, nullptr);
    run.wakeAll = [&] { communicator.wakeAll(); };
    const CollectivePlan &plan = devices.program().decoded().collectives[0];
    std::vector<std::shared_ptr<Memory>> memory;
    std::vector<std::array<Address, 2>> buffers(4);
    std::vector<std::unique_ptr<Script>> scripts;
    std::vector<Script *> all;
    KernelEntry kernel = kernelOf(increment, 1);
    for (uint32_t d = 0; d < 4; ++d) {
      memory.push_back(memoryOf<int32_t>({static_cast<int32_t>(d), 0}));
      buffers[d] = {memory[d]->address(), memory[d]->address() + 4};
      std::vector<Script::Step> steps;
      for (int i = 0; i < 20; ++i) {
        steps.push_back(launch(kernel, &buffers[d][0]));
        steps.push_back([&, d](Queue &q, Worker &w, uint32_t tag) {
          return q.start(w, tag, plan, buffers[d].data());
        });
        steps.push_back([](Queue &q, Worker &w, uint32_t tag) { return q.wait(w, tag, 0); });
        steps.push_back([&, d](Queue &q, Worker &w, uint32_t tag) {
          return q.copy(w, tag, buffers[d][1], buffers[d][0], 4);
        });
        // A value that no device would get if a command came out of turn.
        steps.push_back(write(static_cast<int32_t>(d), buffers[d][0]));
        for (int k = 0; k <= i; ++k)
          steps.push_back(launch(kernel, &buffers[d][0]));
      }
      scripts.push_back(std::make_unique<Script>(run, communicator, *backend, d, 1, steps));
      all.push_back(scripts.back().get());
    }
    begin(all);
    end();
    EXPECT_TRUE(run.status().ok()) << run.status().message();
    // The last all-reduce: d + 19 + 1 of each.
    for (uint32_t d = 0; d < 4; ++d)
      EXPECT_EQ(valuesIn<int32_t>(*memory[d]),
                (std::vector<int32_t>{static_cast<int32_t>(d) + 20, 6 + 4 * 20}));
    run.wakeAll = nullptr;
  }
}

TEST_P(DeviceTest, WaitingInVainIsAStallThatNamesTheCommand) {
  FourDevices devices;
  LocalCommunicator communicator(devices.program(), run, nullptr, nullptr);
  run.wakeAll = [&] { communicator.wakeAll(); };
  auto memory = memoryOf<int32_t>({0, 0});
  std::array<Address, 2> buffers = {memory->address(), memory->address() + 4};
  KernelEntry kernel = kernelOf(increment, 1);
  Script script(run, communicator, *backend, 0, 1,
                {launch(kernel, buffers.data()),
                 [&](Queue &q, Worker &w, uint32_t tag) {
                   return q.start(w, tag, devices.program().decoded().collectives[0],
                                  buffers.data());
                 },
                 [](Queue &q, Worker &w, uint32_t tag) { return q.wait(w, tag, 0); },
                 launch(kernel, buffers.data())});
  uint32_t stalledAt = 0;
  run.describeStall = [&] {
    stalledAt = script.queue->tag().value_or(2);
    EXPECT_FALSE(script.ended);
    return Status(Code::Internal, "in vain");
  };
  begin({&script});
  end();
  EXPECT_EQ(stalledAt, 2u);
  EXPECT_TRUE(script.ended);
  EXPECT_EQ(run.status().message(), "in vain");
  run.wakeAll = nullptr;
}

TEST_P(DeviceTest, ARecordedStepIsReplayed) {
  auto memory = memoryOf<int32_t>({0, 0});
  Address x = memory->address(), y = x + 4;
  KernelEntry kernel = kernelOf(increment, 1);
  Script script(run, peers, *backend, 0, 0, {});
  bool recording = false; // shadow records some steps, to give others as they come
  for (int i = 0; i < 64 && !recording; ++i)
    recording = script.queue->record();
  EXPECT_EQ(recording, backend->name() != "cpu");
  if (!recording)
    return;
  std::unique_ptr<device::Recording> recorded;
  // Recorded, the commands are not carried out.
  Script::Step record = [&](Queue &q, Worker &w, uint32_t tag) {
    EXPECT_EQ(q.launch(w, tag, kernel, &x, false), Outcome::Done);
    EXPECT_EQ(q.copy(w, tag, x, y, 4), Outcome::Done);
    EXPECT_EQ(q.launch(w, tag, kernel, &y, false), Outcome::Done);
    recorded = q.endRecord();
    return Outcome::Done;
  };
  Script::Step replay = [&](Queue &q, Worker &w, uint32_t) { return q.replay(w, *recorded); };
  Script first(run, peers, *backend, 0, 0, {record});
  while (!first.queue->record())
    ;
  begin({&first});
  end();
  EXPECT_EQ(valuesIn<int32_t>(*memory), (std::vector<int32_t>{0, 0}));
  // Replayed, on what is there then.
  for (int i = 1; i <= 3; ++i) {
    EXPECT_TRUE(carryOut({replay, replay}).ok());
    EXPECT_EQ(valuesIn<int32_t>(*memory), (std::vector<int32_t>{2 * i, 2 * i + 1}));
  }
  // What data decides is refused.
  uint32_t value;
  Script decided(run, peers, *backend, 0, 0, {read(x, 4, value)});
  while (!decided.queue->record())
    ;
  begin({&decided});
  end();
  EXPECT_EQ(run.status().message(), "command 0: a recording needs a value");
}

// Queues that run behind tell what they carried out, in order.
TEST_P(DeviceTest, CommandsAreTraced) {
  auto memory = memoryOf<int32_t>({0});
  Address x = memory->address();
  KernelEntry kernel = kernelOf(increment, 1);
  Script script(run, peers, *backend, 0, 0, std::vector<Script::Step>(5, launch(kernel, &x)));
  script.tracing = true;
  begin({&script});
  end();
  if (backend->name() != "cpu") {
    EXPECT_EQ(script.tags, (std::vector<uint32_t>{0, 1, 2, 3, 4}));
  }
}

// Memory that was given back before the queue came to it is an error, not a wrong value, where
// addresses are checked.
TEST_P(DeviceTest, ACommandOnMemoryThatIsGone) {
  if (backend->name() != "shadow")
    GTEST_SKIP() << "addresses are not checked";
  auto memory = memoryOf<int32_t>({0});
  Address x = memory->address();
  memory.reset();
  KernelEntry kernel = kernelOf(increment, 1);
  EXPECT_EQ(carryOut({launch(kernel, &x)}).message(),
            "command 0: an operand lies in memory that nobody holds any more");
  int32_t value = 0;
  EXPECT_FALSE(backend->copyToHost(&value, x, 4)->wait().ok());
}

INSTANTIATE_TEST_SUITE_P(BackEnds, DeviceTest, testing::Values("cpu", "shadow"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace tessera::runtime
