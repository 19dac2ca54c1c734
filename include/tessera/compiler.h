// The compiler for C++ programs: header-only, over the stable C interface of compiler_api.h.
//
//   std::string text = readFile("train_step.mlir");
//   tessera::Compiled step = tessera::compile(text, {.name = "train_step.mlir"});
//   tessera::Program program(step.program());             // runtime.h
//
// Errors are thrown as tessera::CompileError, whose what() is the line that `tessera compile`
// prints.
#pragma once

#include "tessera/compiler_api.h"

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tessera {

struct CompileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct CompileSettings {
  std::string name = "<module>"; // in diagnostics
  std::string entry = "main";
  std::string target = "cpu";
  std::string targetCpu = "native"; // or "x86-64-v3", "x86-64-v4", ..: a processor that LLVM knows
  std::string topology = {};        // contents of a topology file, or a machine; empty: the default
  std::string overlap = "auto";     // or "on", "off": collectives beside computation
  std::string memory = {}; // of each device: "80GB", "1.5GiB", or bytes; empty: the topology's
  bool plan = false;       // shardings are found first, of all that the module leaves open:
  int64_t devices = 0;     // for so many devices; 0: as the mesh says
  std::string mesh = {};   // "data=2,model=4"; empty: the best one
};

// A compiled program and what is known of it. Views live as long as the object.
class Compiled {
public:
  explicit Compiled(tessera_compiled *compiled) : compiled(compiled, tessera_compiled_free) {}

  // The contents of a .tsr file.
  std::string_view program() const {
    size_t bytes = 0;
    const void *data = tessera_compiled_program(compiled.get(), &bytes);
    return {static_cast<const char *>(data), bytes};
  }
  std::string_view report() const { return tessera_compiled_report(compiled.get()); }
  std::span<const tessera_collective> collectives() const {
    size_t count = 0;
    const tessera_collective *first = tessera_compiled_collectives(compiled.get(), &count);
    return {first, count};
  }

private:
  std::unique_ptr<tessera_compiled, void (*)(tessera_compiled *)> compiled;
};

inline Compiled compile(std::string_view module, const CompileSettings &settings = {}) {
  tessera_compile_options options{};
  options.struct_size = sizeof options;
  options.name = settings.name.c_str();
  options.entry = settings.entry.c_str();
  options.target = settings.target.c_str();
  options.target_cpu = settings.targetCpu.c_str();
  options.topology = settings.topology.empty() ? nullptr : settings.topology.c_str();
  options.overlap = settings.overlap.c_str();
  options.memory = settings.memory.empty() ? nullptr : settings.memory.c_str();
  options.plan = settings.plan;
  options.devices = settings.devices;
  options.mesh = settings.mesh.empty() ? nullptr : settings.mesh.c_str();
  tessera_compiled *compiled = tessera_compile(module.data(), module.size(), &options);
  Compiled result(compiled);
  if (!compiled)
    throw CompileError("error: out of memory");
  if (const char *error = tessera_compiled_error(compiled))
    throw CompileError(error);
  return result;
}

} // namespace tessera
