// NVIDIA's driver, opened when the first program needs it: nothing of CUDA is linked, and no header
// of it is included. What follows are the parts of its interface that the runtime calls, as "CUDA
// Driver API" by NVIDIA has them.
#pragma once

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>

namespace tessera::runtime::device::cuda {

using ResultCode = int; // CUresult
inline constexpr ResultCode kSuccess = 0, kOutOfMemory = 2, kNotReady = 600;
// What cuBLASLt says, beside what the driver does.
inline constexpr ResultCode kFirstOfLibrary = 1 << 20;
inline ResultCode ofProductLibrary(int status) {
  return status ? kFirstOfLibrary + status : kSuccess;
}
// What no driver says: the GPU was given up (Patience.h).
inline constexpr ResultCode kGivenUp = 1 << 19;
inline constexpr unsigned kNonBlocking = 1; // flag of a stream: it waits for no other
inline constexpr unsigned kNoTiming = 2;    // flag of an event

using DeviceNumber = int;
using Pointer = uint64_t; // in a device's memory; of pinned memory as the host has it
using Context = struct ContextOfDriver *;
using Stream = struct StreamOfDriver *;
using EventHandle = struct EventOfDriver *;
using Module = struct ModuleOfDriver *;
using Function = struct FunctionOfDriver *;
using Graph = struct GraphOfDriver *;
using GraphExec = struct GraphExecOfDriver *;
using MemoryPool = struct MemoryPoolOfDriver *;

// name, parameters
#define TESSERA_CUDA_FUNCTIONS(F)                                                                  \
  F(cuInit, (unsigned flags))                                                                      \
  F(cuDriverGetVersion, (int *version))                                                            \
  F(cuDeviceGetCount, (int *count))                                                                \
  F(cuDeviceGet, (DeviceNumber * device, int ordinal))                                             \
  F(cuDeviceGetName, (char *name, int length, DeviceNumber device))                                \
  F(cuDeviceGetAttribute, (int *value, int attribute, DeviceNumber device))                        \
  F(cuDevicePrimaryCtxRetain, (Context * context, DeviceNumber device))                            \
  F(cuCtxSetCurrent, (Context context))                                                            \
  F(cuMemGetInfo, (size_t *free, size_t *total))                                                   \
  F(cuModuleLoadDataEx,                                                                            \
    (Module * module, const void *image, unsigned options, const int *names, void **values))       \
  F(cuModuleUnload, (Module module))                                                               \
  F(cuModuleGetFunction, (Function * function, Module module, const char *name))                   \
  F(cuMemAlloc, (Pointer * memory, size_t bytes))                                                  \
  F(cuMemFree, (Pointer memory))                                                                   \
  F(cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                                 \
  F(cuMemFreeHost, (void *memory))                                                                 \
  F(cuDeviceGetDefaultMemPool, (MemoryPool * pool, DeviceNumber device))                           \
  F(cuMemPoolSetAttribute, (MemoryPool pool, int attribute, void *value))                          \
  F(cuMemPoolTrimTo, (MemoryPool pool, size_t bytesToKeep))                                        \
  F(cuMemAllocAsync, (Pointer * memory, size_t bytes, Stream stream))                              \
  F(cuMemFreeAsync, (Pointer memory, Stream stream))                                               \
  F(cuMemcpy, (Pointer to, Pointer from, size_t bytes))                                            \
  F(cuMemcpyAsync, (Pointer to, Pointer from, size_t bytes, Stream stream))                        \
  F(cuMemsetD32Async, (Pointer to, unsigned value, size_t count, Stream stream))                   \
  F(cuMemsetD8Async, (Pointer to, unsigned char value, size_t count, Stream stream))               \
  F(cuStreamCreate, (Stream * stream, unsigned flags))                                             \
  F(cuStreamDestroy, (Stream stream))                                                              \
  F(cuStreamSynchronize, (Stream stream))                                                          \
  F(cuStreamWaitEvent, (Stream stream, EventHandle event, unsigned flags))                         \
  F(cuStreamBeginCapture, (Stream stream, int mode))                                               \
  F(cuStreamEndCapture, (Stream stream, Graph * graph))                                            \
  F(cuGraphInstantiate, (GraphExec * made, Graph graph, unsigned long long flags))                 \
  F(cuGraphLaunch, (GraphExec graph, Stream stream))                                               \
  F(cuGraphExecDestroy, (GraphExec graph))                                                         \
  F(cuGraphDestroy, (Graph graph))                                                                 \
  F(cuEventCreate, (EventHandle * event, unsigned flags))                                          \
  F(cuEventDestroy, (EventHandle event))                                                           \
  F(cuEventRecord, (EventHandle event, Stream stream))                                             \
  F(cuEventQuery, (EventHandle event))                                                             \
  F(cuLaunchKernel, (Function function, unsigned gridX, unsigned gridY, unsigned gridZ,            \
                     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,      \
                     Stream stream, void **parameters, void **extra))                              \
  F(cuFuncSetAttribute, (Function function, int attribute, int value))                             \
  F(cuTensorMapEncodeTiled,                                                                        \
    (void *map, int type, unsigned rank, Pointer address, const uint64_t *sizes,                   \
     const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,          \
     int swizzle, int promotion, int fill))                                                        \
  F(cuGetErrorName, (ResultCode code, const char **name))

// Thread-safe, as the driver is.
class Driver {
public:
  // The process's; an error says what to install.
  static Result<const Driver *> open();

#define F(name, parameters) ResultCode(*name) parameters = nullptr;
  TESSERA_CUDA_FUNCTIONS(F)
#undef F

  // "CUDA_ERROR_ILLEGAL_ADDRESS"
  std::string nameOf(ResultCode code) const;
  // `what` could not be done. Ok for success.
  Status status(ResultCode code, const std::string &what) const;

private:
  Status load();
};

} // namespace tessera::runtime::device::cuda
