#include <doctest/doctest.h>

#include "base/hash.h"

using namespace hipplan;

TEST_CASE("SHA-256 of the published examples") {
  CHECK(sha256(as_bytes("")).hex() ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256(as_bytes("abc")).hex() ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256(as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")).hex() ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(as_bytes(std::string(1000000, 'a'))).hex() ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("hashing in pieces is hashing the whole") {
  const std::string text =
      "one two three four five six seven eight nine ten eleven twelve thirteen";
  for (size_t cut = 0; cut <= text.size(); ++cut)
    CHECK(Sha256().update(text.substr(0, cut)).update(text.substr(cut)).finish() ==
          sha256(as_bytes(text)));
}

TEST_CASE("digests read their own text and nothing else") {
  const Digest d = sha256(as_bytes("abc"));
  CHECK(Digest::from_hex(d.hex()) == d);
  std::string text = d.hex();
  CHECK(!Digest::from_hex(text.substr(1)));
  CHECK(!Digest::from_hex(text + "0"));
  text[10] = 'A';
  CHECK(!Digest::from_hex(text));
  text[10] = 'g';
  CHECK(!Digest::from_hex(text));
}

TEST_CASE("FNV-1a of the published examples, and engine ids") {
  CHECK(fnv1a64("") == 0xcbf29ce484222325ull);
  CHECK(fnv1a64("a") == 0xaf63dc4c8601ec8cull);
  CHECK(fnv1a64("foobar") == 0x85944171f73967e8ull);
  CHECK(engine_id("") == 0);
  CHECK(engine_id("foobar") == static_cast<int64_t>(0x85944171f73967e8ull));
  CHECK(engine_id_text(engine_id("foobar")) == "0x85944171F73967E8");
  CHECK(engine_id_text(10) == "0x000000000000000A");
}

TEST_CASE("UUIDs in their canonical form") {
  const std::string text = "0123abcd-4567-89ef-0011-223344556677";
  const auto id = Uuid::parse(text);
  REQUIRE(id.has_value());
  CHECK(id->text() == text);
  CHECK(id->bytes[0] == 0x01);
  CHECK(id->bytes[15] == 0x77);
  CHECK(Uuid::parse("0123ABCD-4567-89EF-0011-223344556677") == id);
  for (const char* bad :
       {"", "0123abcd-4567-89ef-0011-22334455667", "0123abcd-4567-89ef-0011-2233445566777",
        "0123abcd04567-89ef-0011-223344556677", "0123abcd-4567-89ef-0011-22334455667g",
        "{123abcd-4567-89ef-0011-22334455667}", "0123abcd-45-67-89ef0011-223344556677"})
    CHECK(!Uuid::parse(bad));
}

TEST_CASE("UUIDs from names are stable, distinct and marked as version 8") {
  const Uuid a = Uuid::from_name("conv"), b = Uuid::from_name("conv"), c = Uuid::from_name("conv2");
  CHECK(a == b);
  CHECK(a != c);
  CHECK(a.text()[14] == '8');
  CHECK(std::string("89ab").find(a.text()[19]) != std::string::npos);
  const auto digest = sha256(as_bytes("conv"));
  CHECK(a.bytes[0] == digest.bytes[0]);
  CHECK(a.bytes[15] == digest.bytes[15]);
}
