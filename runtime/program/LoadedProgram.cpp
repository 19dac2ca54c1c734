#include "runtime/program/LoadedProgram.h"
#include "include/tessera/container.h"
#include "lib/files/InputFile.h"
#include "runtime/FileStatus.h"
#include "runtime/HostMemory.h"
#include "runtime/program/CodeImages.h"
#include "runtime/program/CodeSection.h"
#include "runtime/program/PtxSection.h"
#include "runtime/program/Sha256.h"
#include <algorithm>
#include <cstring>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <set>
#include <unordered_set>

namespace tessera::runtime {

namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 46; // of a space

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
    if (output.memory() != manifest.inputs(input).memory())
      return invalidProgram("output '" + output.name() +
                            "' and the input whose buffer it takes lie in different memories");
    if (!taken.insert(input).second)
      return invalidProgram("two outputs take the buffer of input " + std::to_string(input));
  }
  return {};
}

Status checkSpaces(const program::Program &manifest) {
  for (auto [what, bytes] : {std::pair("an arena", manifest.arena_bytes()),
                             {"an arena of the host", manifest.host_bytes()},
                             {"a file", manifest.file_bytes()}})
    if (bytes > kMostBytes)
      return invalidProgram(std::string(what) + " of " + std::to_string(bytes) + " bytes");
  return {};
}

} // namespace

const program::Program &DeviceProgram::manifest() const {
  return file_.manifest().programs(static_cast<int>(index_));
}
const std::vector<KernelEntry> &DeviceProgram::kernels() const { return file_.kernels(); }
std::string DeviceProgram::location(uint32_t index) const { return file_.location(index); }

Status LoadedProgram::readManifest(std::string_view bytes) {
  google::protobuf::io::ArrayInputStream array(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream stream(&array);
  // Other versions may have other fields, but for this one.
  uint32_t version = 0;
  if (stream.ReadTag() != 8 || !stream.ReadVarint32(&version))
    version = 0;
  if (version != container::kProgramVersion)
    return {Code::FailedPrecondition,
            "program version " + std::to_string(version) + ", this runtime runs " +
                std::to_string(container::kProgramVersion) + ": compile it again"};
  // A branch in a branch is three messages deeper.
  stream.SetRecursionLimit(3 * static_cast<int>(container::kDeepestNesting) + 24);
  google::protobuf::LogSilencer oneErrorIsEnough;
  if (!manifest_.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return invalidProgram("altered: the manifest cannot be parsed");
  manifest_.set_version(version);
  return {};
}

Status LoadedProgram::readPrograms() {
  if (manifest_.programs_size() == 0)
    return invalidProgram("altered: the file holds no program");
  std::vector<std::pair<std::pair<int64_t, int64_t>, uint32_t>> ranges;
  std::vector<const MeshGrid *> meshes;
  for (auto &program : *manifest_.mutable_programs()) {
    auto mesh = MeshGrid::make(program.mesh());
    if (!mesh.ok())
      return mesh.status();
    auto index = static_cast<uint32_t>(programs_.size());
    programs_.emplace_back(*this, index, std::make_shared<const MeshGrid>(std::move(*mesh)));
    const MeshGrid &grid = programs_.back().mesh();
    meshes.push_back(&grid);
    for (auto range : grid.ranges())
      ranges.emplace_back(range, index);
    for (auto *list : {program.mutable_inputs(), program.mutable_outputs()})
      for (auto &parameter : *list) {
        if (Status s = checkParameter(parameter, grid); !s.ok())
          return s;
        for (auto &dim : *parameter.mutable_layout())
          dropTrivial(*dim.mutable_axes());
      }
    if (Status s = checkAliases(program); !s.ok())
      return s;
    if (Status s = checkSpaces(program); !s.ok())
      return s;
  }
  std::sort(ranges.begin(), ranges.end());
  for (const auto &[range, program] : ranges) {
    if (range.first != deviceCount_)
      return invalidProgram("device " + std::to_string(std::min(range.first, deviceCount_)) +
                            (range.first < deviceCount_ ? " has two programs" : " has no program"));
    deviceCount_ = range.second;
    if (owners_.empty() || owners_.back().second != program)
      owners_.emplace_back(range.first, program);
  }
  for (const auto &channel : manifest_.channels()) {
    auto route = Route::make(channel, meshes);
    if (!route.ok())
      return route.status();
    channels_.push_back(std::move(*route));
  }
  return listParameters();
}

Status LoadedProgram::listParameters() {
  for (bool isInput : {true, false}) {
    std::unordered_set<std::string_view> names;
    int64_t firstInput = 0; // of the program, among the file's
    for (const DeviceProgram &program : programs_) {
      const auto &list = isInput ? program.manifest().inputs() : program.manifest().outputs();
      for (int i = 0; i < list.size(); ++i) {
        if (!names.insert(list[i].name()).second)
          return invalidProgram(std::string("two ") + (isInput ? "inputs" : "outputs") +
                                " have the name '" + list[i].name().substr(0, 80) + "'");
        int64_t alias = list[i].alias() && !isInput ? firstInput + list[i].alias() - 1 : -1;
        (isInput ? inputs_ : outputs_)
            .push_back({&program, static_cast<uint32_t>(i), &list[i], alias});
      }
      firstInput += program.manifest().inputs_size();
    }
  }
  return {};
}

Status LoadedProgram::readConstants(std::string_view section, std::shared_ptr<const void> owner) {
  for (const DeviceProgram &program : programs_) {
    uint64_t offset = program.manifest().constant_offset(),
             bytes = program.manifest().constant_bytes();
    if (offset > section.size() || bytes > section.size() - offset)
      return invalidProgram("the constants have " + std::to_string(section.size()) + " bytes of " +
                            std::to_string(bytes) +
                            (offset ? " from byte " + std::to_string(offset) + " on" : ""));
    if (offset % container::kAlignment)
      return invalidProgram("a program's constants begin at byte " + std::to_string(offset) +
                            ", which is no multiple of " + std::to_string(container::kAlignment));
  }
  const char *constants = section.data();
  owner_ = std::move(owner);
  if (reinterpret_cast<uintptr_t>(constants) % container::kAlignment) {
    std::shared_ptr<void> copy(allocateAligned(section.size()), freeAligned);
    if (!copy)
      return Status(Code::ResourceExhausted, "no memory for the program's constants");
    std::memcpy(copy.get(), section.data(), section.size());
    constants = static_cast<const char *>(copy.get());
    owner_ = std::move(copy);
  }
  for (DeviceProgram &program : programs_)
    program.constants_ = constants + program.manifest().constant_offset();
  return {};
}

struct LoadedProgram::Sections {
  std::string_view manifest, constants;
  std::vector<container::Section> code;

  Status read(std::string_view file) {
    std::vector<container::Section> list;
    if (std::string problem = container::read(file, list); !problem.empty())
      return invalidProgram(problem);
    bool hasManifest = false;
    for (const auto &section : list)
      switch (section.kind) {
      case container::SectionKind::Manifest:
        manifest = section.bytes;
        hasManifest = true;
        break;
      case container::SectionKind::Code:
        code.push_back(section);
        break;
      case container::SectionKind::Constants:
        constants = section.bytes;
        break;
      default:
        break; // of a later version, for somebody else
      }
    return hasManifest ? Status() : invalidProgram("altered: there is no manifest");
  }
};

Result<std::shared_ptr<LoadedProgram>> LoadedProgram::read(std::string_view file,
                                                           Sections &sections) {
  if (Status s = sections.read(file); !s.ok())
    return s;
  std::shared_ptr<LoadedProgram> loaded(new LoadedProgram);
  container::Header header;
  std::memcpy(&header, file.data(), sizeof header);
  loaded->fingerprint_ = header.tableHash;
  if (Status s = loaded->readManifest(sections.manifest); !s.ok())
    return s;
  if (Status s = loaded->readPrograms(); !s.ok())
    return s;
  return loaded;
}

Status LoadedProgram::decodePrograms(const program::CodeImage *image) {
  if (image) {
    target_ = image->target();
    cpu_ = image->cpu();
  }
  auto kernels = readKernels(manifest_, image);
  if (!kernels.ok())
    return kernels.status();
  kernels_ = std::move(*kernels);
  for (DeviceProgram &program : programs_) {
    auto decoded = decode({manifest_, channels_, kernels_}, program.index(), program.mesh());
    if (!decoded.ok())
      return decoded.status();
    program.decoded_ = std::move(*decoded);
  }
  shareKernels(manifest_, kernels_);
  return {};
}

static bool has(const program::CodeImage &image, std::string_view feature) {
  return std::find(image.features().begin(), image.features().end(), feature) !=
         image.features().end();
}

// The texts of all images for the device, which takes one of them once it is known.
Status LoadedProgram::readDeviceCode(const Sections &sections) {
  for (const auto &image : manifest_.images()) {
    if (image.target() != target_)
      continue;
    auto launches = readLaunches(manifest_, image);
    if (!launches.ok())
      return launches.status();
    for (const auto &section : sections.code)
      if (section.name == image.section())
        deviceCode_.push_back({image.cpu(), std::string(section.bytes), *launches,
                               has(image, "cubin"), has(image, "cublaslt")});
  }
  for (const DeviceText &image : deviceCode_)
    if (Status s = image.isCubin ? checkCubin(image.text) : checkPtx(image.text); !s.ok())
      return s;
  if (deviceCode_.empty())
    return invalidProgram("altered: there is no code section");
  return {};
}

Status LoadedProgram::openCode(const Sections &sections, const program::CodeImage *image,
                               const SymbolResolver &symbols) {
  if (target_ == "cuda" && !symbols)
    return manifest_.kernels_size() ? readDeviceCode(sections) : Status();
  SymbolResolver resolver = symbols;
  if (!resolver && manifest_.kernels_size()) {
    std::string_view code;
    for (const auto &section : sections.code)
      if (image && section.name == image->section())
        code = section.bytes;
    if (code.empty())
      return invalidProgram("altered: there is no code section");
    if (Status s = checkCode(code); !s.ok())
      return s;
    auto object = SharedObject::open(code);
    if (!object.ok())
      return object.status();
    code_ = *object;
    resolver = [this](const std::string &name) { return code_->symbol(name); };
  }
  return resolveKernels(manifest_, resolver, kernels_);
}

Result<std::shared_ptr<const LoadedProgram>> LoadedProgram::load(std::string_view file,
                                                                 std::shared_ptr<const void> owner,
                                                                 const SymbolResolver &symbols) {
  Sections sections;
  auto loaded = read(file, sections);
  if (!loaded.ok())
    return loaded.status();
  auto image = chooseImage((*loaded)->manifest_);
  if (!image.ok())
    return image.status();
  if (Status s = (*loaded)->decodePrograms(*image); !s.ok())
    return s;
  if (Status s = (*loaded)->openCode(sections, *image, symbols); !s.ok())
    return s;
  if (Status s = (*loaded)->readConstants(sections.constants, std::move(owner)); !s.ok())
    return s;
  return std::shared_ptr<const LoadedProgram>(std::move(*loaded));
}

const DeviceProgram &LoadedProgram::programOf(int64_t device) const {
  auto after = std::upper_bound(owners_.begin(), owners_.end(),
                                std::pair(device, static_cast<uint32_t>(UINT32_MAX)));
  return programs_[std::prev(after)->second];
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

Result<std::shared_ptr<const LoadedProgram>>
LoadedProgram::inspect(std::string_view file, std::shared_ptr<const void> owner) {
  Sections sections;
  auto loaded = read(file, sections);
  if (!loaded.ok())
    return loaded.status();
  if (Status s = (*loaded)->decodePrograms(nullptr); !s.ok())
    return s;
  if (Status s = (*loaded)->readConstants(sections.constants, std::move(owner)); !s.ok())
    return s;
  (*loaded)->isInspected_ = true;
  return std::shared_ptr<const LoadedProgram>(std::move(*loaded));
}

Status LoadedProgram::executable() const {
  if (!isInspected_)
    return {};
  if (auto image = chooseImage(manifest_); !image.ok())
    return image.status();
  return {Code::FailedPrecondition, "the program was opened to be looked at: load it"};
}

Result<std::shared_ptr<const LoadedProgram>> LoadedProgram::inspectFile(const std::string &path,
                                                                        std::string &digest) {
  auto file = readFile(path);
  if (!file.ok())
    return file.status();
  auto loaded = inspect(**file, *file);
  if (!loaded.ok())
    return Status(loaded.status().code(), path + ": " + loaded.status().message());
  digest = sha256(**file);
  return loaded;
}

std::vector<const program::Parameter *>
parametersOf(const std::vector<LoadedProgram::Place> &places) {
  std::vector<const program::Parameter *> parameters;
  for (const auto &place : places)
    parameters.push_back(place.parameter);
  return parameters;
}

std::string LoadedProgram::location(uint32_t index) const {
  if (index == 0 || index >= static_cast<uint32_t>(manifest_.locations_size()))
    return "an unknown place";
  return manifest_.locations(static_cast<int>(index));
}

} // namespace tessera::runtime
