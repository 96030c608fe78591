// Error and Result: how every function of the library reports failure.
#pragma once

#include <cassert>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace hipplan {

/// Class of a failure; it decides the exit code of the tools (docs/errors.md).
enum class Code {
  /// A sound question with the answer "no": no engine serves the graph, plans differ, a check of
  /// results failed. Prefer bad_input when the question itself was malformed.
  negative,
  /// The caller's input is not what it should be: bad JSON, bad flag, missing file, unknown target.
  /// Prefer damaged for files that hipplan itself (or a packer) wrote and sealed with a digest.
  bad_input,
  /// The bytes are not what was written: digest, magic, truncation, structure. Never a version
  /// story.
  damaged,
  /// The bytes are right and cannot be used here: version, provider, target, handler, device.
  unusable,
  /// A signature is missing, wrong or by an unknown key.
  untrusted,
  /// The machine failed: no device, out of memory, disk full, driver error, fault in a kernel.
  machine,
  /// A broken promise inside hipplan itself. Always worth a report.
  internal,
  /// The caller asked to stop. Nothing half-written stays.
  interrupted,
};

/// One failure. `what` is always set; the others as far as they are known.
struct Error {
  Code code = Code::internal;
  std::string reason{};    ///< stable kebab-case id, for instance "section-digest"
  std::string where{};     ///< file, section, node, key, index or offset
  std::string what{};      ///< the fault in one clause
  std::string expected{};  ///< what would have been right
  std::string found{};     ///< what was there
  std::string advice{};    ///< what the reader of the message can do
  /// What the fault consists of, a clause each: the reason of every engine that refused.
  std::vector<std::string> details{};

  /// "<where>: <what>; expected <x>, found <y>; <advice>", leaving out the parts that are empty.
  /// One detail follows behind a colon, several on lines of their own.
  [[nodiscard]] std::string text() const;
  /// Puts an outer place in front of `where`: within("a.hplan") makes "a.hplan: section 3".
  [[nodiscard]] Error within(const std::string& outer) const&;
};

/// Word for a class as it appears in messages and JSON: "damaged", "bad-input", …
[[nodiscard]] const char* code_name(Code code);
/// Exit code of the tools for a failure of this class: negative 1, bad_input 2, damaged 3,
/// unusable 4, untrusted 5, machine and internal 6, interrupted 130.
[[nodiscard]] int exit_code(Code code);

namespace detail {

template <class T>
void append(std::string& out, const T& part) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    out += std::string_view(part);
  } else if constexpr (std::is_same_v<T, bool>) {
    out += part ? '1' : '0';
  } else if constexpr (std::is_same_v<T, char> || std::is_same_v<T, signed char> ||
                       std::is_same_v<T, unsigned char>) {
    out += static_cast<char>(part);
  } else if constexpr (std::is_integral_v<T>) {
    out += std::to_string(part);
  } else {
    std::ostringstream text;
    text << part;
    out += text.str();
  }
}

}  // namespace detail

/// Joins values into a string as operator<< writes them: cat("uid ", 7).
template <class... Ts>
[[nodiscard]] std::string cat(const Ts&... parts) {
  std::string out;
  (detail::append(out, parts), ...);
  return out;
}

/// A value or an Error. Test it before use; value() of a failure is a programming error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & {
    assert(ok());
    return std::get<0>(state_);
  }
  [[nodiscard]] const T& value() const& {
    assert(ok());
    return std::get<0>(state_);
  }
  [[nodiscard]] T&& value() && {
    assert(ok());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const& {
    assert(!ok());
    return std::get<1>(state_);
  }
  [[nodiscard]] Error&& error() && {
    assert(!ok());
    return std::get<1>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

/// Success or an Error, for functions without a value: `return {};` or `return Error{…}`.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  [[nodiscard]] bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const& {
    assert(error_);
    return *error_;
  }
  [[nodiscard]] Error&& error() && {
    assert(error_);
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace hipplan

#define HIPPLAN_CAT2(a, b) a##b
#define HIPPLAN_CAT(a, b) HIPPLAN_CAT2(a, b)
/// Returns the Error of `expr` from the enclosing function when it failed.
#define HIPPLAN_TRY(expr)                                                                        \
  do {                                                                                           \
    if (auto hipplan_result = (expr); !hipplan_result) return std::move(hipplan_result).error(); \
  } while (false)
/// `HIPPLAN_TRY_ASSIGN(auto x, f());` assigns the value, or returns the Error.
#define HIPPLAN_TRY_ASSIGN(target, expr)                              \
  auto HIPPLAN_CAT(hipplan_result_, __LINE__) = (expr);               \
  if (!HIPPLAN_CAT(hipplan_result_, __LINE__))                        \
    return std::move(HIPPLAN_CAT(hipplan_result_, __LINE__)).error(); \
  target = std::move(HIPPLAN_CAT(hipplan_result_, __LINE__)).value()
