#include "compiler/plan/Trials.h"

#include "compiler/plan/Reading.h"
#include "compiler/plan/Search.h"
#include "lib/process/OutOfMemory.h"

#include <atomic>

namespace tessera::planning {

using namespace mlir;

// What is to be said was said when it was read first.
static void ignoreLine(const std::string &) {}
static void ignore(StringRef) {}
static const CompileListener nobody{ignoreLine, ignore, ignore};

ModuleOp Trials::again() {
  if (!road) {
    road = std::make_unique<Road>(options, nobody);
    read = readAgain(*road, text, source);
  }
  return read.get();
}

void Trials::run(llvm::ArrayRef<Candidate *> candidates, const TrialWishes &wishes) {
  std::atomic<size_t> next{0};
  auto tryEach = [&](ModuleOp program) {
    for (size_t i; (i = next++) < candidates.size();)
      tryCandidate(source, program, *candidates[i], wishes);
  };
  auto tryHere = [&] { tryEach(source.read.get()); };
  if (candidates.size() < 2)
    return tryHere();
  runBoth(tryHere, [&] {
    if (ModuleOp program = again())
      tryEach(program);
  });
}

} // namespace tessera::planning
