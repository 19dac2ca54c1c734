#include "passes/codegen/gpu/LoopCopies.h"

#include "lib/target/GpuBlocks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Metadata.h"

namespace tessera::codegen::gpu {

static constexpr unsigned kCopies = 4;       // of ptxas
static constexpr unsigned kLongest = 40;     // instructions of a body whose copies pay
static constexpr unsigned kWrittenOut = 128; // of all trips, where there is no loop left
static constexpr unsigned kAllTrips = 32;    // that ptxas sees, and may write out instead of four

bool copiesPay(const LoopBody &body) {
  if (body.isCounted && body.mostTrips <= kCopies)
    return body.instructions * body.mostTrips <= kWrittenOut;
  if (body.mostTrips != 0 && body.mostTrips < kCopies)
    return false;
  if (body.isSeen && !body.reads && body.instructions * body.mostTrips > kWrittenOut)
    return false;
  return !body.hasMany && body.instructions <= kLongest;
}

// Vectors are computed lane by lane, and move 16 bytes at a time.
static unsigned instructionsOf(const llvm::Instruction &i, const llvm::DataLayout &layout) {
  if (llvm::isa<llvm::PHINode>(i) || llvm::isa<llvm::CastInst>(i))
    return 0;
  bool isStore = llvm::isa<llvm::StoreInst>(i), isMove = isStore || llvm::isa<llvm::LoadInst>(i);
  auto *type =
      llvm::dyn_cast<llvm::FixedVectorType>(isStore ? i.getOperand(0)->getType() : i.getType());
  bool isSelection = llvm::isa<llvm::ShuffleVectorInst, llvm::InsertElementInst>(i);
  if (!type || isSelection)
    return isSelection ? 0 : 1;
  if (isMove)
    return llvm::divideCeil(layout.getTypeStoreSize(type).getFixedValue(), target::kAccessBytes);
  return type->getNumElements();
}

// Without those of loops within.
static unsigned instructionsOf(const llvm::Loop &loop, const llvm::LoopInfo &loops) {
  const llvm::DataLayout &layout = loop.getHeader()->getDataLayout();
  unsigned count = 0;
  for (const llvm::BasicBlock *block : loop.blocks())
    if (loops.getLoopFor(block) == &loop)
      for (const llvm::Instruction &i : *block)
        count += instructionsOf(i, layout);
  return count;
}

static void forbidCopies(llvm::Loop &loop) {
  llvm::LLVMContext &context = loop.getHeader()->getContext();
  auto *told = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  llvm::MDNode *id = llvm::MDNode::getDistinct(context, {nullptr, told});
  id->replaceOperandWith(0, id);
  loop.setLoopID(id);
}

static unsigned known(const llvm::APInt &trips) {
  return trips.ult(1u << 16) ? static_cast<unsigned>(trips.getZExtValue()) : 0;
}

namespace {

// A loop whose last block counts a number up to a bound: the body runs once, and again while it is below.
struct Counting {
  llvm::BranchInst *jump = nullptr;
  bool isOfConstants = false;     // ptxas sees how many trips there are
  llvm::APInt first, step, bound; // the least, and the largest, that they can be
};

} // namespace

static std::optional<Counting> countingOf(const llvm::Loop &loop, llvm::ScalarEvolution &trips) {
  llvm::BasicBlock *last = loop.getLoopLatch();
  auto *jump = last ? llvm::dyn_cast<llvm::BranchInst>(last->getTerminator()) : nullptr;
  if (!jump || !jump->isConditional() || loop.getExitingBlock() != last ||
      jump->getSuccessor(0) != loop.getHeader())
    return std::nullopt;
  auto *compared = llvm::dyn_cast<llvm::ICmpInst>(jump->getCondition());
  if (!compared || !llvm::ICmpInst::isLT(compared->getPredicate()))
    return std::nullopt;
  auto *counted = llvm::dyn_cast<llvm::SCEVAddRecExpr>(trips.getSCEV(compared->getOperand(0)));
  const llvm::SCEV *bound = trips.getSCEV(compared->getOperand(1));
  if (!counted || counted->getLoop() != &loop || !counted->isAffine() ||
      !trips.isLoopInvariant(bound, &loop))
    return std::nullopt;
  auto *step = llvm::dyn_cast<llvm::SCEVConstant>(counted->getStepRecurrence(trips));
  if (!step || !step->getAPInt().isStrictlyPositive())
    return std::nullopt;
  const llvm::SCEV *start = counted->getStart(); // after the first trip
  bool isOfConstants = llvm::isa<llvm::SCEVConstant>(start) && llvm::isa<llvm::SCEVConstant>(bound);
  Counting found{jump, isOfConstants, llvm::APInt(), step->getAPInt(), llvm::APInt()};
  // Of differences the signed range is the narrower one; of numbers that are not negative both hold.
  auto rangeOf = [&](const llvm::SCEV *number) {
    return trips.getUnsignedRange(number).intersectWith(trips.getSignedRange(number));
  };
  bool isSigned = compared->isSigned();
  found.first = isSigned ? rangeOf(start).getSignedMin() : rangeOf(start).getUnsignedMin();
  found.bound = isSigned ? rangeOf(bound).getSignedMax() : rangeOf(bound).getUnsignedMax();
  // Neither wraps round.
  bool isFar = found.first.isNegative() || found.bound.isNegative() ||
               (found.bound + found.step).isNegative();
  return isFar ? std::nullopt : std::optional(found);
}

static unsigned mostTripsOf(const Counting &counting) {
  if (counting.first.uge(counting.bound))
    return 1;
  return known((counting.bound - counting.first - 1).udiv(counting.step) + 2);
}

// A number of its own says when a loop ends whose trips are as many in all threads, though where they
// begin differs: ptxas, which doesn't know how many threads there are, then needs no trips for what is left.
static void countTrips(const llvm::Loop &loop, const Counting &counting, unsigned trips) {
  llvm::IRBuilder<> b(&*loop.getHeader()->begin());
  llvm::PHINode *trip = b.CreatePHI(b.getInt32Ty(), 2, "trip");
  b.SetInsertPoint(counting.jump);
  llvm::Value *next = b.CreateAdd(trip, b.getInt32(1));
  trip->addIncoming(b.getInt32(0), loop.getLoopPreheader());
  trip->addIncoming(next, loop.getLoopLatch());
  counting.jump->setCondition(b.CreateICmpNE(next, b.getInt32(trips)));
}

// Memory that all threads have, not a place of the thread's own.
static bool reads(const llvm::Instruction &i) {
  auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
  return load ? !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(load->getPointerOperand()))
              : i.mayReadFromMemory();
}

// Of an innermost loop whose body has so many instructions; how many there are instead of the loop, if ptxas leaves none.
static std::optional<unsigned> decide(llvm::Loop &loop, unsigned instructions,
                                      llvm::ScalarEvolution &trips) {
  std::optional<Counting> counting = countingOf(loop, trips);
  unsigned exact = trips.getSmallConstantTripCount(&loop), inAllThreads = 0;
  if (const llvm::SCEV *again = trips.getBackedgeTakenCount(&loop);
      counting && !exact && loop.getLoopPreheader() && !llvm::isa<llvm::SCEVCouldNotCompute>(again))
    if (llvm::ConstantRange range = trips.getUnsignedRange(again); range.isSingleElement())
      inAllThreads = known(*range.getSingleElement() + 1);
  bool hasMany = llvm::any_of(loop, [&](const llvm::Loop *within) {
    return trips.getSmallConstantTripCount(within) > kCopies;
  });
  bool readsAny = llvm::any_of(loop.blocks(), [](const llvm::BasicBlock *block) {
    return llvm::any_of(*block, [](const llvm::Instruction &i) { return reads(i); });
  });
  LoopBody body{.instructions = instructions,
                .mostTrips = std::max(exact, inAllThreads),
                .isCounted = exact || inAllThreads,
                .isSeen = exact != 0,
                .reads = readsAny,
                .hasMany = hasMany};
  if (!body.isCounted)
    body.mostTrips = trips.getSmallConstantMaxTripCount(&loop);
  if (unsigned most = counting ? mostTripsOf(*counting) : 0; most && !body.isCounted)
    body.mostTrips = body.mostTrips ? std::min(body.mostTrips, most) : most;
  if (!copiesPay(body)) {
    forbidCopies(loop);
    return std::nullopt;
  }
  if (body.isCounted && body.mostTrips <= kCopies && counting && !counting->isOfConstants &&
      loop.getLoopPreheader())
    countTrips(loop, *counting, body.mostTrips);
  bool isWrittenOut =
      body.isCounted && (body.mostTrips <= kCopies || (exact && exact <= kAllTrips));
  return isWrittenOut ? std::optional(body.instructions * body.mostTrips) : std::nullopt;
}

// A loop is an innermost one, too, once those within are written out.
static std::optional<unsigned> decideFromWithin(llvm::Loop &loop, const llvm::LoopInfo &loops,
                                                llvm::ScalarEvolution &trips) {
  std::optional<unsigned> instructions = instructionsOf(loop, loops);
  for (llvm::Loop *within : loop) {
    std::optional<unsigned> writtenOut = decideFromWithin(*within, loops, trips);
    instructions =
        instructions && writtenOut ? std::optional(*instructions + *writtenOut) : std::nullopt;
  }
  return instructions ? decide(loop, *instructions, trips) : std::nullopt;
}

llvm::PreservedAnalyses LoopCopiesPass::run(llvm::Function &function,
                                            llvm::FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
  if (loops.empty())
    return llvm::PreservedAnalyses::all();
  auto &trips = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop *loop : loops)
    decideFromWithin(*loop, loops, trips);
  return llvm::PreservedAnalyses::none();
}

} // namespace tessera::codegen::gpu
