#include "compiler/plan/NoneFits.h"

#include "compiler/plan/Choice.h"
#include "lib/plan/LeastTrials.h"
#include "lib/plan/Meshes.h"
#include "lib/text/Quantity.h"

#include "llvm/ADT/StringExtras.h"

namespace tessera::planning {

static std::string bytesText(double bytes) { return text::bytes(uint64_t(bytes)); }

// `isKnown`: whether there is none; else others may do with less.
static std::string tooFewText(int64_t bound, bool isKnown) {
  return (isKnown ? "no plan fits into the " : "no plan was found that fits into the ") +
         text::bytes(uint64_t(bound)) + " of each device: ";
}

std::string givenTooMuch(double given, int64_t bound, int64_t devices) {
  if (!bound || given <= double(bound))
    return "";
  return tooFewText(bound, /*isKnown=*/true) + "what the program is given and gives back takes " +
         bytesText(given) + " of each of " + text::counted(uint64_t(devices), "device") +
         ", in as many parts as there are";
}

static std::string onMeshText(const Candidate &candidate) {
  return ", on " + plan::meshText(candidate.onMesh->getMesh());
}

static std::string neededText(llvm::ArrayRef<Candidate> candidates, const Candidate &least) {
  size_t compiled = llvm::count_if(candidates, [](const Candidate &each) { return each.isTried; }),
         asked = llvm::count_if(candidates, [](const Candidate &each) { return needed(each) > 0; });
  std::string ofAll = "of " + std::to_string(compiled) + " that were compiled ";
  return (compiled == 1 ? "the one that was compiled needs"
          : asked == 1  ? ofAll + "the one that was asked needs"
                        : ofAll + "one needs least,") +
         " --memory=" + std::to_string(needed(least));
}

// Of those that were not compiled, the one that holds least as the search counts.
static const Candidate *leastUntried(llvm::ArrayRef<Candidate> candidates) {
  const Candidate *least = nullptr;
  for (const Candidate &each : candidates)
    if (!each.isTried && (!least || each.bytes < least->bytes))
      least = &each;
  return least;
}

static std::string whyOf(const Candidate &least) {
  if (!least.tried.error.empty())
    return " (" + least.tried.error + ")";
  std::string largest;
  for (const explain::AtPeak &each : llvm::ArrayRef(least.tried.atPeak).take_front(3))
    largest += (largest.empty() ? "" : ", ") + bytesText(double(each.bytes)) + " of " + each.name;
  return largest.empty() ? "" : "; largest at its peak: " + largest;
}

std::string noneFits(llvm::ArrayRef<Candidate> candidates, const Candidate *least, int64_t bound,
                     double given) {
  constexpr double kNotable = 0.95; // less than what was compiled needs
  llvm::SmallVector<std::string, 3> known;
  if (least)
    known.push_back(neededText(candidates, *least) + onMeshText(*least) + whyOf(*least));
  const Candidate *counted = least ? leastUntried(candidates) : &leastCounted(candidates);
  if (counted && !(least && counted->bytes >= kNotable * double(needed(*least))))
    known.push_back((least ? "of those that were not compiled one is counted at least, "
                           : "of all that were counted one takes least, ") +
                    bytesText(counted->bytes) + onMeshText(*counted));
  if (!least && !plan::isInReach(counted->bytes, bound))
    known.push_back("how little the compiled ones could do with was not tried, as that is too far "
                    "above what there is");
  if (given > 0)
    known.push_back("no plan takes less than " + bytesText(given) +
                    ", which is what the program is given and gives back, in as many parts "
                    "as there are devices");
  return tooFewText(bound, given > double(bound)) + llvm::join(known, "; ");
}

} // namespace tessera::planning
