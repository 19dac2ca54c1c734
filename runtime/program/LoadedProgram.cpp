#include "runtime/program/LoadedProgram.h"
#include "include/tessera/container.h"
#include "lib/files/InputFile.h"
#include "runtime/FileStatus.h"
#include "runtime/HostMemory.h"
#include "runtime/array/ElementType.h"
#include "runtime/program/CodeSection.h"
#include "runtime/program/CpuFeatures.h"
#include "runtime/program/Sha256.h"
#include <cstring>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <set>

namespace tessera::runtime {

namespace {

struct Sections {
  std::string_view manifest, code, constants;
};

Result<Sections> readSections(std::string_view file) {
  std::vector<container::Section> list;
  if (std::string problem = container::read(file, list); !problem.empty())
    return invalidProgram(problem);
  Sections sections;
  bool hasManifest = false;
  for (const auto &section : list)
    switch (section.kind) {
    case container::SectionKind::Manifest:
      sections.manifest = section.bytes;
      hasManifest = true;
      break;
    case container::SectionKind::Code:
      sections.code = section.bytes;
      break;
    case container::SectionKind::Constants:
      sections.constants = section.bytes;
      break;
    default:
      break; // of a later version, for somebody else
    }
  if (!hasManifest)
    return invalidProgram("altered: there is no manifest");
  return sections;
}

Status checkAliases(const program::Program &manifest) {
  std::set<int> taken;
  for (const auto &output : manifest.outputs()) {
    if (!output.alias())
      continue;
    if (output.alias() < 1 || output.alias() > manifest.inputs_size())
      return invalidProgram("output '" + output.name() +
                            "' takes the buffer of an input that does not exist");
    int input = output.alias() - 1;
    if (localBytes(output) != localBytes(manifest.inputs(input)))
      return invalidProgram("output '" + output.name() +
                            "' and the input whose buffer it takes differ in size");
    if (!taken.insert(input).second)
      return invalidProgram("two outputs take the buffer of input " + std::to_string(input));
  }
  return {};
}

std::string joined(const std::vector<std::string> &names) {
  std::string list;
  for (size_t i = 0; i < names.size() && i < 8; ++i)
    list += (i ? ", " : "") + names[i].substr(0, 40);
  return names.size() > 8 ? list + ", .." : list;
}

Status wrongMachine(std::string message) { return {Code::FailedPrecondition, std::move(message)}; }

Status checkTarget(const program::Program &manifest) {
  std::vector<std::string> wanted(manifest.target_features().begin(),
                                  manifest.target_features().end());
  std::string unknown = joined(unknownCpuFeatures(wanted)),
              missing = joined(missingCpuFeatures(wanted));
  if (!unknown.empty())
    return wrongMachine("the program needs CPU features that this runtime does not know: " +
                        unknown + ": run it with the runtime of its compiler's version");
  if (missing.empty())
    return {};
  return wrongMachine(
      "the program was compiled for " +
      (manifest.target_cpu().empty() ? "another CPU" : "CPU '" + manifest.target_cpu() + "'") +
      "; this one lacks " + missing +
      ": compile it here, or with a --target-cpu that every machine it shall run on has");
}

} // namespace

Result<std::shared_ptr<const LoadedProgram>> LoadedProgram::load(std::string_view file,
                                                                 std::shared_ptr<const void> owner,
                                                                 const SymbolResolver &symbols) {
  auto sections = readSections(file);
  if (!sections.ok())
    return sections.status();
  std::shared_ptr<LoadedProgram> loaded(new LoadedProgram);
  container::Header header;
  std::memcpy(&header, file.data(), sizeof header);
  loaded->fingerprint_ = header.tableHash;
  program::Program &manifest = loaded->manifest_;
  google::protobuf::io::ArrayInputStream array(sections->manifest.data(),
                                               static_cast<int>(sections->manifest.size()));
  google::protobuf::io::CodedInputStream stream(&array);
  // A branch in a branch is three messages deeper.
  stream.SetRecursionLimit(3 * static_cast<int>(container::kDeepestNesting) + 16);
  google::protobuf::LogSilencer oneErrorIsEnough;
  if (!manifest.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return invalidProgram("altered: the manifest cannot be parsed");
  if (manifest.version() != container::kProgramVersion)
    return wrongMachine("program version " + std::to_string(manifest.version()) +
                        ", this runtime runs " + std::to_string(container::kProgramVersion) +
                        ": compile it again");
  auto mesh = MeshGrid::make(manifest.mesh());
  if (!mesh.ok())
    return mesh.status();
  loaded->mesh_ = std::make_shared<const MeshGrid>(std::move(*mesh));
  for (auto *list : {manifest.mutable_inputs(), manifest.mutable_outputs()})
    for (auto &parameter : *list) {
      if (Status s = checkParameter(parameter, loaded->mesh()); !s.ok())
        return s;
      for (auto &dim : *parameter.mutable_layout())
        dropTrivial(*dim.mutable_axes());
    }
  if (Status s = checkAliases(manifest); !s.ok())
    return s;
  if (manifest.constant_bytes() > sections->constants.size())
    return invalidProgram("the constants have " + std::to_string(sections->constants.size()) +
                          " bytes of " + std::to_string(manifest.constant_bytes()));
  if (manifest.arena_bytes() > (uint64_t{1} << 46))
    return invalidProgram("an arena of " + std::to_string(manifest.arena_bytes()) + " bytes");
  auto decoded = decode(manifest, loaded->mesh());
  if (!decoded.ok())
    return decoded.status();
  loaded->decoded_ = std::move(*decoded);
  if (Status s = checkTarget(manifest); !s.ok())
    return s;

  SymbolResolver resolver = symbols;
  if (!resolver && manifest.kernels_size()) {
    if (sections->code.empty())
      return invalidProgram("altered: there is no code section");
    if (Status s = checkCode(sections->code); !s.ok())
      return s;
    auto code = SharedObject::open(sections->code);
    if (!code.ok())
      return code.status();
    loaded->code_ = *code;
    resolver = [&](const std::string &name) { return loaded->code_->symbol(name); };
  }
  if (Status s = resolveKernels(manifest, resolver, loaded->decoded_); !s.ok())
    return s;

  loaded->constants_ = sections->constants.data();
  loaded->owner_ = std::move(owner);
  if (reinterpret_cast<uintptr_t>(loaded->constants_) % container::kAlignment) {
    std::shared_ptr<void> copy(allocateAligned(sections->constants.size()), freeAligned);
    if (!copy)
      return Status(Code::ResourceExhausted, "no memory for the program's constants");
    std::memcpy(copy.get(), sections->constants.data(), sections->constants.size());
    loaded->constants_ = static_cast<const char *>(copy.get());
    loaded->owner_ = std::move(copy);
  }
  return std::shared_ptr<const LoadedProgram>(std::move(loaded));
}

// A program's file, in memory that its constants can stay in: who writes over it or cuts it off
// cannot reach what runs, as with a mapped file. Of what is no program, the beginning.
static Result<std::shared_ptr<const std::string_view>> readFile(const std::string &path) {
  struct Contents {
    std::unique_ptr<void, void (*)(void *)> memory{nullptr, freeAligned};
    std::string_view bytes;
  };
  std::string wrong;
  auto file = files::InputFile::open(path, wrong);
  if (!file)
    return cannotRead(path, wrong);
  char magic[sizeof container::kMagic] = {};
  size_t size = file->size();
  if (wrong = file->read(0, magic, std::min(size, sizeof magic)); !wrong.empty())
    return cannotRead(path, wrong);
  if (std::memcmp(magic, container::kMagic, sizeof magic) != 0)
    size = std::min(size, sizeof magic);
  auto contents = std::make_shared<Contents>();
  if (size <= mostMemory())
    contents->memory.reset(allocateAligned(size));
  if (!contents->memory)
    return Status(Code::ResourceExhausted,
                  path + ": no memory for a program of " + std::to_string(size) + " bytes");
  auto *data = static_cast<char *>(contents->memory.get());
  if (wrong = file->read(0, data, size); !wrong.empty())
    return cannotRead(path, wrong);
  contents->bytes = {data, size};
  return std::shared_ptr<const std::string_view>(contents, &contents->bytes);
}

Result<std::shared_ptr<const LoadedProgram>> LoadedProgram::loadFile(const std::string &path,
                                                                     std::string_view digest) {
  std::string expected = readSha256(digest);
  if (expected.empty() && !digest.empty())
    return invalidArgument("a SHA-256 has 64 hexadecimal digits, not '" + std::string(digest) +
                           "'");
  auto file = readFile(path);
  if (!file.ok())
    return file.status();
  std::string_view bytes = **file;
  if (!expected.empty() && bytes.starts_with(std::string_view(container::kMagic, 8)))
    if (std::string found = sha256(bytes); found != expected)
      return invalidProgram(path + ": this is another file: its SHA-256 is " + found + ", not " +
                            expected);
  auto loaded = load(bytes, *file);
  if (!loaded.ok())
    return Status(loaded.status().code(), path + ": " + loaded.status().message());
  return loaded;
}

std::string LoadedProgram::location(uint32_t index) const {
  if (index == 0 || index >= static_cast<uint32_t>(manifest_.locations_size()))
    return "an unknown place";
  return manifest_.locations(static_cast<int>(index));
}

} // namespace tessera::runtime
