// Every change of a file's bytes is told as damage, never as anything else.
#include <doctest/doctest.h>

#include <random>

#include "reseal.h"

using namespace hipplan;
using namespace hipplan::plan;
using namespace hipplan::test;

namespace {

/// Why the bytes were not told as damage; empty when they were. The message must not speak of
/// versions.
std::string not_damaged(const Bytes& bytes) {
  const auto file = open_bytes(bytes);
  if (file) return "accepted";
  const auto text = file.error().text();
  if (file.error().code != hipplan::Code::damaged) return text;
  return text.find("newer") == std::string::npos && text.find("older") == std::string::npos ? ""
                                                                                            : text;
}

/// A small library whose index has inner pages, with a signature block behind it.
Bytes library() {
  std::vector<Plan> plans;
  for (unsigned i = 0; i < 80; ++i) plans.push_back(sample_plan(i));
  return file_of(plans);
}

Bytes with_signature_block(Bytes file) {
  Bytes head;
  append(head, std::array<uint8_t, 8>{0x89, 'H', 'S', 'G', 0x0d, 0x0a, 0x1a, 0x0a});
  append(head, uint16_t{1});
  append(head, uint16_t{0});
  append(head, uint32_t{1});
  append(head, uint64_t{64 + 104});
  append(head, uint64_t{0});
  const Bytes record(104, std::byte{0x5a});
  const Digest digest = Sha256().update(head).update(record).finish();
  append(file, ByteView(head));
  append(file, digest.bytes);
  append(file, ByteView(record));
  return file;
}

Bytes replaced(ByteView bytes, std::string_view from, std::string_view to) {
  std::string text(as_text(bytes)), out;
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, from.size(), from) == 0) {
      out += to;
      at += from.size();
    } else {
      out += text[at++];
    }
  }
  const auto view = as_bytes(out);
  return {view.begin(), view.end()};
}

}  // namespace

TEST_CASE("each bit of a small signed file matters") {
  Plan plan = sample_plan(1);
  plan.payload.kernels = {sample_kernel("", sample_code(9, 150))};
  plan.reasons.clear();
  const Bytes good = with_signature_block(file_of({plan}));
  REQUIRE(not_damaged(good) == "accepted");
  Bytes bad = good;
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    const std::byte mask{static_cast<uint8_t>(1u << (bit % 8))};
    bad[bit / 8] ^= mask;
    INFO("bit ", bit % 8, " of offset ", bit / 8);
    CHECK(not_damaged(bad) == "");
    bad[bit / 8] ^= mask;
  }
}

TEST_CASE("each byte of a small file matters") {
  const Bytes good = file_of({full_plan()});
  REQUIRE(not_damaged(good) == "accepted");
  std::mt19937 random(7);
  for (size_t at = 0; at < good.size(); ++at) {
    Bytes bad = good;
    bad[at] ^= std::byte(1u << (random() % 8));
    INFO("offset ", at);
    CHECK(not_damaged(bad) == "");
  }
}

TEST_CASE("400 random bytes of a library, each set to another value") {
  const Bytes good = library();
  REQUIRE(not_damaged(good) == "accepted");
  std::mt19937 random(11);
  for (int i = 0; i < 400; ++i) {
    Bytes bad = good;
    const size_t at = random() % bad.size();
    bad[at] ^= std::byte(1 + random() % 255);
    INFO("offset ", at);
    CHECK(not_damaged(bad) == "");
  }
}

TEST_CASE("all truncations, and growth") {
  const Bytes good = file_of({sample_plan(3)});
  for (size_t size = 0; size < good.size(); ++size) {
    INFO("size ", size);
    CHECK(not_damaged(Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(size))) == "");
  }
  for (const size_t more : {1, 15, 64, 200, 4096, 5000}) {
    Bytes grown = good;
    grown.resize(good.size() + more);
    INFO("grown by ", more);
    CHECK(not_damaged(grown) == "");
  }
  Bytes twice = good;
  append(twice, ByteView(good));
  CHECK(not_damaged(twice) == "");
}

TEST_CASE("the signature block is under its own digest and may be taken off as a whole") {
  const Bytes content = file_of({sample_plan(3)}), good = with_signature_block(content);
  const auto file = open_bytes(good);
  REQUIRE_MESSAGE(file.ok(), (file ? "" : file.error().text()));
  CHECK(file->signature_block().size() == 168);
  CHECK(file->directory_digest() == open_bytes(content)->directory_digest());
  for (size_t at = content.size(); at < good.size(); ++at) {
    Bytes bad = good;
    bad[at] ^= std::byte{0x10};
    INFO("offset ", at);
    CHECK(not_damaged(bad) == "");
    if (at > content.size())
      CHECK(not_damaged(Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(at))) == "");
  }
}

TEST_CASE("text-mode copies are told as such") {
  const Bytes good = file_of({sample_plan(3)});
  const Bytes unix_copy = replaced(good, "\r\n", "\n"), dos_copy = replaced(good, "\n", "\r\n");
  CHECK(not_damaged(unix_copy) == "");
  CHECK(not_damaged(dos_copy) == "");
  CHECK(open_bytes(unix_copy).error().reason == "text-mode");
  CHECK(open_bytes(dos_copy).error().reason == "text-mode");
}

TEST_CASE("swapped sections, zeroed and exchanged pages") {
  const Bytes good = library();
  const auto file = open_bytes(good);
  REQUIRE(file);
  const auto sections = file->sections();
  const auto at = [](auto& b, uint64_t offset) {
    return b.begin() + static_cast<ptrdiff_t>(offset);
  };
  // Directory entries of two sections exchanged.
  Bytes swapped = good;
  std::swap_ranges(at(swapped, 128), at(swapped, 224), at(swapped, 224));
  CHECK(not_damaged(swapped) == "");
  // One entry put over another; one put in a second time, with digest and sizes made right.
  Bytes twice = good;
  std::copy(at(twice, 128), at(twice, 224), at(twice, 224));
  CHECK(not_damaged(twice) == "");
  reseal_front(twice);
  CHECK(not_damaged(twice) == "");
  Bytes longer(good.begin(), at(good, 224));
  longer.insert(longer.end(), at(good, 128), good.end());
  store(longer, 32, *load<uint64_t>(good, 32) + 96);
  store(longer, 16, uint64_t{longer.size()});
  reseal_front(longer);
  CHECK(not_damaged(longer) == "");
  // First bytes of the contents of two sections exchanged.
  Bytes mixed = good;
  std::swap_ranges(at(mixed, sections[2].offset), at(mixed, sections[2].offset + 512),
                   at(mixed, sections[3].offset));
  CHECK(not_damaged(mixed) == "");
  for (uint64_t page = 0; page + 4096 <= good.size(); page += 4096) {
    Bytes zeroed = good;
    std::fill(at(zeroed, page), at(zeroed, page + 4096), std::byte{0});
    INFO("page ", page / 4096);
    CHECK(not_damaged(zeroed) == "");
  }
}

TEST_CASE("reading by lookup tells damage in what it reads") {
  const Bytes good = library();
  const auto key = sample_key(5);
  std::mt19937 random(3);
  unsigned refused = 0;
  for (int i = 0; i < 1000; ++i) {
    Bytes bad = good;
    bad[random() % bad.size()] ^= std::byte(1 + random() % 255);
    const auto file = open_bytes(bad, Check::lookup);
    if (!file) {
      ++refused;
      CHECK(file.error().code == hipplan::Code::damaged);
      continue;
    }
    const auto found = file->find(key, "gfx942");
    if (!found || !*found) {
      ++refused;
      REQUIRE(!found);
      CHECK(found.error().code == hipplan::Code::damaged);
      continue;
    }
    const auto plan = file->read_plan(**found, true);
    if (plan) {
      CHECK(plan_digest(*plan) == plan_digest(sample_plan(5)));
      CHECK(same_bytes(*plan->payload.kernels[0].code, *sample_code(1)));
    } else {
      ++refused;
      CHECK(plan.error().code == hipplan::Code::damaged);
    }
  }
  CHECK(refused > 40);
}

TEST_CASE("a bare payload and a bare envelope: every bit flip and every truncation is damage") {
  const Plan plan = sample_plan(2);
  const auto payload = encode_payload(plan.payload), envelope = encode_bare_plan(plan);
  REQUIRE(payload);
  REQUIRE(envelope);
  for (size_t at = 0; at < envelope->size(); ++at) {
    Bytes bad = *envelope;
    bad[at] ^= std::byte{4};
    INFO("offset ", at);
    const auto decoded = decode_bare_plan(bad, "bare");
    REQUIRE(!decoded);
    CHECK(decoded.error().code == hipplan::Code::damaged);
    if (at >= payload->size()) continue;
    bad = *payload;
    bad[at] ^= std::byte{64};
    const auto inner = decode_payload(bad, "payload");
    REQUIRE(!inner);
    CHECK(inner.error().code == hipplan::Code::damaged);
    bad.resize(at);
    CHECK(decode_payload(bad, "payload").error().code == hipplan::Code::damaged);
  }
}
