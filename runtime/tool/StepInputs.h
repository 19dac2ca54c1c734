// What the steps of `tessera run` take: the same arrays each time, the next of a file's batches, or
// outputs of the step before.
#pragma once

#include "runtime/array/ArrayFile.h"
#include "runtime/array/CarriedState.h"
#include "runtime/session/Session.h"
#include "runtime/tool/RunOptions.h"
#include <memory>
#include <vector>

namespace tessera::runtime {

using Arrays = std::vector<std::shared_ptr<Array>>;

class StepInputs {
public:
  // Which state is carried, before anything is read.
  Status findCarried(const RunOptions &options, const LoadedProgram &program);
  const std::vector<CarriedTree> &carried() const { return carried_; }

  // Reads the files.
  Status read(const RunOptions &options, const LoadedProgram &program);
  // How many steps there are: as many as asked for, or as there are batches.
  int64_t countSteps(const RunOptions &options) const;

  // The arrays of a step. `outputs`: of the one before, which are given up; empty for the first.
  Result<const Arrays *> next(Session &session, int64_t step, Arrays &outputs);

private:
  struct Batch {
    size_t input;
    std::string name;
  };
  Status readResumed(const std::string &path, const LoadedProgram &program);
  Status readBatches(const std::string &path, const LoadedProgram &program);
  Status readRest(const RunOptions &options, const LoadedProgram &program);
  Status carry(Session &session, const Arrays &outputs);

  std::vector<CarriedTree> carried_;
  std::vector<bool> isCarried_; // by input
  std::vector<HostArray> hosts_;
  std::vector<bool> isRead_; // by input: by the files of state and batches
  std::unique_ptr<ArrayFile> batchFile_;
  std::vector<Batch> batches_;
  int64_t batchCount_ = 0;
  Arrays arrays_;
};

} // namespace tessera::runtime
