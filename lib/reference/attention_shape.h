// What an SDPA node asks for, read and checked. Internal to lib/reference.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "reference/node.h"

namespace hipplan::reference {

/// Where the rows of K or V lie: pages of `page_rows` rows for each head. Without a page table
/// every batch is one page.
struct KeyStore {
  std::shared_ptr<const Dense> data;
  int64_t heads = 1, width = 1;
  int64_t page_rows = 1;
  int64_t table_length = 1;
  std::vector<int64_t> table;  ///< page by batch and place: [batch][table_length]

  /// Position of row j of a head in a batch.
  [[nodiscard]] int64_t row(int64_t batch, int64_t head, int64_t j) const {
    const int64_t page = table[static_cast<size_t>(batch * table_length + j / page_rows)];
    return ((page * heads + head) * page_rows + j % page_rows) * width;
  }
};

struct Attention {
  int64_t batches = 1, heads = 1, rows_q = 1, rows_kv = 1;
  int64_t width = 1;  ///< head size of q and k
  std::shared_ptr<const Dense> q;
  KeyStore k, v;
  double scale = 1;                            ///< of the scores, descales of q and k included
  double out_factor = 1;                       ///< of o: descale of v and the like
  std::vector<int64_t> lengths_q, lengths_kv;  ///< by batch
  bool bottom_right = false;
  std::optional<int64_t> left_bound, right_bound;
  std::shared_ptr<const Dense> mask;  ///< null: none
  bool mask_keeps = false;            ///< a boolean mask: true keeps
  std::vector<int64_t> mask_strides;  ///< over [batch, head, row, key]
  double probability_roundoff = 0;  ///< a kernel may round p to v's type before the second product
  double probability_tiny = 0;

  /// Keys that row i of a batch may read, as [first, last).
  struct Keys {
    int64_t first = 0, last = 0;
  };
  [[nodiscard]] Keys keys(int64_t batch, int64_t i) const;
};

Result<Attention> read_attention(const Context& context);

}  // namespace hipplan::reference
