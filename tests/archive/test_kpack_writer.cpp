#include <doctest/doctest.h>
#include <zstd.h>

#include "archive/kpack.h"

using namespace hipplan;
using archive::Kpack;
using archive::Scheme;
using archive::Writer;

namespace {

/// 300 bytes that depend on `seed`, with some structure for the compressor.
Bytes code(unsigned seed) {
  Bytes out;
  for (unsigned i = 0; i < 300; ++i) out.push_back(static_cast<std::byte>((i / 7) * (seed + 1)));
  return out;
}
Bytes written(const Writer& writer) {
  auto bytes = writer.to_bytes();
  REQUIRE(bytes.ok());
  return std::move(bytes).value();
}
Bytes sample(Scheme scheme) {
  Writer writer({.group_name = "g", .arch_family = "f", .scheme = scheme});
  REQUIRE(writer.add("b", "gfx942", code(1)).ok());
  REQUIRE(writer.add("a", "gfx942", code(2)).ok());
  REQUIRE(writer.add("a", "gfx1100", code(1)).ok());
  return written(writer);
}

}  // namespace

TEST_CASE("what is written reads back, in both schemes") {
  for (const Scheme scheme : {Scheme::none, Scheme::zstd_per_kernel}) {
    const Bytes bytes = sample(scheme);
    const auto archive = Kpack::parse(bytes, "x");
    REQUIRE_MESSAGE(archive.ok(), (archive.ok() ? "" : archive.error().text()));
    CHECK(archive->info().scheme == scheme);
    CHECK(archive->info().group_name == "g");
    CHECK(archive->info().arches == std::vector<std::string>{"gfx1100", "gfx942"});
    REQUIRE(archive->entries().size() == 3);
    const auto read = [&](std::string_view name, std::string_view arch) {
      const auto bytes_read = archive->read(*archive->find(name, arch));
      REQUIRE(bytes_read.ok());
      return *bytes_read;
    };
    CHECK(read("b", "gfx942") == code(1));
    CHECK(read("a", "gfx942") == code(2));
    CHECK(read("a", "gfx1100") == code(1));
    // Equal code objects are stored once.
    CHECK(archive->info().blobs == 2);
    CHECK(archive->find("b", std::string_view("gfx942"))->ordinal ==
          archive->find("a", std::string_view("gfx1100"))->ordinal);
  }
}

TEST_CASE("the bytes do not depend on the order of adding") {
  Writer forward({}), backward({});
  for (unsigned i = 0; i < 20; ++i) REQUIRE(forward.add(cat("k", i), "gfx942", code(i % 7)).ok());
  for (unsigned i = 20; i-- > 0;) REQUIRE(backward.add(cat("k", i), "gfx942", code(i % 7)).ok());
  CHECK(written(forward) == written(backward));
  CHECK(written(forward) == written(forward));
}

TEST_CASE("the layout is upstream's") {
  const Bytes bytes = sample(Scheme::zstd_per_kernel);
  CHECK(as_text(ByteView(bytes).first(4)) == "KPAK");
  CHECK(load<uint32_t>(bytes, 4) == 1u);
  CHECK(load<uint32_t>(bytes, 64) == 2u);  // number of frames, after padding to 64
  const auto size = load<uint32_t>(bytes, 68);
  REQUIRE(size.has_value());
  CHECK(load<uint32_t>(bytes, 72) == 0xfd2fb528u);  // zstd's magic
  // Any zstd decoder reads the frame, and a changed byte does not go unnoticed.
  Bytes out(300);
  CHECK(ZSTD_decompress(out.data(), out.size(), bytes.data() + 72, *size) == 300);
  CHECK(load<uint64_t>(bytes, 8) < bytes.size());
  const Bytes plain = sample(Scheme::none);
  CHECK(Bytes(plain.begin() + 64, plain.begin() + 364) == code(1));  // "a", gfx1100 comes first
  CHECK(Bytes(plain.begin() + 384, plain.begin() + 684) == code(2));
}

TEST_CASE("bytes that change after writing are noticed, or the content is right") {
  const Bytes original = sample(Scheme::zstd_per_kernel);
  size_t noticed = 0;
  for (size_t i = 0; i < original.size(); ++i) {
    Bytes bytes = original;
    bytes[i] ^= std::byte{0x10};
    const auto archive = Kpack::parse(bytes, "x");
    if (!archive) {
      ++noticed;
      continue;
    }
    bool all_right = archive->entries().size() == 3;
    for (const auto& entry : archive->entries()) {
      const auto read = archive->read(entry);
      all_right &= read && (*read == code(1) || *read == code(2));
      if (!read) CHECK(read.error().code == Code::damaged);
    }
    noticed += !all_right;
  }
  CHECK(noticed > original.size() / 2);
  for (size_t size = 0; size < original.size(); ++size)
    CHECK(!Kpack::parse(ByteView(original).first(size), "x").ok());
}

TEST_CASE("frames that lie about themselves") {
  const Bytes original = sample(Scheme::zstd_per_kernel);
  const uint32_t size = *load<uint32_t>(original, 68);
  const auto archive_of = [&](uint32_t first_size) {
    Bytes bytes = original;
    std::memcpy(bytes.data() + 68, &first_size, 4);
    return bytes;
  };
  CHECK(!Kpack::parse(archive_of(size + 1), "x").ok());
  CHECK(!Kpack::parse(archive_of(UINT32_MAX), "x").ok());
  Bytes count = original;
  const uint32_t many = 0x7fffffff;
  std::memcpy(count.data() + 64, &many, 4);
  CHECK(!Kpack::parse(count, "x").ok());
  // The last bytes of a frame are its checksum.
  Bytes sum = original;
  sum[72 + size - 1] ^= std::byte{1};
  const auto archive = Kpack::parse(sum, "x");
  REQUIRE(archive.ok());
  const auto read = archive->read(*archive->find("a", std::string_view("gfx1100")));
  REQUIRE(!read.ok());
  CHECK(read.error().code == Code::damaged);
  CHECK(archive::evicts(read.error()));
}

TEST_CASE("collisions and bad names are refused") {
  Writer writer({});
  REQUIRE(writer.add("a", "gfx942", code(1)).ok());
  CHECK(writer.add("a", "gfx942", code(1)).ok());  // the same again changes nothing
  const auto collision = writer.add("a", "gfx942", code(2));
  REQUIRE(!collision.ok());
  CHECK(collision.error().reason == "kpack-key-collision");
  CHECK(collision.error().code == Code::bad_input);
  CHECK(!writer.add("", "gfx942", code(1)).ok());
  CHECK(!writer.add("a\\b", "gfx942", code(1)).ok());
  CHECK(!writer.add("c", "no arch", code(1)).ok());
  CHECK(!writer.add("c", "GFX942", code(1)).ok());
}

TEST_CASE("an archive without entries") {
  for (const Scheme scheme : {Scheme::none, Scheme::zstd_per_kernel}) {
    archive::WriterOptions options;
    options.scheme = scheme;
    const Bytes bytes = written(Writer(options));
    const auto archive = Kpack::parse(bytes, "x");
    REQUIRE_MESSAGE(archive.ok(), (archive.ok() ? "" : archive.error().text()));
    CHECK(archive->entries().empty());
  }
}

TEST_CASE("code that compresses beyond the ratio is refused by the reader") {
  // 64 MiB of zeros make a file of a few kilobytes.
  Writer writer({});
  REQUIRE(writer.add("zeros", "gfx942", Bytes(64u << 20)).ok());
  const Bytes bytes = written(writer);
  REQUIRE(bytes.size() * archive::kMaxRatio < (64u << 20));
  const auto archive = Kpack::parse(bytes, "x");
  REQUIRE(!archive.ok());
  CHECK(archive.error().where.ends_with("original_size"));
  // The blob counts, not a file that another blob makes large.
  Bytes noise(256u << 10);
  uint32_t state = 1;
  for (std::byte& byte : noise) byte = std::byte((state = state * 1664525u + 1013904223u) >> 24);
  REQUIRE(writer.add("noise", "gfx942", noise).ok());
  const Bytes larger = written(writer);
  REQUIRE(larger.size() * archive::kMaxRatio > (64u << 20));
  const auto padded = Kpack::parse(larger, "x");
  REQUIRE(!padded.ok());
  CHECK(padded.error().where.ends_with("zeros, gfx942, original_size"));
}
