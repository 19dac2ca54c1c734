// Programs of the C interface.
#include "lib/version/Version.h"
#include "runtime/HostMemory.h"
#include "runtime/array/ParameterNames.h"
#include "runtime/capi/Handles.h"
#include "runtime/tool/ProgramInfo.h"
#include <cstring>

using namespace tessera::runtime;

extern "C" {

const char *tessera_version(void) { return tessera::versionText(); }

static tessera_code open(const void *bytes, size_t size, tessera_program **program,
                         bool isInspected) {
  return guarded([&]() -> Status {
    if (!program || (!bytes && size))
      return invalidArgument(isInspected ? "tessera_program_inspect: a null argument"
                                         : "tessera_program_load: a null argument");
    // At a place where constants can be read without another copy.
    std::shared_ptr<void> copy(allocateAligned(size), freeAligned);
    if (!copy)
      return {Code::ResourceExhausted, "no memory for the program"};
    std::memcpy(copy.get(), bytes, size);
    std::string_view file(static_cast<const char *>(copy.get()), size);
    auto loaded =
        isInspected ? LoadedProgram::inspect(file, copy) : LoadedProgram::load(file, copy);
    if (!loaded.ok())
      return loaded.status();
    *program = new tessera_program(*loaded);
    return {};
  });
}

tessera_code tessera_program_load(const void *bytes, size_t size, tessera_program **program) {
  return open(bytes, size, program, false);
}

tessera_code tessera_program_inspect(const void *bytes, size_t size, tessera_program **program) {
  return open(bytes, size, program, true);
}

tessera_code tessera_program_load_file(const char *path, tessera_program **program) {
  return tessera_program_load_file_sha256(path, nullptr, program);
}

tessera_code tessera_program_load_file_sha256(const char *path, const char *sha256,
                                              tessera_program **program) {
  return guarded([&]() -> Status {
    if (!program || !path)
      return invalidArgument("tessera_program_load_file: a null argument");
    if (sha256 && !*sha256)
      return invalidArgument("tessera_program_load_file_sha256: an empty SHA-256");
    auto loaded = LoadedProgram::loadFile(path, sha256 ? sha256 : "");
    if (!loaded.ok())
      return loaded.status();
    *program = new tessera_program(*loaded);
    return {};
  });
}

void tessera_program_free(tessera_program *program) { delete program; }

int64_t tessera_program_devices(const tessera_program *program) {
  return program ? program->loaded->deviceCount() : without("tessera_program_devices", -1);
}
size_t tessera_program_input_count(const tessera_program *program) {
  return program ? program->inputs.size() : without("tessera_program_input_count", size_t{0});
}
size_t tessera_program_output_count(const tessera_program *program) {
  return program ? program->outputs.size() : without("tessera_program_output_count", size_t{0});
}

tessera_code tessera_program_input(const tessera_program *program, size_t index,
                                   tessera_parameter *input) {
  return guarded([&]() -> Status {
    if (!program)
      return invalidArgument("tessera_program_input: a null argument");
    if (index >= program->inputs.size())
      return invalidArgument("there is no input " + std::to_string(index));
    return program->inputs[index].fill(input);
  });
}

tessera_code tessera_program_output(const tessera_program *program, size_t index,
                                    tessera_parameter *output) {
  return guarded([&]() -> Status {
    if (!program)
      return invalidArgument("tessera_program_output: a null argument");
    if (index >= program->outputs.size())
      return invalidArgument("there is no output " + std::to_string(index));
    return program->outputs[index].fill(output);
  });
}

tessera_code tessera_program_input_index(const tessera_program *program, const char *name,
                                         size_t *index) {
  return guarded([&]() -> Status {
    if (!program || !name || !index)
      return invalidArgument("tessera_program_input_index: a null argument");
    auto found = indexOfName(parametersOf(program->loaded->inputs()), "in", name);
    if (found.ok())
      *index = *found;
    return found.status();
  });
}

tessera_code tessera_program_output_index(const tessera_program *program, const char *name,
                                          size_t *index) {
  return guarded([&]() -> Status {
    if (!program || !name || !index)
      return invalidArgument("tessera_program_output_index: a null argument");
    auto found = indexOfName(parametersOf(program->loaded->outputs()), "out", name);
    if (found.ok())
      *index = *found;
    return found.status();
  });
}

const char *tessera_program_report(const tessera_program *program) {
  return program ? program->loaded->manifest().report_json().c_str()
                 : without("tessera_program_report", "");
}

const char *tessera_program_info(const tessera_program *program) {
  tessera_code code = guarded([&]() -> Status {
    if (!program)
      return invalidArgument("tessera_program_info: a null argument");
    std::call_once(program->described,
                   [&] { program->info = infoJson(describeFile(*program->loaded)); });
    return {};
  });
  return code == TESSERA_OK ? program->info.c_str() : nullptr;
}

} // extern "C"
