#include "test/gpu/emulator/Names.h"

#include <cctype>
#include <cstring>
#include <optional>

namespace tessera::emulator {

namespace {

// Numbers, names and signs, one after the other; comments are left out.
class Tokens {
public:
  explicit Tokens(std::string_view text) : text_(text) { advance(); }

  std::string_view now() const { return now_; }
  uint32_t line() const { return line_; }
  bool ended() const { return now_.empty(); }
  std::string_view take() {
    std::string_view token = now_;
    advance();
    return token;
  }
  bool takeIf(std::string_view token) {
    if (now_ != token)
      return false;
    advance();
    return true;
  }
  void expect(std::string_view token) {
    if (!takeIf(token))
      throw NotKnown("'" + std::string(token) + "' is missing before '" + std::string(now_) + "'");
  }

private:
  static bool inName(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' ||
           c == '.';
  }
  // shared::cta
  bool isPair(size_t at) const { return text_.substr(at, 2) == "::"; }
  void skip() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\n')
        ++nextLine_, ++at_;
      else if (std::isspace(static_cast<unsigned char>(text_[at_])) || text_[at_] == '\0')
        ++at_;
      else if (text_.substr(at_, 2) == "//")
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_.substr(at_, 2) == "/*")
        at_ = std::min(text_.find("*/", at_), text_.size() - 2) + 2;
      else
        break;
    }
  }
  void advance() {
    skip();
    line_ = nextLine_;
    size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '"')
      at_ = std::min(text_.find('"', at_ + 1), text_.size() - 1) + 1;
    else if (at_ < text_.size() && inName(text_[at_]))
      while (at_ < text_.size() && (inName(text_[at_]) || isPair(at_)))
        at_ += isPair(at_) ? 2 : 1;
    else if (at_ < text_.size())
      ++at_;
    now_ = text_.substr(begin, at_ - begin);
  }

  std::string_view text_, now_;
  size_t at_ = 0;
  uint32_t line_ = 1, nextLine_ = 1;
};

// Integers, and floats as their bits: 0f3F800000, 0d3FF0000000000000.
std::optional<int64_t> numberIn(std::string_view token) {
  if (token.empty() || !std::isdigit(static_cast<unsigned char>(token[0])))
    return std::nullopt;
  std::string digits(token);
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && std::strchr("xXfFdD", digits[1]))
    digits = digits.substr(2), base = 16;
  while (!digits.empty() && base == 10 && (digits.back() == 'U' || digits.back() == 'u'))
    digits.pop_back();
  return static_cast<int64_t>(std::stoull(digits, nullptr, base));
}

class Parser {
public:
  Parser(std::string_view text, Module &module) : t_(text), module_(module) {}

  uint32_t line() const { return t_.line(); }
  void run() {
    while (!t_.ended())
      statement();
  }

private:
  void statement() {
    std::string_view word = t_.take();
    if (word == ".version" || word == ".address_size") {
      t_.take();
    } else if (word == ".target") {
      module_.target = t_.take();
      while (t_.takeIf(","))
        t_.take();
    } else if (word == ".visible" || word == ".weak") {
      return;
    } else if (word == ".extern") {
      if (!t_.takeIf(".shared"))
        throw NotKnown("something that is not there is called: .extern");
      variable(Space::Shared, /*isAdded=*/true);
    } else if (word == ".entry") {
      entry();
    } else if (word == ".global" || word == ".const") {
      variable(Space::Global);
    } else if (word == ".shared") {
      variable(Space::Shared);
    } else {
      throw NotKnown("'" + std::string(word) + "' is not known here");
    }
  }

  // .align 8 .b8 name[16] = {1, 2};
  void variable(Space space, bool isAdded = false) {
    Variable made{space, 0, 1, 0, {}};
    Type type = Type::None;
    std::string_view word;
    while ((word = t_.take()).starts_with(".")) {
      if (word == ".align")
        made.align = static_cast<uint64_t>(number());
      else if (auto known = typeNamed(word.substr(1)))
        type = *known;
    }
    std::string name(word);
    uint64_t count = 1;
    while (t_.takeIf("[")) {
      count *= isAdded ? 0 : static_cast<uint64_t>(number());
      t_.expect("]");
    }
    made.bytes = count * bytesOf(type);
    if (isAdded) {
      t_.expect(";");
      added_[name] = made.align;
      return;
    }
    if (t_.takeIf("="))
      contents(made, bytesOf(type));
    t_.expect(";");
    if (space == Space::Global)
      made.contents.resize(made.bytes);
    declare(name, std::move(made));
  }

  void contents(Variable &made, unsigned each) {
    bool isList = t_.takeIf("{");
    do {
      int64_t value = number();
      for (unsigned i = 0; i < each; ++i)
        made.contents.push_back(static_cast<uint8_t>(value >> 8 * i));
    } while (t_.takeIf(","));
    if (isList)
      t_.expect("}");
  }

  // Those of a kernel have places of their own, and are aligned there.
  void declare(const std::string &name, Variable variable) {
    if (variable.space == Space::Global) {
      module_.globals[name] = std::move(variable);
      return;
    }
    if (variable.space == Space::Shared && kernel_ && kernel_->added)
      throw NotKnown("shared memory after what a launch adds to it");
    uint64_t &size = variable.space == Space::Shared
                         ? (kernel_ ? kernel_->sharedBytes : moduleShared_)
                         : kernel_->localBytes;
    size = (size + variable.align - 1) / variable.align * variable.align;
    variable.offset = size;
    size += variable.bytes;
    locals_[name] = std::move(variable);
  }

  int64_t number() {
    bool negative = t_.takeIf("-");
    auto value = numberIn(t_.now());
    if (!value)
      throw NotKnown("a number is missing before '" + std::string(t_.now()) + "'");
    t_.take();
    return negative ? -*value : *value;
  }

  void entry() {
    std::string name(t_.take());
    kernel_ = &module_.kernels[name];
    kernel_->name = name;
    kernel_->sharedBytes = moduleShared_;
    registers_.clear(), labels_.clear(), jumps_.clear(), parameters_.clear(), tables_.clear();
    if (t_.takeIf("(") && !t_.takeIf(")")) {
      do
        parameter();
      while (t_.takeIf(","));
      t_.expect(")");
    }
    while (!t_.takeIf("{")) {
      std::string_view word = t_.take();
      if (word != ".maxntid" && word != ".reqntid" && word != ".minnctapersm")
        throw NotKnown("'" + std::string(word) + "' is not known before a body");
      int64_t threads = number();
      while (t_.takeIf(","))
        threads *= number();
      if (word != ".minnctapersm")
        kernel_->mostThreads = static_cast<uint32_t>(threads);
    }
    while (!t_.takeIf("}"))
      bodyStatement();
    for (auto [instruction, label] : jumps_)
      kernel_->instructions[instruction].target = place(label);
    kernel_->loops = loopsOf(*kernel_);
    kernel_->registers = nextRegister_;
    nextRegister_ = 0;
    isShort_.clear();
    kernel_ = nullptr;
  }

  uint32_t place(std::string_view label) {
    auto it = labels_.find(std::string(label));
    if (it == labels_.end())
      throw NotKnown("label " + std::string(label) + " is not there");
    return it->second;
  }

  void parameter() {
    t_.expect(".param");
    Variable made{Space::Param, 0, 1, 0, {}};
    std::string_view word;
    Type type = Type::None;
    while ((word = t_.take()).starts_with(".")) {
      if (word == ".align" && type == Type::None)
        made.align = static_cast<uint64_t>(number());
      else if (word == ".align") // of what a pointer points to
        number();
      else if (auto known = typeNamed(word.substr(1)))
        type = *known;
    }
    made.bytes = bytesOf(type);
    made.align = std::max<uint64_t>(made.align, bytesOf(type));
    if (t_.takeIf("[")) {
      made.bytes *= static_cast<uint64_t>(number());
      t_.expect("]");
    }
    uint64_t &size = kernel_->parameterBytes;
    size = (size + made.align - 1) / made.align * made.align;
    made.offset = size;
    size += made.bytes;
    parameters_[std::string(word)] = made.offset;
    kernel_->parameters.push_back(made);
  }

  void bodyStatement() {
    if (t_.now() == ".reg") {
      t_.take();
      bool isShort = bytesOf(typeNamed(t_.take().substr(1)).value_or(Type::None)) ==
                     4; // each instruction says its type
      do {
        std::string name(t_.take());
        if (t_.takeIf("<")) {
          int64_t count = number();
          t_.expect(">");
          for (int64_t i = 0; i < count; ++i)
            addRegister(name + std::to_string(i), isShort);
        } else {
          addRegister(name, isShort);
        }
      } while (t_.takeIf(","));
      t_.expect(";");
      return;
    }
    if (t_.now() == ".local" || t_.now() == ".shared") {
      Space space = t_.take() == ".local" ? Space::Local : Space::Shared;
      return variable(space);
    }
    if (t_.takeIf(".pragma")) {
      while (!t_.takeIf(";"))
        t_.take();
      return;
    }
    Instruction made{};
    made.line = t_.line();
    if (t_.takeIf("@")) {
      made.guardNegated = t_.takeIf("!");
      made.guard = static_cast<int32_t>(registerNamed(t_.take()));
    } else if (t_.takeIf("{") || t_.takeIf("}")) {
      throw NotKnown("a scope within a body");
    }
    std::string_view word = t_.take();
    if (t_.now() == ":") {
      t_.take();
      labels_[std::string(word)] = static_cast<uint32_t>(kernel_->instructions.size());
      return branchTargets(word);
    }
    instruction(word, made);
    kernel_->instructions.push_back(made);
  }

  // $L_brx_0: .branchtargets $A, $B;
  void branchTargets(std::string_view label) {
    if (!t_.takeIf(".branchtargets"))
      return;
    std::vector<std::string> &list = tables_[std::string(label)];
    do
      list.emplace_back(t_.take());
    while (t_.takeIf(","));
    t_.expect(";");
  }

  void addRegister(const std::string &name, bool isShort) {
    registers_[name] = nextRegister_++;
    isShort_.push_back(isShort);
  }

  uint32_t registerNamed(std::string_view name) {
    auto it = registers_.find(name);
    if (it == registers_.end())
      throw NotKnown("register " + std::string(name) + " is not declared");
    return it->second;
  }

  void instruction(std::string_view name, Instruction &made) {
    readName(name, made);
    if (isOfWarpgroups(made.code)) {
      kernel_->usesProxies = true;
      bool isOfA = made.code >= Code::WgmmaFence;
      if (isOfA ? module_.target != "sm_90a"
                : module_.target < "sm_90" && module_.target.size() == 5)
        throw NotKnown("'" + std::string(name) + "' is not there on " + module_.target);
    }
    if (made.code == Code::Mov)
      return move(made);
    if (made.code == Code::Bra) {
      jumps_.emplace_back(kernel_->instructions.size(), std::string(t_.take()));
      return t_.expect(";");
    }
    if (made.code == Code::BrxIdx)
      throw NotKnown("indexed jumps are not known yet");
    operands(made);
  }

  // Also of the halves of 64 bits: mov.b64 {%lo, %hi}, %r; and back.
  void move(Instruction &made) {
    made.to = operand();
    t_.expect(",");
    made.a = operand();
    t_.expect(";");
    if (made.to.kind == Operand::Vector)
      made.code = Code::Unpack, made.width = static_cast<uint8_t>(made.to.count);
    else if (made.a.kind == Operand::Vector)
      made.code = Code::Pack, made.width = static_cast<uint8_t>(made.a.count);
  }

  void operands(Instruction &made) {
    std::vector<Operand> list;
    if (!t_.takeIf(";")) {
      do {
        list.push_back(operand());
        list.insert(list.end(), places_.begin(), places_.end());
        places_.clear();
        if (t_.takeIf("|"))
          made.also = operand();
      } while (t_.takeIf(","));
      t_.expect(";");
    }
    if (made.code == Code::Wgmma)
      checkProduct(made, list);
    size_t next = 0;
    auto take = [&] { return next < list.size() ? list[next++] : Operand{}; };
    if (hasResult(made.code))
      made.to = take();
    made.a = take(), made.b = take(), made.c = take(), made.d = take();
    if (next != list.size())
      throw NotKnown("more operands than are known");
  }

  static bool hasResult(Code code) {
    switch (code) {
    case Code::St:
    case Code::Bar:
    case Code::Ret:
    case Code::Trap:
    case Code::CpAsync:
    case Code::CpAsyncCommit:
    case Code::CpAsyncWait:
    case Code::MBarrierInit:
    case Code::FenceBarriers:
    case Code::FenceProxy:
    case Code::CopyTensor:
    case Code::WgmmaFence:
    case Code::WgmmaCommit:
    case Code::WgmmaWait:
      return false;
    default:
      return true;
    }
  }

  // {d}, a, b, whether d is added to, signs of a and b, whether a and b are transposed: of two matrices in
  // shared memory, whose product is added.
  void checkProduct(Instruction &made, std::vector<Operand> &list) {
    auto is = [&](size_t number, int64_t value) {
      return list[number].kind == Operand::Immediate && list[number].value == value;
    };
    if (list.size() != 8 || list[1].kind != Operand::Register || !is(3, 1) || !is(4, 1) ||
        !is(5, 1) || list[0].count != 4u * made.width)
      throw NotKnown("a product of a warpgroup with operands that are not known");
    made.transposes = !is(6, 0), made.transposesB = !is(7, 0);
    list.resize(3);
  }

  Operand operand() {
    if (t_.takeIf("[")) {
      Operand inside = operand();
      inside.isShort = inside.kind == Operand::Register && isShort_[inside.index];
      if (t_.takeIf("+"))
        inside.value += number();
      else if (t_.now() == "-")
        inside.value += number();
      if (t_.takeIf(",")) // [map, {coordinates}]
        places_.push_back(operand());
      t_.expect("]");
      return inside;
    }
    if (t_.takeIf("{")) {
      std::vector<Operand> parts;
      do
        parts.push_back(operand());
      while (t_.takeIf(","));
      t_.expect("}");
      Operand made;
      made.kind = Operand::Vector;
      made.index = static_cast<uint32_t>(kernel_->vectors.size());
      made.count = static_cast<uint32_t>(parts.size());
      kernel_->vectors.insert(kernel_->vectors.end(), parts.begin(), parts.end());
      return made;
    }
    Operand made;
    made.negated = t_.takeIf("!");
    bool minus = t_.takeIf("-");
    std::string_view word = t_.take();
    if (auto value = numberIn(word)) {
      made.kind = Operand::Immediate;
      made.value = minus ? -*value : *value;
    } else if (word == "_") {
      made.kind = Operand::None;
    } else if (auto special = specialNamed(word)) {
      made.kind = Operand::SpecialRegister;
      made.index = static_cast<uint32_t>(*special);
    } else if (word.starts_with("%")) {
      made.kind = Operand::Register;
      made.index = registerNamed(word);
    } else {
      symbol(word, made);
    }
    return made;
  }

  void symbol(std::string_view word, Operand &made) {
    std::string name(word);
    made.kind = Operand::Symbol;
    if (auto it = parameters_.find(name); it != parameters_.end()) {
      made.space = Space::Param;
      made.value = static_cast<int64_t>(it->second);
    } else if (auto local = locals_.find(name); local != locals_.end()) {
      made.space = local->second.space;
      made.value = static_cast<int64_t>(local->second.offset);
    } else if (auto added = added_.find(name); added != added_.end()) {
      made.space = Space::Shared;
      kernel_->added = (kernel_->sharedBytes + added->second - 1) / added->second * added->second;
      made.value = static_cast<int64_t>(*kernel_->added);
    } else if (module_.globals.count(name)) {
      made.space = Space::Global;
      made.index = static_cast<uint32_t>(module_.globalNames.size());
      module_.globalNames.push_back(name);
    } else {
      throw NotKnown("'" + name + "' is not declared");
    }
  }

  Tokens t_;
  Module &module_;
  Kernel *kernel_ = nullptr;
  uint64_t moduleShared_ = 0;
  uint32_t nextRegister_ = 0;
  std::map<std::string, uint32_t, std::less<>> registers_;
  std::vector<bool> isShort_; // registers by number: of 32 bits
  std::map<std::string, uint32_t> labels_;
  std::map<std::string, uint64_t> parameters_;
  std::map<std::string, Variable> locals_;
  std::map<std::string, uint64_t> added_; // alignment of what launches add to shared memory
  std::map<std::string, std::vector<std::string>> tables_;
  std::vector<std::pair<size_t, std::string>> jumps_;
  std::vector<Operand> places_; // beside an address in its brackets
};

} // namespace

std::string parse(std::string_view text, Module &module) {
  Parser parser(text, module);
  try {
    parser.run();
  } catch (const std::exception &wrong) {
    return "line " + std::to_string(parser.line()) + ": " + wrong.what();
  }
  return "";
}

} // namespace tessera::emulator
