#include "include/tessera/library.h"
#include "runtime/library/Library.h"
#include "test/tools/fuzz-files/Programs.h"
#include "test/unit/runtime/ProgramBuilder.h"

namespace tessera::fuzz {

namespace {

using program::Collective;
using runtime::ProgramBuilder;

ProgramSeed finished(ProgramBuilder &builder) {
  return {builder.serialized(), "", builder.constants, false};
}

// Kernels on all spaces, a copy, a coordinate, loops and branches in each other.
ProgramSeed control() {
  ProgramBuilder builder({2, 2});
  auto in = builder.addInput(program::F32, {8}), state = builder.addInput(program::I32, {16});
  auto out = builder.addOutput(program::F32, {8}), next = builder.addOutput(program::I32, {16});
  builder.program.mutable_inputs(1)->set_donated(true);
  builder.program.mutable_outputs(1)->set_alias(2);
  builder.constants = std::string(192, '\3');
  auto constant = ProgramBuilder::buffer(program::Buffer::CONSTANT, 0, 64, 100);
  auto arena = builder.addArena(256), index = builder.addArena(4), predicate = builder.addArena(1);
  uint32_t first = builder.addKernel("first", nullptr),
           second = builder.addKernel("second", nullptr, 8);
  uint32_t test = builder.addKernel("test", nullptr);
  builder.manifest.mutable_kernels(1)->set_scratch_bytes(512);
  uint32_t where = builder.addLocation("model.py:3:7");
  ProgramBuilder::dispatch(builder.body(), first, {in, constant, arena}, where);
  auto *coordinate = builder.body()->Add()->mutable_coordinate();
  *coordinate->mutable_axes() =
      builder.collective(Collective::BROADCAST, {0, 1}, program::F32, {}, {}, {}).axes();
  *coordinate->mutable_to() = index;
  auto *branch = builder.body()->Add()->mutable_branch();
  *branch->mutable_index() = index;
  branch->add_blocks();
  ProgramBuilder::dispatch(branch->add_blocks()->mutable_body(), second, {arena, next});
  auto *counted = ProgramBuilder::loop(branch->add_blocks()->mutable_body(), 3);
  ProgramBuilder::dispatch(counted->mutable_body(), second, {arena, next});
  auto *decided = ProgramBuilder::loop(builder.body(), -1);
  ProgramBuilder::dispatch(decided->mutable_condition(), test, {arena, predicate}, where);
  *decided->mutable_predicate() = predicate;
  auto *inner = ProgramBuilder::loop(decided->mutable_body(), 2);
  auto *copy = inner->mutable_body()->Add()->mutable_copy();
  *copy->mutable_from() = constant;
  *copy->mutable_to() = ProgramBuilder::buffer(program::Buffer::ARENA, 0, 128, 100);
  ProgramBuilder::dispatch(builder.body(), builder.addKernel("last", nullptr), {in, arena, out});
  return finished(builder);
}

// All kinds of collectives: along axes and parts of them, by tables, bucketed, in place, two in
// flight.
ProgramSeed collectives() {
  ProgramBuilder builder({2, 4});
  for (int64_t device : {3, 2, 1, 0, 7, 6, 5, 4})
    builder.program.mutable_mesh()->add_device_ids(device);
  auto in = builder.addInput(program::F32, {8, 4}), out = builder.addOutput(program::F32, {8, 4});
  uint32_t site = 0;
  auto add = [&](Collective c) {
    ProgramBuilder::start(builder.body(), site, c,
                          builder.addLocation("model.py:" + std::to_string(site)));
    ProgramBuilder::wait(builder.body(), site++);
  };
  auto large = builder.addArena(1024), small = builder.addArena(128);
  add(builder.collective(Collective::ALL_REDUCE, {0, 1}, program::F32, {8, 4}, in, out));
  add(builder.collective(Collective::ALL_GATHER, {1}, program::F32, {8, 4}, in, large));
  auto gather = builder.collective(Collective::ALL_GATHER, {0}, program::BF16, {4, 4}, in, small);
  gather.set_dim(1);
  add(gather);
  add(builder.collective(Collective::REDUCE_SCATTER, {1}, program::F32, {8, 4}, in, small));
  auto exchange = builder.collective(Collective::ALL_TO_ALL, {1}, program::F32, {8, 4}, in, out);
  exchange.set_concat_dim(1);
  add(exchange);
  auto pairs = builder.collective(Collective::PERMUTE, {1}, program::I32, {8}, in, small);
  for (int64_t rank : {0, 1, 1, 2, 3, 0})
    pairs.add_source_target(rank);
  add(pairs);
  auto shift = builder.collective(Collective::PERMUTE, {0, 1}, program::F64, {16}, in, small);
  shift.set_shift(-3);
  shift.set_wrap(true);
  add(shift);
  auto broadcast = builder.collective(Collective::BROADCAST, {1}, program::I8, {128}, in, small);
  broadcast.mutable_axes(0)->set_pre_size(2);
  broadcast.mutable_axes(0)->set_size(2);
  add(broadcast);
  auto tables = builder.collective(Collective::ALL_REDUCE, {}, program::I32, {8}, in, small);
  tables.set_reduction(Collective::MAX);
  for (auto group : {std::vector<int64_t>{0, 5}, {1, 4}, {7, 2}, {3, 6}})
    for (auto *to = tables.add_groups(); int64_t device : group)
      to->add_devices(device);
  add(tables);
  auto bucket = builder.collective(Collective::ALL_REDUCE, {0}, program::F16, {4}, small, small);
  *bucket.add_shapes() = bucket.shapes(0);
  *bucket.add_operands() = large;
  *bucket.add_results() = builder.addArena(64);
  ProgramBuilder::start(builder.body(), site, bucket);
  ProgramBuilder::start(
      builder.body(), site + 1,
      builder.collective(Collective::ALL_GATHER, {0}, program::U8, {16}, in, builder.addArena(32)));
  ProgramBuilder::wait(builder.body(), site + 1);
  ProgramBuilder::wait(builder.body(), site);
  return finished(builder);
}

// Kernels that the runtime brings, on the arena. LAPACK's only where it is installed.
ProgramSeed libraries(bool lapack) {
  ProgramBuilder builder({2});
  auto in = builder.addInput(program::F32, {64, 64});
  auto out = builder.addOutput(program::F32, {64, 64});
  auto add = [&](const library::Call &call, int64_t grid, int64_t scratch,
                 const std::vector<uint64_t> &reads, const std::vector<uint64_t> &writes) {
    auto *kernel = builder.manifest.add_kernels();
    kernel->set_symbol(call.name);
    kernel->set_library(call.name);
    for (int64_t number : call.numbers)
      kernel->add_numbers(number);
    kernel->set_grid(static_cast<uint32_t>(grid));
    kernel->set_scratch_bytes(static_cast<uint64_t>(scratch));
    std::vector<program::Buffer> operands;
    for (const auto *list : {&reads, &writes})
      for (uint64_t bytes : *list) {
        auto *operand = kernel->add_operands();
        operand->set_bytes(bytes);
        operand->set_written(list == &writes);
        operands.push_back(list == &reads ? in : out);
        if (bytes <= 64)
          operands.back() = builder.addArena(bytes);
        operands.back().set_bytes(bytes);
      }
    ProgramBuilder::dispatch(builder.body(),
                             static_cast<uint32_t>(builder.manifest.kernels_size() - 1), operands);
  };
  if (!lapack) {
    library::Fft fft{library::Fft::Forward, 0, 2, {4, 22}};
    add(fft.call(), fft.grid(), fft.scratchBytes(), {2 * 4 * 22 * 8}, {2 * 4 * 22 * 8});
    library::Fft real{library::Fft::RealInverse, 1, 1, {37}};
    add(real.call(), real.grid(), real.scratchBytes(), {19 * 16}, {37 * 8});
    library::Cholesky cholesky{1, 3, 8, 1};
    add(cholesky.call(), 3, 0, {3 * 8 * 8 * 8}, {3 * 8 * 8 * 8});
    library::TriangularSolve solve{0, 2, 8, 5, 1, 1, 0, 1};
    add(solve.call(), solve.grid(), solve.scratchBytes(), {2 * 8 * 8 * 4, 2 * 8 * 5 * 4},
        {2 * 8 * 5 * 4});
  } else {
    for (library::Lapack call :
         {library::Lapack{"gesdd", library::Element::F32, 1, 6, 4, 0, {'S', 24, 16}, {}, {}, {}},
          library::Lapack{"syevd", library::Element::F64, 2, 5, 5, 0, {'V', 'L'}, {}, {}, {}},
          library::Lapack{"getrf", library::Element::C64, 1, 6, 7, 0, {}, {}, {}, {}},
          library::Lapack{
              "trsm", library::Element::F32, 1, 6, 3, 6, {'L', 'L', 'N', 'U'}, {}, {}, {}},
          library::Lapack{"ormqr", library::Element::F32, 1, 6, 3, 2, {1, 0}, {}, {}, {}}}) {
      call.describe();
      std::vector<uint64_t> bytes[2];
      for (const auto &array : call.inputs)
        bytes[0].push_back(static_cast<uint64_t>(call.batch * call.bytesOf(array)));
      for (const auto &array : call.outputs)
        bytes[1].push_back(static_cast<uint64_t>(call.batch * call.bytesOf(array)));
      add(call.call(), library::gridOf(call.batch), call.scratchBytes(), bytes[0], bytes[1]);
    }
  }
  return finished(builder);
}

// Uneven tiles, replicas, parts of axes, scalars, empty arrays, all element types.
ProgramSeed layouts() {
  ProgramBuilder builder({3, 4});
  for (int i = 0; i < 31; ++i) {
    program::Parameter p;
    p.set_name("p" + std::to_string(i));
    p.set_type(static_cast<program::ElementType>(1 + i % 30));
    for (int64_t n : i % 5 == 0 ? std::vector<int64_t>{} : std::vector<int64_t>{7, i % 4, 5}) {
      auto *dim = p.add_layout();
      if (p.layout_size() == 1 && i % 2) {
        auto *axis = dim->add_axes();
        axis->set_pre_size(1);
        axis->set_size(3);
      } else if (p.layout_size() == 3 && i % 3 == 0) {
        auto *axis = dim->add_axes();
        axis->set_axis(1);
        axis->set_pre_size(2);
        axis->set_size(2);
      }
      int64_t shards = dim->axes_size() ? dim->axes(0).size() : 1;
      dim->set_tile((n + shards - 1) / shards);
      p.add_global_shape(n);
    }
    *builder.program.add_inputs() = p;
    *builder.program.add_outputs() = p;
    auto *copy = builder.body()->Add()->mutable_copy();
    *copy->mutable_from() = ProgramBuilder::buffer(program::Buffer::INPUT, i, 0,
                                                   static_cast<uint64_t>(runtime::localBytes(p)));
    *copy->mutable_to() = copy->from();
    copy->mutable_to()->set_space(program::Buffer::OUTPUT);
  }
  return finished(builder);
}

// Two programs with channels both ways, by position and by a table; functions that call each other,
// with a collective and loops; copies to the host and a file; parameters on the host.
ProgramSeed programs() {
  ProgramBuilder builder({2}), other({2});
  auto addChannel = [&](uint32_t from, uint32_t to) {
    auto *channel = builder.manifest.add_channels();
    channel->set_name("c" + std::to_string(from));
    channel->set_from(from);
    channel->set_to(to);
    channel->set_type(program::F32);
    channel->add_shape(8);
    return channel;
  };
  addChannel(0, 1);
  for (auto *back = addChannel(1, 0); int64_t position : {1, 0, 0, 1})
    back->add_source_target(position);
  auto transfer = [](ProgramBuilder::Body *body, uint32_t site, uint32_t channel, bool sends,
                     program::Buffer buffer) {
    auto *instruction = body->Add();
    if (sends) {
      instruction->mutable_send()->set_site(site);
      instruction->mutable_send()->set_channel(channel);
      *instruction->mutable_send()->mutable_from() = buffer;
    } else {
      instruction->mutable_receive()->set_site(site);
      instruction->mutable_receive()->set_channel(channel);
      *instruction->mutable_receive()->mutable_to() = buffer;
    }
  };
  auto startCopy = [](ProgramBuilder::Body *body, uint32_t site, program::Buffer from,
                      program::Buffer to) {
    auto *copy = body->Add()->mutable_copy_start();
    copy->set_site(site);
    *copy->mutable_from() = from;
    *copy->mutable_to() = to;
  };
  uint32_t kernel = builder.addKernel("kernel", nullptr);
  using Space = program::Buffer;
  auto x = builder.addInput(program::F32, {8}), y = builder.addOutput(program::F32, {8});
  builder.program.mutable_inputs(0)->set_memory(program::HOST_MEMORY);
  auto t = builder.addArena(32), u = builder.addArena(32);
  builder.program.set_host_bytes(96);
  builder.program.set_file_bytes(4096);
  auto host = ProgramBuilder::buffer(Space::HOST_ARENA, 0, 64, 32);
  auto file = ProgramBuilder::buffer(Space::FILE_ARENA, 0, 1024, 32);
  auto first = ProgramBuilder::buffer(Space::ARGUMENT, 0, 0, 32);
  auto second = ProgramBuilder::buffer(Space::ARGUMENT, 1, 0, 32);
  auto addFunction = [&](const char *name) {
    auto *function = builder.program.add_functions();
    function->set_name(name);
    function->add_arguments()->set_bytes(32);
    function->add_arguments()->set_bytes(32);
    function->mutable_arguments(1)->set_written(true);
    return function->mutable_body();
  };
  auto call = [](ProgramBuilder::Body *body, uint32_t function, program::Buffer a,
                 program::Buffer b) {
    auto *made = body->Add()->mutable_call();
    made->set_function(function);
    *made->add_operands() = a;
    *made->add_operands() = b;
  };
  auto *f = addFunction("f");
  ProgramBuilder::start(
      f, 5, builder.collective(Collective::ALL_REDUCE, {0}, program::F32, {8}, first, second));
  ProgramBuilder::wait(f, 5);
  auto *g = addFunction("g");
  call(ProgramBuilder::loop(g, 2)->mutable_body(), 0, first, second);
  startCopy(builder.body(), 0, x, t);
  ProgramBuilder::wait(builder.body(), 0);
  startCopy(builder.body(), 1, t, file);
  call(builder.body(), 1, t, u);
  ProgramBuilder::wait(builder.body(), 1);
  transfer(builder.body(), 2, 0, true, u);
  transfer(builder.body(), 3, 1, false, t);
  ProgramBuilder::wait(builder.body(), 3);
  ProgramBuilder::wait(builder.body(), 2);
  startCopy(builder.body(), 1, file, host);
  ProgramBuilder::wait(builder.body(), 1);
  startCopy(builder.body(), 1, host, ProgramBuilder::buffer(Space::ARENA, 0, 0, 8)); // a part
  auto *part = builder.body()->Mutable(builder.body()->size() - 1)->mutable_copy_start();
  *part->mutable_index() = ProgramBuilder::buffer(Space::ARENA, 0, 0, 4);
  part->set_step(8);
  ProgramBuilder::wait(builder.body(), 1);
  ProgramBuilder::dispatch(builder.body(), kernel, {t, u, y});

  other.program.set_name("other");
  other.program.mutable_mesh()->set_first_device(2);
  auto z = other.addOutput(program::F32, {8});
  other.program.mutable_outputs(0)->set_name("z");
  auto v = other.addArena(32);
  transfer(other.body(), 0, 0, false, v);
  ProgramBuilder::wait(other.body(), 0);
  transfer(other.body(), 1, 1, true, v);
  ProgramBuilder::dispatch(other.body(), kernel, {v, v, z});
  ProgramBuilder::wait(other.body(), 1);
  builder.more.push_back(other.program);
  return finished(builder);
}

} // namespace

std::vector<ProgramSeed> handMadeSeeds() {
  std::vector<ProgramSeed> seeds = {control(), collectives(), libraries(false), layouts(),
                                    programs()};
  if (runtime::findLapack({"lapack.getrf", {0, 1, 2, 2, 0}}).ok())
    seeds.push_back(libraries(true));
  return seeds;
}

} // namespace tessera::fuzz
