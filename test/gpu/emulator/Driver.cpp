// A stand-in for libcuda.so.1, found through the library path: the parts of NVIDIA's driver that the
// runtime calls, over the emulator. Streams lag behind by random delays; a failed kernel breaks the
// context, as on a GPU.
//
//   TESSERA_EMULATOR_SEED    order of threads and delays (1)
//   TESSERA_EMULATOR_SM      the architecture that it is: 80 without it
//   TESSERA_EMULATOR_MEMORY  bytes (4 GiB)
//   TESSERA_EMULATOR_REPORT  a file to which counts are written, a line of JSON for each kernel
#include "test/gpu/emulator/Machine.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

using namespace tessera::emulator;

namespace {

enum Result : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  InvalidImage = 200,
  InvalidPtx = 218,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchFailed = 719
};

uint64_t environment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct LoadedModule {
  Module code;
  std::map<std::string, uint64_t> globals; // addresses
};

struct Function {
  LoadedModule *module;
  const Kernel *kernel;
};

struct Event {
  uint64_t recorded = 0, reached = 0;
};

// One GPU. All that runs holds its lock.
class Gpu {
public:
  static Gpu &ofProcess() {
    static Gpu &gpu = *new Gpu;
    return gpu;
  }

  std::mutex mutex;
  Memory memory;
  int failure = Success; // of the context, for good
  uint64_t seed = environment("TESSERA_EMULATOR_SEED", 1);
  uint32_t launches = 0;
  std::map<std::string, Counts> counts; // by kernel

  void fail(int code, const std::string &why) {
    std::fprintf(stderr, "emulator: %s\n", why.c_str());
    if (failure == Success)
      failure = code;
  }

  void copy(uint64_t to, uint64_t from, size_t bytes) {
    uint8_t *target = memory.translate(to, bytes), *source = memory.translate(from, bytes);
    if (!target || !source)
      return fail(IllegalAddress,
                  "a copy of " + std::to_string(bytes) + " bytes outside of what is allocated");
    std::memcpy(target, source, bytes);
  }

  void report() {
    const char *path = std::getenv("TESSERA_EMULATOR_REPORT");
    FILE *file = path && *path ? std::fopen(path, "a") : nullptr;
    if (!file)
      return;
    for (const auto &[name, c] : counts)
      std::fprintf(file,
                   "{\"kernel\":\"%s\",\"launches\":%llu,\"instructions\":%llu,\"barriers\":%llu,"
                   "\"bytes_read\":%llu,\"bytes_written\":%llu,"
                   "\"least_read\":%llu,\"least_written\":%llu,\"sectors_read\":%llu,\"sectors_"
                   "written\":%llu}\n",
                   name.c_str(), (unsigned long long)c.launches, (unsigned long long)c.instructions,
                   (unsigned long long)c.barriers, (unsigned long long)c.bytesRead,
                   (unsigned long long)c.bytesWritten, (unsigned long long)c.leastRead,
                   (unsigned long long)c.leastWritten, (unsigned long long)c.sectorsRead,
                   (unsigned long long)c.sectorsWritten);
    std::fclose(file);
  }

private:
  Gpu() {
    std::atexit([] { ofProcess().report(); });
  }
};

// Carries its commands out on a thread of its own, late.
class Stream {
public:
  explicit Stream(uint64_t seed) : random_(seed), thread_([this] { main(); }) {}
  ~Stream() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void push(std::function<void(Gpu &)> command) {
    {
      std::lock_guard lock(mutex_);
      commands_.push_back(std::move(command));
    }
    changed_.notify_all();
  }
  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return commands_.empty(); });
  }

private:
  void main() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stop_ || !commands_.empty(); });
      if (commands_.empty())
        return;
      auto &command = commands_.front();
      lock.unlock();
      if (random_() % 4 == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(random_() % 200));
      {
        Gpu &gpu = Gpu::ofProcess();
        std::lock_guard whole(gpu.mutex);
        command(gpu);
      }
      lock.lock();
      commands_.pop_front();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void(Gpu &)>> commands_;
  bool stop_ = false;
  std::mt19937_64 random_;
  std::thread thread_;
};

void launch(Gpu &gpu, const Function &function, const Shape &shape,
            const std::vector<uint8_t> &parameters) {
  if (gpu.failure != Success)
    return;
  Machine machine(function.module->code, function.module->globals, gpu.memory,
                  gpu.seed + gpu.launches);
  std::string problem = machine.run(*function.kernel, shape, parameters.data(), ++gpu.launches,
                                    gpu.counts[function.kernel->name]);
  if (!problem.empty())
    gpu.fail(IllegalAddress, problem);
}

} // namespace

#define API extern "C" __attribute__((visibility("default"))) int

API cuInit(unsigned) { return Success; }
API cuDriverGetVersion(int *version) { return *version = 13000, Success; }
API cuDeviceGetCount(int *count) { return *count = 1, Success; }
API cuDeviceGet(int *device, int ordinal) {
  return *device = ordinal, ordinal == 0 ? Success : InvalidValue;
}
API cuDeviceGetName(char *name, int length, int) {
  return std::snprintf(name, static_cast<size_t>(length), "emulator"), Success;
}
API cuDeviceGetAttribute(int *value, int attribute, int) {
  auto version = static_cast<int>(environment("TESSERA_EMULATOR_SM", 80));
  *value = attribute == 75 ? version / 10 : attribute == 76 ? version % 10 : 0;
  return Success;
}
API cuDevicePrimaryCtxRetain(void **context, int) { return *context = &Gpu::ofProcess(), Success; }
API cuCtxSetCurrent(void *) { return Success; }
API cuMemGetInfo(size_t *free, size_t *total) {
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  *total = gpu.memory.total(), *free = *total - gpu.memory.used();
  return Success;
}

API cuModuleLoadDataEx(LoadedModule **module, const void *image, unsigned options, const int *names,
                       void **values) {
  auto made = std::make_unique<LoadedModule>();
  std::string problem = parse(static_cast<const char *>(image), made->code);
  auto wanted = std::strtoull(
      made->code.target.substr(std::min<size_t>(3, made->code.target.size())).c_str(), nullptr, 10);
  if (problem.empty() && wanted > environment("TESSERA_EMULATOR_SM", 80))
    problem = "it is for " + made->code.target;
  if (!problem.empty()) {
    constexpr int kErrorLog = 5, kErrorLogBytes = 6;
    size_t bytes = 0;
    for (unsigned i = 0; i < options; ++i)
      if (names[i] == kErrorLogBytes)
        bytes = reinterpret_cast<size_t>(values[i]);
    for (unsigned i = 0; i < options && bytes; ++i)
      if (names[i] == kErrorLog)
        std::snprintf(static_cast<char *>(values[i]), bytes, "%s", problem.c_str());
    return InvalidPtx;
  }
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  for (const auto &[name, variable] : made->code.globals) {
    uint64_t address = gpu.memory.allocate(variable.bytes);
    if (!address)
      return OutOfMemory;
    std::memcpy(gpu.memory.translate(address, variable.bytes), variable.contents.data(),
                variable.bytes);
    made->globals[name] = address;
  }
  return *module = made.release(), Success;
}
API cuModuleUnload(LoadedModule *module) {
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  for (const auto &[name, address] : module->globals)
    gpu.memory.release(address);
  delete module; // its functions are gone with it
  return Success;
}
API cuModuleGetFunction(Function **function, LoadedModule *module, const char *name) {
  auto it = module->code.kernels.find(name);
  if (it == module->code.kernels.end())
    return NotFound;
  return *function = new Function{module, &it->second}, Success;
}

API cuMemAlloc(uint64_t *memory, size_t bytes) {
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  return (*memory = gpu.memory.allocate(bytes)) ? Success : OutOfMemory;
}
API cuMemFree(uint64_t memory) {
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  return gpu.memory.release(memory) ? Success : InvalidValue;
}
API cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (*memory)
    std::memset(*memory, 0xff, bytes);
  return *memory ? Success : OutOfMemory;
}
API cuMemFreeHost(void *memory) { return std::free(memory), Success; }

// At once, whatever streams do: they do not wait for each other.
API cuMemcpy(uint64_t to, uint64_t from, size_t bytes) {
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  if (gpu.failure == Success)
    gpu.copy(to, from, bytes);
  return gpu.failure;
}
API cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, Stream *stream) {
  stream->push([=](Gpu &gpu) {
    if (gpu.failure == Success)
      gpu.copy(to, from, bytes);
  });
  return Success;
}
API cuMemsetD32Async(uint64_t to, unsigned value, size_t count, Stream *stream) {
  stream->push([=](Gpu &gpu) {
    uint8_t *target = gpu.memory.translate(to, 4 * count);
    if (gpu.failure != Success)
      return;
    if (!target || to % 4)
      return gpu.fail(IllegalAddress, "values written outside of what is allocated");
    for (size_t i = 0; i < count; ++i)
      std::memcpy(target + 4 * i, &value, 4);
  });
  return Success;
}

API cuStreamCreate(Stream **stream, unsigned) {
  static std::atomic<uint64_t> number{0};
  return *stream = new Stream(Gpu::ofProcess().seed * 1'000'003 + number++), Success;
}
API cuStreamDestroy(Stream *stream) { return delete stream, Success; }
API cuStreamSynchronize(Stream *stream) {
  stream->drain();
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  return gpu.failure;
}
API cuEventCreate(Event **event, unsigned) { return *event = new Event, Success; }
API cuEventDestroy(Event *event) {
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  return delete event, Success;
}
API cuEventRecord(Event *event, Stream *stream) {
  uint64_t number;
  {
    Gpu &gpu = Gpu::ofProcess();
    std::lock_guard lock(gpu.mutex);
    number = ++event->recorded;
  }
  stream->push([=](Gpu &) { event->reached = number; });
  return Success;
}
API cuEventQuery(Event *event) {
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  if (event->reached != event->recorded)
    return NotReady;
  return gpu.failure;
}

API cuLaunchKernel(Function *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                   unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                   Stream *stream, void **parameters, void **extra) {
  const Kernel &kernel = *function->kernel;
  bool fits = gridX && gridX <= INT32_MAX && gridY == 1 && gridZ == 1 && blockX &&
              blockX <= kernel.mostThreads && blockX <= 1024 && blockY == 1 && blockZ == 1 &&
              kernel.sharedBytes + sharedBytes <= (48 << 10) && !extra;
  if (!fits)
    return InvalidValue;
  std::vector<uint8_t> bytes(kernel.parameterBytes);
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    std::memcpy(bytes.data() + kernel.parameters[i].offset, parameters[i],
                kernel.parameters[i].bytes);
  stream->push([=](Gpu &gpu) { launch(gpu, *function, {gridX, blockX, sharedBytes}, bytes); });
  return Success;
}

API cuGetErrorName(int code, const char **name) {
  static const std::map<int, const char *> names = {{Success, "CUDA_SUCCESS"},
                                                    {InvalidValue, "CUDA_ERROR_INVALID_VALUE"},
                                                    {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                    {InvalidImage, "CUDA_ERROR_INVALID_IMAGE"},
                                                    {InvalidPtx, "CUDA_ERROR_INVALID_PTX"},
                                                    {NotFound, "CUDA_ERROR_NOT_FOUND"},
                                                    {NotReady, "CUDA_ERROR_NOT_READY"},
                                                    {IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                    {LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"}};
  auto it = names.find(code);
  return *name = it == names.end() ? nullptr : it->second,
         it == names.end() ? InvalidValue : Success;
}

API cuGetProcAddress_v2(const char *symbol, void **function, int, uint64_t, int *) {
#define F(name)                                                                                    \
  {                                                                                                \
    #name, reinterpret_cast<void *>(&name)                                                         \
  }
  static const std::map<std::string, void *> functions = {F(cuInit),
                                                          F(cuDriverGetVersion),
                                                          F(cuDeviceGetCount),
                                                          F(cuDeviceGet),
                                                          F(cuDeviceGetName),
                                                          F(cuDeviceGetAttribute),
                                                          F(cuDevicePrimaryCtxRetain),
                                                          F(cuCtxSetCurrent),
                                                          F(cuMemGetInfo),
                                                          F(cuModuleLoadDataEx),
                                                          F(cuModuleUnload),
                                                          F(cuModuleGetFunction),
                                                          F(cuMemAlloc),
                                                          F(cuMemFree),
                                                          F(cuMemHostAlloc),
                                                          F(cuMemFreeHost),
                                                          F(cuMemcpy),
                                                          F(cuMemcpyAsync),
                                                          F(cuMemsetD32Async),
                                                          F(cuStreamCreate),
                                                          F(cuStreamDestroy),
                                                          F(cuStreamSynchronize),
                                                          F(cuEventCreate),
                                                          F(cuEventDestroy),
                                                          F(cuEventRecord),
                                                          F(cuEventQuery),
                                                          F(cuLaunchKernel),
                                                          F(cuGetErrorName)};
#undef F
  auto it = functions.find(symbol);
  *function = it == functions.end() ? nullptr : it->second;
  return it == functions.end() ? NotFound : Success;
}
