/* Sequences of calls of the C interfaces, made at random: objects that fit and that don't, NULL,
 * wrong sizes and numbers, damaged programs and texts, in any order, with little memory, on a small
 * stack, across a fork, with steps that are cancelled from another thread.
 *
 *   api-sequences [--count=200] [--seed=0] [--only=K] [--calls=40]
 *
 * Each sequence is a function of the seed and its number, and runs in a process of its own, which
 * has 10 seconds of a core, 90 by the clock, and 2 GB. What must hold after each call: a code that
 * is not TESSERA_OK comes with
 * a message and hands nothing out; what should work does, and gives the right numbers; nothing that
 * is damaged is taken. Prints each bad end and their count; the exit code is 1 when there was one.
 */
#include "model.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kPrograms = 3, kSessions = 3, kArrays = 8 };

/* The objects of a sequence; NULL where there is none. */
struct State {
  uint64_t random;
  const void *bytes; /* of the model's program */
  size_t size;
  int scarce; /* memory: then any call may fail */
  tessera_program *programs[kPrograms];
  tessera_session *sessions[kSessions];
  tessera_array *arrays[kArrays];
};

static uint64_t draw(struct State *s, uint64_t below) {
  s->random += 0x9E3779B97F4A7C15u; /* splitmix64 (Steele, Lea, Flood, 2014) */
  uint64_t z = s->random;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (z ^ (z >> 31)) % below;
}
static int sometimes(struct State *s, uint64_t in) { return draw(s, in) == 0; }

static const size_t kSizes[] = {0, 1, 2, 3, 8, 12, 47, 48, 49, 1 << 20, SIZE_MAX / 2, SIZE_MAX};
static size_t oddSize(struct State *s) { return kSizes[draw(s, sizeof kSizes / sizeof *kSizes)]; }

/* What the interface promises of any call; `made`: what it handed out, or NULL. */
static const char *check(const char *what, tessera_code code, const void *made) {
  if ((int)code < 0 || code > TESSERA_DATA_LOSS)
    return complain("%s: code %d", what, (int)code);
  if (code != TESSERA_OK && !*tessera_error_message())
    return complain("%s: code %d without a message", what, (int)code);
  if ((code == TESSERA_OK) != (made != NULL))
    return complain("%s: code %d, and %s", what, (int)code, made ? "an object" : "no object");
  return NULL;
}

static const char *loadProgram(struct State *s) {
  tessera_program **slot = &s->programs[draw(s, kPrograms)], *made = NULL;
  tessera_program_free(*slot);
  *slot = NULL;
  if (sometimes(s, 3)) {
    size_t size = sometimes(s, 3) ? draw(s, s->size) : s->size;
    char *copy = malloc(s->size);
    if (!copy)
      return NULL;
    memcpy(copy, s->bytes, s->size);
    if (size == s->size)
      copy[draw(s, size)] ^= (char)(1 << draw(s, 8));
    tessera_code code = tessera_program_load(copy, size, &made);
    free(copy);
    return code == TESSERA_OK ? "a damaged program is taken" : check("load damaged", code, made);
  }
  tessera_code code = tessera_program_load(s->bytes, s->size, &made);
  *slot = made;
  return code != TESSERA_OK && !s->scarce ? complain("load: %s", tessera_error_message())
                                          : check("load", code, made);
}

static const char *createSession(struct State *s) {
  static const char *const kNames[] = {"local", "pigeon", "", "mpi/../x", "../lib"};
  static const char *const kTopologies[] = {"{}", "", "{\"alpha\": -1}", "{\"alpha\": 1e-6}",
                                            "[[["};
  static const size_t kStructs[] = {0, 8, 12, 16, 24, 4096};
  char room[4096];
  memset(room, 0, sizeof room);
  tessera_session_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sometimes(s, 3) ? kStructs[draw(s, 6)] : sizeof options;
  options.workers = sometimes(s, 4) ? (uint32_t)draw(s, UINT32_MAX) : (uint32_t)draw(s, 4);
  if (sometimes(s, 4))
    options.communicator = kNames[draw(s, 5)];
  if (sometimes(s, 4))
    options.topology = kTopologies[draw(s, 5)];
  memcpy(room, &options, sizeof options);
  tessera_session **slot = &s->sessions[draw(s, kSessions)], *made = NULL;
  tessera_session_free(*slot);
  tessera_code code =
      tessera_session_create(s->programs[draw(s, kPrograms)],
                             sometimes(s, 4) ? NULL : (tessera_session_options *)room, &made);
  *slot = made;
  return check("create", code, made);
}

static const char *placeArray(struct State *s) {
  static float values[1 << 18];
  tessera_array **slot = &s->arrays[draw(s, kArrays)], *made = NULL;
  tessera_array_free(*slot);
  *slot = NULL;
  tessera_session *session = s->sessions[draw(s, kSessions)];
  size_t input = sometimes(s, 6) ? oddSize(s) : draw(s, 2), bytes = input ? 12 : 48;
  if (sometimes(s, 6))
    bytes = oddSize(s);
  tessera_code code = tessera_array_place(session, input, sometimes(s, 8) ? NULL : values, bytes,
                                          sometimes(s, 16) ? NULL : &made);
  *slot = made;
  return made || code != TESSERA_OK ? check("place", code, made) : "placed, and nothing given";
}

static void *cancelSoon(void *session) {
  usleep(50);
  tessera_session_cancel(session);
  return NULL;
}

static const char *executeStep(struct State *s) {
  tessera_session *session = s->sessions[draw(s, kSessions)];
  tessera_array *in[4], *out[4] = {NULL, NULL, NULL, NULL};
  for (int i = 0; i < 4; ++i)
    in[i] = s->arrays[draw(s, kArrays)];
  pthread_t other;
  int cancelled =
      session && sometimes(s, 6) && pthread_create(&other, NULL, cancelSoon, session) == 0;
  size_t inputs = sometimes(s, 6) ? draw(s, 5) : 2, outputs = sometimes(s, 6) ? draw(s, 5) : 2;
  tessera_code code = tessera_session_execute(session, sometimes(s, 12) ? NULL : in, inputs,
                                              sometimes(s, 12) ? NULL : out, outputs);
  if (cancelled)
    pthread_join(other, NULL);
  for (int i = 0; i < 4; ++i)
    if (out[i]) {
      tessera_array **slot = &s->arrays[draw(s, kArrays)];
      tessera_array_free(*slot);
      *slot = out[i];
    }
  return check("execute", code, code == TESSERA_OK ? out[0] : NULL);
}

static const char *readArray(struct State *s) {
  char room[4096];
  tessera_array *array = s->arrays[draw(s, kArrays)];
  tessera_parameter parameter;
  memset(&parameter, 0, sizeof parameter);
  parameter.struct_size = sometimes(s, 8) ? oddSize(s) % sizeof parameter : sizeof parameter;
  if (parameter.struct_size == sizeof parameter &&
      tessera_array_describe(array, &parameter) == TESSERA_OK && parameter.bytes <= sizeof room &&
      tessera_array_is_valid(array) &&
      tessera_array_read(array, room, parameter.bytes) != TESSERA_OK && !s->scarce)
    return complain("read: %s", tessera_error_message());
  size_t bytes = sometimes(s, 2) ? oddSize(s) : 0;
  if (bytes > sizeof room) /* it must not come to writing them */
    return tessera_array_read(array, room, bytes) == TESSERA_OK ? "read too much" : NULL;
  return (void)tessera_array_read(array, sometimes(s, 4) ? NULL : room, bytes), NULL;
}

static const char *ask(struct State *s) {
  tessera_program *program = s->programs[draw(s, kPrograms)];
  tessera_session *session = s->sessions[draw(s, kSessions)];
  tessera_parameter parameter;
  memset(&parameter, 0, sizeof parameter);
  parameter.struct_size = sometimes(s, 4) ? oddSize(s) % sizeof parameter : sizeof parameter;
  tessera_counters counters;
  memset(&counters, 0, sizeof counters);
  counters.struct_size = sizeof counters;
  size_t index = sometimes(s, 3) ? oddSize(s) : draw(s, 2);
  (void)tessera_program_input(program, index, &parameter);
  (void)tessera_program_output(program, index, sometimes(s, 4) ? NULL : &parameter);
  (void)tessera_session_counters(session, sometimes(s, 4) ? NULL : &counters);
  tessera_session_cancel(session);
  int64_t devices = tessera_program_devices(program);
  if (devices != (program ? 2 : -1) || !tessera_program_report(program) ||
      !tessera_session_report(session) ||
      tessera_session_process_count(session) != (session ? 1 : 0) ||
      tessera_program_input_count(program) != (program ? 2 : 0))
    return "an answer is wrong";
  return NULL;
}

static const char *compileText(struct State *s) {
  if (!sometimes(s, 8))
    return NULL;
  char text[2048];
  size_t size = strlen(kModel);
  memcpy(text, kModel, size);
  for (uint64_t i = draw(s, 3); i > 0; --i)
    text[draw(s, size)] = "0%<>[]{}(),:x?\"\n"[draw(s, 16)];
  tessera_compile_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sometimes(s, 3) ? oddSize(s) % (sizeof options + 1) : sizeof options;
  if (sometimes(s, 4))
    options.topology = "{\"alpha\": 1e-6}";
  tessera_compiled *compiled =
      tessera_compile(sometimes(s, 8) ? NULL : text, sometimes(s, 3) ? draw(s, size) : size,
                      sometimes(s, 3) ? NULL : &options);
  if (!compiled)
    return s->scarce ? NULL : "compile gives nothing";
  size_t bytes = 0;
  const char *error = tessera_compiled_error(compiled), *wrong = NULL;
  if (error && strncmp(error, "error: ", 7) != 0)
    wrong = complain("compile: %s", error);
  if (!error && (!tessera_compiled_program(compiled, &bytes) || !bytes))
    wrong = "compiled to nothing";
  tessera_compiled_free(compiled);
  return wrong;
}

static const char *stepRight(struct State *s) {
  tessera_session *session = s->sessions[draw(s, kSessions)];
  const char *wrong = session ? stepModel(session, (float)draw(s, 9), (float)draw(s, 9)) : NULL;
  return s->scarce && wrong && !strstr(wrong, " is ") ? NULL : wrong;
}

static const char *freeOne(struct State *s) {
  uint64_t which = draw(s, kPrograms + kSessions + kArrays);
  if (which < kPrograms) {
    tessera_program_free(s->programs[which]);
    s->programs[which] = NULL;
  } else if (which < kPrograms + kSessions) {
    tessera_session_free(s->sessions[which - kPrograms]);
    s->sessions[which - kPrograms] = NULL;
  } else {
    tessera_array_free(s->arrays[which - kPrograms - kSessions]);
    s->arrays[which - kPrograms - kSessions] = NULL;
  }
  return NULL;
}

static const char *(*const kCalls[])(struct State *) = {
    loadProgram, createSession, placeArray,  placeArray, executeStep, executeStep,
    readArray,   ask,           compileText, stepRight,  freeOne};

struct Sequence {
  struct State state;
  uint64_t calls;
  const char *wrong;
};

static void *runSequence(void *argument) {
  struct Sequence *q = argument;
  struct State *s = &q->state;
  const char *wrong = NULL;
  for (uint64_t i = 0; !wrong && i < q->calls; ++i)
    wrong = kCalls[i < 2 ? i : draw(s, sizeof kCalls / sizeof *kCalls)](s);
  for (int i = 0; i < kArrays; ++i)
    tessera_array_free(s->arrays[i]);
  for (int i = 0; i < kSessions; ++i)
    tessera_session_free(s->sessions[i]);
  for (int i = 0; i < kPrograms; ++i)
    tessera_program_free(s->programs[i]);
  q->wrong = wrong ? strdup(wrong) : NULL;
  return NULL;
}

static void limitMemory(rlim_t beyond) {
#if !defined(__SANITIZE_ADDRESS__)
  long pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (statm && fscanf(statm, "%ld", &pages) == 1) {
    struct rlimit limit = {(rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + beyond, 0};
    limit.rlim_max = limit.rlim_cur;
    setrlimit(RLIMIT_AS, &limit);
  }
  if (statm)
    fclose(statm);
#endif
}

/* In the child: the exit code. */
static int play(struct Sequence *q) {
  struct State *s = &q->state;
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  struct rlimit seconds = {10, 10};
  setrlimit(RLIMIT_CPU, &seconds);
  alarm(90); /* of a machine that has much else to do */
  s->scarce = sometimes(s, 6);
  limitMemory(s->scarce ? (rlim_t)(8 + draw(s, 120)) << 20 : (rlim_t)2 << 30);
  if (sometimes(s, 8)) {
    static const char *const kNumbers[] = {"0", "3", "x", "-1", "1e300"};
    setenv("TESSERA_WORKERS", kNumbers[draw(s, 5)], 1);
    s->scarce = 1; /* sessions may be refused */
  }
  if (sometimes(s, 6)) { /* what is made so far is the parent's, and its copy used by a child */
    if (tessera_program_load(s->bytes, s->size, &s->programs[0]) == TESSERA_OK)
      (void)tessera_session_create(s->programs[0], NULL, &s->sessions[0]);
    pid_t child = fork();
    if (child == 0)
      alarm(60), s->scarce = 1; /* the parent's session refuses to execute */
    int status = 0;
    if (child > 0 && (waitpid(child, &status, 0) != child || status != 0))
      return fprintf(stderr, "the child of a fork ended with %#x\n", (unsigned)status), 1;
  }
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 512 << 10);
  if (sometimes(s, 3) && pthread_create(&thread, &attributes, runSequence, q) == 0)
    pthread_join(thread, NULL);
  else
    runSequence(q);
  if (q->wrong)
    fprintf(stderr, "%s\n", q->wrong);
  return q->wrong ? 1 : 0;
}

int main(int argc, char **argv) {
  uint64_t count = 200, seed = 0, first = 0, calls = 40;
  for (int i = 1; i < argc; ++i) {
    char *end = strchr(argv[i], '=');
    uint64_t value = end ? strtoull(end + 1, NULL, 10) : 0;
    if (!strncmp(argv[i], "--count=", 8))
      count = value;
    else if (!strncmp(argv[i], "--seed=", 7))
      seed = value;
    else if (!strncmp(argv[i], "--calls=", 8))
      calls = value;
    else if (!strncmp(argv[i], "--only=", 7))
      first = value, count = 1;
    else
      return fprintf(stderr, "error: no option %s\n", argv[i]), 1;
  }
  tessera_compiled *compiled = NULL;
  const char *wrong = compileModel(&compiled);
  if (wrong)
    return fprintf(stderr, "error: %s\n", wrong), 1;
  uint64_t bad = 0;
  for (uint64_t number = first; number < first + count; ++number) {
    struct Sequence q;
    memset(&q, 0, sizeof q);
    q.calls = calls;
    q.state.random = seed * 1000003 + number * 7919;
    q.state.bytes = tessera_compiled_program(compiled, &q.state.size);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
      exit(play(&q));
    int status = 0;
    if (waitpid(pid, &status, 0) == pid && status == 0)
      continue;
    ++bad;
    printf("--seed=%llu --only=%llu: %s %d\n", (unsigned long long)seed, (unsigned long long)number,
           WIFSIGNALED(status) ? "signal" : "exit code",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
  printf("seed %llu: %llu sequences of %llu calls, %llu bad\n", (unsigned long long)seed,
         (unsigned long long)count, (unsigned long long)calls, (unsigned long long)bad);
  tessera_compiled_free(compiled);
  return bad ? 1 : 0;
}
