#include "test/gpu/emulator/Streams.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tessera::emulator {

static constexpr size_t kMostPending =
    1024; // commands of a stream, but for those of graphs and events

uint64_t environment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

Gpu &Gpu::ofProcess() {
  static Gpu &gpu = *new Gpu;
  return gpu;
}

Gpu::Gpu() : failures(devices, Success) {
  memory.order = &order;
  std::atexit([] { ofProcess().report(); });
}

void Gpu::fail(int code, const std::string &why) {
  std::fprintf(stderr, "emulator: %s\n", why.c_str());
  if (failures[current] == Success)
    failures[current] = code;
}

void Gpu::copy(uint64_t to, uint64_t from, size_t bytes, uint32_t command) {
  uint8_t *target = memory.translate(to, bytes), *source = memory.translate(from, bytes);
  std::string size = std::to_string(bytes);
  if (!target || !source)
    return fail(IllegalAddress, "a copy of " + size + " bytes outside of what is allocated");
  if (hostMemory.isGivenBack(to, bytes) || hostMemory.isGivenBack(from, bytes))
    return fail(IllegalAddress,
                "a copy of " + size + " bytes from or to memory of the host that was given back");
  // What a sample leaves out has no order.
  static const bool isWhole = environment("TESSERA_EMULATOR_SAMPLE", 0) == 0;
  std::string problem = isWhole ? memory.note(from, bytes, /*isWrite=*/false, command) : "";
  if (isWhole && problem.empty())
    problem = memory.note(to, bytes, /*isWrite=*/true, command);
  if (!problem.empty())
    return fail(IllegalAddress,
                (command ? "a copy of " : "a copy by the host of ") + size + " bytes " + problem);
  std::memcpy(target, source, bytes);
}

void Gpu::fill(uint64_t to, size_t bytes, uint32_t value, unsigned width, uint32_t command) {
  uint8_t *target = memory.translate(to, bytes);
  if (!target || to % width)
    return fail(IllegalAddress, "values written outside of what is allocated");
  if (std::string problem = memory.note(to, bytes, /*isWrite=*/true, command); !problem.empty())
    return fail(IllegalAddress, "a command that fills memory " + problem);
  for (size_t i = 0; i < bytes; i += width)
    std::memcpy(target + i, &value, width);
}

void Gpu::report() const {
  const char *path = std::getenv("TESSERA_EMULATOR_REPORT");
  if (FILE *file = path && *path ? std::fopen(path, "a") : nullptr) {
    for (const auto &[name, c] : counts)
      std::fprintf(file,
                   "{\"kernel\":\"%s\",\"launches\":%llu,\"blocks\":%llu,\"carried_out\":%llu,"
                   "\"instructions\":%llu,\"barriers\":%llu,"
                   "\"bytes_read\":%llu,\"bytes_written\":%llu,"
                   "\"least_read\":%llu,\"least_written\":%llu,\"sectors_read\":%llu,\"sectors_"
                   "written\":%llu,\"block_sectors_read\":%llu,\"block_sectors_written\":%llu,"
                   "\"least_sectors_read\":%llu,\"least_sectors_written\":%llu,"
                   "\"bank_turns\":%llu,\"least_bank_turns\":%llu,\"tensor_copies\":%llu,"
                   "\"warpgroup_products\":%llu}\n",
                   name.c_str(), (unsigned long long)c.launches, (unsigned long long)c.blocks,
                   (unsigned long long)c.carriedOut, (unsigned long long)c.instructions,
                   (unsigned long long)c.barriers, (unsigned long long)c.bytesRead,
                   (unsigned long long)c.bytesWritten, (unsigned long long)c.leastRead,
                   (unsigned long long)c.leastWritten, (unsigned long long)c.sectorsRead,
                   (unsigned long long)c.sectorsWritten, (unsigned long long)c.blockSectorsRead,
                   (unsigned long long)c.blockSectorsWritten,
                   (unsigned long long)c.leastSectorsRead,
                   (unsigned long long)c.leastSectorsWritten, (unsigned long long)c.bankTurns,
                   (unsigned long long)c.leastBankTurns, (unsigned long long)c.tensorCopies,
                   (unsigned long long)c.warpgroupProducts);
    std::fclose(file);
  }
  path = std::getenv("TESSERA_EMULATOR_CALLS");
  if (FILE *file = path && *path ? std::fopen(path, "a") : nullptr) {
    const char *separator = "{";
    for (const auto &[name, count] : calls) {
      std::fprintf(file, "%s\"%s\":%llu", separator, name.c_str(), (unsigned long long)count);
      separator = ",";
    }
    std::fprintf(file, "}\n");
    std::fclose(file);
  }
}

Stream::Stream(uint64_t seed, unsigned of) : device(of), random_(seed) {
  {
    Gpu &gpu = Gpu::ofProcess();
    std::lock_guard lock(gpu.mutex);
    number_ = gpu.order.newStream();
  }
  thread_ = std::thread([this] { main(); });
}

Stream::~Stream() {
  {
    std::lock_guard lock(Gpu::ofProcess().mutex);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Stream::push(Command command) {
  Gpu &gpu = Gpu::ofProcess();
  {
    std::unique_lock lock(gpu.mutex);
    if (command.isBounded) {
      changed_.wait(lock, [&] { return pending_ < kMostPending; });
      ++pending_;
    }
    command.known = gpu.order.clockOf(Order::kHost);
    commands_.push_back(std::move(command));
  }
  changed_.notify_all();
}

void Stream::push(Action action) {
  if (capture)
    capture->add(this, std::move(action));
  else
    push(Command{{std::move(action)}, {}, nullptr, nullptr, {}, /*isBounded=*/true});
}

void Stream::pushAll(std::vector<Action> actions) {
  push(Command{std::move(actions), {}, nullptr, nullptr, {}});
}

std::shared_ptr<Record> Stream::record() {
  auto made = std::make_shared<Record>();
  record(made);
  return made;
}

void Stream::record(std::shared_ptr<Record> record) {
  push(Command{{}, {}, nullptr, std::move(record), {}});
}

void Stream::await(std::shared_ptr<Record> record) {
  push(Command{{}, {}, std::move(record), nullptr, {}});
}

void Stream::call(std::function<void()> onHost) {
  push(Command{{}, {}, nullptr, nullptr, std::move(onHost)});
}

void Stream::drain() {
  Gpu &gpu = Gpu::ofProcess();
  std::unique_lock lock(gpu.mutex);
  changed_.wait(lock, [&] { return commands_.empty(); });
  gpu.order.join(Order::kHost, gpu.order.clockOf(number_));
}

void Stream::main() {
  Gpu &gpu = Gpu::ofProcess();
  std::unique_lock lock(gpu.mutex);
  while (true) {
    changed_.wait(lock, [&] { return stop_ || !commands_.empty(); });
    if (commands_.empty())
      return;
    Command &command = commands_.front();
    if (lag_ && random_() % 4 == 0) {
      auto pause = std::chrono::microseconds(random_() % lag_);
      lock.unlock();
      std::this_thread::sleep_for(pause);
      lock.lock();
    }
    if (command.after) {
      gpu.changed.wait(lock, [&] { return command.after->done; });
      gpu.order.join(number_, command.after->clock);
    }
    gpu.order.join(number_, command.known);
    if (command.onHost && gpu.failures[device] == Success) {
      lock.unlock();
      command.onHost();
      lock.lock();
    }
    gpu.current = device;
    for (const Action &action : command.actions)
      if (uint32_t number = gpu.order.begin(number_); gpu.failures[device] == Success)
        action(gpu, number);
    if (command.records) {
      command.records->done = true;
      command.records->clock = gpu.order.clockOf(number_);
      gpu.changed.notify_all();
    }
    pending_ -= command.isBounded;
    commands_.pop_front();
    changed_.notify_all();
  }
}

} // namespace tessera::emulator
