// No other file than the one that is asked for, and nothing of its code before all is checked.
#include "runtime/program/CodeSection.h"
#include "runtime/program/Sha256.h"
#include "test/unit/runtime/CompiledKernels.h"
#include <elf.h>

namespace tessera::runtime {
namespace {

// FIPS 180-4's examples, and messages around the length of a block.
TEST(Sha256Test, KnownAnswers) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(
      sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqk"
             "lmnopqrlmnopqrsmnopqrstnopqrstu"),
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256(std::string(55, 'a')),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(sha256(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST(Sha256Test, DigestsAsPeopleWriteThem) {
  std::string digest = sha256("abc"), upper = digest;
  for (char &c : upper)
    c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(readSha256(upper), digest);
  EXPECT_EQ(readSha256(digest.substr(1)), "");
  EXPECT_EQ(readSha256(digest + "0"), "");
  EXPECT_EQ(readSha256("g" + digest.substr(1)), "");
}

TEST(TrustTest, NoOtherFileIsOpened) {
  ProgramBuilder builder = accumulator({2}, false);
  std::string file = fileWithCode(builder, accumulatorCode()), path = temporaryFile("named.tsr");
  std::ofstream(path, std::ios::binary) << file;
  EXPECT_TRUE(LoadedProgram::loadFile(path, sha256(file)).ok());
  // Another program in its place, whole and with right checksums.
  builder.program.set_name("another");
  std::string other = fileWithCode(builder, accumulatorCode());
  std::ofstream(path, std::ios::binary) << other;
  EXPECT_TRUE(LoadedProgram::loadFile(path).ok());
  EXPECT_EQ(LoadedProgram::loadFile(path, sha256(file)).status().message(),
            path + ": this is another file: its SHA-256 is " + sha256(other) + ", not " +
                sha256(file));
  EXPECT_EQ(LoadedProgram::loadFile(path, "cafe").status().message(),
            "a SHA-256 has 64 hexadecimal digits, not 'cafe'");
}

std::string refusal(const std::string &source, const std::string &options = "") {
  ProgramBuilder builder = accumulator({2}, false);
  return LoadedProgram::load(fileWithObject(builder, compiledCode(source, options)), nullptr)
      .status()
      .message();
}

// The constructor would leave its mark in the environment before the loader could say anything.
TEST(TrustTest, ConstructorsNeverRun) {
  const std::string kernel = accumulatorCode();
  const std::string mark = "int setenv(const char *, const char *, int);\n";
  const char *body = "{ setenv(\"TESSERA_TEST_MARK\", \"1\", 1); }\n";
  const std::string opened = "the code section cannot be loaded: it has code that runs when it is "
                             "opened";
  unsetenv("TESSERA_TEST_MARK");
  EXPECT_EQ(refusal(kernel + mark + "__attribute__((constructor)) void begin(void)" + body),
            opened);
  EXPECT_EQ(refusal(kernel + mark + "void _init(void)" + body), opened);
  EXPECT_EQ(refusal(kernel + mark + "__attribute__((destructor)) void end(void)" + body),
            "the code section cannot be loaded: it has code that runs when it is closed");
  EXPECT_EQ(refusal(kernel + mark +
                    "static int one(void) { return 1; }\n"
                    "static int (*choose(void))(void) { setenv(\"TESSERA_TEST_MARK\", \"1\", 1); "
                    "return one; }\n"
                    "int chosen(void) __attribute__((ifunc(\"choose\")));\n"),
            "the code section cannot be loaded: it has a symbol that is no function of its code: "
            "chosen");
  EXPECT_EQ(refusal(kernel + mark +
                    "static int one(void) { return 1; }\n"
                    "static int (*choose(void))(void) { setenv(\"TESSERA_TEST_MARK\", \"1\", 1); "
                    "return one; }\n"
                    "__attribute__((visibility(\"hidden\"), ifunc(\"choose\"))) int chosen(void);\n"
                    "int use(void) { return chosen(); }\n"),
            opened);
  EXPECT_EQ(std::getenv("TESSERA_TEST_MARK"), nullptr);
}

TEST(TrustTest, OtherThingsOfSharedObjectsAreRefused) {
  const std::string kernel = accumulatorCode(), cannot = "the code section cannot be loaded: it ";
  EXPECT_EQ(refusal(kernel), "");
  EXPECT_EQ(refusal(kernel + "void *memcpy(void *, const void *, unsigned long);\n"
                             "void copy(void *a, void *b, unsigned long n) { memcpy(a, b, n); }\n"),
            ""); // a function of the process
  EXPECT_EQ(refusal(kernel, "-Wl,--no-as-needed -lc"), cannot + "wants other libraries");
  EXPECT_EQ(refusal(kernel, "-Wl,-rpath,/tmp"), cannot + "has entry 29 in its dynamic table");
  EXPECT_EQ(refusal(kernel, "-z execstack"), cannot + "wants an executable stack");
  EXPECT_EQ(refusal(kernel, "-Wl,-N"), cannot + "has segments that overlap or are not aligned");
  EXPECT_EQ(refusal(kernel + "__thread int counter; int count(void) { return counter++; }\n"),
            cannot + "has a segment of kind 7");
  EXPECT_EQ(refusal(kernel + "int exported = 3;\n"),
            cannot + "has a symbol that is no function of its code: exported");
}

// Whatever the tables of the object say, the loader ends by itself. Code is not called.
TEST(TrustTest, DamagedObjectsAreRefusedOrOpened) {
  std::string code =
      compiledCode(std::string(accumulatorCode()) +
                   "void *memcpy(void *, const void *, unsigned long);\n"
                   "void copy(void *a, void *b, unsigned long n) { memcpy(a, b, n); }\n"
                   "static int here = 5; static int *volatile p = &here;\n"
                   "int *there(void) { return p; }\n");
  int opened = 0, refused = 0;
  for (size_t at = 0; at < code.size(); ++at)
    for (int change : {0x01, 0x10, 0x80, 0xff}) {
      std::string damaged = code;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      if (!checkCode(damaged).ok()) {
        ++refused;
        continue;
      }
      auto object = SharedObject::open(damaged);
      if (object.ok())
        (*object)->symbol("add");
      ++opened;
    }
  EXPECT_GT(opened, 1000); // code, names, what only linkers read
  EXPECT_GT(refused, 1000);
  for (size_t size = 0; size < code.size(); ++size)
    if (checkCode(std::string_view(code).substr(0, size)).ok())
      SharedObject::open(std::string_view(code).substr(0, size)).ok();
}

} // namespace
} // namespace tessera::runtime
