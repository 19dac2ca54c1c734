#include "runtime/program/PtxSection.h"
#include <algorithm>
#include <cstring>
#include <elf.h>

namespace tessera::runtime {

static constexpr size_t kMostCubin = size_t{1} << 30;

Status checkPtx(std::string_view text) {
  auto isOfText = [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t'; };
  if (!std::all_of(text.begin(), text.end(), isOfText))
    return invalidProgram("altered: the code for GPUs is no text");
  for (const char *part : {".version ", ".target sm_", ".address_size 64"})
    if (text.find(part) == text.npos)
      return invalidProgram(std::string("altered: the code for GPUs has no ") + part);
  // But for shared memory of a size that the launch says.
  for (size_t at = text.find(".extern"); at != text.npos; at = text.find(".extern", at + 1))
    if (!text.substr(at).starts_with(".extern .shared"))
      return invalidProgram("altered: the code for GPUs wants that of others");
  return {};
}

std::map<std::string, std::string> aliasesOf(std::string_view ptx) {
  constexpr std::string_view kAlias = "\n// .alias ";
  std::map<std::string, std::string> aliases;
  for (size_t at = ptx.find(kAlias); at != ptx.npos; at = ptx.find(kAlias, at + 1)) {
    std::string_view line = ptx.substr(at + kAlias.size());
    line = line.substr(0, line.find('\n'));
    if (size_t comma = line.find(", "); comma != line.npos && line.ends_with(';'))
      aliases.emplace(line.substr(0, comma), line.substr(comma + 2, line.size() - comma - 3));
  }
  return aliases;
}

// The driver reads what the header leads to.
Status checkCubin(std::string_view bytes) {
  constexpr uint16_t kMachine = 190; // CUDA
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header || bytes.size() > kMostCubin)
    return invalidProgram("altered: machine code for GPUs of " + std::to_string(bytes.size()) +
                          " bytes");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != kMachine)
    return invalidProgram("altered: the machine code for GPUs is none");
  auto isWithin = [&](uint64_t offset, uint64_t size) {
    return offset <= bytes.size() && size <= bytes.size() - offset;
  };
  bool isSound = (header.e_phnum == 0 || header.e_phentsize == sizeof(Elf64_Phdr)) &&
                 (header.e_shnum == 0 || header.e_shentsize == sizeof(Elf64_Shdr)) &&
                 isWithin(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr)) &&
                 isWithin(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  for (uint16_t i = 0; isSound && i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes.data() + header.e_shoff + i * sizeof section, sizeof section);
    isSound = section.sh_type == SHT_NOBITS || isWithin(section.sh_offset, section.sh_size);
  }
  for (uint16_t i = 0; isSound && i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    isSound = isWithin(segment.p_offset, segment.p_filesz);
  }
  if (!isSound)
    return invalidProgram("altered: the machine code for GPUs is cut off");
  return {};
}

} // namespace tessera::runtime
