// How far streams have come with what they are given, and what they stand at for longer than they may.
//
//   given a, b | mark   given c | mark   given d ..    stands at a: "a, or one of the 1 commands after it"
#pragma once

#include "runtime/device/cuda/CudaBackend.h"
#include "runtime/device/cuda/Marks.h"
#include "runtime/device/cuda/Patience.h"
#include <optional>

namespace tessera::runtime::device::cuda {

// Not thread-safe. The GPU is the one that the thread has entered.
class Progress {
public:
  struct Hang {
    Marks::Place place;
    std::string what;
  };

  Progress(const CudaBackend &backend, Patience::Waits waits)
      : marks_(backend.driver()), patience_(backend.longestStand(), std::move(waits)) {}

  // A step begins: nothing is under way.
  void begin();
  // A stream was given a command of the lane.
  void given(uint64_t lane, uint32_t tag);
  // Behind all that was given, in the stream that comes after it. What fails is the result, too.
  ResultCode mark(Stream stream);
  bool isMarked() const { return unmarked_.commands == 0; }
  // There is no mark, for this reason.
  void lose(ResultCode code) { lost_ = code; }
  // So much is under way that the driver might let the next one wait who gives it something.
  bool isFull();
  // What has become of all that is marked: kNotReady where some of it is not over.
  ResultCode result();
  // Where it stands for too long; nothing where it may still come further.
  std::optional<Hang> hang(Run &run);

private:
  void advance();

  Marks marks_;
  Patience patience_;
  Marks::Place unmarked_; // what was given since the last of them
  ResultCode lost_ = kSuccess;
};

} // namespace tessera::runtime::device::cuda
