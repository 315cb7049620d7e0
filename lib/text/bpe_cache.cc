// The cache of encoded pieces: open addressing over two arenas.
#include <cstring>

#include "text/bpe.h"

namespace isobit {
namespace {

constexpr size_t kSlots = size_t{1} << 16;
constexpr size_t kMaxUsed = kSlots * 3 / 4;
constexpr size_t kMaxTextBytes = size_t{4} << 20;

}  // namespace

BpePieceCache::BpePieceCache() : slots_(kSlots) {}

std::optional<BpePieceCache::Ids> BpePieceCache::find(std::string_view piece, uint64_t hash) const {
  for (size_t at = hash & (kSlots - 1);; at = (at + 1) & (kSlots - 1)) {
    const Slot& slot = slots_[at];
    if (slot.n_bytes == 0) return std::nullopt;
    if (slot.hash == hash && slot.n_bytes == piece.size() &&
        std::memcmp(text_.data() + slot.text_at, piece.data(), piece.size()) == 0) {
      return Ids{ids_.data() + slot.ids_at, slot.n_ids};
    }
  }
}

void BpePieceCache::insert(std::string_view piece, uint64_t hash, const int32_t* ids,
                           size_t n_ids) {
  if (n_used_ >= kMaxUsed || text_.size() + piece.size() > kMaxTextBytes) {
    slots_.assign(kSlots, Slot{});
    text_.clear();
    ids_.clear();
    n_used_ = 0;
  }
  size_t at = hash & (kSlots - 1);
  while (slots_[at].n_bytes != 0) at = (at + 1) & (kSlots - 1);
  slots_[at] = {.hash = hash,
                .text_at = static_cast<uint32_t>(text_.size()),
                .ids_at = static_cast<uint32_t>(ids_.size()),
                .n_bytes = static_cast<uint16_t>(piece.size()),
                .n_ids = static_cast<uint16_t>(n_ids)};
  text_ += piece;
  ids_.insert(ids_.end(), ids, ids + n_ids);
  ++n_used_;
}

}  // namespace isobit
