// tessera-fuzz-files: program files, mutated in the process that reads them: some thousand a
// second. Run by test/fuzz/program_files.py.
//
//   tessera-fuzz-files [--count=N] [--seed=S] [--first=N] [--only=K] [--seconds=10]
//                      [--bytes=2147483648] [--keep=DIR] [--given-only] [P.tsr ..]
//
// Of hand-made programs, and of the files that are named. Prints each bad end, with the options
// that make it again, and the count of all; exit code 1 when there was one.
#include "test/tools/fuzz-files/Batches.h"
#include "test/tools/fuzz-files/Programs.h"
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

int main(int argc, char **argv) {
  using namespace tessera::fuzz;
  BatchOptions options;
  std::vector<ProgramSeed> seeds;
  bool own = true;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i], name = argument.substr(0, argument.find('='));
    const char *value = argv[i] + std::min(argument.size(), name.size() + 1);
    uint64_t number = std::strtoull(value, nullptr, 10);
    if (name == "--count")
      options.count = number;
    else if (name == "--seed")
      options.seed = number;
    else if (name == "--first")
      options.first = number;
    else if (name == "--only")
      options.first = number, options.count = 1;
    else if (name == "--seconds")
      options.seconds = static_cast<unsigned>(number);
    else if (name == "--bytes")
      options.bytes = number;
    else if (name == "--keep")
      options.keep = value;
    else if (name == "--given-only")
      own = false;
    else {
      std::ifstream file(argv[i], std::ios::binary);
      seeds.push_back(seedOf(std::string(std::istreambuf_iterator<char>(file), {})));
      if (seeds.back().manifest.empty()) {
        std::fprintf(stderr, "error: %s is no program\n", argv[i]);
        return 2;
      }
    }
  }
  if (own)
    for (ProgramSeed &seed : handMadeSeeds())
      seeds.push_back(std::move(seed));
  ProgramFiles programs(std::move(seeds));
  return runBatches("program files", programs, options) ? 0 : 1;
}
