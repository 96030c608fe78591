/* Status codes of the hipplan library; the tools exit with the same numbers. */
#ifndef HIPPLAN_STATUS_H
#define HIPPLAN_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#define HIPPLAN_API __attribute__((visibility("default")))

typedef enum hipplan_status {
  /* Done; same; valid; within tolerance. */
  HIPPLAN_OK = 0,
  /* A negative answer: differs, not served, wrong result. */
  HIPPLAN_NEGATIVE = 1,
  /* The input is not what it should be: bad JSON, bad flag, missing file. */
  HIPPLAN_BAD_INPUT = 2,
  /* The bytes are not what was written. */
  HIPPLAN_DAMAGED = 3,
  /* Sound bytes that cannot be used here: version, provider, target, handler, device. */
  HIPPLAN_UNUSABLE = 4,
  /* Signature missing, wrong or by an unknown key. */
  HIPPLAN_UNTRUSTED = 5,
  /* The machine failed: no device, out of memory, disk full, driver error. */
  HIPPLAN_MACHINE = 6,
  /* Stopped on request; nothing half-written stays. */
  HIPPLAN_INTERRUPTED = 130
} hipplan_status;

/* Library version, "0.1.0". Static storage. Any thread. */
HIPPLAN_API const char* hipplan_version(void);
/* One line per format that this library reads and writes: "plan file: reads 1.0, writes 1.0". */
HIPPLAN_API const char* hipplan_format_versions(void);

#ifdef __cplusplus
}
#endif
#endif
