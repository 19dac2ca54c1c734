#include "runtime/program/BufferPlaces.h"

#include "include/tessera/container.h"

namespace tessera::runtime {

using Space = program::Buffer;

BufferPlaces::BufferPlaces(const program::Program &program) : program_(program) {
  isAliased_.resize(program.inputs_size());
  for (const auto &output : program.outputs())
    if (output.alias())
      isAliased_[output.alias() - 1] = true;
}

// Whether the program takes the input over: it is donated, or an output has its buffer.
bool BufferPlaces::mayOverwrite(uint32_t input) const {
  return program_.inputs(static_cast<int>(input)).donated() || isAliased_[input];
}

Result<Slot> BufferPlaces::slotOf(const program::Buffer &buffer, uint64_t bytes, bool written,
                                  Reach reach, const program::Function *function) const {
  Slot slot{buffer.space(), buffer.index(), buffer.offset()};
  uint64_t limit = 0;
  std::string where;
  switch (buffer.space()) {
  case Space::ARENA:
    limit = program_.arena_bytes();
    where = "the arena";
    break;
  case Space::HOST_ARENA:
    limit = program_.host_bytes();
    where = "the host's arena";
    slot.memory = program::HOST_MEMORY;
    break;
  case Space::FILE_ARENA:
    limit = program_.file_bytes();
    where = "the file";
    slot.memory = program::FILE_MEMORY;
    break;
  case Space::ARGUMENT: {
    where = "argument " + std::to_string(buffer.index());
    if (!function || buffer.index() >= static_cast<uint32_t>(function->arguments_size()))
      return invalidProgram(where + " does not exist");
    const auto &argument = function->arguments(static_cast<int>(buffer.index()));
    limit = argument.bytes();
    if (written && !argument.written())
      return invalidProgram("writes to " + where + ", which the function only reads");
    break;
  }
  case Space::CONSTANT:
    limit = program_.constant_bytes();
    where = "the constants";
    if (written)
      return invalidProgram("writes to the constants");
    break;
  case Space::INPUT:
  case Space::OUTPUT: {
    const auto &list = buffer.space() == Space::INPUT ? program_.inputs() : program_.outputs();
    where =
        (buffer.space() == Space::INPUT ? "input " : "output ") + std::to_string(buffer.index());
    if (buffer.index() >= static_cast<uint32_t>(list.size()))
      return invalidProgram(where + " does not exist");
    const auto &parameter = list[static_cast<int>(buffer.index())];
    limit = static_cast<uint64_t>(localBytes(parameter));
    slot.memory = parameter.memory();
    if (buffer.space() == Space::OUTPUT && parameter.alias())
      slot = {Space::INPUT, static_cast<uint32_t>(parameter.alias() - 1), buffer.offset(),
              parameter.memory()};
    else if (buffer.space() == Space::INPUT && written && !mayOverwrite(buffer.index()))
      return invalidProgram("writes to " + where + ", which the caller keeps");
    break;
  }
  default:
    return invalidProgram("a buffer in an unknown space");
  }
  if (slot.memory == program::FILE_MEMORY && reach != Reach::Anywhere)
    return invalidProgram("uses a buffer in a file, which only copies that are waited for reach");
  if (slot.memory == program::HOST_MEMORY && reach == Reach::Device)
    return invalidProgram("uses a buffer in the host's memory, which only copies reach");
  if (buffer.offset() > limit || buffer.bytes() > limit - buffer.offset())
    return invalidProgram("bytes " + std::to_string(buffer.offset()) + " to " +
                          std::to_string(buffer.offset() + buffer.bytes()) + " of " + where +
                          ", which has " + std::to_string(limit));
  if (buffer.offset() % container::kAlignment)
    return invalidProgram("a buffer at byte " + std::to_string(buffer.offset()) + " of " + where +
                          ", which is no multiple of " + std::to_string(container::kAlignment));
  if (bytes && buffer.bytes() < bytes)
    return invalidProgram("a buffer of " + std::to_string(buffer.bytes()) + " bytes where " +
                          std::to_string(bytes) + " are used");
  return slot;
}

} // namespace tessera::runtime
