// Machine code beside the PTX, where it is asked for (--target=cuda:sm_90a+cubin): by CUDA's ptxas, which is
// looked for on the path, in CUDA_HOME and CUDA_PATH, and in /usr/local/cuda. The same PTX gives the same bytes,
// if the version of ptxas is the same; it is one of the image's features.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tessera::codegen::gpu {

class Ptxas {
public:
  // An error says where it was looked for.
  static llvm::Expected<Ptxas> find();

  // "ptxas-13.0.88"
  const std::string &version() const { return version_; }
  llvm::Error assemble(llvm::StringRef ptx, llvm::StringRef architecture,
                       llvm::SmallVectorImpl<char> &cubin) const;

private:
  std::string path_, version_;
  bool hasThreads_ = false;
};

} // namespace tessera::codegen::gpu
