/* A plan from C: baked once on any machine, restored and run on another.
 *
 *   add bake add.hplan gfx942
 *   add run add.hplan emulator:gfx942
 *
 * cc -o add add.c $(pkg-config --cflags --libs hipplan) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hipplan/hipplan.h"

enum { count = 1024 };

/* c = a + b over 1,024 floats, in hipDNN's dialect. */
static const char graph[] =
    "{\"name\": \"add\", \"compute_data_type\": \"float\", \"io_data_type\": \"float\","
    " \"intermediate_data_type\": \"float\", \"tensors\": ["
    "{\"uid\": 1, \"name\": \"a\", \"data_type\": \"float\", \"dims\": [1024], \"strides\": [1], \"virtual\": false},"
    "{\"uid\": 2, \"name\": \"b\", \"data_type\": \"float\", \"dims\": [1024], \"strides\": [1], \"virtual\": false},"
    "{\"uid\": 3, \"name\": \"c\", \"data_type\": \"float\", \"dims\": [1024], \"strides\": [1], \"virtual\": false}],"
    " \"nodes\": [{\"name\": \"sum\", \"type\": \"PointwiseAttributes\", \"compute_data_type\": \"float\","
    " \"inputs\": {\"operation\": \"add\", \"in_0_tensor_uid\": 1, \"in_1_tensor_uid\": 2},"
    " \"outputs\": {\"out_0_tensor_uid\": 3}}]}";

/* Ends the program with the library's message and its status, which the tools exit with too. */
static void check(hipplan_status status) {
  if (status == HIPPLAN_OK) return;
  fprintf(stderr, "add: %s (reason: %s)\n", hipplan_last_error(), hipplan_last_error_reason());
  exit((int)status);
}

static void bake(const char* path, const char* target) {
  hipplan_bake_options options = {.struct_size = sizeof options,
                                  .graph_json = graph,
                                  .graph_size = sizeof graph - 1,
                                  .target = target};
  hipplan_plan* plan = NULL;
  check(hipplan_bake(&options, &plan));
  check(hipplan_plan_save_file(plan, path));
  printf("%s: %s for %s\n", path, hipplan_plan_engine_name(plan), target);
  hipplan_plan_destroy(plan);
}

/* This part and run() belong into the application that is shipped: no archives, no baking. */
static hipplan_executable* restore(const char* path, hipplan_device* device) {
  hipplan_file* file = NULL;
  hipplan_plan* plan = NULL;
  hipplan_executable* executable = NULL;
  check(hipplan_file_open(path, &file));
  check(hipplan_file_find(file, NULL, hipplan_device_arch(device), &plan));
  check(hipplan_executable_create(plan, device, &executable));
  hipplan_plan_destroy(plan); /* an executable outlives its plan, a plan its file */
  hipplan_file_destroy(file);
  return executable;
}

static int run(const char* path, const char* device_name) {
  hipplan_device_options options = {.struct_size = sizeof options, .name = device_name};
  hipplan_device* device = NULL;
  static float a[count], b[count], c[count];
  const int64_t uids[3] = {1, 2, 3};
  uint64_t addresses[3];
  int i, wrong = 0;

  check(hipplan_device_open(&options, &device));
  hipplan_executable* executable = restore(path, device);
  for (i = 0; i < count; i++) {
    a[i] = (float)i;
    b[i] = 0.5f;
  }
  for (i = 0; i < 3; i++) check(hipplan_device_allocate(device, sizeof a, &addresses[i]));
  check(hipplan_device_write(device, addresses[0], a, sizeof a));
  check(hipplan_device_write(device, addresses[1], b, sizeof b));
  check(hipplan_execute(executable, device, uids, addresses, 3, 0));
  check(hipplan_device_synchronize(device));
  check(hipplan_device_read(device, c, addresses[2], sizeof c));
  for (i = 0; i < count; i++) wrong += c[i] != a[i] + b[i];
  printf("%d of %d sums are right\n", count - wrong, count);

  for (i = 0; i < 3; i++) check(hipplan_device_release(device, addresses[i]));
  hipplan_executable_destroy(executable);
  hipplan_device_destroy(device);
  return wrong == 0 ? 0 : HIPPLAN_NEGATIVE;
}

int main(int argc, char** argv) {
  if (argc == 4 && strcmp(argv[1], "bake") == 0) {
    bake(argv[2], argv[3]);
    return 0;
  }
  if (argc == 4 && strcmp(argv[1], "run") == 0) return run(argv[2], argv[3]);
  fprintf(stderr, "usage: add bake PLAN TARGET\n       add run PLAN DEVICE\n");
  return HIPPLAN_BAD_INPUT;
}
