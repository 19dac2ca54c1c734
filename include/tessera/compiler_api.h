/* The compiler's stable C interface; include/tessera/compiler.h is C++ over it. Link
 * libtessera_compiler.so.
 *
 * Functions never throw and never abort. They may be called from any thread; one object belongs to
 * one thread at a time. Memory that a function hands out belongs to the object it came from and
 * lives as long as it does. Of a NULL object there is an error, an empty report, and nothing else;
 * a NULL for what is written to is ignored.
 */
#ifndef TESSERA_COMPILER_API_H
#define TESSERA_COMPILER_API_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tessera_compile_options {
  size_t struct_size; /* sizeof(tessera_compile_options): later versions add members at the end */
  const char *name;   /* the module's name in diagnostics; NULL: "<module>" */
  const char *entry;  /* the function to compile; NULL: "main", or the only public one */
  const char *target; /* NULL: "cpu" */
  /* Contents of a topology file, or the name of a machine (docs/topology.md); NULL: the built-in default. */
  const char *topology;
  void (*diagnostic)(void *user, const char *line); /* called for each warning; may be NULL */
  void *user;
  const char *target_cpu; /* the processor that kernels are for: "x86-64-v3", "x86-64-v4", or what
                             else LLVM knows; NULL: "native", this machine's */
  /* Shapes of arguments whose shape the module leaves open: "in0:8x128xf32,in1:4"; may be NULL. */
  const char *input_shapes;
  /* Of tessera_explain: not 0 leaves out the search for changes that save time, which compiles the
     program up to a hundred times. */
  int32_t no_mends;
  /* Whether collectives run beside computation: "auto", "on" or "off"; NULL: "auto". */
  const char *overlap;
  /* What each device has for the program, arguments and outputs included: "80GB", "1.5GiB", or bytes;
     NULL: what the topology says. */
  const char *memory;
  /* Of tessera_compile and tessera_explain: not 0 finds shardings first, as tessera_plan does. The
     explanation then says what each choice is worth, annotations of the module included. */
  int32_t plan;
  /* Of plans: how long to search, 1 to 5; 0: 3. */
  int32_t effort;
  /* Of plans: how many devices; 0: as the mesh says. */
  int64_t devices;
  /* Of plans: "data=2,model=4"; NULL: the best one of so many devices. */
  const char *mesh;
  /* Of tessera_explain: not 0 compiles programs of less and less memory, for tessera_explanation_memory
     and the page: some ten times as long as a compilation. */
  int32_t frontier;
  /* What messages call the topology, such as the name of its file; NULL: "the topology". */
  const char *topology_name;
} tessera_compile_options;

/* One site of a collective, of the device that has most, over one execution: docs/command-line.md. */
typedef struct tessera_collective {
  const char *kind, *axes, *location;
  int64_t trips; /* executions of the loops around it; -1 when data decides */
  int64_t count, bytes, wire_bytes;
} tessera_collective;

typedef struct tessera_compiled tessera_compiled;

/* The release of this library: "0.1.0". */
const char *tessera_compiler_version(void);

/* Compiles a StableHLO module, as text or MLIR bytecode. `options` may be NULL. Always returns an
 * object (NULL only when out of memory), to be freed by tessera_compiled_free. Bytecode is first read
 * by a child process, which damaged bytecode may end; in a process with several threads, whose copy
 * would not be safe, it is trusted: give text, or let `tessera compile` read what is of unknown
 * origin. */
tessera_compiled *tessera_compile(const char *module, size_t bytes,
                                  const tessera_compile_options *options);
void tessera_compiled_free(tessera_compiled *compiled);

/* NULL on success; otherwise one line, `error: file:line:col: what`. Once memory has run out in a
 * compilation, the process cannot compile any more, and each further one says so. */
const char *tessera_compiled_error(const tessera_compiled *compiled);
/* The program: the contents of a .tsr file. */
const void *tessera_compiled_program(const tessera_compiled *compiled, size_t *bytes);
/* The report of `tessera compile --report`, as JSON. */
const char *tessera_compiled_report(const tessera_compiled *compiled);
/* The report's collectives. */
const tessera_collective *tessera_compiled_collectives(const tessera_compiled *compiled,
                                                       size_t *count);

/* The shardings by which a step of a program takes least time: `tessera plan`, see docs/plan.md. As
 * tessera_compile. The program is the module's text with annotations, which tessera_compile takes; the report
 * is that of `tessera plan --report`, the text the same for people. */
typedef struct tessera_planned tessera_planned;
tessera_planned *tessera_plan(const char *module, size_t bytes,
                              const tessera_compile_options *options);
void tessera_planned_free(tessera_planned *planned);
const char *tessera_planned_error(const tessera_planned *planned);
const char *tessera_planned_program(const tessera_planned *planned);
const char *tessera_planned_report(const tessera_planned *planned);
const char *tessera_planned_text(const tessera_planned *planned);

/* Why a program is sharded as it is and what that moves: `tessera explain`, see docs/explain.md. As
 * tessera_compile, but that no code is generated; and changes of the program are compiled, to tell which of them save
 * time, unless options say no_mends. The texts are made when they are asked for, and
 * NULL where there is none: of a value or line that is not in the program, or for want of memory. */
typedef struct tessera_explanation tessera_explanation;
tessera_explanation *tessera_explain(const char *module, size_t bytes,
                                     const tessera_compile_options *options);
void tessera_explanation_free(tessera_explanation *explanation);
const char *tessera_explanation_error(const tessera_explanation *explanation);
const char *tessera_explanation_text(tessera_explanation *explanation);
const char *tessera_explanation_html(tessera_explanation *explanation); /* one page */
/* What is held at the peak; and where options say frontier, what less memory costs. */
const char *tessera_explanation_memory(tessera_explanation *explanation);
/* Of a value of that name, and of what a line of the user's source made. */
const char *tessera_explanation_value(tessera_explanation *explanation, const char *name);
const char *tessera_explanation_line(tessera_explanation *explanation, const char *file,
                                     int64_t line);

#ifdef __cplusplus
}
#endif
#endif
