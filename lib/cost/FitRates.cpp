#include "lib/cost/FitRates.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace tessera::cost {

Observation exchangeAlone(const Observation &with, const Observation &without) {
  Observation rest;
  for (unsigned i = 0; i < kTerms; ++i)
    rest.terms.amount[i] = std::max(with.terms.amount[i] - without.terms.amount[i], 0.0);
  for (double Observation::*each :
       {&Observation::launches, &Observation::instructions, &Observation::meetings})
    rest.*each = std::max(with.*each - without.*each, 0.0);
  // Measurements differ by some percent: less would be noise.
  rest.seconds = std::max(with.seconds - without.seconds, 0.01 * with.seconds);
  return rest;
}

double predictedSeconds(const DeviceRates &rates, const Observation &observation) {
  return secondsOf(rates, observation.terms) + observation.steps * rates.stepSeconds +
         observation.launches * rates.launchSeconds +
         observation.instructions * rates.instructionSeconds +
         observation.meetings * rates.meetingSeconds;
}

namespace {

// Seconds of one of each term, then of what has seconds of its own.
constexpr double DeviceRates::*kFixed[] = {&DeviceRates::stepSeconds, &DeviceRates::launchSeconds,
                                           &DeviceRates::instructionSeconds,
                                           &DeviceRates::meetingSeconds};
constexpr double Observation::*kCounts[] = {&Observation::steps, &Observation::launches,
                                            &Observation::instructions, &Observation::meetings};
constexpr unsigned kUnknowns = kTerms + std::size(kFixed);
using Vector = std::array<double, kUnknowns>;

Vector logarithms(const DeviceRates &rates) {
  Vector x{};
  for (unsigned i = 0; i < kTerms; ++i)
    x[i] = -std::log(rates.kernels.find(nameOf(static_cast<Term>(i)))->second);
  for (unsigned i = 0; i < std::size(kFixed); ++i)
    x[kTerms + i] = std::log(std::max(rates.*kFixed[i], 1e-12));
  return x;
}

DeviceRates ratesOf(DeviceRates rates, const Vector &x) {
  for (unsigned i = 0; i < kTerms; ++i)
    rates.kernels[nameOf(static_cast<Term>(i))] = std::exp(-x[i]);
  for (unsigned i = 0; i < std::size(kFixed); ++i)
    rates.*kFixed[i] = std::exp(x[kTerms + i]);
  return rates;
}

// The logarithm of what is predicted, and its derivatives.
double logPredicted(const Observation &observation, const Vector &x, Vector &slope) {
  double compute = 0, memory = 0, fixed = 0;
  Vector part{};
  for (unsigned i = 0; i < kTerms; ++i) {
    part[i] = observation.terms.amount[i] * std::exp(x[i]);
    (i < kFirstOfMemory ? compute : memory) += part[i];
  }
  for (unsigned i = 0; i < std::size(kCounts); ++i)
    fixed += part[kTerms + i] = observation.*kCounts[i] * std::exp(x[kTerms + i]);
  double both = std::hypot(compute, memory), all = std::max(both + fixed, 1e-12);
  for (unsigned i = 0; i < kUnknowns; ++i) {
    double outer = i >= kTerms ? 1 : both > 0 ? (i < kFirstOfMemory ? compute : memory) / both : 0;
    slope[i] = outer * part[i] / all;
  }
  return std::log(all);
}

// Solves a * x = b for a symmetric positive definite a, by Cholesky's factors.
Vector solve(std::array<Vector, kUnknowns> a, Vector b) {
  for (unsigned i = 0; i < kUnknowns; ++i)
    for (unsigned j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (unsigned k = 0; k < j; ++k)
        sum -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(std::max(sum, 1e-30)) : sum / a[j][j];
    }
  for (unsigned i = 0; i < kUnknowns; ++i) {
    for (unsigned k = 0; k < i; ++k)
      b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (unsigned i = kUnknowns; i-- > 0;) {
    for (unsigned k = i + 1; k < kUnknowns; ++k)
      b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

// How much less an error of `r` counts than its square.
double robustWeight(double r) { return 1 / std::sqrt(1 + r * r / (0.15 * 0.15)); }
double robustLoss(double r) { return 2 * 0.15 * 0.15 * (std::sqrt(1 + r * r / (0.15 * 0.15)) - 1); }

constexpr double kHold = 1e-2; // how strongly an unknown that little tells stays where it was

double lossOf(llvm::ArrayRef<Observation> observations, const Vector &x, const Vector &start) {
  double loss = 0;
  Vector slope;
  for (const Observation &observation : observations)
    loss += robustLoss(logPredicted(observation, x, slope) - std::log(observation.seconds));
  for (unsigned i = 0; i < kUnknowns; ++i)
    loss += kHold * (x[i] - start[i]) * (x[i] - start[i]);
  return loss;
}

} // namespace

DeviceRates fitRates(const DeviceRates &start, llvm::ArrayRef<Observation> observations) {
  Vector first = logarithms(start), x = first;
  double damping = 1e-2, loss = lossOf(observations, x, first);
  for (int round = 0; round < 300 && damping < 1e8; ++round) {
    std::array<Vector, kUnknowns> a{};
    Vector b{}, slope;
    for (const Observation &observation : observations) {
      double error = logPredicted(observation, x, slope) - std::log(observation.seconds);
      double weight = robustWeight(error);
      for (unsigned i = 0; i < kUnknowns; ++i) {
        b[i] -= weight * slope[i] * error;
        for (unsigned j = 0; j < kUnknowns; ++j)
          a[i][j] += weight * slope[i] * slope[j];
      }
    }
    for (unsigned i = 0; i < kUnknowns; ++i) {
      b[i] -= kHold * (x[i] - first[i]);
      a[i][i] += kHold + damping * (a[i][i] + kHold);
    }
    Vector step = solve(a, b), next = x;
    for (unsigned i = 0; i < kUnknowns; ++i)
      next[i] += std::clamp(step[i], -2.0, 2.0);
    double nextLoss = lossOf(observations, next, first);
    if (nextLoss < loss) {
      bool isDone = loss - nextLoss < 1e-9 * loss;
      x = next;
      loss = nextLoss;
      damping = std::max(damping / 4, 1e-9);
      if (isDone)
        break;
    } else {
      damping *= 5;
    }
  }
  return ratesOf(start, x);
}

std::vector<double> errorsOf(const DeviceRates &rates, llvm::ArrayRef<Observation> observations) {
  std::vector<double> errors;
  for (const Observation &observation : observations)
    errors.push_back(std::abs(predictedSeconds(rates, observation) / observation.seconds - 1));
  return errors;
}

const DeviceRates &referenceRates() {
  static const DeviceRates reference = [] {
    DeviceRates rates;
    constexpr double perSecond[kTerms] = {
        4.4e10, 1.1e10, 6e9,    2.1e9,  5e8,    1.5e10, 2e12, // arithmetic ..
        6e10,   2e10,   1.2e10, 2e10,   1e8,    4e7,          // columns ..
        1e10,   3e9,    4e8,    4e9,    4e8,    1e9,    2e9,  // turned ..
        1.8e11, 1.1e11, 1e11,   3e8,    2e9,                  // products, runs, results
        1.5e10, 1.2e10, 7e9,    7e8,    2e9,                  // copied .., begins, library
        5e10,   1e10,   5e9,    1.7e11, 2.5e10,               // strips, warm, streams
        1e10,   1.2e10, 3e9,    2e10,   2e10,   2.3e10};      // written, of memory .., exchanged
    for (unsigned i = 0; i < kTerms; ++i)
      rates.kernels[nameOf(static_cast<Term>(i))] = perSecond[i];
    rates.flopsPerSecond = 1.5e11;
    rates.bytesPerSecond = 2e10;
    rates.stepSeconds = 1e-5;
    rates.launchSeconds = 3e-8;
    rates.instructionSeconds = 5e-9;
    rates.meetingSeconds = 7e-7;
    return rates;
  }();
  return reference;
}

} // namespace tessera::cost
