// A stand-in for libcuda.so.1, found through the library path: the parts of NVIDIA's driver that the
// runtime calls, over the emulator. Streams lag behind by random delays; a failed kernel breaks the
// context, as on a GPU.
//
//   TESSERA_EMULATOR_SEED    order of threads and delays (1)
//   TESSERA_EMULATOR_SM      the architecture that it is: 80 without it
//   TESSERA_EMULATOR_GPUS    how many there are (1); a kernel reaches the memory of its own only.
//                            CUDA_VISIBLE_DEVICES says which of them are seen
//   TESSERA_EMULATOR_MEMORY  bytes (4 GiB); of each GPU with commas between
//   TESSERA_EMULATOR_POOL    1: memory that was given back is used again, as by the driver's pool; else
//                            no address is, so that whoever still uses it is found
//   TESSERA_EMULATOR_LAG     microseconds by which a command may be late (200)
//   TESSERA_EMULATOR_FAIL    a kernel that fails when it is carried out: a part of its name
//   TESSERA_EMULATOR_REFUSE  a kernel that cannot be launched
//   TESSERA_EMULATOR_ENDLESS a kernel that never ends; nor does a call then that waits for all of the GPU
//   TESSERA_EMULATOR_ENDLESS_FROM  so many of its launches end before (0)
//   TESSERA_EMULATOR_ON      the GPU where these three are meant; all without it
//   TESSERA_EMULATOR_OF      the process of mpirun where they are meant
//   TESSERA_EMULATOR_NO_GRAPHS  1: no graph can be made
//   TESSERA_EMULATOR_REPORT  a file to which counts are written, a line of JSON for each kernel
//   TESSERA_EMULATOR_SAMPLE  so many blocks of each kernel's first launch are carried out, all of a small one,
//                            two of long ones, and nothing else: what is counted of large programs holds, what they compute does not
//   TESSERA_EMULATOR_CALLS   a file to which the number of calls of each function is written
#include "test/gpu/emulator/Streams.h"
#include "test/gpu/emulator/TensorMap.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tessera::emulator;

namespace {

struct LoadedModule {
  unsigned device = 0;
  Module code;
  std::map<std::string, uint64_t> globals; // addresses
};

struct Function {
  LoadedModule *module;
  const Kernel *kernel;
  uint64_t mostAdded = 48 << 10; // of shared memory, by a launch
  mutable uint64_t launches = 0; // that were carried out, where that is asked for
};

// The GPU that the thread's calls are about: that of the context which it has entered.
thread_local unsigned current = 0;

// Whether a variable names a part of the kernel's name.
bool isNamed(const char *variable, const Function &function) {
  const char *name = std::getenv(variable);
  uint64_t process = environment("OMPI_COMM_WORLD_RANK", 0);
  return name && *name && function.kernel->name.find(name) != function.kernel->name.npos &&
         environment("TESSERA_EMULATOR_ON", function.module->device) == function.module->device &&
         environment("TESSERA_EMULATOR_OF", process) == process;
}

// The lock is given back, so that other streams go on.
void neverEnd(Gpu &gpu, unsigned device) {
  gpu.hangs[device] = true;
  gpu.mutex.unlock();
  while (true)
    std::this_thread::sleep_for(std::chrono::hours(24));
}

// Of calls that wait for all that the GPU was given.
void waitForAll(unsigned device) {
  while (Gpu::ofProcess().hangs[device])
    std::this_thread::sleep_for(std::chrono::hours(24));
}

void launch(Gpu &gpu, const Function &function, const Shape &shape,
            const std::vector<uint8_t> &parameters, uint32_t number) {
  if (isNamed("TESSERA_EMULATOR_ENDLESS", function) &&
      function.launches++ >= environment("TESSERA_EMULATOR_ENDLESS_FROM", 0))
    neverEnd(gpu, function.module->device);
  if (isNamed("TESSERA_EMULATOR_FAIL", function))
    return gpu.fail(LaunchFailed, "kernel " + function.kernel->name + " fails, as it was told");
  Machine machine(function.module->code, function.module->globals, gpu.memory, gpu.seed + number,
                  environment("TESSERA_EMULATOR_SAMPLE", 0));
  gpu.memory.kernelOf = gpu.current;
  std::string problem = machine.run(*function.kernel, shape, parameters.data(), number,
                                    gpu.counts[function.kernel->name]);
  gpu.memory.kernelOf.reset();
  if (!problem.empty())
    gpu.fail(IllegalAddress, problem);
}

} // namespace

// With what a launch adds.
static uint64_t mostSharedOfBlock() {
  return (Gpu::ofProcess().architecture >= 90 ? 227 : 163) << 10;
}

#define API extern "C" __attribute__((visibility("default"))) int
#define COUNTED                                                                                    \
  {                                                                                                \
    std::lock_guard counting(Gpu::ofProcess().mutex);                                              \
    ++Gpu::ofProcess().calls[__func__];                                                            \
  }

API cuInit(unsigned) { return Success; }
API cuDriverGetVersion(int *version) { return *version = 13000, Success; }
API cuDeviceGetCount(int *count) {
  return *count = static_cast<int>(Gpu::ofProcess().devices), Success;
}
API cuDeviceGet(int *device, int ordinal) {
  bool isThere = ordinal >= 0 && ordinal < static_cast<int>(Gpu::ofProcess().devices);
  return *device = ordinal, isThere ? Success : InvalidValue;
}
API cuDeviceGetName(char *name, int length, int) {
  return std::snprintf(name, static_cast<size_t>(length), "emulator"), Success;
}
API cuDeviceGetAttribute(int *value, int attribute, int) {
  auto version = static_cast<int>(Gpu::ofProcess().architecture);
  *value = attribute == 75    ? version / 10
           : attribute == 76  ? version % 10
           : attribute == 115 ? 1
                              : 0;
  return Success;
}
// A context is its device's number, counted from 1.
API cuDevicePrimaryCtxRetain(uintptr_t *context, int device) {
  return *context = static_cast<uintptr_t>(device) + 1, Success;
}
API cuCtxSetCurrent(uintptr_t context) {
  return current = static_cast<unsigned>(context - 1), Success;
}
// Of the stand-ins for libraries: what they do waits for all that the GPU was given.
API tessera_emulator_wait(int device) { return waitForAll(static_cast<unsigned>(device)), Success; }
API cuCtxGetDevice(int *device) { return *device = static_cast<int>(current), Success; }
API cuMemGetInfo(size_t *free, size_t *total) {
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  *total = gpu.memory.total(current), *free = *total - gpu.memory.used(current);
  return Success;
}

// The PTX of an image: of machine code by the stand-in for ptxas (ptxas.py) what lies behind the header. That of
// ptxas is none that the emulator has.
static const char *textOf(const char *image) {
  constexpr size_t header = 64;
  constexpr const char mark[] = "// ptxas stand-in\n";
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  4) != 0)
    return image;
  return std::memcmp(image + header, mark, sizeof mark - 1) == 0 ? image + header : nullptr;
}

API cuModuleLoadDataEx(LoadedModule **module, const void *image, unsigned options, const int *names,
                       void **values) {
  waitForAll(current); // as the driver may
  const char *text = textOf(static_cast<const char *>(image));
  if (!text)
    return NoBinaryForGpu;
  auto made = std::make_unique<LoadedModule>();
  made->device = current;
  std::string problem = parse(text, made->code);
  auto wanted = std::strtoull(
      made->code.target.substr(std::min<size_t>(3, made->code.target.size())).c_str(), nullptr, 10);
  if (problem.empty() && wanted > Gpu::ofProcess().architecture)
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
    uint64_t address = gpu.memory.allocate(variable.bytes, current);
    if (!address)
      return OutOfMemory;
    std::memcpy(gpu.memory.translate(address, variable.bytes), variable.contents.data(),
                variable.bytes);
    made->globals[name] = address;
  }
  return *module = made.release(), Success;
}
API cuModuleUnload(LoadedModule *module) {
  waitForAll(module->device);
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
  return (*memory = gpu.memory.allocate(bytes, current)) ? Success : OutOfMemory;
}
API cuMemFree(uint64_t memory) {
  waitForAll(current);
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  return gpu.memory.release(memory) ? Success : InvalidValue;
}
API cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  *memory = gpu.hostMemory.allocate(bytes);
  return *memory ? Success : OutOfMemory;
}
API cuMemFreeHost(void *memory) {
  waitForAll(current);
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  return gpu.hostMemory.release(memory) ? Success : InvalidValue;
}

// The memory is there at once; it is given back when the stream comes to it.
API cuDeviceGetDefaultMemPool(void **pool, int) { return *pool = &Gpu::ofProcess(), Success; }
API cuMemPoolSetAttribute(void *, int, void *) { return Success; }
API cuMemPoolTrimTo(void *, size_t) { return Success; }
API cuMemAllocAsync(uint64_t *memory, size_t bytes, Stream *stream) {
  COUNTED;
  if (stream->capture)
    return CaptureUnsupported;
  Gpu &gpu = Gpu::ofProcess();
  if (gpu.usesPool)
    stream->drain(); // what the stream gives back before is free, however late it is
  std::lock_guard lock(gpu.mutex);
  *memory = gpu.usesPool ? gpu.memory.allocateFromPool(bytes, stream->device)
                         : gpu.memory.allocate(bytes, stream->device);
  return *memory ? Success : OutOfMemory;
}
API cuMemFreeAsync(uint64_t memory, Stream *stream) {
  COUNTED;
  stream->push([=](Gpu &gpu, uint32_t) {
    if (!(gpu.usesPool ? gpu.memory.releaseToPool(memory) : gpu.memory.release(memory)))
      gpu.fail(InvalidValue, "memory that is not allocated is given back");
  });
  return Success;
}

// At once, whatever streams do: they do not wait for each other.
API cuMemcpy(uint64_t to, uint64_t from, size_t bytes) {
  COUNTED;
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  gpu.order.begin(Order::kHost);
  gpu.current = current;
  if (gpu.failures[current] == Success)
    gpu.copy(to, from, bytes, 0);
  return gpu.failures[current];
}
API cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, Stream *stream) {
  COUNTED;
  stream->push([=](Gpu &gpu, uint32_t command) { gpu.copy(to, from, bytes, command); });
  return Success;
}
API cuMemsetD32Async(uint64_t to, unsigned value, size_t count, Stream *stream) {
  COUNTED;
  stream->push([=](Gpu &gpu, uint32_t command) { gpu.fill(to, 4 * count, value, 4, command); });
  return Success;
}
API cuMemsetD8Async(uint64_t to, unsigned char value, size_t count, Stream *stream) {
  COUNTED;
  stream->push([=](Gpu &gpu, uint32_t command) { gpu.fill(to, count, value, 1, command); });
  return Success;
}

API cuStreamCreate(Stream **stream, unsigned) {
  static std::atomic<uint64_t> number{0};
  return *stream = new Stream(Gpu::ofProcess().seed * 1'000'003 + number++, current), Success;
}
API cuStreamGetDevice(Stream *stream, int *device) {
  return *device = static_cast<int>(stream->device), Success;
}
API cuStreamDestroy(Stream *stream) { return delete stream, Success; }
API cuStreamSynchronize(Stream *stream) {
  COUNTED;
  if (stream->capture)
    return CaptureUnsupported;
  stream->drain();
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  return gpu.failures[stream->device];
}
API cuStreamWaitEvent(Stream *stream, Event *event, unsigned) {
  COUNTED;
  if (event->capture) { // the stream takes part in it from here on
    if (event->capture->isOver())
      return CapturedEvent;
    if ((stream->capture && stream->capture != event->capture) || stream->device != event->device)
      return CaptureIsolation; // of the stand-in: graphs of one device
    return event->capture->await(stream, event), Success;
  }
  if (stream->capture)
    return CaptureIsolation;
  std::shared_ptr<Record> last;
  {
    std::lock_guard lock(Gpu::ofProcess().mutex);
    last = event->last;
  }
  if (last)
    stream->await(std::move(last));
  return Success;
}
API cuLaunchHostFunc(Stream *stream, void (*function)(void *), void *data) {
  COUNTED;
  return stream->call([=] { function(data); }), Success;
}
API cuEventCreate(Event **event, unsigned) { return *event = new Event{current, {}, {}}, Success; }
API cuEventDestroy(Event *event) {
  std::lock_guard lock(Gpu::ofProcess().mutex);
  return delete event, Success;
}
API cuEventRecord(Event *event, Stream *stream) {
  COUNTED;
  if (event->device != stream->device)
    return InvalidHandle;
  if (stream->capture)
    return stream->capture->record(stream, event), Success;
  std::shared_ptr<Record> record = stream->record();
  std::lock_guard lock(Gpu::ofProcess().mutex);
  event->capture = nullptr;
  event->last = std::move(record);
  return Success;
}
API cuEventQuery(Event *event) {
  COUNTED;
  Gpu &gpu = Gpu::ofProcess();
  std::lock_guard lock(gpu.mutex);
  if (event->capture)
    return CapturedEvent;
  if (event->last && !event->last->done)
    return NotReady;
  if (event->last)
    gpu.order.join(Order::kHost, event->last->clock);
  return gpu.failures[event->device];
}

// What one thread gives to a stream, and to those that wait for it, becomes a graph.
API cuStreamBeginCapture(Stream *stream, int) {
  COUNTED;
  if (stream->capture)
    return CaptureUnsupported;
  return stream->capture = std::make_shared<Capture>(stream), Success;
}
API cuStreamEndCapture(Stream *stream, Graph **graph) {
  COUNTED;
  *graph = nullptr;
  std::shared_ptr<Capture> capture = stream->capture;
  if (!capture || !capture->beganOn(stream))
    return InvalidValue;
  *graph = capture->end().release();
  return *graph ? Success : CaptureUnjoined;
}
API cuGraphInstantiate(GraphExec **made, Graph *graph, unsigned long long) {
  COUNTED;
  if (environment("TESSERA_EMULATOR_NO_GRAPHS", 0))
    return OutOfMemory;
  return *made = new GraphExec(*graph), Success;
}
API cuGraphDestroy(Graph *graph) { return delete graph, Success; }
API cuGraphExecDestroy(GraphExec *graph) { return delete graph, Success; }
API cuGraphLaunch(GraphExec *graph, Stream *stream) {
  COUNTED;
  return graph->launch(*stream), Success;
}

API cuLaunchKernel(Function *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                   unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                   Stream *stream, void **parameters, void **extra) {
  COUNTED;
  const Kernel &kernel = *function->kernel;
  if (isNamed("TESSERA_EMULATOR_REFUSE", *function))
    return LaunchOutOfResources;
  if (function->module->device != stream->device || stream->device != current)
    return InvalidHandle;
  // What is asked for beyond 48 KiB counts without what the kernel declares.
  bool hasShared = kernel.sharedBytes + sharedBytes <= (48 << 10) ||
                   (sharedBytes <= function->mostAdded &&
                    kernel.sharedBytes + sharedBytes <= mostSharedOfBlock());
  bool fits = gridX && gridX <= INT32_MAX && gridY == 1 && gridZ == 1 && blockX &&
              blockX <= kernel.mostThreads && blockX <= 1024 && blockY == 1 && blockZ == 1 &&
              hasShared && !extra;
  if (!fits)
    return InvalidValue;
  std::vector<uint8_t> bytes(kernel.parameterBytes);
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    std::memcpy(bytes.data() + kernel.parameters[i].offset, parameters[i],
                kernel.parameters[i].bytes);
  stream->push([=](Gpu &gpu, uint32_t number) {
    launch(gpu, *function, {gridX, blockX, sharedBytes}, bytes, number);
  });
  return Success;
}

API cuFuncSetAttribute(Function *function, int attribute, int value) {
  constexpr int kMostAdded = 8;
  if (attribute != kMostAdded || value < 0 || static_cast<uint64_t>(value) > mostSharedOfBlock())
    return InvalidValue;
  return function->mostAdded = static_cast<uint64_t>(value), Success;
}
API cuTensorMapEncodeTiled(TensorMap *map, int type, unsigned rank, uint64_t address,
                           const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                           const uint32_t *steps, int interleave, int swizzle, int promotion,
                           int fill) {
  COUNTED;
  TensorMap made;
  std::string problem = reinterpret_cast<uintptr_t>(map) % 64
                            ? "a tensor map that is not aligned to 64 bytes"
                            : encode(made, type, rank, address, sizes, strides, box, steps,
                                     interleave, swizzle, promotion, fill);
  if (!problem.empty())
    return std::fprintf(stderr, "emulator: %s\n", problem.c_str()), InvalidValue;
  std::memset(static_cast<void *>(map), 0, 128);
  return *map = made, Success;
}

API cuGetErrorName(int code, const char **name) {
  static const std::map<int, const char *> names = {
      {Success, "CUDA_SUCCESS"},
      {InvalidValue, "CUDA_ERROR_INVALID_VALUE"},
      {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {InvalidImage, "CUDA_ERROR_INVALID_IMAGE"},
      {NoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {InvalidPtx, "CUDA_ERROR_INVALID_PTX"},
      {InvalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
      {NotFound, "CUDA_ERROR_NOT_FOUND"},
      {NotReady, "CUDA_ERROR_NOT_READY"},
      {IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
      {LaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
      {CaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
      {CaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
      {CaptureIsolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
      {CapturedEvent, "CUDA_ERROR_CAPTURED_EVENT"}};
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
                                                          F(cuDeviceGetDefaultMemPool),
                                                          F(cuMemPoolSetAttribute),
                                                          F(cuMemPoolTrimTo),
                                                          F(cuMemAllocAsync),
                                                          F(cuMemFreeAsync),
                                                          F(cuMemsetD8Async),
                                                          F(cuStreamWaitEvent),
                                                          F(cuStreamBeginCapture),
                                                          F(cuStreamEndCapture),
                                                          F(cuGraphInstantiate),
                                                          F(cuGraphLaunch),
                                                          F(cuGraphExecDestroy),
                                                          F(cuGraphDestroy),
                                                          F(cuLaunchKernel),
                                                          F(cuFuncSetAttribute),
                                                          F(cuTensorMapEncodeTiled),
                                                          F(cuGetErrorName)};
#undef F
  auto it = functions.find(symbol);
  *function = it == functions.end() ? nullptr : it->second;
  return it == functions.end() ? NotFound : Success;
}
