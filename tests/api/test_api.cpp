// The C interface as an application uses it, against the shared library.
#include <doctest/doctest.h>

#include <unistd.h>

#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "hipplan/hipplan.h"
#include "hipplan/tools.h"

namespace {

std::string data_folder() {
  return std::string(HIPPLAN_BINARY_DIR) + "/share/hipplan";
}

bool have_kernels() {
  const bool there = std::filesystem::is_directory(data_folder() + "/kernels/gfx942");
  if (!there) MESSAGE("skipped: this build has no kernel archives");
  return there;
}

std::string sample() {
  std::ifstream in(std::string(HIPPLAN_SOURCE_DIR) + "/samples/graphs/conv_fwd.json");
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

hipplan_plan* baked() {
  const std::string graph = sample(), data = data_folder();
  // As a program passes it that was built with a later header and asks for nothing new.
  struct {
    hipplan_bake_options known;
    const char* unknown;
  } later{};
  hipplan_bake_options& options = later.known;
  options.struct_size = sizeof(later);
  options.graph_json = graph.c_str();
  options.graph_size = graph.size();
  options.target = "gfx942";
  options.data_folder = data.c_str();
  hipplan_plan* plan = nullptr;
  REQUIRE_MESSAGE(hipplan_bake(&options, &plan) == HIPPLAN_OK, std::string(hipplan_last_error()));
  return plan;
}

std::vector<char> saved(const hipplan_plan* plan) {
  size_t size = 0;
  REQUIRE(hipplan_plan_save(plan, nullptr, &size) == HIPPLAN_OK);
  std::vector<char> out(size);
  REQUIRE(hipplan_plan_save(plan, out.data(), &size) == HIPPLAN_OK);
  REQUIRE(size == out.size());
  return out;
}

hipplan_device* open_device(const char* name) {
  const std::string data = data_folder();
  hipplan_device_options options{};
  options.struct_size = sizeof(options);
  options.name = name;
  options.data_folder = data.c_str();
  hipplan_device* device = nullptr;
  REQUIRE_MESSAGE(hipplan_device_open(&options, &device) == HIPPLAN_OK,
                  std::string(hipplan_last_error()));
  return device;
}

/// Bakes samples/graphs/NAME.json of each name into a file, and opens it.
hipplan_file* baked(const std::vector<std::string>& names, const char* targets,
                    const std::filesystem::path& output) {
  std::vector<std::string> paths;
  for (const auto& name : names)
    paths.push_back(std::string(HIPPLAN_SOURCE_DIR) + "/samples/graphs/" + name + ".json");
  std::vector<const char*> graphs;
  for (const auto& path : paths) graphs.push_back(path.c_str());
  const std::string data = data_folder(), written = output.string();
  hipplan_tool_io io{};
  io.struct_size = sizeof(io);
  io.data_folder = data.c_str();
  hipplan_build_options options{};
  options.struct_size = sizeof(options);
  options.graphs = {graphs.data(), graphs.size()};
  options.targets = {&targets, 1};
  options.output = written.c_str();
  REQUIRE(hipplan_tool_build(&options, &io) == 0);
  hipplan_file* file = nullptr;
  REQUIRE_MESSAGE(hipplan_file_open(written.c_str(), &file) == HIPPLAN_OK,
                  std::string(hipplan_last_error()));
  return file;
}

}  // namespace

TEST_CASE("a saved plan loads, says the same of itself, and saves to the same bytes") {
  if (!have_kernels()) return;
  hipplan_plan* plan = baked();
  CHECK(std::string(hipplan_plan_engine_name(plan)) == "hipplan:ConvFwd");
  CHECK(hipplan_plan_tensor_count(plan) == 3);
  const auto bytes = saved(plan);
  hipplan_plan* loaded = nullptr;
  REQUIRE_MESSAGE(hipplan_plan_load(bytes.data(), bytes.size(), &loaded) == HIPPLAN_OK,
                  std::string(hipplan_last_error()));
  CHECK(saved(loaded) == bytes);
  CHECK(hipplan_plan_engine_id(loaded) == hipplan_plan_engine_id(plan));
  CHECK(hipplan_plan_workspace_size(loaded) == hipplan_plan_workspace_size(plan));
  int64_t uid = 0, alignment = 0;
  REQUIRE(hipplan_plan_tensor(loaded, 0, &uid, &alignment) == HIPPLAN_OK);
  CHECK(alignment >= 1);
  CHECK(hipplan_plan_tensor(loaded, 3, &uid, &alignment) == HIPPLAN_BAD_INPUT);
  size_t size = 0;
  CHECK(hipplan_plan_graph(loaded, nullptr, &size) == HIPPLAN_NEGATIVE);
  CHECK(std::string(hipplan_last_error_reason()) == "not-available");
  CHECK(hipplan_plan_graph(plan, nullptr, &size) == HIPPLAN_OK);
  CHECK(size > 100);
  CHECK(hipplan_plan_save_file(loaded, "/nonexistent/x.hplan") == HIPPLAN_BAD_INPUT);
  hipplan_plan_destroy(loaded);
  hipplan_plan_destroy(plan);
}

TEST_CASE("a list of targets that names none is refused, not left out") {
  hipplan_tool_io io{};
  io.struct_size = sizeof(io);
  const char* path = "/nonexistent/x.hplan";
  for (const char* list : {"", " ", ",", " , "}) {
    CAPTURE(list);
    std::string said;
    io.user = &said;
    io.message = [](void* user, hipplan_severity, const char* text) {
      *static_cast<std::string*>(user) += text;
    };
    hipplan_verify_options verify{};
    verify.struct_size = sizeof(verify);
    verify.paths = {&path, 1};
    verify.targets = {&list, 1};
    CHECK(hipplan_tool_verify(&verify, &io) == HIPPLAN_BAD_INPUT);
    CHECK(said.find("names no target") != std::string::npos);
    said.clear();
    hipplan_inspect_options inspect{};
    inspect.struct_size = sizeof(inspect);
    inspect.command = "show";
    inspect.arguments = {&path, 1};
    inspect.targets = {&list, 1};
    CHECK(hipplan_tool_inspect(&inspect, &io) == HIPPLAN_BAD_INPUT);
    CHECK(said.find("names no target") != std::string::npos);
  }
}

TEST_CASE("saving a plan gives the envelope that the tools take out of its file") {
  if (!have_kernels()) return;
  hipplan_plan* plan = baked();
  const auto folder = std::filesystem::temp_directory_path() /
                      ("hipplan-test-envelope-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = folder / "x.hplan", envelope = folder / "x.envelope";
  REQUIRE(hipplan_plan_save_file(plan, file.c_str()) == HIPPLAN_OK);
  hipplan_tool_io io{};
  io.struct_size = sizeof(io);
  const char* argument = file.c_str();
  hipplan_inspect_options options{};
  options.struct_size = sizeof(options);
  options.command = "extract";
  options.arguments = {&argument, 1};
  options.part = "envelope";
  options.output = envelope.c_str();
  REQUIRE(hipplan_tool_inspect(&options, &io) == HIPPLAN_OK);
  std::ifstream in(envelope, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  const auto bytes = saved(plan);
  CHECK(content.str() == std::string(bytes.begin(), bytes.end()));
  // What was loaded from it says what it was baked for, and goes back into a file.
  hipplan_plan* loaded = nullptr;
  REQUIRE(hipplan_plan_load(bytes.data(), bytes.size(), &loaded) == HIPPLAN_OK);
  CHECK(hipplan_plan_save_file(loaded, file.c_str()) == HIPPLAN_OK);
  hipplan_plan_destroy(loaded);
  hipplan_plan_destroy(plan);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a buffer that is too small is left alone and told the size") {
  if (!have_kernels()) return;
  hipplan_plan* plan = baked();
  const auto bytes = saved(plan);
  std::vector<char> small(bytes.size() - 1, 'x');
  size_t size = small.size();
  CHECK(hipplan_plan_save(plan, small.data(), &size) == HIPPLAN_BAD_INPUT);
  CHECK(size == bytes.size());
  CHECK(std::string(small.begin(), small.end()) == std::string(small.size(), 'x'));
  hipplan_plan_destroy(plan);
}

TEST_CASE("saving from many threads gives everyone the same bytes") {
  if (!have_kernels()) return;
  hipplan_plan* plan = baked();
  std::vector<std::vector<char>> all(16);
  std::vector<std::thread> threads;
  for (auto& mine : all)
    threads.emplace_back([&mine, plan] {
      size_t size = 1 << 20;
      mine.resize(size);
      if (hipplan_plan_save(plan, mine.data(), &size) == HIPPLAN_OK) mine.resize(size);
    });
  for (auto& thread : threads) thread.join();
  const auto bytes = saved(plan);
  for (const auto& mine : all) CHECK(mine == bytes);
  hipplan_plan_destroy(plan);
}

TEST_CASE("damaged bytes are damaged, not a version story") {
  if (!have_kernels()) return;
  hipplan_plan* plan = baked();
  auto bytes = saved(plan);
  hipplan_plan_destroy(plan);
  bytes[bytes.size() / 2] ^= 0x10;
  hipplan_plan* loaded = nullptr;
  CHECK(hipplan_plan_load(bytes.data(), bytes.size(), &loaded) == HIPPLAN_DAMAGED);
  CHECK(loaded == nullptr);
  CHECK(hipplan_plan_load(bytes.data(), 10, &loaded) == HIPPLAN_DAMAGED);
  hipplan_file* file = nullptr;
  CHECK(hipplan_file_from_bytes(bytes.data(), bytes.size(), &file) != HIPPLAN_OK);
}

TEST_CASE("a plan file is found by target and runs on a device") {
  if (!have_kernels()) return;
  hipplan_plan* plan = baked();
  const auto path =
      std::filesystem::temp_directory_path() / ("hipplan-api-" + std::to_string(getpid()));
  REQUIRE_MESSAGE(hipplan_plan_save_file(plan, path.c_str()) == HIPPLAN_OK,
                  std::string(hipplan_last_error()));
  hipplan_plan_destroy(plan);
  hipplan_file* file = nullptr;
  REQUIRE_MESSAGE(hipplan_file_open(path.c_str(), &file) == HIPPLAN_OK,
                  std::string(hipplan_last_error()));
  std::filesystem::remove(path);
  CHECK(hipplan_file_plan_count(file) == 1);
  std::vector<std::pair<std::string, std::string>> listed;
  const auto list = [](void* user, const char* key, const char* target) {
    static_cast<decltype(listed)*>(user)->emplace_back(key, target);
    return 0;
  };
  REQUIRE(hipplan_file_list(file, list, &listed) == HIPPLAN_OK);
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].second == "gfx942");
  CHECK(hipplan_file_find(file, nullptr, "gfx1100", &plan) == HIPPLAN_UNUSABLE);
  CHECK(hipplan_file_find(file, "ffff0000", "gfx942", &plan) == HIPPLAN_BAD_INPUT);
  hipplan_device* device = open_device("null:gfx942");
  CHECK(std::string(hipplan_device_arch(device)).rfind("gfx942", 0) == 0);
  REQUIRE(hipplan_file_find(file, listed[0].first.c_str(), hipplan_device_arch(device), &plan) ==
          HIPPLAN_OK);
  // Digits count in upper case too, all of them and the first.
  std::string upper = listed[0].first;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (size_t digits : {64U, 63U, 8U}) {
    hipplan_plan* same = nullptr;
    CHECK(hipplan_file_find(file, upper.substr(0, digits).c_str(), "gfx942", &same) == HIPPLAN_OK);
    hipplan_plan_destroy(same);
  }
  hipplan_file_destroy(file);
  CHECK(listed[0].first == hipplan_plan_graph_key(plan));
  CHECK(listed[0].second == hipplan_plan_target(plan));

  hipplan_executable* executable = nullptr;
  REQUIRE_MESSAGE(hipplan_executable_create(plan, device, &executable) == HIPPLAN_OK,
                  std::string(hipplan_last_error()));
  std::vector<int64_t> uids;
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < hipplan_plan_tensor_count(plan); ++i) {
    int64_t uid = 0;
    REQUIRE(hipplan_plan_tensor(plan, i, &uid, nullptr) == HIPPLAN_OK);
    uint64_t address = 0;
    REQUIRE(hipplan_device_allocate(device, 1 << 20, &address) == HIPPLAN_OK);
    uids.push_back(uid);
    addresses.push_back(address);
  }
  CHECK(hipplan_execute(executable, device, uids.data(), addresses.data(), uids.size(), 0) ==
        HIPPLAN_OK);
  CHECK(hipplan_execute(executable, device, uids.data(), addresses.data(), 1, 0) ==
        HIPPLAN_BAD_INPUT);
  CHECK(hipplan_device_synchronize(device) == HIPPLAN_OK);
  const char text[] = "0123456789";
  char back[sizeof(text)] = {};
  REQUIRE(hipplan_device_write(device, addresses[0], text, sizeof(text)) == HIPPLAN_OK);
  REQUIRE(hipplan_device_read(device, back, addresses[0], sizeof(back)) == HIPPLAN_OK);
  CHECK(std::memcmp(text, back, sizeof(text)) == 0);
  for (const uint64_t address : addresses)
    CHECK(hipplan_device_release(device, address) == HIPPLAN_OK);
  hipplan_executable_destroy(executable);
  hipplan_device_destroy(device);
  hipplan_plan_destroy(plan);
}

TEST_CASE("a file lists its plans in the order of key and target, and ends when told to") {
  if (!have_kernels()) return;
  const auto path =
      std::filesystem::temp_directory_path() / ("hipplan-list-" + std::to_string(getpid()));
  hipplan_file* file = baked({"conv_fwd"}, "gfx942,gfx1100", path);
  std::filesystem::remove(path);
  std::vector<std::string> seen;
  const auto all = [](void* user, const char*, const char* target) {
    static_cast<decltype(seen)*>(user)->emplace_back(target);
    return 0;
  };
  REQUIRE(hipplan_file_list(file, all, &seen) == HIPPLAN_OK);
  CHECK(seen == std::vector<std::string>{"gfx1100", "gfx942"});
  const auto one = [](void* user, const char* key, const char*) {
    static_cast<decltype(seen)*>(user)->emplace_back(key);
    return 1;
  };
  CHECK(hipplan_file_list(file, one, &seen) == HIPPLAN_OK);
  REQUIRE(seen.size() == 3);
  CHECK(seen[2].size() == 64);
  CHECK(hipplan_file_list(file, nullptr, nullptr) == HIPPLAN_BAD_INPUT);
  hipplan_file_destroy(file);
}

namespace {

/// The call failed, and its message names `argument`, and neither an option of the tools nor the
/// tool that looks into files.
void check_names(hipplan_status status, const std::string& argument) {
  CHECK(status != HIPPLAN_OK);
  const std::string text = hipplan_last_error();
  CAPTURE(text);
  CHECK(text.find("--") == std::string::npos);
  CHECK(text.find("hipplan-inspect") == std::string::npos);
  CHECK(text.find(argument) != std::string::npos);
}

/// Bakes `graph` for `target` with `data`.
hipplan_status try_bake(const std::string& graph, const char* target, const std::string& data) {
  hipplan_bake_options options{};
  options.struct_size = sizeof(options);
  options.graph_json = graph.c_str();
  options.graph_size = graph.size();
  options.target = target;
  options.data_folder = data.c_str();
  hipplan_plan* plan = nullptr;
  return hipplan_bake(&options, &plan);
}

hipplan_status try_open(const char* name, const char* library = nullptr) {
  const std::string data = data_folder();
  hipplan_device_options options{};
  options.struct_size = sizeof(options);
  options.name = name;
  options.data_folder = data.c_str();
  options.hip_library = options.cuda_library = library;
  hipplan_device* device = nullptr;
  return hipplan_device_open(&options, &device);
}

}  // namespace

TEST_CASE("messages name arguments of functions, not options of tools") {
  const std::string data = data_folder(), graph = sample();
  check_names(try_bake(graph, "gfx942", "/nonexistent"), "data_folder");
  check_names(try_bake(graph, "gfx900", data), "folder targets");
  check_names(try_bake(graph, "sm_89", data), "sm_89 runs plans for sm_80");
  check_names(try_bake(graph, "nonsense", data), "targets");
  const std::string odd = "{\"odd_key\":1," + graph.substr(graph.find('{') + 1);
  check_names(try_bake(odd, "gfx942", data), "odd_key");
  check_names(try_open("null:nonsense"), "targets of the data folder");
  check_names(try_open("hip:0", "/nonexistent.so"), "hip_library");
  check_names(try_open("cuda:0", "/nonexistent.so"), "cuda_library");
}

TEST_CASE("a target that nothing describes is told from a word that is none, as the tools do") {
  const std::string data = data_folder(), graph = sample();
  for (const char* name : {"gfx900", "sm_89"}) {
    CHECK(try_bake(graph, name, data) == HIPPLAN_UNUSABLE);
    CHECK(hipplan_last_error_reason() == std::string("undescribed-target"));
  }
  for (const char* name : {"gfx9999", "nonsense"}) {
    CHECK(try_bake(graph, name, data) == HIPPLAN_BAD_INPUT);
    CHECK(hipplan_last_error_reason() == std::string("unknown-target"));
  }
}

TEST_CASE("which of several graphs is asked for by the argument's name") {
  if (!have_kernels()) return;
  const auto folder =
      std::filesystem::temp_directory_path() / ("hipplan-names-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  hipplan_file* file = baked({"conv_fwd", "add"}, "gfx942", folder / "two.hplan");
  hipplan_plan* plan = nullptr;
  check_names(hipplan_file_find(file, nullptr, "gfx942", &plan), "graph_key, one of");
  // Keys are all that is looked for, and a function is what lists them.
  for (const char* key : {"0000", "add", "matmul"}) {
    check_names(hipplan_file_find(file, key, "gfx942", &plan), "hipplan_file_list tells all 2");
    CHECK(std::string(hipplan_last_error()).find("name") == std::string::npos);
  }
  check_names(hipplan_file_find(file, "0000", "gfx942", &plan), "graph key 0000");
  std::string add;  // of the first graph
  const auto first = [](void* user, const char* key, const char*) {
    *static_cast<std::string*>(user) = key;
    return 1;
  };
  REQUIRE(hipplan_file_list(file, first, &add) == HIPPLAN_OK);
  check_names(hipplan_file_find(file, add.c_str(), "gfx1100", &plan), "hipplan_file_list");
  check_names(hipplan_file_find(file, nullptr, "nonsense", &plan), "nonsense");
  CHECK(std::string(hipplan_last_error()).find("data_folder") == std::string::npos);
  hipplan_file_destroy(file);
  std::filesystem::remove_all(folder);
}

TEST_CASE("null arguments and foreign sizes are refused, destroying null is nothing") {
  CHECK(hipplan_bake(nullptr, nullptr) == HIPPLAN_BAD_INPUT);
  CHECK(hipplan_file_open(nullptr, nullptr) == HIPPLAN_BAD_INPUT);
  CHECK(hipplan_plan_load(nullptr, 5, nullptr) == HIPPLAN_BAD_INPUT);
  CHECK(hipplan_plan_save(nullptr, nullptr, nullptr) == HIPPLAN_BAD_INPUT);
  CHECK(hipplan_execute(nullptr, nullptr, nullptr, nullptr, 0, 0) == HIPPLAN_BAD_INPUT);
  CHECK(std::strlen(hipplan_last_error()) > 0);
  hipplan_bake_options options{};
  options.struct_size = 3;
  hipplan_plan* plan = nullptr;
  CHECK(hipplan_bake(&options, &plan) == HIPPLAN_BAD_INPUT);
  CHECK(std::string(hipplan_last_error_reason()) == "struct-size");
  hipplan_plan_destroy(nullptr);
  hipplan_file_destroy(nullptr);
  hipplan_device_destroy(nullptr);
  hipplan_executable_destroy(nullptr);
  CHECK(hipplan_plan_tensor_count(nullptr) == 0);
}
