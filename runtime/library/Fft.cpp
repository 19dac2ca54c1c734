// "fft": one to three dimensions, by lines. Lines are transformed in double precision and rounded
// to the element type between dimensions.
#include "runtime/library/FftPlan.h"
#include "runtime/library/Library.h"
#include <memory>
#include <mutex>

namespace tessera::runtime {

namespace {

using library::Fft;

struct Plan {
  Fft call;
  mutable std::once_flag made;
  mutable std::vector<std::unique_ptr<FftPlan>> dimensions;
};

void prepare(const void *plan) {
  const Plan &fft = *static_cast<const Plan *>(plan);
  std::call_once(fft.made, [&] {
    for (size_t d = 0; d < fft.call.lengths.size(); ++d)
      fft.dimensions.push_back(std::make_unique<FftPlan>(fft.call.lengths[d], fft.call.isReal(d),
                                                         d + 1 < fft.call.lengths.size()));
  });
}

class Transform {
public:
  Transform(const Plan &plan, void *scratch) : plan(plan), fft(plan.call), scratch(scratch) {}

  // `problems` of them, one after the other.
  void run(const char *in, char *out, int64_t problems) {
    size_t last = fft.lengths.size() - 1;
    fft::Job job = jobOf(last);
    job.lines = problems * fft.outer();
    job.from = in;
    job.to = out;
    int64_t length = fft.lengths.back(), half = fft.half();
    if (fft.kind == Fft::RealForward) {
      job.kind = fft::Job::FromReal;
      job.fromStep = length;
      job.toStep = half;
    } else if (fft.kind == Fft::RealInverse) {
      job.kind = fft::Job::ToReal;
      job.fromStep = half;
      job.toStep = length;
      if (last) { // the outer dimensions first
        char *between =
            static_cast<char *>(scratch) + fft.scratchBytes() - (fft.complexSize() + 63) / 64 * 64;
        std::copy(in, in + fft.complexSize(), between);
        outer(between);
        job.from = between;
      }
    } else {
      job.fromStep = job.toStep = length;
    }
    runFftJob(job);
    if (fft.kind != Fft::RealInverse)
      outer(out);
  }

private:
  fft::Job jobOf(size_t dimension) const {
    fft::Job job;
    job.line = &plan.dimensions[dimension]->line();
    job.isDouble = fft.isDouble;
    job.isInverse = fft.kind == Fft::Inverse || fft.kind == Fft::RealInverse;
    job.length = fft.lengths[dimension];
    job.work = scratch;
    return job;
  }
  // In place along the outer dimensions of what is complex.
  void outer(char *values) {
    for (size_t d = 0; d + 1 < fft.lengths.size(); ++d) {
      fft::Job job = jobOf(d);
      job.stride = fft.half();
      for (size_t i = d + 1; i + 1 < fft.lengths.size(); ++i)
        job.stride *= fft.lengths[i];
      job.lines = job.stride;
      job.fromStep = job.toStep = 1;
      int64_t block = job.length * job.stride * (fft.isDouble ? 16 : 8);
      for (int64_t at = 0; at < fft.complexSize(); at += block) {
        job.from = job.to = values + at;
        runFftJob(job);
      }
    }
  }

  const Plan &plan;
  const Fft &fft;
  void *scratch;
};

int32_t runFft(const TesseraKernelArgs *args, uint32_t gridBegin, uint32_t gridEnd) {
  const Plan &plan = *static_cast<const Plan *>(args->plan);
  int64_t together = plan.call.together(), batch = plan.call.batch;
  Problems groups = Problems::of((batch + together - 1) / together, gridBegin, gridEnd);
  for (int64_t i = groups.begin * together; i < std::min(groups.end * together, batch);
       i += together)
    Transform(plan, args->scratch)
        .run(static_cast<const char *>(args->buffers[0]) + i * plan.call.inputBytes(),
             static_cast<char *>(args->buffers[1]) + i * plan.call.outputBytes(),
             std::min(together, batch - i));
  return 0;
}

} // namespace

Result<LibraryKernel> findFft(const library::Call &call) {
  auto plan = std::make_shared<Plan>();
  if (!Fft::read(call.numbers, plan->call))
    return badNumbers(call);
  const Fft &fft = plan->call;
  LibraryKernel kernel;
  kernel.prepare = prepare;
  kernel.function = runFft;
  kernel.operandBytes = {static_cast<uint64_t>(fft.batch * fft.inputBytes()),
                         static_cast<uint64_t>(fft.batch * fft.outputBytes())};
  kernel.scratchBytes = fft.scratchBytes();
  kernel.grid = fft.grid();
  kernel.plan = std::move(plan);
  return kernel;
}

} // namespace tessera::runtime
