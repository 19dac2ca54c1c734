#include "runtime/device/cpu/Launch.h"

namespace tessera::runtime::device {

namespace {

struct GridJob {
  const Run &run;
  const KernelEntry &kernel;
  void *const *buffers;
  const Worker &owner;
  void *given; // the owner's scratch; null: its own
  uint64_t scratchBytes;
};

int32_t runCells(void *context, Worker &worker, uint32_t begin, uint32_t end) {
  const GridJob &job = *static_cast<const GridJob *>(context);
  if (job.run.failed())
    return kGivenUp;
  bool isGiven = job.given && &worker == &job.owner;
  void *scratch = isGiven ? job.given : worker.scratch(job.scratchBytes);
  TesseraKernelArgs args{job.buffers, scratch, job.kernel.plan.get()};
  if (!args.scratch && job.scratchBytes)
    return kNoScratch;
  return job.kernel.function(&args, begin, end);
}

} // namespace

int32_t launchShared(Worker &worker, const Run &run, const KernelEntry &kernel,
                     void *const *buffers, void *given, uint64_t scratchBytes) {
  GridJob job{run, kernel, buffers, worker, given, scratchBytes};
  return worker.runJob(runCells, &job, kernel.grid, kernel.chunk, kernel.wakes);
}

} // namespace tessera::runtime::device
