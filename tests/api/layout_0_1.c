/* Where the members of the structures lay in release 0.1, for ever: programs that were compiled
 * with its headers pass them so. Members that came later are added below, each under its release.
 */
#include <stddef.h>

#include "hipplan/hipplan.h"
#include "hipplan/tools.h"

#define AT(type, member, offset) \
  _Static_assert(offsetof(type, member) == (offset), #type "." #member " has moved")

AT(hipplan_bake_options, struct_size, 0);
AT(hipplan_bake_options, graph_json, 8);
AT(hipplan_bake_options, graph_size, 16);
AT(hipplan_bake_options, target, 24);
AT(hipplan_bake_options, engine, 32);
AT(hipplan_bake_options, data_folder, 40);
AT(hipplan_bake_options, plan_only, 48);
AT(hipplan_bake_options, reserved, 52);

AT(hipplan_device_options, struct_size, 0);
AT(hipplan_device_options, name, 8);
AT(hipplan_device_options, data_folder, 16);
AT(hipplan_device_options, module_folder, 24);
AT(hipplan_device_options, hip_library, 32);
AT(hipplan_device_options, cuda_library, 40);
AT(hipplan_device_options, jobs, 48);
AT(hipplan_device_options, reserved, 52);

AT(hipplan_strings, items, 0);
AT(hipplan_strings, count, 8);

AT(hipplan_tool_io, struct_size, 0);
AT(hipplan_tool_io, user, 8);
AT(hipplan_tool_io, result, 16);
AT(hipplan_tool_io, message, 24);
AT(hipplan_tool_io, progress, 32);
AT(hipplan_tool_io, interrupted, 40);
AT(hipplan_tool_io, json, 48);
AT(hipplan_tool_io, jobs, 52);
AT(hipplan_tool_io, data_folder, 56);
AT(hipplan_tool_io, module_folder, 64);
AT(hipplan_tool_io, hip_library, 72);
AT(hipplan_tool_io, cuda_library, 80);

AT(hipplan_build_options, struct_size, 0);
AT(hipplan_build_options, graphs, 8);
AT(hipplan_build_options, output, 24);
AT(hipplan_build_options, targets, 32);
AT(hipplan_build_options, target_files, 48);
AT(hipplan_build_options, engine, 64);
AT(hipplan_build_options, knobs, 72);
AT(hipplan_build_options, plan_only, 88);
AT(hipplan_build_options, why, 92);
AT(hipplan_build_options, dry_run, 96);
AT(hipplan_build_options, keep_going, 100);
AT(hipplan_build_options, allow_unknown_keys, 104);
AT(hipplan_build_options, check_reproducible, 108);
AT(hipplan_build_options, sign_key, 112);
AT(hipplan_build_options, reproduced, 120);
AT(hipplan_build_options, benchmark, 128);
AT(hipplan_build_options, device, 136);
AT(hipplan_build_options, plain_code, 144);
AT(hipplan_build_options, reserved, 148);

AT(hipplan_inspect_options, struct_size, 0);
AT(hipplan_inspect_options, command, 8);
AT(hipplan_inspect_options, arguments, 16);
AT(hipplan_inspect_options, graph_key, 32);
AT(hipplan_inspect_options, targets, 40);
AT(hipplan_inspect_options, part, 56);
AT(hipplan_inspect_options, output, 64);
AT(hipplan_inspect_options, key, 72);
AT(hipplan_inspect_options, detached, 80);
AT(hipplan_inspect_options, trust, 88);
AT(hipplan_inspect_options, format, 96);
AT(hipplan_inspect_options, date, 104);
AT(hipplan_inspect_options, device, 112);
AT(hipplan_inspect_options, force, 120);
AT(hipplan_inspect_options, reserved, 124);

AT(hipplan_verify_options, struct_size, 0);
AT(hipplan_verify_options, paths, 8);
AT(hipplan_verify_options, targets, 24);
AT(hipplan_verify_options, target_files, 40);
AT(hipplan_verify_options, require_plan, 56);
AT(hipplan_verify_options, list_reasons, 60);
AT(hipplan_verify_options, execute, 64);
AT(hipplan_verify_options, device, 72);
AT(hipplan_verify_options, require_signed, 80);
AT(hipplan_verify_options, trust, 88);
AT(hipplan_verify_options, format, 96);

AT(hipplan_run_options, struct_size, 0);
AT(hipplan_run_options, file, 8);
AT(hipplan_run_options, device, 16);
AT(hipplan_run_options, graph_key, 24);
AT(hipplan_run_options, graph_file, 32);
AT(hipplan_run_options, target_file, 40);
AT(hipplan_run_options, inputs, 48);
AT(hipplan_run_options, outputs, 64);
AT(hipplan_run_options, expects, 80);
AT(hipplan_run_options, seed, 96);
AT(hipplan_run_options, check, 104);
AT(hipplan_run_options, bench, 108);
AT(hipplan_run_options, absolute_tolerance, 112);
AT(hipplan_run_options, relative_tolerance, 120);
AT(hipplan_run_options, check_races, 128);
AT(hipplan_run_options, check_uninitialized, 132);
AT(hipplan_run_options, schedule_seed, 136);
AT(hipplan_run_options, instruction_budget, 144);
AT(hipplan_run_options, counters, 152);
AT(hipplan_run_options, trace, 160);
AT(hipplan_run_options, break_pc, 168);
AT(hipplan_run_options, cold, 176);
AT(hipplan_run_options, replay_graph, 180);
AT(hipplan_run_options, samples, 184);
AT(hipplan_run_options, cache, 192);
AT(hipplan_run_options, target, 200);
AT(hipplan_run_options, require_signed, 208);
AT(hipplan_run_options, reserved, 212);
AT(hipplan_run_options, trust, 216);

AT(hipplan_pack_options, struct_size, 0);
AT(hipplan_pack_options, command, 8);
AT(hipplan_pack_options, arguments, 16);
AT(hipplan_pack_options, archs, 32);
AT(hipplan_pack_options, output, 48);
AT(hipplan_pack_options, compiler, 56);
AT(hipplan_pack_options, graphs, 64);
AT(hipplan_pack_options, expected_engines, 80);
AT(hipplan_pack_options, kernels, 96);
AT(hipplan_pack_options, cache, 104);
