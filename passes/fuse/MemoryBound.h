// Which values a program computes again so that a device holds no more than a bound.
//
// A program goes down in steps: its kernels are formed on trial, lib/cost/Remat.h chooses, and the
// choice makes another program, whose kernels are formed in turn. What a trial says is an estimate;
// a program that should fit is measured, as the phases memory and codegen lay it out.
#pragma once

#include "mlir/IR/OwningOpRef.h"
#include "passes/codegen/KernelScratch.h"
#include "passes/codegen/kernel/WorkMemo.h"
#include "passes/fuse/RematTrial.h"
#include "passes/package/StepWork.h"

#include <memory>
#include <optional>

namespace tessera::fuse {

// A program with values computed again.
struct LowerProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  RematTrial trial;
  int64_t peak = 0;      // of outputs and temporaries, as the trial has it
  int computedAgain = 0; // values and stacks; 0: the program as it is
};

struct MeasuredProgram {
  const LowerProgram *program = nullptr;
  int64_t bytes = 0; // of a device: arguments, outputs and arena, what kernels need among it
  std::optional<int64_t> allowed; // with how much the order was chosen; none: as the module says
  double seconds = 0;             // of a step, as predicted; where asked for
  std::optional<int64_t> scratchWithin = {}; // of the schedule that it was measured with
};

// What takes most at the peak.
struct PeakValue {
  mlir::Location location;
  std::string op;
  int64_t bytes;
};

std::vector<PeakValue> valuesAtPeak(const LowerProgram &program);

// Of a module with buffers, once what its kernels need beside arrays has places among them.
mlir::FailureOr<MemoryFigures> figuresWithScratch(mlir::ModuleOp module,
                                                  codegen::KernelScratch &scratch);

// All values at once, what is returned beside them, and as much for kernels that copy what they read:
// where that fits, nothing needs to be tried.
bool fitsAnyway(mlir::ModuleOp module, int64_t bound);
// Marks the kernels of a module whose memory is bounded with their scratch, unless it fits anyway.
void sizeScratch(mlir::ModuleOp module, codegen::KernelScratch &scratch);

class MemoryBound {
public:
  static constexpr size_t kLarge = 10000; // ops: some fifty programs of so many would take minutes

  // `module` as it is before its kernels are formed. With `predicts`, what is measured has seconds. With
  // more ops than `large` little is tried where nothing can fit.
  explicit MemoryBound(mlir::ModuleOp module, bool predicts = false, size_t large = kLarge)
      : module(module), predicts(predicts), large(large) {}

  // Of the kernels of the program as it is: what smaller ones can save.
  int64_t mostScratch() const;
  // From now on kernels have so little scratch that it and temporaries take no more than that, where they
  // can. Without a number, and before, as much as they are quickest with.
  void keepScratchWithin(std::optional<int64_t> bytes) {
    scratchWithin = bytes ? std::max<int64_t>(*bytes, 1) : bytes;
  }
  // From now on, of what fits only what is found in a few programs: the first that the others would go on from.
  void tryFew() { triesFew = true; }
  mlir::LogicalResult begin();
  // The program without a bound.
  mlir::FailureOr<MeasuredProgram> asItIs() { return measure(*first, std::nullopt); }
  // The one of least time that fits, as far as is known; none where nothing does.
  mlir::FailureOr<std::optional<MeasuredProgram>> fitInto(int64_t mostBytes);
  // The one that needs least, which fits into what it says: `fitInto` that finds one. Where nothing fits
  // into what is wanted, of large programs one that needs little.
  mlir::FailureOr<MeasuredProgram> least(int64_t wanted);

  // Of what was measured since `fitInto` or `least` began.
  int64_t lowestBytes() const { return lowest.front().bytes; }
  // What the caller holds, once a program was measured.
  int64_t callersBytes() const { return arguments + outputs; }
  // Programs whose kernels were formed on trial, beside the one as it is.
  size_t countTried() const {
    size_t count = aimed.size();
    for (const Way &way : ways)
      count += way.steps.size();
    return count;
  }

private:
  static constexpr size_t kWay = 24;    // steps on a way
  static constexpr size_t kInLoops = 2; // number of the way of that name

  using Lowered = mlir::FailureOr<std::unique_ptr<LowerProgram>>;

  // From the program as it is down to the last that is lower, whatever the bound.
  struct Way {
    bool makesLater;             // and goes below peaks at its end: cost::RematScope
    bool inLoops = false;        // begins with what is cheap computed in loops
    bool smallAttention = false; // and with attention of few scores as one kernel
    bool ofResults = false;      // begins with softmaxes' sums made of attention's results
    std::vector<std::unique_ptr<LowerProgram>> steps = {};
    bool isWhole = false;
    size_t belowPeak = 0; // steps that left the peak as it was
  };

  mlir::FailureOr<MeasuredProgram> measure(const LowerProgram &program,
                                           std::optional<int64_t> allowed);
  mlir::FailureOr<MeasuredProgram> measureTwice(const LowerProgram &program, int64_t mostBytes);
  mlir::FailureOr<MeasuredProgram> measureWithin(const LowerProgram &program, int64_t mostBytes);
  Lowered tried(mlir::OwningOpRef<mlir::ModuleOp> module);
  Lowered withPlan(const LowerProgram &from, const RematTrial &trial, const cost::RematPlan &plan);
  Lowered lowerThan(const LowerProgram &from, int64_t target, bool makesLater);
  Lowered lowerBelowPeak(const LowerProgram &from);
  Lowered lowerInOrder(const LowerProgram &from, RematTrial trial, int64_t target);
  mlir::LogicalResult findNarrow();
  Lowered withChanges(llvm::function_ref<int(mlir::ModuleOp)> change);
  Lowered withSmallAttention();
  Lowered stepDown(Way &way);
  mlir::FailureOr<const LowerProgram *> onTheWay(Way &way, size_t step);
  mlir::FailureOr<const LowerProgram *> straightTo(int64_t target);
  mlir::FailureOr<std::vector<const LowerProgram *>> lowOnes();
  mlir::FailureOr<MeasuredProgram> leastOfTwo();
  mlir::FailureOr<std::optional<MeasuredProgram>> aim(int64_t mostBytes, double ratio);
  mlir::FailureOr<std::optional<MeasuredProgram>> descend(Way &way, int64_t mostBytes,
                                                          double ratio);
  mlir::FailureOr<MeasuredProgram> lowerInOrder(MeasuredProgram from, int64_t mostBytes);
  mlir::FailureOr<MeasuredProgram> lowestInOrder(int64_t mostBytes);
  mlir::FailureOr<MeasuredProgram> lowerByAim(MeasuredProgram from);
  void note(const MeasuredProgram &measured);
  cost::ScheduleOptions scheduleFor(const LowerProgram &program,
                                    std::optional<int64_t> allowed) const;

  const LowerProgram *narrow() const { return narrowed ? narrowed->get() : nullptr; }
  // Where all ways begin.
  const LowerProgram &start() const { return narrow() ? *narrow() : *first; }

  // Not even for what the program is given and what it returns.
  bool hasNoRoom(int64_t bytes) const { return bytes <= callersBytes(); }

  codegen::WorkMemo memo;
  codegen::KernelScratch scratch;
  mlir::ModuleOp module;
  bool predicts;
  size_t large;
  bool triesFew = false;
  std::optional<int64_t> scratchWithin;
  int64_t arguments = 0, outputs = 0;  // bytes
  std::unique_ptr<LowerProgram> first; // the program as it is
  // With stacks in the type in which they are computed, and what else costs no time; none where that is the same.
  std::optional<std::unique_ptr<LowerProgram>> narrowed; // once it was looked for
  Way ways[5] = {{.makesLater = false},
                 {.makesLater = true},
                 {.makesLater = true, .inLoops = true},
                 {.makesLater = true, .inLoops = true, .smallAttention = true},
                 {.makesLater = true, .ofResults = true}};
  std::vector<MeasuredProgram> lowest; // that were measured for one bound
  std::vector<std::unique_ptr<LowerProgram>> aimed;
};

} // namespace tessera::fuse
