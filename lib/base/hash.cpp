#include "base/hash.h"

// The plain functions: the first use of OpenSSL's general interface reads its configuration and
// looks for providers, which takes longer than restoring a plan.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <algorithm>

namespace hipplan {
namespace {

constexpr char kHex[] = "0123456789abcdef";

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

SHA256_CTX* context_of(void* p) {
  return static_cast<SHA256_CTX*>(p);
}

}  // namespace

std::string Digest::hex() const {
  std::string out;
  out.reserve(64);
  for (const uint8_t b : bytes) {
    out += kHex[b >> 4];
    out += kHex[b & 15];
  }
  return out;
}

std::optional<Digest> Digest::from_hex(std::string_view text) {
  if (text.size() != 64) return std::nullopt;
  Digest out;
  for (size_t i = 0; i < 32; ++i) {
    const char a = text[2 * i], b = text[2 * i + 1];
    if ((a >= 'A' && a <= 'F') || (b >= 'A' && b <= 'F')) return std::nullopt;
    const int high = hex_value(a), low = hex_value(b);
    if (high < 0 || low < 0) return std::nullopt;
    out.bytes[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return out;
}

Sha256::Sha256() : context_(new SHA256_CTX) {
  SHA256_Init(context_of(context_));
}
Sha256::~Sha256() {
  delete context_of(context_);
}
Sha256& Sha256::update(ByteView bytes) {
  SHA256_Update(context_of(context_), bytes.data(), bytes.size());
  return *this;
}
Digest Sha256::finish() {
  Digest out;
  SHA256_Final(out.bytes.data(), context_of(context_));
  return out;
}

Digest sha256(ByteView bytes) {
  return Sha256().update(bytes).finish();
}

uint64_t fnv1a64(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : text) {
    hash ^= static_cast<uint8_t>(c);
    hash *= 0x100000001b3ull;
  }
  return hash;
}

int64_t engine_id(std::string_view name) {
  return name.empty() ? 0 : static_cast<int64_t>(fnv1a64(name));
}

std::string engine_id_text(int64_t id) {
  constexpr char kUpper[] = "0123456789ABCDEF";
  std::string out = "0x";
  for (int shift = 60; shift >= 0; shift -= 4)
    out += kUpper[(static_cast<uint64_t>(id) >> shift) & 15];
  return out;
}

std::string Uuid::text() const {
  std::string out;
  for (size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += kHex[bytes[i] >> 4];
    out += kHex[bytes[i] & 15];
  }
  return out;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  Uuid out;
  size_t at = 0;
  for (size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      if (text[at++] != '-') return std::nullopt;
    }
    const int high = hex_value(text[at]), low = hex_value(text[at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.bytes[i] = static_cast<uint8_t>(high * 16 + low);
    at += 2;
  }
  return out;
}

Uuid Uuid::from_name(std::string_view name) {
  const Digest digest = sha256(as_bytes(name));
  Uuid out;
  std::copy_n(digest.bytes.begin(), 16, out.bytes.begin());
  out.bytes[6] = static_cast<uint8_t>((out.bytes[6] & 0x0f) | 0x80);
  out.bytes[8] = static_cast<uint8_t>((out.bytes[8] & 0x3f) | 0x80);
  return out;
}

}  // namespace hipplan
