/* A host of the C interfaces of compiler and runtime that does what no careful host would: every
 * argument NULL in turn, work on a thread with a small stack, from 8 threads at once, in the child
 * of a fork, without room for threads or files. Each must give a code and a message, or the right numbers.
 *
 *   api-host [SCENE ..]       all scenes without arguments; the exit code is 1 when one went wrong
 *
 * Each scene runs in a process of its own and has 60 seconds. */
#include "model.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Everything that the functions take, well made. */
struct Objects {
  tessera_compiled *compiled;
  const void *bytes;
  size_t size;
  tessera_program *program;
  tessera_session *session;
  tessera_array *in[2];
};

static const float kZeros[12];

static const char *make(struct Objects *o) {
  const char *wrong = compileModel(&o->compiled);
  if (wrong)
    return wrong;
  o->bytes = tessera_compiled_program(o->compiled, &o->size);
  if (tessera_program_load(o->bytes, o->size, &o->program) != TESSERA_OK ||
      tessera_session_create(o->program, NULL, &o->session) != TESSERA_OK ||
      tessera_array_place(o->session, 0, kZeros, 48, &o->in[0]) != TESSERA_OK ||
      tessera_array_place(o->session, 1, kZeros, 12, &o->in[1]) != TESSERA_OK)
    return complain("%s", tessera_error_message());
  return NULL;
}

static void release(struct Objects *o) {
  tessera_array_free(o->in[0]);
  tessera_array_free(o->in[1]);
  tessera_session_free(o->session);
  tessera_program_free(o->program);
  tessera_compiled_free(o->compiled);
}

/* Each call with an argument that is NULL: its code, and a message that says so. */
#define REFUSED(call)                                                                              \
  do {                                                                                             \
    tessera_code code = (call);                                                                    \
    if (code != TESSERA_INVALID_ARGUMENT || !strstr(tessera_error_message(), "null"))              \
      return complain("%s: code %d, \"%s\"", #call, (int)code, tessera_error_message());           \
  } while (0)
#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition))                                                                              \
      return complain("line %d: not so: %s", __LINE__, #condition);                                \
  } while (0)
/* One that returns no code. */
#define SAYS_NULL(condition)                                                                       \
  do {                                                                                             \
    (void)tessera_program_load(NULL, 1, NULL);                                                     \
    EXPECT(condition);                                                                             \
    if (!strstr(tessera_error_message(), "null") || strstr(tessera_error_message(), "_load"))      \
      return complain("%s: \"%s\"", #condition, tessera_error_message());                          \
  } while (0)

static tessera_parameter emptyParameter(void) {
  tessera_parameter parameter;
  memset(&parameter, 0, sizeof parameter);
  parameter.struct_size = sizeof parameter;
  return parameter;
}

static tessera_counters emptyCounters(void) {
  tessera_counters counters;
  memset(&counters, 0, sizeof counters);
  counters.struct_size = sizeof counters;
  return counters;
}

static const char *runtimeNulls(struct Objects *o) {
  tessera_program *program = NULL;
  tessera_session *session = NULL;
  tessera_array *array = NULL, *out[2] = {NULL, NULL}, *none[2] = {NULL, NULL};
  tessera_parameter parameter = emptyParameter();
  tessera_counters counters = emptyCounters();
  char place[48];

  REFUSED(tessera_program_load(NULL, 10, &program));
  REFUSED(tessera_program_load(o->bytes, o->size, NULL));
  REFUSED(tessera_program_load_file(NULL, &program));
  REFUSED(tessera_program_load_file("p.tsr", NULL));
  REFUSED(tessera_program_load_file_sha256(NULL, NULL, &program));
  EXPECT(tessera_program_load_file_sha256("p.tsr", "", &program) == TESSERA_INVALID_ARGUMENT);
  EXPECT(tessera_program_load_file_sha256("p.tsr", "beef", &program) == TESSERA_INVALID_ARGUMENT);
  REFUSED(tessera_program_load_file_sha256("p.tsr", NULL, NULL));
  SAYS_NULL(tessera_program_devices(NULL) == -1);
  SAYS_NULL(tessera_program_input_count(NULL) == 0);
  SAYS_NULL(tessera_program_output_count(NULL) == 0);
  REFUSED(tessera_program_input(NULL, 0, &parameter));
  REFUSED(tessera_program_input(o->program, 0, NULL));
  REFUSED(tessera_program_output(NULL, 0, &parameter));
  REFUSED(tessera_program_output(o->program, 0, NULL));
  SAYS_NULL(strcmp(tessera_program_report(NULL), "") == 0);
  REFUSED(tessera_session_create(NULL, NULL, &session));
  REFUSED(tessera_session_create(o->program, NULL, NULL));
  SAYS_NULL(tessera_session_process(NULL) == -1);
  SAYS_NULL(tessera_session_process_count(NULL) == 0);
  REFUSED(tessera_session_execute(NULL, o->in, 2, out, 2));
  REFUSED(tessera_session_execute(o->session, NULL, 2, out, 2));
  REFUSED(tessera_session_execute(o->session, o->in, 2, NULL, 2));
  REFUSED(tessera_session_execute(o->session, none, 2, out, 2));
  SAYS_NULL((tessera_session_cancel(NULL), 1));
  REFUSED(tessera_session_counters(NULL, &counters));
  REFUSED(tessera_session_counters(o->session, NULL));
  SAYS_NULL(strcmp(tessera_session_report(NULL), "") == 0);
  REFUSED(tessera_array_place(NULL, 0, kZeros, 48, &array));
  REFUSED(tessera_array_place(o->session, 0, NULL, 48, &array));
  REFUSED(tessera_array_place(o->session, 0, kZeros, 48, NULL));
  REFUSED(tessera_array_read(NULL, place, 48));
  REFUSED(tessera_array_read(o->in[0], NULL, 48));
  REFUSED(tessera_array_describe(NULL, &parameter));
  REFUSED(tessera_array_describe(o->in[0], NULL));
  SAYS_NULL(tessera_array_is_valid(NULL) == 0);
  tessera_array_free(NULL);
  tessera_session_free(NULL);
  tessera_program_free(NULL);
  EXPECT(!program && !session && !array && !out[0] && !out[1]);
  return stepModel(o->session, 1, 2); /* all is as it was */
}

/* The same of clients and what belongs to them. */
static const char *clientNulls(struct Objects *o) {
  const int64_t shape[1] = {3};
  size_t index = 0;
  tessera_client *client = NULL, *noClient = NULL;
  tessera_executable *executable = NULL, *noExecutable = NULL;
  tessera_buffer *buffer = NULL, *noBuffer = NULL, *tiles[1] = {NULL}, *out[64] = {NULL};
  tessera_event *event = NULL, *noEvent = NULL;
  tessera_arena *arena = NULL;
  tessera_call *call = NULL, *noCall = NULL;
  tessera_array *arrays[2] = {NULL, NULL};
  const char *names[2] = {"in0", NULL};
  tessera_parameter parameter = emptyParameter();
  tessera_counters counters = emptyCounters();

  EXPECT(tessera_client_create(NULL, &client) == TESSERA_OK);
  EXPECT(tessera_executable_load(client, o->program, &executable) == TESSERA_OK);
  EXPECT(tessera_buffer_from_host(client, 0, "f32", 1, shape, kZeros, 12, &buffer, NULL) ==
         TESSERA_OK);
  EXPECT(tessera_buffer_ready(buffer, &event) == TESSERA_OK);
  EXPECT(tessera_call_create(executable, NULL, &call) == TESSERA_OK);

  REFUSED(tessera_program_input_index(NULL, "in0", &index));
  REFUSED(tessera_program_input_index(o->program, NULL, &index));
  REFUSED(tessera_program_input_index(o->program, "in0", NULL));
  REFUSED(tessera_program_output_index(NULL, "out0", &index));
  REFUSED(tessera_program_output_index(o->program, NULL, &index));
  REFUSED(tessera_program_output_index(o->program, "out0", NULL));
  REFUSED(tessera_client_create(NULL, NULL));
  SAYS_NULL(tessera_client_process(NULL) == -1);
  SAYS_NULL(tessera_client_process_count(NULL) == 0);
  REFUSED(tessera_executable_load(NULL, o->program, &noExecutable));
  REFUSED(tessera_executable_load(client, NULL, &noExecutable));
  REFUSED(tessera_executable_load(client, o->program, NULL));
  SAYS_NULL(tessera_executable_device_count(NULL) == 0);
  SAYS_NULL(tessera_executable_device_id(NULL, 0) == -1);
  REFUSED(tessera_executable_input_tile(NULL, 0, &parameter));
  REFUSED(tessera_executable_input_tile(executable, 0, NULL));
  REFUSED(tessera_executable_output_tile(NULL, 0, &parameter));
  REFUSED(tessera_executable_output_tile(executable, 0, NULL));
  REFUSED(tessera_buffer_from_host(NULL, 0, "f32", 1, shape, kZeros, 12, &noBuffer, NULL));
  REFUSED(tessera_buffer_from_host(client, 0, NULL, 1, shape, kZeros, 12, &noBuffer, NULL));
  REFUSED(tessera_buffer_from_host(client, 0, "f32", 1, NULL, kZeros, 12, &noBuffer, NULL));
  REFUSED(tessera_buffer_from_host(client, 0, "f32", 1, shape, NULL, 12, &noBuffer, NULL));
  REFUSED(tessera_buffer_from_host(client, 0, "f32", 1, shape, kZeros, 12, NULL, NULL));
  REFUSED(tessera_buffer_to_host(NULL, &counters, 12, NULL));
  REFUSED(tessera_buffer_to_host(buffer, NULL, 12, NULL));
  REFUSED(tessera_buffer_share(NULL, &noBuffer));
  REFUSED(tessera_buffer_share(buffer, NULL));
  REFUSED(tessera_buffer_describe(NULL, &parameter));
  REFUSED(tessera_buffer_describe(buffer, NULL));
  SAYS_NULL(tessera_buffer_device(NULL) == -1);
  SAYS_NULL(tessera_buffer_is_valid(NULL) == 0);
  REFUSED(tessera_buffer_ready(NULL, &noEvent));
  REFUSED(tessera_buffer_ready(buffer, NULL));
  REFUSED(tessera_event_wait(NULL, 1));
  SAYS_NULL(tessera_event_is_ready(NULL) == 0);
  REFUSED(tessera_event_when_ready(NULL, NULL, NULL));
  REFUSED(tessera_event_when_ready(event, NULL, NULL));
  REFUSED(tessera_arena_create(NULL, 1, &arena));
  REFUSED(tessera_arena_create(&noExecutable, 1, &arena));
  REFUSED(tessera_arena_create(&executable, 1, NULL));
  REFUSED(tessera_call_create(NULL, NULL, &noCall));
  REFUSED(tessera_call_create(executable, NULL, NULL));
  REFUSED(tessera_call_bind(NULL, 0, tiles, 1));
  REFUSED(tessera_call_bind(call, 0, NULL, 1));
  REFUSED(tessera_call_start(NULL, out, 1, NULL));
  REFUSED(tessera_call_start(call, NULL, 1, NULL));
  SAYS_NULL((tessera_call_cancel(NULL), 1));
  REFUSED(tessera_call_counters(NULL, &counters));
  REFUSED(tessera_call_counters(call, NULL));
  REFUSED(tessera_session_execute_named(NULL, names, o->in, 2, arrays, 2));
  REFUSED(tessera_session_execute_named(o->session, NULL, o->in, 2, arrays, 2));
  REFUSED(tessera_session_execute_named(o->session, names, NULL, 2, arrays, 2));
  REFUSED(tessera_session_execute_named(o->session, names, o->in, 2, arrays, 2));
  tessera_client_free(NULL);
  tessera_executable_free(NULL);
  tessera_buffer_free(NULL);
  tessera_event_free(NULL);
  tessera_arena_free(NULL);
  tessera_call_free(NULL);
  EXPECT(!noClient && !noExecutable && !noBuffer && !noEvent && !arena && !noCall && !out[0]);
  tessera_client_free(client); /* in any order */
  tessera_executable_free(executable);
  tessera_call_free(call);
  tessera_buffer_free(buffer);
  tessera_event_free(event);
  return stepModel(o->session, 1, 2);
}

static const char *compilerNulls(struct Objects *o) {
  size_t n = 5;
  tessera_compiled *bad = tessera_compile(NULL, 10, NULL);
  EXPECT(bad && strstr(tessera_compiled_error(bad), "null"));
  tessera_compiled_free(bad);
  bad = tessera_compile(NULL, 0, NULL);
  EXPECT(bad && strncmp(tessera_compiled_error(bad), "error: ", 7) == 0);
  tessera_compiled_free(bad);
  EXPECT(strstr(tessera_compiled_error(NULL), "null"));
  EXPECT(!tessera_compiled_program(NULL, &n) && n == 0);
  EXPECT(!tessera_compiled_program(NULL, NULL));
  EXPECT(tessera_compiled_program(o->compiled, NULL) == o->bytes);
  EXPECT(strcmp(tessera_compiled_report(NULL), "") == 0);
  n = 5;
  EXPECT(!tessera_compiled_collectives(NULL, &n) && n == 0);
  EXPECT(!tessera_compiled_collectives(NULL, NULL));
  EXPECT(tessera_compiled_collectives(o->compiled, NULL));
  tessera_compiled_free(NULL);
  return NULL;
}

static const char *nulls(void) {
  struct Objects o = {0};
  const char *wrong = make(&o);
  if (!wrong)
    wrong = runtimeNulls(&o);
  if (!wrong)
    wrong = clientNulls(&o);
  if (!wrong)
    wrong = compilerNulls(&o);
  release(&o);
  return wrong;
}

static void *runOnThread(void *unused) {
  (void)unused;
  const char *wrong = runModel(2);
  return wrong ? strdup(wrong) : NULL;
}

static const char *threads(int count, size_t stackBytes) {
  pthread_t made[8];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stackBytes)
    pthread_attr_setstacksize(&attributes, stackBytes);
  for (int i = 0; i < count; ++i)
    if (pthread_create(&made[i], &attributes, runOnThread, NULL) != 0)
      return "no thread";
  const char *wrong = NULL;
  for (int i = 0; i < count; ++i) {
    void *one = NULL;
    pthread_join(made[i], &one);
    wrong = one ? complain("thread %d: %s", i, (char *)one) : wrong;
    free(one);
  }
  return wrong;
}

static const char *smallStack(void) { return threads(1, 512 << 10); }
static const char *eightThreads(void) { return threads(8, 0); }

/* In the child: what the parent made, what it makes itself, and an ordinary end. */
static const char *afterFork(void) {
  struct Objects o = {0};
  const char *wrong = make(&o);
  if (!wrong)
    wrong = stepModel(o.session, 1, 2);
  if (wrong)
    return wrong;
  pid_t child = fork();
  if (child == 0) {
    alarm(50);
    tessera_array *out[2] = {NULL, NULL};
    float x[12] = {1};
    if (tessera_session_execute(o.session, o.in, 2, out, 2) != TESSERA_FAILED_PRECONDITION ||
        !strstr(tessera_error_message(), "fork"))
      wrong = complain("execute in the child: %s", tessera_error_message());
    else if (tessera_array_read(o.in[0], x, sizeof x) != TESSERA_OK || x[0] != 0)
      wrong = complain("read in the child: %s", tessera_error_message());
    tessera_session_cancel(o.session);
    if (!wrong)
      wrong = runModel(0);
    if (wrong)
      fprintf(stderr, "child: %s\n", wrong);
    release(&o);
    exit(wrong ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return complain("the child ended with status %#x", (unsigned)status);
  wrong = stepModel(o.session, 3, 4); /* nothing of it touched the parent */
  release(&o);
  return wrong;
}

static const char *refuseWorkers(const struct Objects *o, uint32_t workers, tessera_code right,
                                 const char *part) {
  tessera_session_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.workers = workers;
  tessera_session *session = NULL;
  tessera_code code = tessera_session_create(o->program, &options, &session);
  if (code != right || session || !strstr(tessera_error_message(), part))
    return complain("%u workers: code %d, %s", workers, (int)code, tessera_error_message());
  return NULL;
}

static const char *workers(void) {
  struct Objects o = {0};
  const char *wrong = make(&o);
  if (!wrong)
    wrong = refuseWorkers(&o, UINT32_MAX, TESSERA_INVALID_ARGUMENT, "4294967295 workers");
  if (!wrong)
    wrong = refuseWorkers(&o, 1025, TESSERA_INVALID_ARGUMENT, "at most 1024");
  static const char *const kNumbers[] = {"many", "", "-1", "1e9", "nan", "2x", "4294967297"};
  for (size_t i = 0; !wrong && i < sizeof kNumbers / sizeof *kNumbers; ++i) {
    setenv("TESSERA_WORKERS", kNumbers[i], 1);
    wrong = refuseWorkers(&o, 0, TESSERA_INVALID_ARGUMENT, "TESSERA_WORKERS=");
  }
  unsetenv("TESSERA_WORKERS");
  if (!wrong) { /* no room for 64 stacks */
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm || fscanf(statm, "%ld", &pages) != 1)
      return "no /proc";
    fclose(statm);
    struct rlimit limit, before;
    getrlimit(RLIMIT_AS, &before);
    limit = before;
    limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (96u << 20);
    setrlimit(RLIMIT_AS, &limit);
    wrong = refuseWorkers(&o, 64, TESSERA_RESOURCE_EXHAUSTED, " of 64 cannot be made");
    setrlimit(RLIMIT_AS, &before);
  }
  if (!wrong)
    wrong = stepModel(o.session, 5, 6);
  release(&o);
  return wrong;
}

/* Files may not grow (`ulimit -f`): code cannot be linked or loaded, and nothing ends the process. */
static const char *fileSize(void) {
  struct Objects o = {0};
  const char *wrong = make(&o);
  struct rlimit before, none;
  getrlimit(RLIMIT_FSIZE, &before);
  none = before;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_FSIZE, &none);
  tessera_compiled *compiled = NULL;
  tessera_program *program = NULL;
  const char *said = wrong ? NULL : compileModel(&compiled);
  if (!wrong && !(said && strstr(said, "File too large")))
    wrong = complain("compiled: %s", said ? said : "ok");
  tessera_code code = wrong ? TESSERA_OK : tessera_program_load(o.bytes, o.size, &program);
  if (!wrong &&
      (code != TESSERA_UNIMPLEMENTED || !strstr(tessera_error_message(), "File too large")))
    wrong = complain("loaded: code %d, %s", (int)code, tessera_error_message());
  setrlimit(RLIMIT_FSIZE, &before);
  sigset_t waiting;
  sigpending(&waiting);
  if (!wrong && sigismember(&waiting, SIGXFSZ))
    wrong = "SIGXFSZ is still to come";
  tessera_compiled_free(compiled);
  compiled = NULL;
  if (!wrong)
    wrong = compileModel(&compiled);
  if (!wrong)
    wrong = stepModel(o.session, 5, 6);
  tessera_compiled_free(compiled);
  release(&o);
  return wrong;
}

static const struct Scene {
  const char *name;
  const char *(*run)(void);
} kScenes[] = {
    {"nulls", nulls},          {"small-stack", smallStack}, {"eight-threads", eightThreads},
    {"after-fork", afterFork}, {"workers", workers},        {"file-size", fileSize}};

static int playScene(const struct Scene *scene) {
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    const char *wrong = scene->run();
    printf("%-14s %s\n", scene->name, wrong ? wrong : "ok");
    exit(wrong ? 1 : 0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status))
    printf("%-14s ended by signal %d\n", scene->name, WTERMSIG(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
  int bad = 0;
  for (size_t i = 0; i < sizeof kScenes / sizeof *kScenes; ++i)
    for (int a = 1; a < argc || a == 1; ++a)
      if (argc == 1 || strcmp(argv[a], kScenes[i].name) == 0)
        bad |= playScene(&kScenes[i]);
  return bad;
}
