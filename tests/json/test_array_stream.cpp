#include <doctest/doctest.h>

#include <vector>

#include "json/array_stream.h"

namespace {

using namespace hipplan;

struct Sent {
  std::string text;
  std::vector<size_t> pieces;
  json::ArrayStream::Sink sink() {
    return [this](std::string_view piece) {
      text += piece;
      pieces.push_back(piece.size());
    };
  }
};

json::Writer front(int indent) {
  json::Writer out(indent);
  out.begin_object().member("a", 1).key("rows").begin_array();
  return out;
}

void row(json::Writer& out, int number) {
  out.begin_object().member("number", number).key("list").begin_array().value("x").end_array();
  out.end_object();
}

void rest(json::Writer& out) {
  out.member("left", 0).end_object();
}

}  // namespace

TEST_CASE("a document in pieces is the one that a writer writes whole") {
  for (const int indent : {-1, 2})
    for (const int rows : {0, 1, 2, 20000}) {
      INFO(indent << " " << rows);
      json::Writer whole = front(indent);
      Sent sent;
      json::ArrayStream stream(front(indent), sent.sink());
      for (int i = 0; i < rows; ++i) {
        row(whole, i);
        stream.item([&](json::Writer& out) { row(out, i); });
      }
      whole.end_array();
      rest(whole);
      stream.finish(rest);
      CHECK(sent.text == whole.text());
      CHECK((sent.pieces.size() > 1) == (rows > 2));
      for (const size_t piece : sent.pieces) CHECK(piece < (1u << 19));
    }
}

TEST_CASE("what is short does not go out before its end") {
  Sent sent;
  json::ArrayStream stream(front(2), sent.sink());
  for (int i = 0; i < 100; ++i) stream.item([&](json::Writer& out) { row(out, i); });
  CHECK(!stream.sent());
  CHECK(sent.text.empty());
  for (int i = 0; i < 20000; ++i) stream.item([&](json::Writer& out) { row(out, i); });
  CHECK(stream.sent());
}
