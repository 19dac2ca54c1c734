// "fft": one to three dimensions, line by line. Lines are transformed in double precision and
// rounded to the element type between dimensions.
#include "runtime/library/FftPlan.h"
#include "runtime/library/Library.h"
#include <map>
#include <mutex>

namespace tessera::runtime {

namespace {

using library::Fft;

struct Plan {
  Fft call;
  mutable std::once_flag made;
  mutable std::map<int64_t, FftPlan> lines; // by length
};

void prepare(const void *plan) {
  const Plan &fft = *static_cast<const Plan *>(plan);
  std::call_once(fft.made, [&] {
    for (int64_t length : fft.call.lengths)
      fft.lines.try_emplace(length, length);
  });
}

template <typename T> class Transform {
public:
  using Stored = std::complex<T>;
  Transform(const Plan &plan, void *scratch) : plan(plan), fft(plan.call) {
    int64_t line = 0;
    for (int64_t length : fft.lengths)
      line = std::max(line, Fft::lineWork(length));
    work = static_cast<Complex *>(scratch);
    between = reinterpret_cast<Stored *>(work + line);
  }

  void run(const char *in, char *out) {
    size_t last = fft.lengths.size() - 1;
    if (fft.kind == Fft::RealInverse) {
      auto *from = reinterpret_cast<const Stored *>(in);
      if (last) { // the outer dimensions first
        std::copy(from, from + fft.outer() * fft.half(), between);
        for (size_t d = 0; d < last; ++d)
          along(d, between);
        from = between;
      }
      lastToReal(from, reinterpret_cast<T *>(out));
      return;
    }
    auto *to = reinterpret_cast<Stored *>(out);
    if (fft.kind == Fft::RealForward)
      lastFromReal(reinterpret_cast<const T *>(in), to);
    else
      lastOfComplex(reinterpret_cast<const Stored *>(in), to);
    for (size_t d = 0; d < last; ++d)
      along(d, to);
  }

private:
  bool inverse() const { return fft.kind == Fft::Inverse || fft.kind == Fft::RealInverse; }
  Complex load(Stored value) const {
    Complex wide(value.real(), value.imag());
    return inverse() ? std::conj(wide) : wide;
  }
  // The conjugate of the transform of the conjugate is the inverse, times the length.
  Stored finish(Complex value, double scale) const {
    if (inverse())
      value = std::conj(value) * scale;
    return {static_cast<T>(value.real()), static_cast<T>(value.imag())};
  }
  static double scaleOf(const FftPlan &line) { return 1.0 / static_cast<double>(line.length()); }

  void lastOfComplex(const Stored *from, Stored *to) {
    const FftPlan &line = plan.lines.at(fft.lengths.back());
    int64_t n = line.length();
    for (int64_t row = 0; row < fft.outer(); ++row, from += n, to += n) {
      for (int64_t k = 0; k < n; ++k)
        work[k] = load(from[k]);
      const Complex *result = line.run(work);
      for (int64_t k = 0; k < n; ++k)
        to[k] = finish(result[k], scaleOf(line));
    }
  }
  void lastFromReal(const T *from, Stored *to) {
    const FftPlan &line = plan.lines.at(fft.lengths.back());
    int64_t n = line.length(), half = fft.half();
    for (int64_t row = 0; row < fft.outer(); ++row, from += n, to += half) {
      for (int64_t k = 0; k < n; ++k)
        work[k] = from[k];
      const Complex *result = line.run(work);
      for (int64_t k = 0; k < half; ++k)
        to[k] = {static_cast<T>(result[k].real()), static_cast<T>(result[k].imag())};
    }
  }
  // The other half of the line is the conjugate of this one; what must be real is taken as real.
  void lastToReal(const Stored *from, T *to) {
    const FftPlan &line = plan.lines.at(fft.lengths.back());
    int64_t n = line.length(), half = fft.half();
    for (int64_t row = 0; row < fft.outer(); ++row, from += half, to += n) {
      work[0] = from[0].real();
      for (int64_t k = 1; k < half; ++k) {
        Complex value = load(from[k]);
        bool own = 2 * k == n;
        work[k] = own ? Complex(value.real()) : value;
        work[n - k] = own ? work[k] : std::conj(value);
      }
      const Complex *result = line.run(work);
      for (int64_t k = 0; k < n; ++k)
        to[k] = static_cast<T>(result[k].real() * scaleOf(line));
    }
  }
  // In place along an outer dimension of what is complex.
  void along(size_t d, Stored *values) {
    const FftPlan &line = plan.lines.at(fft.lengths[d]);
    int64_t n = line.length(), stride = fft.half();
    for (size_t i = d + 1; i + 1 < fft.lengths.size(); ++i)
      stride *= fft.lengths[i];
    int64_t blocks = fft.outer() * fft.half() / (n * stride);
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t i = 0; i < stride; ++i) {
        Stored *first = values + block * n * stride + i;
        for (int64_t k = 0; k < n; ++k)
          work[k] = load(first[k * stride]);
        const Complex *result = line.run(work);
        for (int64_t k = 0; k < n; ++k)
          first[k * stride] = finish(result[k], scaleOf(line));
      }
  }

  const Plan &plan;
  const Fft &fft;
  Complex *work;
  Stored *between;
};

template <typename T>
int32_t runFft(const TesseraKernelArgs *args, uint32_t gridBegin, uint32_t gridEnd) {
  const Plan &plan = *static_cast<const Plan *>(args->plan);
  Problems problems = Problems::of(plan.call.batch, gridBegin, gridEnd);
  for (int64_t i = problems.begin; i < problems.end; ++i)
    Transform<T>(plan, args->scratch)
        .run(static_cast<const char *>(args->buffers[0]) + i * plan.call.inputBytes(),
             static_cast<char *>(args->buffers[1]) + i * plan.call.outputBytes());
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
  kernel.function = fft.isDouble ? runFft<double> : runFft<float>;
  kernel.operandBytes = {static_cast<uint64_t>(fft.batch * fft.inputBytes()),
                         static_cast<uint64_t>(fft.batch * fft.outputBytes())};
  kernel.scratchBytes = fft.scratchBytes();
  kernel.grid = library::gridOf(fft.batch);
  kernel.plan = std::move(plan);
  return kernel;
}

} // namespace tessera::runtime
