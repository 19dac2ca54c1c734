// Programs made by hand, with kernels that are functions of the test.
#pragma once

#include "include/tessera/container.h"
#include "include/tessera/kernel_abi.h"
#include "runtime/array/ElementType.h"
#include "runtime/program/LoadedProgram.h"
#include "runtime/session/Session.h"
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace tessera::runtime {

struct ProgramBuilder {
  program::Program program;
  program::File manifest; // what programs share; `more` behind `program`
  std::vector<program::Program> more;
  std::map<std::string, TesseraKernel> kernels;
  std::string constants;

  explicit ProgramBuilder(const std::vector<int64_t> &mesh) {
    manifest.set_version(container::kProgramVersion);
    manifest.add_locations("?");
    for (size_t i = 0; i < mesh.size(); ++i) {
      auto *axis = program.mutable_mesh()->add_axes();
      axis->set_name("a" + std::to_string(i));
      axis->set_size(mesh[i]);
    }
  }

  int64_t devices() const {
    int64_t n = 1;
    for (const auto &axis : program.mesh().axes())
      n *= axis.size();
    return n;
  }

  // A parameter whose first dimension has one row a device: each device holds an array of shape [1,
  // local...].
  void fillPerDevice(program::Parameter *p, ElementType type, const std::vector<int64_t> &local) {
    p->set_type(type);
    p->add_global_shape(devices());
    auto *rows = p->add_layout();
    rows->set_tile(1);
    for (int i = 0; i < program.mesh().axes_size(); ++i) {
      auto *ref = rows->add_axes();
      ref->set_axis(i);
      ref->set_pre_size(1);
      ref->set_size(program.mesh().axes(i).size());
    }
    for (int64_t n : local) {
      p->add_global_shape(n);
      p->add_layout()->set_tile(n);
    }
  }
  program::Buffer addInput(ElementType type, const std::vector<int64_t> &local) {
    auto *p = program.add_inputs();
    p->set_name("in" + std::to_string(program.inputs_size() - 1));
    fillPerDevice(p, type, local);
    return buffer(program::Buffer::INPUT, program.inputs_size() - 1, 0, localBytes(*p));
  }
  program::Buffer addOutput(ElementType type, const std::vector<int64_t> &local) {
    auto *p = program.add_outputs();
    p->set_name("out" + std::to_string(program.outputs_size() - 1));
    fillPerDevice(p, type, local);
    return buffer(program::Buffer::OUTPUT, program.outputs_size() - 1, 0, localBytes(*p));
  }
  program::Buffer addArena(uint64_t bytes) {
    uint64_t offset = (program.arena_bytes() + 63) / 64 * 64;
    program.set_arena_bytes(offset + bytes);
    return buffer(program::Buffer::ARENA, 0, offset, bytes);
  }
  static program::Buffer buffer(program::Buffer::Space space, int index, uint64_t offset,
                                uint64_t bytes) {
    program::Buffer b;
    b.set_space(space);
    b.set_index(index);
    b.set_offset(offset);
    b.set_bytes(bytes);
    return b;
  }

  uint32_t addLocation(const std::string &text) {
    manifest.add_locations(text);
    return manifest.locations_size() - 1;
  }
  uint32_t addKernel(const std::string &symbol, TesseraKernel function, uint32_t grid = 1,
                     double flops = 0) {
    kernels[symbol] = function;
    auto *k = manifest.add_kernels();
    k->set_symbol(symbol);
    k->set_grid(grid);
    k->set_flops(flops);
    return manifest.kernels_size() - 1;
  }

  using Body = google::protobuf::RepeatedPtrField<program::Instruction>;
  Body *body() { return program.mutable_body(); }
  static void dispatch(Body *body, uint32_t kernel, const std::vector<program::Buffer> &operands,
                       uint32_t location = 0) {
    auto *instruction = body->Add();
    instruction->set_location(location);
    instruction->mutable_dispatch()->set_kernel(kernel);
    for (const auto &b : operands)
      *instruction->mutable_dispatch()->add_operands() = b;
  }
  static void start(Body *body, uint32_t site, const program::Collective &c,
                    uint32_t location = 0) {
    auto *instruction = body->Add();
    instruction->set_location(location);
    instruction->mutable_start()->set_site(site);
    *instruction->mutable_start()->mutable_collective() = c;
  }
  static void wait(Body *body, uint32_t site) { body->Add()->mutable_wait()->set_site(site); }
  static program::Loop *loop(Body *body, int64_t trips) {
    auto *loop = body->Add()->mutable_loop();
    loop->set_trip_count(trips);
    return loop;
  }

  // A collective of one operand over whole mesh axes.
  program::Collective collective(program::Collective::Kind kind, const std::vector<int> &axes,
                                 ElementType type, const std::vector<int64_t> &shape,
                                 program::Buffer from, program::Buffer to) const {
    program::Collective c;
    c.set_kind(kind);
    for (int axis : axes) {
      auto *ref = c.add_axes();
      ref->set_axis(axis);
      ref->set_pre_size(1);
      ref->set_size(program.mesh().axes(axis).size());
    }
    c.set_type(type);
    auto *s = c.add_shapes();
    for (int64_t n : shape)
      s->add_dims(n);
    *c.add_operands() = from;
    *c.add_results() = to;
    return c;
  }

  // Kernels that say nothing of their operands take what their first dispatch gives, and write what
  // lies in outputs and the arena.
  void declareOperands(const Body &body) {
    for (const auto &instruction : body) {
      for (const auto &block : instruction.branch().blocks())
        declareOperands(block.body());
      declareOperands(instruction.loop().condition());
      declareOperands(instruction.loop().body());
      const auto &dispatch = instruction.dispatch();
      if (!instruction.has_dispatch() ||
          dispatch.kernel() >= static_cast<uint32_t>(manifest.kernels_size()))
        continue;
      auto *kernel = manifest.mutable_kernels(static_cast<int>(dispatch.kernel()));
      for (int i = kernel->operands_size(); i < dispatch.operands_size(); ++i) {
        const auto &buffer = dispatch.operands(i);
        auto *operand = kernel->add_operands();
        operand->set_bytes(buffer.bytes());
        operand->set_written(buffer.space() == program::Buffer::OUTPUT ||
                             buffer.space() == program::Buffer::ARENA);
      }
    }
  }

  // The manifest, complete.
  std::string serialized() {
    program.set_constant_bytes(constants.size());
    manifest.clear_programs();
    *manifest.add_programs() = program;
    for (const auto &other : more)
      *manifest.add_programs() = other;
    for (const auto &each : manifest.programs()) {
      declareOperands(each.body());
      for (const auto &function : each.functions())
        declareOperands(function.body());
    }
    return manifest.SerializeAsString();
  }
  std::string file() {
    std::string bytes = serialized();
    return container::write({{"manifest", container::SectionKind::Manifest, bytes},
                             {"constants", container::SectionKind::Constants, constants}});
  }
  Result<std::shared_ptr<const LoadedProgram>> load() {
    auto bytes = std::make_shared<std::string>(file());
    return LoadedProgram::load(*bytes, bytes, [this](const std::string &name) -> void * {
      auto it = kernels.find(name);
      return it == kernels.end() ? nullptr : reinterpret_cast<void *>(it->second);
    });
  }
  std::unique_ptr<Session> session(uint32_t workers) {
    auto loaded = load();
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    if (!loaded.ok())
      return nullptr;
    SessionOptions options;
    options.workers = workers;
    auto session = Session::create(*loaded, options);
    EXPECT_TRUE(session.ok()) << session.status().message();
    return session.ok() ? std::move(*session) : nullptr;
  }
};

// Runs one step on global host arrays.
inline Result<std::vector<HostArray>> runOnce(Session &session,
                                              const std::vector<std::string> &inputs) {
  std::vector<std::shared_ptr<Array>> arrays;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto array = session.place(session.program().inputs()[i], inputs[i].data());
    if (!array.ok())
      return array.status();
    arrays.push_back(*array);
  }
  auto outputs = session.execute(arrays);
  if (!outputs.ok())
    return outputs.status();
  std::vector<HostArray> results;
  for (const auto &output : *outputs) {
    auto host = session.fetch(*output);
    if (!host.ok())
      return host.status();
    results.push_back(std::move(*host));
  }
  return results;
}

template <class T> std::string bytesOf(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}
template <class T> std::vector<T> valuesOf(const std::string &bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

} // namespace tessera::runtime
