#include "test/tools/fuzz-files/Programs.h"
#include "include/tessera/container.h"
#include "runtime/array/ElementType.h"
#include "runtime/program/LoadedProgram.h"
#include "runtime/session/Session.h"
#include <atomic>
#include <cstring>

namespace tessera::fuzz {

namespace {

using namespace runtime;
using container::SectionKind;

// Stands for a kernel: reads and writes all that its declaration allows, once. Every third time it
// writes zeros, which end loops.
int32_t touch(const TesseraKernelArgs *args, uint32_t begin, uint32_t) {
  const auto &kernel = *static_cast<const program::Kernel *>(args->plan);
  if (begin)
    return 0;
  static std::atomic<unsigned> calls{0};
  unsigned sum = 0, call = calls++;
  for (int i = 0; i < kernel.operands_size(); ++i) {
    auto *bytes = static_cast<const unsigned char *>(args->buffers[i]);
    for (uint64_t at = 0; at < kernel.operands(i).bytes(); ++at)
      sum = sum * 31 + bytes[at];
  }
  for (int i = 0; i < kernel.operands_size(); ++i)
    if (kernel.operands(i).written())
      std::memset(args->buffers[i], call % 3 ? static_cast<int>(sum >> 8) : 0,
                  kernel.operands(i).bytes());
  if (kernel.scratch_bytes())
    std::memset(args->scratch, 1, std::min<uint64_t>(kernel.scratch_bytes(), 1 << 20));
  return 0;
}

void standIn(const LoadedProgram &loaded) {
  auto &kernels = const_cast<std::vector<KernelEntry> &>(loaded.kernels()); // nobody else has them
  for (size_t i = 0; i < kernels.size(); ++i) {
    const auto &kernel = loaded.manifest().kernels(static_cast<int>(i));
    if (kernel.library().empty())
      kernels[i].plan = std::shared_ptr<const void>(&kernel, [](const void *) {});
  }
}

// Header and table changed, with checksums of what they then say.
void mutateTable(Random &random, std::string &file) {
  container::Header header;
  std::memcpy(&header, file.data(), sizeof header);
  std::vector<container::TableEntry> table(header.sectionCount);
  std::memcpy(table.data(), file.data() + sizeof header, table.size() * sizeof table[0]);
  auto change = [&](auto &field) {
    field = static_cast<std::remove_reference_t<decltype(field)>>(interesting(random, field));
  };
  for (size_t n = 1 + random.below(2); n > 0; --n) {
    container::TableEntry &entry = table[random.below(table.size())];
    switch (random.below(8)) {
    case 0:
      change(entry.kind);
      break;
    case 1:
      change(entry.offset);
      break;
    case 2:
      entry.offset = table[random.below(table.size())].offset;
      break;
    case 3:
      change(entry.size);
      break;
    case 4:
      std::swap(entry, table[random.below(table.size())]);
      break;
    case 5:
      change(header.sectionCount);
      break;
    case 6:
      change(header.fileBytes);
      break;
    default:
      change(random.once(2) ? entry.reserved1 : header.reserved[random.below(4)]);
    }
  }
  for (container::TableEntry &entry : table)
    if (entry.offset <= file.size() && entry.size <= file.size() - entry.offset)
      entry.hash = container::hash(std::string_view(file).substr(entry.offset, entry.size));
  std::memcpy(file.data() + sizeof header, table.data(), table.size() * sizeof table[0]);
  uint64_t bytes = uint64_t{header.sectionCount} * sizeof table[0];
  if (bytes <= file.size() - sizeof header)
    header.tableHash = container::hash(std::string_view(file).substr(sizeof header, bytes));
  std::memcpy(file.data(), &header, sizeof header);
}

// An object's header, tables or anything.
std::string mutateCode(Random &random, std::string code) {
  if (code.size() < 4096 || random.once(4))
    return damaged(random, std::move(code));
  for (size_t n = 1 + random.below(2); n > 0; --n) {
    // Numbers lie at multiples of their sizes; what the dynamic linker reads lies at both ends.
    size_t width = size_t{4} << random.below(2), begin = random.once(2) ? 0 : code.size() / 2;
    size_t span = random.once(2) ? 512 : code.size() - begin;
    size_t at = (begin + random.below(std::min(span, code.size() - begin) - 8)) / width * width;
    uint64_t value = 0;
    std::memcpy(&value, code.data() + at, width);
    value = interesting(random, value);
    std::memcpy(code.data() + at, &value, width);
  }
  return code;
}

std::string fileOf(const ProgramSeed &seed) {
  return container::write({{"manifest", SectionKind::Manifest, seed.manifest},
                           {"code", SectionKind::Code, seed.code},
                           {"constants", SectionKind::Constants, seed.constants}});
}

double arrayBytes(const LoadedProgram &loaded) {
  double all = 0;
  for (const DeviceProgram &program : loaded.programs()) {
    const auto &manifest = program.manifest();
    double bytes = static_cast<double>(manifest.arena_bytes()) +
                   static_cast<double>(manifest.host_bytes()) +
                   static_cast<double>(manifest.file_bytes()) +
                   static_cast<double>(program.decoded().scratchBytes);
    for (const auto *list : {&manifest.inputs(), &manifest.outputs()})
      for (const auto &parameter : *list)
        bytes += static_cast<double>(localBytes(parameter)) + 64;
    all += bytes * static_cast<double>(program.mesh().size());
  }
  return all;
}

Status runSteps(Session &session) {
  std::vector<std::shared_ptr<Array>> inputs;
  for (const auto &place : session.program().inputs()) {
    const auto &parameter = *place.parameter;
    int64_t bytes = elementCount(globalShape(parameter)) * byteSize(parameter.type());
    std::string host(static_cast<size_t>(bytes), '\1');
    auto array = session.place(place, host.data());
    if (!array.ok())
      return array.status();
    inputs.push_back(*array);
  }
  auto outputs = session.execute(inputs);
  if (!outputs.ok())
    return outputs.status();
  for (const auto &output : *outputs)
    if (auto host = session.fetch(*output); !host.ok())
      return host.status();
  return {};
}

} // namespace

ProgramSeed seedOf(const std::string &file) {
  std::vector<container::Section> sections;
  ProgramSeed seed;
  seed.isNative = true;
  if (!container::read(file, sections).empty())
    return seed;
  for (const auto &section : sections)
    (section.kind == SectionKind::Manifest ? seed.manifest
     : section.kind == SectionKind::Code   ? seed.code
                                           : seed.constants) = section.bytes;
  return seed;
}

ProgramFiles::ProgramFiles(std::vector<ProgramSeed> seeds) : seeds_(std::move(seeds)) {
  for (const ProgramSeed &seed : seeds_)
    manifests_.push_back(readManifest(seed.manifest));
}

std::string ProgramFiles::checkSeeds() {
  for (size_t i = 0; i < seeds_.size(); ++i) {
    isNative_ = callsKernels_ = seeds_[i].isNative;
    mended_ = true;
    Outcome outcome = run(fileOf(seeds_[i]));
    if (outcome.end != End::Ran && (outcome.end != End::Loaded || !isNative_))
      return "seed " + std::to_string(i) + " does not run: " + outcome.text;
    if (writeMessage(manifests_[i]) != seeds_[i].manifest && !seeds_[i].isNative)
      return "seed " + std::to_string(i) + " is not written as it was read";
  }
  return "";
}

std::string ProgramFiles::make(Random &random) {
  size_t which = random.below(seeds_.size());
  ProgramSeed seed = seeds_[which];
  isNative_ = callsKernels_ = seed.isNative;
  mended_ = true;
  uint64_t kind = random.below(16);
  if (kind < 11) {
    Message manifest = copyOf(manifests_[which]);
    // The table of kernels is native code's own (docs/trust.md): changed, it is only loaded.
    bool kernels = !seed.isNative || random.once(4);
    callsKernels_ = !kernels;
    mutateManifest(random, manifest, kernels);
    seed.manifest = writeMessage(manifest);
  } else if (kind == 11) {
    callsKernels_ = false;
    seed.manifest = damaged(random, seed.manifest);
  } else if (kind < 14 && !seed.code.empty()) {
    callsKernels_ = false;
    seed.code = mutateCode(random, seed.code);
  }
  std::string file = fileOf(seed);
  if (kind == 14) {
    callsKernels_ = false; // other bytes may be its code
    mutateTable(random, file);
  } else if (kind == 15) {
    std::string whole = file;
    file = damaged(random, file);
    mended_ = file == whole;
  }
  return file;
}

Outcome ProgramFiles::run(const std::string &input) {
  SymbolResolver symbols = [](const std::string &) { return reinterpret_cast<void *>(touch); };
  try {
    auto loaded = LoadedProgram::load(input, nullptr, isNative_ ? nullptr : symbols);
    if (!loaded.ok())
      return {End::Refused, loaded.status().message()};
    if (!mended_)
      return {End::Bad, "a file with wrong checksums was taken"};
    if (!isNative_)
      standIn(**loaded);
    static const auto workers = Pool::shared(2); // the same for all of a child's sessions
    SessionOptions options;
    options.workers = 2;
    options.timeLimit = 0.2;
    if (arrayBytes(**loaded) > (64 << 20)) {
      if ((*loaded)->deviceCount() > 64 || arrayBytes(**loaded) > 1e9)
        return {End::Loaded, ""};
      auto session = Session::create(*loaded, options);
      return {session.ok() ? End::Loaded : End::Refused, session.status().message()};
    }
    auto session = Session::create(*loaded, options);
    if (!session.ok())
      return {End::Refused, session.status().message()};
    if (isNative_ && !callsKernels_)
      return {End::Loaded, ""};
    Status status = runSteps(**session);
    return {status.ok() ? End::Ran : End::Failed, status.message()};
  } catch (const std::bad_alloc &) {
    return {End::Bad, "memory"};
  } catch (const std::exception &e) {
    return {End::Bad, std::string("an exception: ") + e.what()};
  }
}

} // namespace tessera::fuzz
