// The CUDA graphs of what comes again and again: commands of several lanes, with their addresses. The
// second time that the same ones come they are captured, and from then on given as one command.
#pragma once

#include "runtime/device/cuda/Command.h"
#include "runtime/device/cuda/CudaBackend.h"
#include <functional>
#include <map>

namespace tessera::runtime::device::cuda {

// By a name that is the same each time. In which order lanes got their commands is not: only within
// a lane is it, and where one waits for what another records.
using Lanes = std::map<uint64_t, Lane>;

// Not thread-safe.
class Graphs {
public:
  explicit Graphs(const CudaBackend &backend) : backend_(backend) {}
  ~Graphs() { clear(); }
  Graphs(const Graphs &) = delete;
  Graphs &operator=(const Graphs &) = delete;

  // The graph of the lanes' commands, which `capture` makes; null: they are to be given one by one.
  // Where the driver refuses, there are no graphs any more.
  GraphExec of(const Lanes &lanes, const std::function<GraphExec()> &capture);
  // Nothing is running: makes room where there are many.
  void tidy();

private:
  struct Known {
    Lanes lanes; // empty: they came once
    GraphExec graph = nullptr;
  };
  void clear();

  const CudaBackend &backend_;
  std::multimap<uint64_t, Known> known_; // by hash
  size_t commands_ = 0;                  // of all graphs
  bool refused_ = false;
};

} // namespace tessera::runtime::device::cuda
