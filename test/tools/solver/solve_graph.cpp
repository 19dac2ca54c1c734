// Solves a graph that is given as text, for tests and benchmarks of lib/solver.
//
//   solve-graph FILE [--effort=N] [--seconds=S: of the processor, at most]
//
// FILE has numbers between spaces: capacity; vertices, and of each how many choices and their costs
// (inf: forbidden); matrices, of each rows, columns, costs; edges, of each from, to, matrix, factor;
// holds, of each vertex, begin, end, bytes of each choice. Prints one object of JSON.
#include "lib/solver/Solve.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

using namespace tessera;

namespace {

struct Reader {
  const char *at;
  double number() {
    char *end;
    double value = std::strtod(at, &end);
    if (end == at) {
      std::fprintf(stderr, "error: a number is missing\n");
      std::exit(1);
    }
    at = end;
    return value;
  }
  int32_t count() { return static_cast<int32_t>(number()); }
};

solver::Graph readGraph(Reader reader, int64_t &capacity) {
  solver::Graph graph;
  capacity = static_cast<int64_t>(reader.number());
  graph.costs.resize(reader.count());
  for (auto &costs : graph.costs) {
    costs.resize(reader.count());
    for (double &cost : costs)
      cost = reader.number();
  }
  graph.matrices.resize(reader.count());
  for (auto &matrix : graph.matrices) {
    matrix.rows = reader.count();
    matrix.columns = reader.count();
    matrix.costs.resize(int64_t(matrix.rows) * matrix.columns);
    for (double &cost : matrix.costs)
      cost = reader.number();
  }
  graph.edges.resize(reader.count());
  for (auto &edge : graph.edges) {
    edge.from = reader.count();
    edge.to = reader.count();
    edge.matrix = reader.count();
    edge.factor = reader.number();
  }
  graph.holds.resize(reader.count());
  for (auto &hold : graph.holds) {
    hold.vertex = reader.count();
    hold.begin = reader.count();
    hold.end = reader.count();
    for (size_t i = 0; i < graph.costs[hold.vertex].size(); ++i)
      hold.bytes.push_back(static_cast<int64_t>(reader.number()));
  }
  return graph;
}

} // namespace

int main(int argc, char **argv) {
  solver::Options options;
  std::string file;
  double seconds = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--effort=", 9) == 0)
      options.effort = std::atoi(argv[i] + 9);
    else if (std::strncmp(argv[i], "--seconds=", 10) == 0)
      seconds = std::atof(argv[i] + 10);
    else
      file = argv[i];
  }
  std::ifstream stream(file);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  solver::Graph graph = readGraph({text.c_str()}, options.capacity);
  // Of the processor: the search has one thread, and others may share the machine.
  std::clock_t start = std::clock();
  auto passed = [&] { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; };
  if (seconds > 0)
    options.stop = [&] { return passed() > seconds; };
  solver::Solution solution = solver::solve(graph, options);
  const char *names[] = {"optimal", "feasible", "infeasible", "unknown"};
  // JSON as Python reads it.
  auto number = [](double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", value);
    return std::isfinite(value) ? std::string(text)
                                : std::string(value > 0 ? "Infinity" : "-Infinity");
  };
  std::printf("{\"status\": \"%s\", \"cost\": %s, \"lower_bound\": %s, \"gap\": %s, ",
              names[static_cast<int>(solution.status)], number(solution.cost).c_str(),
              number(solution.lowerBound).c_str(), number(gapOf(solution)).c_str());
  std::printf("\"peak\": %lld, \"peak_bound\": %lld, \"seconds\": %.3f, \"choices\": [",
              static_cast<long long>(solution.peak), static_cast<long long>(solution.peakBound),
              passed());
  for (size_t v = 0; v < solution.choices.size(); ++v)
    std::printf("%s%d", v ? ", " : "", solution.choices[v]);
  std::printf("]}\n");
}
