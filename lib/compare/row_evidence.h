// What two recorded rows of logits say about each other: lists of top logprobs, margins, ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "record/trace.h"

namespace isobit {

// A target that gives no logprobs leaves them at 0 with no top list. A real answer whose every
// logprob is exactly 0 looks the same and counts as lacking them: the cautious reading.
bool has_logprob_evidence(std::span<const TracePosition> positions);

// Over the entries that both lists have: token ids or logprob bits.
bool top_lists_differ(const TracePosition& a, const TracePosition& b);

// Share of the longer list's tokens that both name. Absent where a list is.
std::optional<double> top_agreement(const TracePosition& a, const TracePosition& b);

// 1 = first of the top list.
std::optional<int32_t> rank_of(int32_t token_id, const TracePosition& position);

// Top-1 minus top-2, nats; from the top list where the target gave no margin.
std::optional<float> margin_of(const TracePosition& position);

std::optional<float> logprob_of(int32_t token_id, const TracePosition& position, bool has_logprobs);

// Of the tokens that both lists name, how far those that moved apart most did: the row's gap drift,
// in nats. Absent with fewer than two such tokens of finite logprob. Lists are a few entries long.
std::optional<double> gap_drift(const TracePosition& a, const TracePosition& b);

}  // namespace isobit
