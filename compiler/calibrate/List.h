// Programs to measure while they are written, each a loop that takes about as long.
#pragma once

#include "compiler/calibrate/Programs.h"
#include "compiler/calibrate/Text.h"

#include <algorithm>

namespace tessera::calibration {

// Sizes of arrays that follow each other, for machines of up to sixteen cores.
inline double ofMachine(double bytes, int64_t cores) {
  return bytes * std::clamp(16 / double(cores), 0.25, 1.0);
}

class Programs {
public:
  explicit Programs(int64_t devices) : devices(devices) {}
  std::vector<Program> all;
  int64_t devices;

  // About two milliseconds, at a guess of how long a trip takes.
  void add(const std::string &name, double secondsOfTrip, llvm::ArrayRef<Carried> carried,
           const Body &body, double seconds = 2e-3) {
    auto trips = static_cast<int64_t>(seconds / secondsOfTrip) + 1;
    all.push_back({name, looped(devices, trips, carried, body.text), devices, devices});
  }

  // f(x) on arrays of several sizes; `f` repeats its operation.
  template <class F>
  void elementwise(const std::string &name, llvm::ArrayRef<int64_t> sizes, double secondsOfElement,
                   F f, const std::string &element = "f32") {
    for (int64_t size : sizes) {
      std::string type = tensor({size}, element);
      Body body;
      std::string y = f(body, type);
      add(name + " " + std::to_string(size), secondsOfElement * double(size), {{type, y}}, body);
    }
  }

  void product(llvm::ArrayRef<int64_t> mnk, int64_t batch, const std::string &element,
               bool turnsLeft, bool turnsRight, double bytesOfWeights = 0) {
    int64_t m = mnk[0], n = mnk[1], k = mnk[2];
    auto shaped = [&](int64_t rows, int64_t columns, bool isTurned) {
      llvm::SmallVector<int64_t> shape;
      if (batch > 1)
        shape.push_back(batch);
      shape.push_back(isTurned ? columns : rows);
      shape.push_back(isTurned ? rows : columns);
      return tensor(shape, element);
    };
    std::string a = shaped(m, k, turnsLeft), b = shaped(k, n, turnsRight), c = shaped(m, n, false);
    int64_t first = batch > 1;
    std::string numbers = batch > 1 ? "batching_dims = [0] x [0], " : "";
    numbers += "contracting_dims = [" + std::to_string(first + (turnsLeft ? 0 : 1)) + "] x [" +
               std::to_string(first + (turnsRight ? 1 : 0)) + "]";
    Body body;
    // Weights that follow each other do not stay in a cache.
    int weights = 1 + static_cast<int>(bytesOfWeights / double(k * n * 4));
    std::vector<Carried> carried{{a, "%x0"}, {c, ""}};
    std::string sum = "%x1";
    for (int i = 0; i < weights; ++i) {
      std::string w = "%x" + std::to_string(i + 2);
      carried.push_back({b, w});
      std::string y = body.dot("%x0", w, numbers, a, b, c);
      sum = body.binary("add", sum, y, c);
    }
    carried[1].next = sum;
    double flops = 2.0 * double(batch * m * n * k) * weights;
    add("product " + element + " " + std::to_string(batch) + "x" + std::to_string(m) + "x" +
            std::to_string(n) + "x" + std::to_string(k) + (turnsLeft ? " left turned" : "") +
            (turnsRight ? " right turned" : "") +
            (weights > 1 ? " " + std::to_string(int(bytesOfWeights / 1e6)) + " MB" : ""),
        flops / 5e10 + 1e-5, carried, body);
  }

  // Sums of pairs of arrays that follow each other, and do not stay in a core's cache.
  void streams(double bytesOfArray, double bytes) {
    Body body;
    std::vector<Carried> carried;
    int pairs = 1 + static_cast<int>(bytes / (2 * bytesOfArray));
    for (int i = 0; i < pairs; ++i) { // of one size they would be one kernel
      std::string type = tensor({static_cast<int64_t>(bytesOfArray / 4) + 16 * i});
      std::string x = "%x" + std::to_string(2 * i), y = "%x" + std::to_string(2 * i + 1);
      std::string half = body.binary("multiply", x, body.number("0.5", type), type);
      carried.push_back({type, y});
      carried.push_back({type, body.binary("add", half, y, type)});
    }
    add("streams of " + std::to_string(int(bytesOfArray / 1024)) + " KiB, " +
            std::to_string(int(bytes / 1e6)) + " MB",
        bytes * 1.5 / 1e11, carried, body);
  }

  // Products whose results follow each other, and do not stay in a cache.
  void results(int64_t m, int64_t n, int64_t k, double bytes) {
    std::string a = tensor({m, k}), b = tensor({k, n}), c = tensor({m, n});
    Body body;
    std::string x = body.damped("%x0", a);
    std::vector<Carried> carried{{a, x}};
    int count = 1 + static_cast<int>(bytes / double(m * n * 4));
    for (int i = 0; i < count; ++i) {
      std::string y = "%x" + std::to_string(2 * i + 1);
      carried.push_back({b, y});
      carried.push_back({c, body.dot(x, y, "contracting_dims = [1] x [0]", a, b, c)});
    }
    add("results " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + " " +
            std::to_string(int(bytes / 1e6)) + " MB",
        2.0 * double(m * n * k) * count / 5e10 + 1e-5, carried, body);
  }
};

// Of images, as they lie and channels first.
void addConvolutions(Programs &to);

} // namespace tessera::calibration
