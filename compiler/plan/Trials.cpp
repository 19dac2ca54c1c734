#include "compiler/plan/Trials.h"

#include "compiler/plan/Reading.h"
#include "compiler/plan/Search.h"
#include "lib/process/OutOfMemory.h"

namespace tessera::planning {

using namespace mlir;

// What is to be said was said when it was read first.
ModuleOp Trials::again() {
  if (!road) {
    road = std::make_unique<Road>(options, silentListener());
    read = readAgain(*road, text, source);
  }
  return read.get();
}

void Trials::run(llvm::ArrayRef<Candidate *> candidates, const TrialWishes &wishes) {
  SharedCount numbers(candidates.size());
  auto tryEach = [&](ModuleOp program) {
    numbers.takeEach([&](size_t i) { tryCandidate(source, program, *candidates[i], wishes); });
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
