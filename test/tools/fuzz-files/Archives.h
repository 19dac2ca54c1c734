// .npz archives, damaged or with right checksums and wrong contents.
#pragma once

#include "test/tools/fuzz-files/Inputs.h"
#include <vector>

namespace tessera::fuzz {

class Archives : public Inputs {
public:
  Archives();
  std::string checkSeeds() override;
  std::string make(Random &random) override;
  Outcome run(const std::string &input) override;

private:
  std::string archive(Random &random, bool mutate);
  std::vector<std::string> arrays_; // .npy contents of in0, in1, ..
  std::string path_;                // of a file in memory
  int file_;
  bool mended_ = false;
};

} // namespace tessera::fuzz
