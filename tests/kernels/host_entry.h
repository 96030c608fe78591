// How a kernel compiled for the host gets called: arguments as bytes, as a device gets them. Kept
// free of the standard library's larger headers, because every kernel build includes it.
#pragma once

#include <stddef.h>

namespace hipplan_host {

using Entry = void (*)(const unsigned char* arguments);

/// Registers a kernel under names, separated by commas. The text must outlive the program's start.
struct Registration {
  Registration(const char* names, Entry entry);
};

/// The value of type T at the next multiple of its alignment; moves `at` past it.
template <class T>
T next_argument(const unsigned char* bytes, size_t& at) {
  at = (at + alignof(T) - 1) / alignof(T) * alignof(T);
  T value;
  __builtin_memcpy(static_cast<void*>(&value), bytes + at, sizeof(T));
  at += sizeof(T);
  return value;
}

template <class... Args>
struct Arguments;
template <>
struct Arguments<> {
  template <class Function, class... Done>
  static void call(Function function, const unsigned char*, size_t, Done... done) {
    function(done...);
  }
};
template <class First, class... Rest>
struct Arguments<First, Rest...> {
  template <class Function, class... Done>
  static void call(Function function, const unsigned char* bytes, size_t at, Done... done) {
    const First value = next_argument<First>(bytes, at);
    Arguments<Rest...>::call(function, bytes, at, done..., value);
  }
};
template <class... Args>
void call(void (*function)(Args...), const unsigned char* bytes) {
  Arguments<Args...>::call(function, bytes, 0);
}

}  // namespace hipplan_host
