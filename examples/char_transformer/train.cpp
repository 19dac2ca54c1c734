// Trains the character-level transformer of train.py on eight devices of this process: compiles the
// StableHLO that JAX exported, keeps the state on the devices from step to step, and shows the loss
// beside JAX's.
//
//   train-char-transformer [DIRECTORY] [--steps=N]
//
// DIRECTORY is where init.mlir, train_step.mlir, .. lie.
#include "tessera/compiler.h"
#include "tessera/runtime.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("error: " + path + ": cannot be read");
  std::stringstream contents;
  contents << file.rdbuf();
  return contents.str();
}

// What train.py leaves in losses.json: {"batch": 8, "length": 64, "losses": [4.53, ..]}.
struct Reference {
  int batch, length;
  std::vector<double> losses;
};

Reference readReference(const std::string &path) {
  std::string text = readFile(path);
  auto after = [&](const char *key) {
    return text.c_str() + text.find(key) + std::string(key).size();
  };
  Reference reference{std::atoi(after("\"batch\": ")), std::atoi(after("\"length\": ")), {}};
  char *end = nullptr;
  for (const char *at = after("\"losses\": ["); *at && *at != ']'; at = *end == ',' ? end + 1 : end)
    reference.losses.push_back(std::strtod(at, &end));
  return reference;
}

// The text as numbers: a character is its rank among those that occur.
std::vector<int32_t> encode(const std::string &text) {
  std::vector<int32_t> rank(256, 0);
  for (unsigned char c : text)
    rank[c] = 1;
  int32_t next = 0;
  for (int32_t &r : rank)
    r = r ? next++ : 0;
  std::vector<int32_t> codes;
  for (unsigned char c : text)
    codes.push_back(rank[c]);
  return codes;
}

// Rows of the text at scattered offsets, as train.py takes them.
std::vector<int32_t> makeBatch(const std::vector<int32_t> &text, const Reference &reference,
                               int step) {
  std::vector<int32_t> rows;
  for (int i = 0; i < reference.batch; ++i) {
    uint32_t hash = (uint32_t(i) + uint32_t(step) * uint32_t(reference.batch)) * 2654435761u;
    auto row = text.begin() + hash % uint32_t(text.size() - reference.length - 1);
    rows.insert(rows.end(), row, row + reference.length + 1);
  }
  return rows;
}

tessera::Compiled compileFile(const std::string &directory, const std::string &name) {
  auto start = Clock::now();
  tessera::Compiled compiled = tessera::compile(readFile(directory + "/" + name), {.name = name});
  std::printf("compiled %-16s in %.2f s, %.1f MB\n", name.c_str(), secondsSince(start),
              compiled.program().size() / 1e6);
  return compiled;
}

// Collectives of one step by kind and axes, as the device that has most sees them.
void printCollectives(const tessera::Compiled &compiled) {
  struct Row {
    int64_t sites = 0, count = 0, bytes = 0, wire = 0;
  };
  std::map<std::string, Row> rows;
  Row total;
  for (const tessera_collective &site : compiled.collectives())
    for (Row *row : {&rows[std::string(site.kind) + " over " + site.axes], &total}) {
      row->sites += 1;
      row->count += site.count;
      row->bytes += site.bytes;
      row->wire += site.wire_bytes;
    }
  rows["total"] = total;
  std::printf("\n%-36s%8s%10s%12s%12s\n", "collectives of one step", "sites", "count", "MB",
              "MB sent");
  auto print = [](const std::string &name, const Row &row) {
    std::printf("%-36s%8lld%10lld%12.3f%12.3f\n", name.c_str(), (long long)row.sites,
                (long long)row.count, row.bytes / 1e6, row.wire / 1e6);
  };
  for (const auto &[name, row] : rows)
    if (name != "total")
      print(name, row);
  print("total", total);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

double meanOfLast(const std::vector<double> &values, size_t end, size_t count) {
  double sum = 0;
  for (size_t i = end - count; i < end; ++i)
    sum += values[i];
  return sum / count;
}

int train(const std::string &directory, int steps) {
  Reference reference = readReference(directory + "/losses.json");
  steps = std::min<int>(steps, reference.losses.size());
  std::vector<int32_t> text = encode(readFile(directory + "/genesis.txt"));

  tessera::Compiled initCompiled = compileFile(directory, "init.mlir");
  tessera::Compiled stepCompiled = compileFile(directory, "train_step.mlir");
  tessera::Program stepProgram(stepCompiled.program());
  tessera::Session init(tessera::Program(initCompiled.program())), step(stepProgram);
  printCollectives(stepCompiled);

  std::vector<tessera::Array> seed;
  seed.push_back(init.place(0, std::vector<int32_t>{0}));
  std::vector<tessera::Array> state = init.execute(seed);

  std::printf("\n%d devices, %zu characters of text, %d x %d a step\n", int(stepProgram.devices()),
              text.size(), reference.batch, reference.length);
  std::printf("%6s%10s%10s%12s\n", "step", "loss", "JAX's", "ms a step");
  bool terminal = isatty(STDOUT_FILENO);
  std::vector<double> losses, times;
  for (int i = 0; i < steps; ++i) {
    auto start = Clock::now();
    state.push_back(step.place(state.size(), makeBatch(text, reference, i)));
    state = step.execute(state); // the old state is donated: the new one takes its buffers
    losses.push_back(state.back().read<float>().at(0));
    state.pop_back();
    times.push_back(secondsSince(start));
    bool keep = i % 20 == 0 || i == steps - 1;
    if (keep || terminal) {
      std::printf("%s%6d%10.4f%10.4f%12.1f", terminal ? "\r" : "", i, losses[i],
                  reference.losses[i], 1e3 * median(times));
      std::fputs(keep ? "\n" : "", stdout);
      std::fflush(stdout);
    }
  }

  // Rounding differs, and training amplifies it: the first steps agree closely, later ones as
  // curves do.
  size_t last = std::min<size_t>(20, losses.size());
  double ours = meanOfLast(losses, losses.size(), last),
         theirs = meanOfLast(reference.losses, losses.size(), last);
  std::printf("\nloss over the last %zu steps: %.3f, JAX's %.3f; %.0f ms a step\n", last, ours,
              theirs, 1e3 * median(times));
  if (std::abs(losses[0] - reference.losses[0]) > 1e-4 || !(std::abs(ours - theirs) < 0.05)) {
    std::fprintf(stderr, "error: the loss does not follow JAX's\n");
    return 1;
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  std::string directory = ".";
  int steps = 1 << 30;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.rfind("--steps=", 0) == 0)
      steps = std::max(1, std::atoi(argument.c_str() + 8));
    else
      directory = argument;
  }
  try {
    return train(directory, steps);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
