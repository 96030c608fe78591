/* hipplan for applications: bake a plan, load one from bytes, run it.
 *
 * What can fail returns a status; on anything but HIPPLAN_OK the calling thread can ask
 * hipplan_last_error() for the message, and what the outputs point to is untouched. No exception
 * leaves a function. Objects are destroyed by the function named after them; a null pointer is
 * ignored there. Functions that only tell something give 0 or "" for a null object. Unless a
 * function says otherwise, different threads may use the same object at the same time, and an
 * object needs nothing of those that it was made from: a plan outlives its file, an executable its
 * plan.
 *
 * Every options structure starts with its own size: set struct_size to sizeof(the structure) and
 * the members that are not used to 0. Structures only grow, at the end, and 0 in a new member means
 * what the library did before it, so a program goes on working with later libraries. A library that
 * is older than the program's header takes a longer structure as long as the members that it does
 * not know are 0. Any other size is HIPPLAN_BAD_INPUT, reason "struct-size". */
#ifndef HIPPLAN_HIPPLAN_H
#define HIPPLAN_HIPPLAN_H

#include <stddef.h>
#include <stdint.h>

#include "hipplan/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hipplan_file hipplan_file;
typedef struct hipplan_plan hipplan_plan;
typedef struct hipplan_device hipplan_device;
typedef struct hipplan_executable hipplan_executable;

/* Message and stable reason code of the calling thread's last failure; "" when there was none.
 * Valid until the thread's next call. */
HIPPLAN_API const char* hipplan_last_error(void);
HIPPLAN_API const char* hipplan_last_error_reason(void);

/* --- Baking ------------------------------------------------------------------------------------
 */

typedef struct hipplan_bake_options {
  size_t struct_size;
  const char* graph_json; /* hipDNN JSON, UTF-8 */
  size_t graph_size;      /* bytes */
  const char* target;     /* architecture or target name */
  const char* engine;     /* pinned engine, or null */
  const char*
      data_folder; /* holds kernels/ and targets/; null: ../share/hipplan from the library */
  int plan_only;   /* leave the graph out of saved files */
  int reserved;    /* 0 */
} hipplan_bake_options;
/* HIPPLAN_NEGATIVE when no engine serves the graph; the message says which refused and why.
 * HIPPLAN_UNUSABLE for an architecture that no target file describes, or that there are no kernels
 * for; HIPPLAN_BAD_INPUT for a word that names no target. */
HIPPLAN_API hipplan_status hipplan_bake(const hipplan_bake_options* options, hipplan_plan** plan);

/* --- Files and bytes ---------------------------------------------------------------------------
 */

/* Opens a .hplan file; its header and directory are checked, the rest when it is read. Nothing
 * behind the directory is parsed before hipplan_file_require_signed, so that files can be asked for
 * their signatures first. "-" reads standard input, "PLANS.tar.zst:NAME" a member of a bundle.
 * Files of more than 1 MiB are mapped: shortening one while it is open raises SIGBUS in the reader.
 */
HIPPLAN_API hipplan_status hipplan_file_open(const char* path, hipplan_file** file);
/* The same over bytes, which are copied. */
HIPPLAN_API hipplan_status hipplan_file_from_bytes(const void* bytes, size_t size,
                                                   hipplan_file** file);
HIPPLAN_API void hipplan_file_destroy(hipplan_file* file);
/* HIPPLAN_OK when a key of `trust_folder` (one public key in each *.pem file) has signed this file
 * and no signature by a key of the folder is wrong; HIPPLAN_UNTRUSTED, reason "unsigned",
 * "bad-signature", "expired-trust" or "unknown-key", when that is not so. Where it cannot be told:
 * HIPPLAN_BAD_INPUT, reason "trust-folder" or "key", for the folder and its keys, HIPPLAN_DAMAGED,
 * reason "signature-block", for signatures that are none. `detached` holds the bytes of a detached
 * signature (NAME.hplan.sig), null for none; signatures inside the file count alike. What is read
 * from `file` afterwards is what was signed, also when another file takes its name: each piece is
 * compared with digests that hang on the signed one. */
HIPPLAN_API hipplan_status hipplan_file_require_signed(const hipplan_file* file,
                                                       const char* trust_folder,
                                                       const void* detached, size_t detached_size);
HIPPLAN_API uint64_t hipplan_file_plan_count(const hipplan_file* file);
/* Gets one plan's graph key (64 hexadecimal digits) and target, which are valid during the call:
 * what hipplan_file_find takes. Anything but 0 ends the listing, whose status is HIPPLAN_OK then.
 */
typedef int (*hipplan_file_visit)(void* user, const char* graph_key, const char* target);
/* Calls `visit` for each plan of the file, in the order of key and target. */
HIPPLAN_API hipplan_status hipplan_file_list(const hipplan_file* file, hipplan_file_visit visit,
                                             void* user);
/* The plan for a target: an architecture, or a target or product that ships. `graph_key` is the
 * key's hexadecimal text, in lower or upper case, or the start of it; null when the file holds one
 * graph. HIPPLAN_UNUSABLE when no plan runs on the target. */
HIPPLAN_API hipplan_status hipplan_file_find(const hipplan_file* file, const char* graph_key,
                                             const char* target, hipplan_plan** plan);

/* A plan from a bare envelope, as hipplan_plan_save gives it. The bytes are copied. */
HIPPLAN_API hipplan_status hipplan_plan_load(const void* bytes, size_t size, hipplan_plan** plan);
HIPPLAN_API void hipplan_plan_destroy(hipplan_plan* plan);
/* The plan as a bare envelope, code inside. With `buffer` null, *size receives the bytes needed.
 * With a buffer, *size says how large it is and receives what was written; when it is too small
 * nothing is written, *size receives what is needed and the status is HIPPLAN_BAD_INPUT. A plan
 * that was loaded gives the very bytes it was loaded from. */
HIPPLAN_API hipplan_status hipplan_plan_save(const hipplan_plan* plan, void* buffer, size_t* size);
/* Writes a .hplan file with this one plan; the old file or the new one is there, never half of one.
 * HIPPLAN_UNUSABLE for a plan that came from an envelope that does not say what it was baked for.
 */
HIPPLAN_API hipplan_status hipplan_plan_save_file(const hipplan_plan* plan, const char* path);

/* --- What a plan says about itself --------------------------------------------------------------
 */

/* Key of the graph it was baked from, 64 hexadecimal digits, and the architecture it was baked for;
 * "" for a bare envelope that does not say. Valid as long as the plan, like all texts here. */
HIPPLAN_API const char* hipplan_plan_graph_key(const hipplan_plan* plan);
HIPPLAN_API const char* hipplan_plan_target(const hipplan_plan* plan);
HIPPLAN_API int64_t hipplan_plan_engine_id(const hipplan_plan* plan);
HIPPLAN_API const char* hipplan_plan_engine_name(const hipplan_plan* plan);
HIPPLAN_API int64_t hipplan_plan_workspace_size(const hipplan_plan* plan); /* bytes */
HIPPLAN_API size_t hipplan_plan_tensor_count(const hipplan_plan* plan);
/* HIPPLAN_BAD_INPUT for an index beyond the count. Alignment is in bytes. */
HIPPLAN_API hipplan_status hipplan_plan_tensor(const hipplan_plan* plan, size_t index, int64_t* uid,
                                               int64_t* alignment);
/* The graph's JSON, same buffer rule as hipplan_plan_save; HIPPLAN_NEGATIVE, reason
 * "not-available", for a plan that carries no graph. */
HIPPLAN_API hipplan_status hipplan_plan_graph(const hipplan_plan* plan, char* buffer, size_t* size);

/* --- Running -----------------------------------------------------------------------------------
 */

typedef struct hipplan_device_options {
  size_t struct_size;
  const char* name;          /* "hip:0", "cuda:0", "emulator:gfx942", "null:gfx942" */
  const char* data_folder;   /* as in hipplan_bake_options */
  const char* module_folder; /* holds the emulator's modules; null: beside the library */
  const char* hip_library;   /* libamdhip64 to open; null: the newest installed */
  const char* cuda_library;  /* libcuda to open; null: libcuda.so.1 */
  unsigned jobs;             /* worker threads of the emulator, 0: one per hardware thread */
  int reserved;              /* 0 */
} hipplan_device_options;
HIPPLAN_API hipplan_status hipplan_device_open(const hipplan_device_options* options,
                                               hipplan_device** device);
/* Executables that have run on the device must be destroyed before. Memory that was not released
 * goes with it. Not while another thread uses the device. */
HIPPLAN_API void hipplan_device_destroy(hipplan_device* device);
/* Its architecture with features, "gfx942:sramecc+:xnack-" or "sm_90": what hipplan_file_find takes
 * as a target. Valid as long as the device. */
HIPPLAN_API const char* hipplan_device_arch(const hipplan_device* device);
/* `bytes` bytes of device memory, aligned to 256, content undefined. HIPPLAN_MACHINE when there is
 * not enough. */
HIPPLAN_API hipplan_status hipplan_device_allocate(hipplan_device* device, uint64_t bytes,
                                                   uint64_t* address);
HIPPLAN_API hipplan_status hipplan_device_release(hipplan_device* device, uint64_t address);
HIPPLAN_API hipplan_status hipplan_device_write(hipplan_device* device, uint64_t to,
                                                const void* from, size_t bytes);
HIPPLAN_API hipplan_status hipplan_device_read(hipplan_device* device, void* to, uint64_t from,
                                               size_t bytes);
/* Waits for the launches so far; faults inside kernels are told here at the latest. */
HIPPLAN_API hipplan_status hipplan_device_synchronize(hipplan_device* device);

/* Restores a plan on a device: all checks, then the code object is loaded. Needs nothing but the
 * plan. */
HIPPLAN_API hipplan_status hipplan_executable_create(const hipplan_plan* plan,
                                                     hipplan_device* device,
                                                     hipplan_executable** executable);
HIPPLAN_API void hipplan_executable_destroy(hipplan_executable* executable);
/* Launches on `device`, which may be another one than the one given to create: it loads its own
 * module on first use. `uids` and `addresses` have `count` entries, one for each tensor of the
 * plan, in any order; each address is aligned as hipplan_plan_tensor says. `workspace` is the
 * address of hipplan_plan_workspace_size bytes on the device, aligned to 256, 0 when the plan needs
 * none. May return before the kernels have ended. */
HIPPLAN_API hipplan_status hipplan_execute(const hipplan_executable* executable,
                                           hipplan_device* device, const int64_t* uids,
                                           const uint64_t* addresses, size_t count,
                                           uint64_t workspace);

#ifdef __cplusplus
}
#endif
#endif
