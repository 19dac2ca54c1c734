// How far a run of many steps has come, on a terminal.
#pragma once

#include <cstdint>

namespace tessera::runtime {

class Progress {
public:
  Progress();
  ~Progress() { clear(); }
  // After a step, of so many: now and then on the line where it stood before. Nothing where standard
  // error is no terminal.
  void show(int64_t step, int64_t steps);
  void clear();

private:
  bool onTerminal_, isShown_ = false;
  int64_t began_, last_ = 0; // nanoseconds
};

} // namespace tessera::runtime
