// Builds kpack files by hand, rule by rule, so that tests do not depend on the writer.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "json/msgpack.h"

namespace hipplan::test {

inline json::Value text(const std::string& value) {
  json::Value out;
  out.kind = json::Kind::string;
  out.string = value;
  return out;
}
inline json::Value number(int64_t value) {
  json::Value out;
  out.kind = json::Kind::integer;
  out.integer = value;
  return out;
}
inline json::Value list(std::vector<json::Value> items) {
  json::Value out;
  out.kind = json::Kind::array;
  out.items = std::move(items);
  return out;
}
inline json::Value map(std::vector<std::pair<std::string, json::Value>> members) {
  json::Value out;
  out.kind = json::Kind::object;
  out.members = std::move(members);
  return out;
}
/// The member of a map, made when it is not there.
inline json::Value& at(json::Value& object, const std::string& key) {
  for (auto& [name, value] : object.members)
    if (name == key) return value;
  return object.members.emplace_back(key, json::Value{}).second;
}
inline void erase(json::Value& object, const std::string& key) {
  std::erase_if(object.members, [&](const auto& member) { return member.first == key; });
}

/// An archive of scheme none with the blobs "first" and "second!" at 64 and 128; what stands
/// between header and table is `middle`.
struct PlainFile {
  uint32_t version = 1;
  Bytes middle = Bytes(128 + 7 - 16);
  json::Value toc;

  PlainFile() {
    put(64, "first");
    put(128, "second!");
    toc = map({{"format_version", number(1)},
               {"group_name", text("test")},
               {"gfx_arch_family", text("gfx942")},
               {"gfx_arches", list({text("gfx942"), text("gfx9-4-generic")})},
               {"toc", map({{"a", map({{"gfx942", row(0, 5)}, {"gfx9-4-generic", row(1, 7)}})},
                            {"b", map({{"gfx942", row(1, 7)}})}})},
               {"compression_scheme", text("none")},
               {"blobs", list({blob(64, 5), blob(128, 7)})}});
  }
  static json::Value row(int64_t ordinal, int64_t size) {
    return map(
        {{"type", text("hsaco")}, {"ordinal", number(ordinal)}, {"original_size", number(size)}});
  }
  static json::Value blob(int64_t offset, int64_t size) {
    return map({{"offset", number(offset)}, {"size", number(size)}});
  }
  void put(size_t offset, std::string_view content) {
    std::memcpy(middle.data() + offset - 16, content.data(), content.size());
  }
  [[nodiscard]] Bytes bytes() const {
    Bytes out;
    append(out, as_bytes("KPAK"));
    append(out, version);
    append(out, static_cast<uint64_t>(16 + middle.size()));
    append(out, ByteView(middle));
    append(out, ByteView(json::write_msgpack(toc)));
    return out;
  }
};

}  // namespace hipplan::test
