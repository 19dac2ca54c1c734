#include "runtime/program/CodeSection.h"
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::runtime {

namespace {

constexpr uint64_t kPage = 4096;

// Names for messages of what a dynamic table may hold elsewhere and not here.
const char *whyNot(int64_t tag) {
  switch (tag) {
  case DT_INIT:
  case DT_INIT_ARRAY:
  case DT_INIT_ARRAYSZ:
  case DT_PREINIT_ARRAY:
  case DT_PREINIT_ARRAYSZ:
    return "has code that runs when it is opened";
  case DT_FINI:
  case DT_FINI_ARRAY:
  case DT_FINI_ARRAYSZ:
    return "has code that runs when it is closed";
  case DT_NEEDED:
  case DT_AUXILIARY:
  case DT_FILTER:
    return "wants other libraries";
  default:
    return nullptr;
  }
}

class Checker {
public:
  explicit Checker(std::string_view file) : file_(file) {}

  Status run() {
    for (Status (Checker::*step)() : {&Checker::header, &Checker::segments, &Checker::dynamicTable,
                                      &Checker::symbols, &Checker::relocations})
      if (Status s = (this->*step)(); !s.ok())
        return s;
    return {};
  }

private:
  static Status bad(const std::string &what) {
    return invalidProgram("the code section cannot be loaded: it " + what);
  }

  template <class T> std::optional<T> fileAt(uint64_t offset) const {
    T value;
    if (offset > file_.size() || sizeof value > file_.size() - offset)
      return std::nullopt;
    std::memcpy(&value, file_.data() + offset, sizeof value);
    return value;
  }

  static bool contains(uint64_t start, uint64_t size, uint64_t at, uint64_t bytes) {
    return at >= start && at - start <= size && bytes <= size - (at - start);
  }
  // The segment whose memory holds the range, or null.
  const Elf64_Phdr *segmentOf(uint64_t address, uint64_t bytes) const {
    for (const Elf64_Phdr &segment : loads_)
      if (contains(segment.p_vaddr, segment.p_memsz, address, bytes))
        return &segment;
    return nullptr;
  }
  // Where the file holds what is at an address, or nothing.
  static std::optional<uint64_t> offsetIn(const Elf64_Phdr *segment, uint64_t address,
                                          uint64_t bytes) {
    if (!segment || !contains(segment->p_vaddr, segment->p_filesz, address, bytes))
      return std::nullopt;
    return segment->p_offset + (address - segment->p_vaddr);
  }
  // The same of a table, which no relocation may change.
  std::optional<uint64_t> tableAt(uint64_t address, uint64_t bytes) const {
    const Elf64_Phdr *segment = segmentOf(address, bytes);
    return segment && segment->p_flags & PF_W ? std::nullopt : offsetIn(segment, address, bytes);
  }

  Status header() {
    auto header = fileAt<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_ident[EI_VERSION] != EV_CURRENT ||
        (header->e_ident[EI_OSABI] != ELFOSABI_SYSV && header->e_ident[EI_OSABI] != ELFOSABI_GNU) ||
        header->e_ident[EI_ABIVERSION] != 0 || header->e_version != EV_CURRENT ||
        header->e_type != ET_DYN || header->e_machine != EM_X86_64)
      return bad("is no shared object for x86-64");
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0 || header->e_phnum > 64 ||
        header->e_phoff % alignof(Elf64_Phdr))
      return bad("has no table of segments");
    for (uint16_t i = 0; i < header->e_phnum; ++i) {
      auto segment = fileAt<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
      if (!segment)
        return bad("has segments that are cut off");
      table_.push_back(*segment);
      if (segment->p_type == PT_LOAD)
        loads_.push_back(*segment);
    }
    tableOffset_ = header->e_phoff;
    return {};
  }

  Status loadSegment(const Elf64_Phdr &segment, uint64_t after) const {
    uint64_t most = file_.size() + (uint64_t{64} << 20); // zeros after what the file holds
    if (!contains(0, file_.size(), segment.p_offset, segment.p_filesz) ||
        segment.p_offset / kPage * kPage >= file_.size() || segment.p_filesz > segment.p_memsz ||
        !contains(0, most, segment.p_vaddr, segment.p_memsz))
      return bad("has a segment outside of the file");
    if (segment.p_align < kPage || segment.p_align > (uint64_t{2} << 20) ||
        (segment.p_align & (segment.p_align - 1)) ||
        (segment.p_vaddr - segment.p_offset) % segment.p_align || segment.p_vaddr / kPage < after)
      return bad("has segments that overlap or are not aligned");
    if ((segment.p_flags & PF_W) && (segment.p_flags & PF_X))
      return bad("has a segment that is both writable and executable");
    if (!(segment.p_flags & PF_R))
      return bad("has a segment that is not readable");
    return {};
  }

  Status segments() {
    uint64_t after = 0; // the first page that is free
    for (const Elf64_Phdr &segment : loads_) {
      if (Status s = loadSegment(segment, after); !s.ok())
        return s;
      after = (segment.p_vaddr + segment.p_memsz + kPage - 1) / kPage;
    }
    bool plainStack = false;
    for (const Elf64_Phdr &segment : table_)
      switch (segment.p_type) {
      case PT_LOAD:
        break;
      case PT_PHDR:
        if (tableAt(segment.p_vaddr, table_.size() * sizeof(Elf64_Phdr)) != tableOffset_)
          return bad("has its table of segments in another place");
        break;
      case PT_DYNAMIC:
        if (dynamic_)
          return bad("has two dynamic tables");
        dynamic_ = segment;
        break;
      case PT_GNU_RELRO: {
        const Elf64_Phdr *in = segmentOf(segment.p_vaddr, segment.p_memsz);
        if (!in || !(in->p_flags & PF_W))
          return bad("protects memory that it has not");
        break;
      }
      case PT_GNU_STACK:
        plainStack = !(segment.p_flags & PF_X);
        break;
      default:
        return bad("has a segment of kind " + std::to_string(segment.p_type));
      }
    if (!plainStack)
      return bad("wants an executable stack");
    return {};
  }

  Status dynamicTable() {
    if (!dynamic_)
      return bad("has no dynamic table");
    const Elf64_Phdr *in = segmentOf(dynamic_->p_vaddr, dynamic_->p_memsz);
    auto offset = offsetIn(in, dynamic_->p_vaddr, dynamic_->p_filesz);
    if (!in || !(in->p_flags & PF_W) || !offset || *offset != dynamic_->p_offset ||
        dynamic_->p_vaddr % alignof(Elf64_Dyn))
      return bad("has its dynamic table outside of its segments");
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic_->p_filesz; at += sizeof(Elf64_Dyn)) {
      auto entry = *fileAt<Elf64_Dyn>(*offset + at);
      if (entry.d_tag == DT_NULL)
        return {};
      switch (entry.d_tag) {
      case DT_SYMTAB:
      case DT_SYMENT:
      case DT_STRTAB:
      case DT_STRSZ:
      case DT_GNU_HASH:
      case DT_RELA:
      case DT_RELASZ:
      case DT_RELAENT:
      case DT_RELACOUNT:
      case DT_JMPREL:
      case DT_PLTRELSZ:
      case DT_PLTREL:
      case DT_PLTGOT:
        if (!tags_.emplace(entry.d_tag, entry.d_un.d_val).second)
          return bad("has an entry twice in its dynamic table");
        break;
      default:
        if (const char *why = whyNot(entry.d_tag))
          return bad(why);
        return bad("has entry " + std::to_string(entry.d_tag) + " in its dynamic table");
      }
    }
    return bad("has a dynamic table without an end");
  }

  uint64_t tag(int64_t name) const {
    auto it = tags_.find(name);
    return it == tags_.end() ? 0 : it->second;
  }

  // The table by which symbols are looked up: a Bloom filter, then buckets that say where a chain
  // of hashes begins, then the chains, whose last hash is odd. Gives the number of symbols.
  Status hashTable(uint64_t &symbols) const {
    struct Head {
      uint32_t buckets, first, filterWords, filterShift;
    };
    auto at = tableAt(tag(DT_GNU_HASH), sizeof(Head));
    if (!at || tag(DT_GNU_HASH) % 8)
      return bad("has no table of names");
    Head head = *fileAt<Head>(*at);
    uint64_t size = sizeof head + uint64_t{head.filterWords} * 8 + uint64_t{head.buckets} * 4;
    if (head.buckets == 0 || head.filterWords == 0 || (head.filterWords & (head.filterWords - 1)) ||
        head.filterShift > 31 || !tableAt(tag(DT_GNU_HASH), size))
      return bad("has a damaged table of names");
    uint64_t buckets = *at + size - uint64_t{head.buckets} * 4, chains = tag(DT_GNU_HASH) + size;
    uint64_t last = 0;
    for (uint32_t i = 0; i < head.buckets; ++i) {
      uint32_t first = *fileAt<uint32_t>(buckets + uint64_t{i} * 4);
      if (first && first < head.first)
        return bad("has a damaged table of names");
      last = std::max<uint64_t>(last, first);
    }
    symbols = head.first;
    if (last == 0)
      return {};
    for (;; ++last) {
      auto chain = tableAt(chains + (last - head.first) * 4, 4);
      if (!chain)
        return bad("has a damaged table of names");
      if (*fileAt<uint32_t>(*chain) & 1)
        break;
    }
    symbols = last + 1;
    return {};
  }

  Status symbols() {
    if (tag(DT_SYMENT) != sizeof(Elf64_Sym))
      return bad("has symbols of another size");
    if (Status s = hashTable(symbols_); !s.ok())
      return s;
    auto names = tableAt(tag(DT_STRTAB), tag(DT_STRSZ));
    auto table = tableAt(tag(DT_SYMTAB), symbols_ * sizeof(Elf64_Sym));
    if (!names || !tag(DT_STRSZ) || file_[*names + tag(DT_STRSZ) - 1] != 0 || !table ||
        tag(DT_SYMTAB) % alignof(Elf64_Sym))
      return bad("has symbols or names outside of its segments");
    for (uint64_t i = 0; i < symbols_; ++i) {
      auto symbol = *fileAt<Elf64_Sym>(*table + i * sizeof(Elf64_Sym));
      if (symbol.st_name >= tag(DT_STRSZ))
        return bad("has a symbol without a name");
      unsigned type = ELF64_ST_TYPE(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF) {
        if (type != STT_NOTYPE && type != STT_FUNC)
          return bad("wants something else than functions of the process");
        continue;
      }
      const Elf64_Phdr *in = segmentOf(symbol.st_value, 1);
      if (type != STT_FUNC || symbol.st_shndx >= SHN_LORESERVE || !in || !(in->p_flags & PF_X))
        return bad(std::string("has a symbol that is no function of its code: ") +
                   (file_.data() + *names + symbol.st_name));
    }
    return {};
  }

  Status relocationTable(uint64_t address, uint64_t size, uint64_t relative) const {
    if (size == 0)
      return {};
    auto table = tableAt(address, size);
    if (!table || address % alignof(Elf64_Rela) || size % sizeof(Elf64_Rela) ||
        relative > size / sizeof(Elf64_Rela))
      return bad("has relocations outside of its segments");
    for (uint64_t at = 0; at < size; at += sizeof(Elf64_Rela)) {
      auto relocation = *fileAt<Elf64_Rela>(*table + at);
      const Elf64_Phdr *in = segmentOf(relocation.r_offset, 8);
      if (!in || !(in->p_flags & PF_W) ||
          (relocation.r_offset + 8 > dynamic_->p_vaddr &&
           relocation.r_offset < dynamic_->p_vaddr + dynamic_->p_memsz))
        return bad("relocates what may not be written");
      uint64_t type = ELF64_R_TYPE(relocation.r_info);
      bool named = type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT || type == R_X86_64_64;
      if (type == R_X86_64_IRELATIVE)
        return bad("has code that runs when it is opened");
      if ((!named && type != R_X86_64_RELATIVE) ||
          (named && ELF64_R_SYM(relocation.r_info) >= symbols_) ||
          (at / sizeof(Elf64_Rela) < relative && named))
        return bad("has a relocation of kind " + std::to_string(type));
    }
    return {};
  }

  Status relocations() {
    bool tables = tags_.count(DT_RELA), calls = tags_.count(DT_JMPREL);
    if ((tables && tag(DT_RELAENT) != sizeof(Elf64_Rela)) || tables != (tag(DT_RELASZ) > 0) ||
        (calls && tag(DT_PLTREL) != DT_RELA) || calls != (tag(DT_PLTRELSZ) > 0))
      return bad("has relocations of another form");
    if (tags_.count(DT_PLTGOT) && !segmentOf(tag(DT_PLTGOT), 24))
      return bad("has its table of calls outside of its segments");
    if (Status s = relocationTable(tag(DT_RELA), tag(DT_RELASZ), tag(DT_RELACOUNT)); !s.ok())
      return s;
    return relocationTable(tag(DT_JMPREL), tag(DT_PLTRELSZ), 0);
  }

  std::string_view file_;
  std::vector<Elf64_Phdr> table_, loads_;
  uint64_t tableOffset_ = 0, symbols_ = 0;
  std::optional<Elf64_Phdr> dynamic_;
  std::map<int64_t, uint64_t> tags_;
};

} // namespace

Status checkCode(std::string_view code) { return Checker(code).run(); }

} // namespace tessera::runtime
