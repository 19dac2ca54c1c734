/* The runtime's stable C interface; include/tessera/runtime.h is C++ over it. Link
 * libtessera_runtime.so. The compiler's is compiler_api.h.
 *
 *   load a program, make a session, place inputs on its devices, execute steps, read outputs back
 *
 * Functions never throw and never abort. Those that can fail return a code; the message of the last
 * failure on this thread is tessera_error_message(). Programs may be shared by threads; a session
 * and its arrays belong to one thread at a time (but for tessera_session_cancel). Objects are freed
 * by their *_free, in any order; NULL is ignored. Any other argument that is NULL where the text
 * does not allow it makes a code TESSERA_INVALID_ARGUMENT, or the result that a function's comment
 * names, and a message.
 *
 * Threads stay with the process that made them: in the child of a fork(), sessions of the parent
 * don't execute (TESSERA_INVALID_ARGUMENT); their arrays can be read, and all can be freed.
 * Sessions that the child makes work, but for those over MPI where the parent has one.
 */
#ifndef TESSERA_C_API_H
#define TESSERA_C_API_H
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TESSERA_API __attribute__((visibility("default")))
#else
#define TESSERA_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The canonical codes of gRPC; those that are left out are not used. */
typedef enum tessera_code {
  TESSERA_OK = 0,
  TESSERA_CANCELLED = 1,        /* the step was given up */
  TESSERA_INVALID_ARGUMENT = 3, /* what the caller gave does not fit: shapes, types, names, options */
  TESSERA_DEADLINE_EXCEEDED = 4,   /* a step took longer than its limit */
  TESSERA_NOT_FOUND = 5,           /* a file, or a parameter of that name, is not there */
  TESSERA_ALREADY_EXISTS = 6,      /* something of that name is there already */
  TESSERA_PERMISSION_DENIED = 7,   /* a file may not be read */
  TESSERA_RESOURCE_EXHAUSTED = 8,  /* memory, threads */
  TESSERA_FAILED_PRECONDITION = 9, /* the object is in no state for it, such as a step that is being
                                      executed; the program is for another machine or version */
  TESSERA_OUT_OF_RANGE = 11,       /* an index past the end */
  TESSERA_UNIMPLEMENTED = 12,      /* this build or machine cannot do it */
  TESSERA_INTERNAL = 13,           /* a device failed while running */
  TESSERA_UNAVAILABLE = 14,        /* another process is gone; a file cannot be read or written */
  TESSERA_DATA_LOSS = 15,          /* a file is damaged */
} tessera_code;

typedef struct tessera_program tessera_program; /* immutable */
typedef struct tessera_session tessera_session; /* a program with devices and their memory */
typedef struct tessera_array
    tessera_array; /* a global array, cut into tiles on the devices of a session */

/* An input or output, or an array. Pointers live as long as the object that was asked. */
typedef struct tessera_parameter {
  size_t struct_size;      /* set by the caller: sizeof(tessera_parameter) */
  const char *name, *type; /* type: "f32", "bf16", "i1", .. */
  size_t rank;
  const int64_t *shape; /* global */
  size_t bytes;         /* of the global array, dense: 2 an element for bf16 and f16, 1 for i1 */
  int32_t donated;      /* an input whose array a step takes over: it is invalid afterwards */
} tessera_parameter;

/* Of the last step, on the device that has most. */
typedef struct tessera_counters {
  size_t struct_size; /* set by the caller: sizeof(tessera_counters) */
  uint64_t collectives, collective_bytes, peak_bytes;
} tessera_counters;

typedef struct tessera_session_options {
  size_t struct_size; /* sizeof(tessera_session_options): later versions add members at the end */
  uint32_t workers;   /* threads, at most 1024; 0: TESSERA_WORKERS, or one a core */
  const char *communicator; /* NULL or "local": all devices here; "mpi": one device a process, all
                               call alike */
  const char
      *topology; /* contents of a topology file whose links are simulated (local); NULL: none */
  double time_limit; /* seconds that a step may take before it ends with
                        TESSERA_DEADLINE_EXCEEDED; 0: any */
} tessera_session_options;

/* The message of the last failed call on this thread; "" before any. */
TESSERA_API const char *tessera_error_message(void);

/* Programs. `bytes` (the contents of a .tsr) are copied. */
TESSERA_API tessera_code tessera_program_load(const void *bytes, size_t size,
                                              tessera_program **program);
TESSERA_API tessera_code tessera_program_load_file(const char *path, tessera_program **program);
/* The same, but no other file than the one whose SHA-256 (64 hexadecimal digits, as `tessera
 * compile` prints it) is `sha256`: a program is native code, see docs/trust.md. NULL: any. */
TESSERA_API tessera_code tessera_program_load_file_sha256(const char *path, const char *sha256,
                                                          tessera_program **program);
TESSERA_API void tessera_program_free(tessera_program *program);
/* -1 of NULL. The counts are 0 of NULL, and the report is "". */
TESSERA_API int64_t tessera_program_devices(const tessera_program *program);
TESSERA_API size_t tessera_program_input_count(const tessera_program *program);
TESSERA_API size_t tessera_program_output_count(const tessera_program *program);
TESSERA_API tessera_code tessera_program_input(const tessera_program *program, size_t index,
                                               tessera_parameter *input);
TESSERA_API tessera_code tessera_program_output(const tessera_program *program, size_t index,
                                                tessera_parameter *output);
/* What the compiler reported: JSON, "" when the program carries none. */
TESSERA_API const char *tessera_program_report(const tessera_program *program);

/* Sessions. `options` may be NULL. Over MPI all processes make the same calls for a session, in the
 * same order; creating one first compares what they have, and fails on all where they differ or one
 * fails. Later a call that fails on one process is announced to the others, which fail too. */
TESSERA_API tessera_code tessera_session_create(const tessera_program *program,
                                                const tessera_session_options *options,
                                                tessera_session **session);
TESSERA_API void tessera_session_free(tessera_session *session);
/* This process among those of the communicator: 0 of 1 for "local", -1 of 0 of NULL. */
TESSERA_API int32_t tessera_session_process(const tessera_session *session);
TESSERA_API int32_t tessera_session_process_count(const tessera_session *session);

/* One step: `outputs` gets output_count new arrays. Donated inputs are invalid afterwards, also
 * when it fails. Arrays of another session serve as inputs too: as they are where every device
 * holds the tile that it needs, otherwise (in one process) as a copy that goes through the host. */
TESSERA_API tessera_code tessera_session_execute(tessera_session *session,
                                                 tessera_array *const *inputs, size_t input_count,
                                                 tessera_array **outputs, size_t output_count);
/* From any thread: a step that is being executed ends with TESSERA_CANCELLED. */
TESSERA_API void tessera_session_cancel(tessera_session *session);
TESSERA_API tessera_code tessera_session_counters(const tessera_session *session,
                                                  tessera_counters *counters);
/* The steps so far (times of the last 65,536), as `tessera run --report` writes it; "" of NULL.
 * Valid until the next call for this session. */
TESSERA_API const char *tessera_session_report(tessera_session *session);

/* Arrays. Places a global host array, in the type and shape of input `input`, on the devices. */
TESSERA_API tessera_code tessera_array_place(tessera_session *session, size_t input,
                                             const void *data, size_t bytes, tessera_array **array);
/* Gathers the global array; `bytes` is its size. With several processes all call, and process 0
 * gets the contents; all do when every device holds the whole array. */
TESSERA_API tessera_code tessera_array_read(tessera_array *array, void *data, size_t bytes);
TESSERA_API tessera_code tessera_array_describe(const tessera_array *array,
                                                tessera_parameter *parameter);
/* 0 once a step has taken it over. */
TESSERA_API int32_t tessera_array_is_valid(const tessera_array *array);
TESSERA_API void tessera_array_free(tessera_array *array);

#ifdef __cplusplus
}
#endif
#endif
