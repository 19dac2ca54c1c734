// Kernels from outside: functions that the process registers by name, found when a program that names
// them is loaded, called like generated ones.
#pragma once

#include "runtime/library/Library.h"
#include <string>
#include <utility>
#include <vector>

namespace tessera::runtime {

// May this function compute this call? Null: yes. Otherwise what stands against it.
using OutsideCheck = const char *(*)(const TesseraKernelCall *call);

struct OutsideFunction {
  TesseraKernel function = nullptr;
  void *user = nullptr;
  uint64_t scratchBytes = 0; // at least, that a call must give
  OutsideCheck check = nullptr;
};

// What a program says of a kernel from outside.
struct OutsideCall {
  struct Array {
    std::string type;
    std::vector<int64_t> shape;
    uint64_t bytes;
  };
  std::string name;
  std::vector<Array> inputs, outputs;
  std::vector<std::pair<std::string, std::string>> attributes; // name, bytes
  uint32_t grid = 1;
  uint64_t scratchBytes = 0;
};

// A name stands for one function as long as the process lives: programs that are loaded have it.
Status registerOutsideKernel(std::string name, const OutsideFunction &function);

// `where` is the source location of the call. The plan is what the function finds in its arguments.
Result<LibraryKernel> findOutsideKernel(OutsideCall call, const std::string &where);

} // namespace tessera::runtime
