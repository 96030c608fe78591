/* The work of the command-line tools as library calls.
 *
 * Each function does one tool command: it writes results and messages through the callbacks in
 * hipplan_tool_io and returns the exit status. Nothing is printed, no signal handler is installed
 * and no environment variable is read. Strings are UTF-8, borrowed for the length of the call; a
 * null string means "not given". Structures and their sizes: see hipplan.h. An io of the wrong size
 * has no callback to trust: the status is HIPPLAN_BAD_INPUT, and hipplan_last_error tells why.
 * Calls are independent and may run on several threads with separate hipplan_tool_io objects;
 * callbacks of one call come from one thread at a time. */
#ifndef HIPPLAN_TOOLS_H
#define HIPPLAN_TOOLS_H

#include <stddef.h>
#include <stdint.h>

#include "hipplan/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hipplan_severity {
  HIPPLAN_NOTE = 0,
  HIPPLAN_WARNING = 1,
  HIPPLAN_ERROR = 2
} hipplan_severity;

/* Strings given on a command line; `items` may be null when `count` is 0. */
typedef struct hipplan_strings {
  const char* const* items;
  size_t count;
} hipplan_strings;

typedef struct hipplan_tool_io {
  size_t struct_size; /* sizeof(hipplan_tool_io) of the caller */
  void* user;         /* passed to every callback */
  /* Bytes for standard output. */
  void (*result)(void* user, const char* bytes, size_t size);
  /* One message without prefix and newline. May be null. */
  void (*message)(void* user, hipplan_severity severity, const char* text);
  /* `done` of `total` steps of `what`. May be null. */
  void (*progress)(void* user, const char* what, uint64_t done, uint64_t total);
  /* Non-zero asks the command to stop soon: the signal's number (2, 15), or 1. May be null. */
  int (*interrupted)(void* user);
  int json;      /* results as one JSON document */
  unsigned jobs; /* worker threads, 0: one per hardware thread */
  const char*
      data_folder; /* holds kernels/ and targets/; null: ../share/hipplan from the library */
  const char* module_folder; /* holds the emulator's modules; null: beside the library */
  const char* hip_library;   /* libamdhip64 to open; null: the newest installed */
  const char* cuda_library;  /* libcuda to open; null: libcuda.so.1 */
} hipplan_tool_io;

typedef struct hipplan_build_options {
  size_t struct_size;
  hipplan_strings graphs;       /* files, folders, glob patterns, "-" */
  const char* output;           /* file, or folder when it ends in '/', is one, or is not there,
                                   has no extension, and several graphs, a folder or a pattern
                                   are given */
  hipplan_strings targets;      /* architectures or target names; may hold comma lists */
  hipplan_strings target_files; /* target description files */
  const char* engine;           /* pinned engine, name or id */
  hipplan_strings knobs;        /* "name=value" */
  int plan_only;                /* leave the graph out of the file */
  int why;                      /* print the decision */
  int dry_run;                  /* stop before writing */
  int keep_going;               /* write what could be baked even when some graph was refused */
  int allow_unknown_keys;
  int check_reproducible; /* bake once more and compare the bytes */
  const char* sign_key;   /* private key in PEM form that signs what is written; null: none */
  const char* reproduced; /* check_reproducible: an unsigned file that another process has baked
                             from the same graphs and targets, compared too; null: none */
  int benchmark;          /* choose kernels by times measured on `device` */
  const char* device;     /* hip:NUMBER or cuda:NUMBER; null: none */
  int plain_code;         /* keep machine code as it is instead of compressing it */
  int reserved;           /* 0 */
} hipplan_build_options;
HIPPLAN_API int hipplan_tool_build(const hipplan_build_options* options, const hipplan_tool_io* io);

typedef struct hipplan_inspect_options {
  size_t struct_size;
  const char* command; /* show (null), diff, list, extract, size, disasm, resolve, why, bundle,
                          unbundle, merge, split, strip, sign, signatures, sbom, target */
  hipplan_strings arguments; /* files (merge and sign: folders and glob patterns too, merge:
                                bundles too), a folder (bundle), or what to list */
  const char* graph_key;   /* first hex digits of the key, or the name of only one graph; KEY/TARGET
                              stands for `targets` too */
  hipplan_strings targets; /* architecture or target names */
  const char* part;        /* extract: plan, graph, code, envelope, reasons, measurements,
                                evidence, provenance */
  const char* output;      /* where to write; "-" is standard output */
  const char* key;         /* sign: private key in PEM form */
  int detached;            /* sign: into FILE.sig beside the file */
  const char* trust;       /* signatures: folder of trusted public keys */
  const char* format;      /* sbom: spdx (null) or cyclonedx */
  int64_t date;            /* sbom: the document's time, seconds since 1970; negative: now */
  const char* device;      /* target: the device to describe */
  int force;               /* unbundle: over files of the same names that differ */
  int reserved;            /* 0 */
} hipplan_inspect_options;
HIPPLAN_API int hipplan_tool_inspect(const hipplan_inspect_options* options,
                                     const hipplan_tool_io* io);

typedef struct hipplan_verify_options {
  size_t struct_size;
  hipplan_strings paths; /* files, folders, bundles, glob patterns */
  hipplan_strings targets;
  hipplan_strings target_files; /* describe GPUs that `targets` or `device` may name; where
                                   neither is given, every graph needs a plan for them */
  int require_plan;             /* a file without a plan is refused */
  int list_reasons;             /* print the reason codes instead */
  int execute;                  /* run each plan on `device` and check the numbers */
  const char* device;
  int require_signed; /* refuse files that no key of `trust` has signed */
  const char* trust;  /* folder of trusted public keys */
  const char* format; /* text (null), json, junit or sarif */
} hipplan_verify_options;
HIPPLAN_API int hipplan_tool_verify(const hipplan_verify_options* options,
                                    const hipplan_tool_io* io);

typedef struct hipplan_run_options {
  size_t struct_size;
  const char* file;
  const char* device;      /* emulator:ARCH, hip:NUMBER, cuda:NUMBER, null:ARCH, auto */
  const char* graph_key;   /* which plan of a library: its graph's name, or first digits of its key;
                              KEY/TARGET stands for `target` too */
  const char* graph_file;  /* graph for a file that holds none */
  const char* target_file; /* description of a device that does not ship */
  hipplan_strings inputs;  /* "UID=FILE.npy" */
  hipplan_strings outputs; /* "UID=FILE.npy", written */
  hipplan_strings expects; /* "UID=FILE.npy", compared */
  uint64_t seed;
  int check;                 /* compare with the CPU reference */
  int bench;                 /* measure: times of a GPU, counts of an emulated device */
  double absolute_tolerance; /* negative: derived from types and lengths */
  double relative_tolerance;
  /* An emulated device only: */
  int check_races;             /* races between wavefronts are faults */
  int check_uninitialized;     /* reads of memory that nothing has written are faults */
  uint64_t schedule_seed;      /* not 0: workgroups and wavefronts in an order drawn from it */
  uint64_t instruction_budget; /* instructions of an endless wavefront; 0: the default */
  int counters;                /* count in detail, per launch */
  const char* trace;           /* "WORKGROUP:WAVEFRONT" to print instruction by instruction */
  const char* break_pc;        /* hexadecimal address at which to print the registers of the
                                  wavefront of `trace` (0:0), instead of its instructions */
  /* Measurement: */
  int cold;           /* time the steps from the file to the first result */
  int replay_graph;   /* bench: start the launches as one recorded graph */
  uint32_t samples;   /* bench: samples to take; 0: the default */
  const char* cache;  /* bench: "cold" (null) or "warm" last level cache */
  const char* target; /* architecture or target name: the plan that is for it; null: for `device` */
  int require_signed; /* refuse a file that no key of `trust` has signed */
  int reserved;       /* 0 */
  const char* trust;  /* folder of trusted public keys */
} hipplan_run_options;
HIPPLAN_API int hipplan_tool_run(const hipplan_run_options* options, const hipplan_tool_io* io);

typedef struct hipplan_pack_options {
  size_t struct_size;
  const char* command;              /* build, validate, list */
  hipplan_strings arguments;        /* source trees, descriptor trees, or archives */
  hipplan_strings archs;            /* build: architectures; may hold comma lists */
  const char* output;               /* build: folder */
  const char* compiler;             /* build: clang, or nvcc for NVIDIA GPUs; null: searched for */
  hipplan_strings graphs;           /* validate: graphs that must be served */
  hipplan_strings expected_engines; /* validate: engines that must be there */
  const char* kernels;              /* build: folder of kernel sources; null: the first tree */
  const char* cache;                /* build: folder that keeps compiled code objects; null: none */
} hipplan_pack_options;
HIPPLAN_API int hipplan_tool_pack(const hipplan_pack_options* options, const hipplan_tool_io* io);

#ifdef __cplusplus
}
#endif
#endif
