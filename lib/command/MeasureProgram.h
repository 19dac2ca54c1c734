// How a command of the compiler has programs run, which the runtime does: tools/tessera brings both
// together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::command {

struct ProgramToMeasure {
  std::string_view bytes;     // of a .tsr file
  uint32_t workers = 0;       // threads; 0: one a core
  bool overProcesses = false; // one device a process, those of mpirun; all call it then
  int64_t steps = 1;          // at most, and exactly with several processes
  double seconds = 1e9;       // after which no further step begins
  int64_t leastSteps = 1;     // but as many do
};

// Which of those that mpirun has started this process is.
struct Process {
  int64_t rank = 0, size = 1;
};

// Both give "", or what went wrong.
struct Measuring {
  // Runs the program on random inputs, the first step unmeasured. `seconds`: of each step.
  std::string (*measure)(const ProgramToMeasure &program, std::vector<double> &seconds);
  // Connects the processes that mpirun has started.
  std::string (*connect)(Process &process);
  // No process needs another any more.
  void (*disconnect)();
};

} // namespace tessera::command
