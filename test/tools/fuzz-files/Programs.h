// Program files with right checksums and wrong contents, and with wrong checksums.
#pragma once

#include "test/tools/fuzz-files/Inputs.h"
#include "test/tools/fuzz-files/Manifest.h"
#include <memory>
#include <vector>

namespace tessera::fuzz {

// A program to be mutated.
struct ProgramSeed {
  std::string manifest, code, constants;
  // Its kernels are in its code section; otherwise they stand for all that read and write every
  // byte that they declare, which finds what the loader lets through.
  bool isNative = false;
};

// One of each kind of instruction, of every collective, of the kernels that the runtime brings.
std::vector<ProgramSeed> handMadeSeeds();
ProgramSeed seedOf(const std::string &file);

class ProgramFiles : public Inputs {
public:
  explicit ProgramFiles(std::vector<ProgramSeed> seeds);
  std::string checkSeeds() override;
  std::string make(Random &random) override;
  Outcome run(const std::string &input) override;

private:
  std::vector<ProgramSeed> seeds_;
  std::vector<Message> manifests_; // of the seeds
  // Of the last that was made.
  bool mended_ = false, isNative_ = false, callsKernels_ = false;
};

} // namespace tessera::fuzz
