#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/json_members.h"
#include "record/float_json.h"
#include "record/run_json.h"

namespace isobit {
namespace {

std::string element(const std::string& where, const char* section, size_t index) {
  return where + ": " + section + "[" + std::to_string(index) + "]";
}

std::string bytes(const JsonMembers& members, const std::string& key) {
  auto text = bytes_from_json(members.at(key));
  if (!text)
    members.refuse(key,
                   "a string or {\"bytes\": ...} is expected, found " + json_kind(members.at(key)));
  return std::move(*text);
}

std::vector<std::string> byte_texts(const JsonMembers& members, const std::string& key) {
  std::vector<std::string> out;
  for (const Json& value : members.array(key)) {
    auto text = bytes_from_json(value);
    if (!text) members.refuse(key, "strings are expected, found " + json_kind(value));
    out.push_back(std::move(*text));
  }
  return out;
}

float a_float(const JsonMembers& members, const std::string& key, const Json& value) {
  const auto number = float_from_json(value);
  if (!number) members.refuse(key, "a float is expected, found " + json_kind(value));
  return *number;
}

// The enumerator up to `last` that the word names.
template <typename Enum>
Enum word(const JsonMembers& members, const std::string& key, Enum last) {
  std::vector<std::string> words;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    words.emplace_back(name(static_cast<Enum>(i)));
    if (words.back() == members.text(key)) return static_cast<Enum>(i);
  }
  members.refuse(key, "'" + members.text(key).substr(0, 40) + "' is unknown" +
                          did_you_mean(members.text(key), words));
}

void read_header(const Json& json, const std::string& where, RunRecord& run) {
  const JsonMembers m(json, where,
                      {"id", "created", "target", "label", "plan_json", "prompts_digest", "status",
                       "stop_reason", "fingerprint", "redacted"});
  run.id = m.text("id");
  run.created = m.text("created");
  run.target = bytes(m, "target");
  run.label = bytes(m, "label");
  run.plan_json = bytes(m, "plan_json");
  run.prompts_digest = m.text("prompts_digest");
  run.status = m.text("status");
  if (run.status != "running" && run.status != "complete")
    m.refuse("status", "running or complete is expected, found " + run.status.substr(0, 40));
  run.stop_reason = bytes(m, "stop_reason");
  run.fingerprint.id = m.text("fingerprint");
  run.redacted = m.flag("redacted");
}

FingerprintItem read_item(const Json& json, const std::string& where) {
  const JsonMembers m(json, where, {"class", "name", "value", "source", "reason"});
  FingerprintItem item;
  item.item_class = word(m, "class", FingerprintClass::kEnvironment);
  item.name = bytes(m, "name");
  item.value = bytes(m, "value");
  item.source = word(m, "source", FingerprintSource::kUnknown);
  item.reason = bytes(m, "reason");
  return item;
}

Sampling read_sampling(const Json& json, const std::string& where) {
  const JsonMembers m(
      json, where,
      {"temperature", "top_k", "top_p", "min_p", "repetition_penalty", "frequency_penalty",
       "presence_penalty", "logit_bias", "seed", "seed_source", "n"});
  Sampling s;
  s.temperature = m.number("temperature");
  s.top_k = m.int32("top_k", std::numeric_limits<int32_t>::min());
  s.top_p = m.number("top_p");
  s.min_p = m.number("min_p");
  s.repetition_penalty = m.number("repetition_penalty");
  s.frequency_penalty = m.number("frequency_penalty");
  s.presence_penalty = m.number("presence_penalty");
  for (const Json& pair : m.array("logit_bias")) {
    if (!pair.is_array() || pair.size() != 2 || !is_int32(pair[0]) || !pair[1].is_number())
      m.refuse("logit_bias", "pairs of a token id and a number are expected");
    s.logit_bias.emplace_back(pair[0].get<int32_t>(), pair[1].get<double>());
  }
  s.seed = m.uint64_text("seed");
  const std::string& source = m.text("seed_source");
  if (source != "request" && source != "request_id")
    m.refuse("seed_source", "request or request_id is expected");
  s.seed_source = source == "request" ? SeedSource::kRequest : SeedSource::kRequestId;
  s.n = m.int32("n", 1);
  return s;
}

Request read_request(const Json& json, const std::string& where, std::string& text) {
  const JsonMembers m(json, where,
                      {"id", "text", "prompt_token_ids", "max_tokens", "n_top", "sampling", "stop",
                       "stop_token_ids", "ignore_eos", "forced_token_ids", "tags"});
  Request r;
  r.id = bytes(m, "id");
  text = bytes(m, "text");
  r.prompt_token_ids = m.int32s("prompt_token_ids");
  r.max_tokens = m.int32("max_tokens");
  r.n_top = m.int32("n_top");
  r.sampling = read_sampling(m.at("sampling"), m.place("sampling"));
  r.stop.strings = byte_texts(m, "stop");
  r.stop.token_ids = m.int32s("stop_token_ids");
  r.stop.ignore_eos = m.flag("ignore_eos");
  r.forced_token_ids = m.int32s("forced_token_ids");
  r.tags = byte_texts(m, "tags");
  return r;
}

double not_negative(const JsonMembers& m, const std::string& key) {
  const double value = m.number(key);
  if (!(std::isfinite(value) && value >= 0)) m.refuse(key, "a number from 0 is expected");
  return value;
}

CellRecord read_cell(const Json& json, const std::string& where) {
  const JsonMembers m(json, where,
                      {"index", "name", "values", "reference_index", "complete", "exercised",
                       "not_exercised_reason", "wall_ms", "generated_tokens_per_s"});
  CellRecord c;
  c.index = m.int32("index");
  c.name = m.text("name");
  if (!m.at("values").is_object()) m.refuse("values", "an object is expected");
  for (const auto& [axis, value] : m.at("values").items()) {
    if (!value.is_string()) m.refuse("values", "strings are expected");
    c.values[axis] = value.get<std::string>();
  }
  c.reference_index = m.int32("reference_index");
  c.complete = m.flag("complete");
  c.exercised = m.flag("exercised");
  c.not_exercised_reason = bytes(m, "not_exercised_reason");
  c.wall_ms = not_negative(m, "wall_ms");
  c.generated_tokens_per_s = not_negative(m, "generated_tokens_per_s");
  return c;
}

// A column has one entry a position, or none at all.
const Json& column(const JsonMembers& m, const std::string& key, size_t n) {
  const Json& values = m.array(key);
  if (!values.empty() && values.size() != n) {
    m.refuse(key, "has " + std::to_string(values.size()) + " entries for " + std::to_string(n) +
                      " tokens");
  }
  return values;
}

Hash128 read_hash(const JsonMembers& m, const Json& value) {
  const auto raw = value.is_string() ? bytes_from_hex(value.get<std::string>()) : std::nullopt;
  if (!raw || raw->size() != 16)
    m.refuse("logits_hashes", "32 hexadecimal digits are expected, found " + json_kind(value));
  Hash128 hash;
  std::copy(raw->begin(), raw->end(), hash.begin());
  return hash;
}

std::vector<TokenScore> read_top(const JsonMembers& m, const Json& list) {
  if (!list.is_array()) m.refuse("top", "a list a position is expected");
  std::vector<TokenScore> out;
  for (const Json& pair : list) {
    if (!pair.is_array() || pair.size() != 2 || !is_int32(pair[0]))
      m.refuse("top", "pairs of a token id and a logprob are expected");
    out.push_back({pair[0].get<int32_t>(), a_float(m, "top", pair[1])});
  }
  return out;
}

std::vector<TracePosition> read_positions(const JsonMembers& m) {
  const std::vector<int32_t> tokens = m.int32s("tokens");
  const size_t n = tokens.size();
  const Json &logprobs = m.array("logprobs"), &margins = column(m, "margins", n),
             &hashes = column(m, "logits_hashes", n), &top = column(m, "top", n);
  if (logprobs.size() != n) column(m, "logprobs", n), m.refuse("logprobs", "is empty");
  std::vector<TracePosition> out(n);
  for (size_t i = 0; i < n; ++i) {
    out[i].token_id = tokens[i];
    out[i].logprob = a_float(m, "logprobs", logprobs[i]);
    if (!margins.empty() && !margins[i].is_null())
      out[i].margin = a_float(m, "margins", margins[i]);
    if (!hashes.empty() && !hashes[i].is_null()) out[i].logits_hash = read_hash(m, hashes[i]);
    if (!top.empty()) out[i].top = read_top(m, top[i]);
  }
  return out;
}

SchedulingFacts read_scheduling(const Json& json, const std::string& where) {
  const JsonMembers m(
      json, where,
      {"max_batch_requests", "min_batch_requests", "max_batch_tokens", "first_row",
       "prefill_chunks_tokens", "n_steps", "n_mixed_steps", "n_cached_tokens", "n_preemptions"});
  return {.max_batch_requests = m.int32("max_batch_requests"),
          .min_batch_requests = m.int32("min_batch_requests"),
          .max_batch_tokens = m.int32("max_batch_tokens"),
          .first_row = m.int32("first_row"),
          .prefill_chunks_tokens = m.int32s("prefill_chunks_tokens"),
          .n_steps = m.int32("n_steps"),
          .n_mixed_steps = m.int32("n_mixed_steps"),
          .n_cached_tokens = m.int32("n_cached_tokens"),
          .n_preemptions = m.int32("n_preemptions")};
}

int32_t index_below(const JsonMembers& m, const std::string& key, size_t n) {
  const int32_t index = m.int32(key);
  if (static_cast<size_t>(index) >= n)
    m.refuse(key, "is " + std::to_string(index) + ", there are " + std::to_string(n));
  return index;
}

SampleRecord read_sample(const Json& json, const std::string& where, const RunRecord& run) {
  const JsonMembers m(
      json, where,
      {"cell", "prompt", "repeat", "sample_index", "request_id", "seed", "finish_reason", "text",
       "error", "non_finite", "scheduling", "ttft_ms", "total_ms", "embedding", "tokens",
       "logprobs", "margins", "logits_hashes", "top"});
  SampleRecord s;
  s.cell_index = index_below(m, "cell", run.cells.size());
  s.prompt_index = index_below(m, "prompt", run.requests.size());
  s.repeat = m.int32("repeat");
  Trace& t = s.trace;
  t.sample_index = m.int32("sample_index");
  t.request_id = bytes(m, "request_id");
  t.seed = m.uint64_text("seed");
  t.finish_reason = word(m, "finish_reason", FinishReason::kError);
  t.text = bytes(m, "text");
  t.error = bytes(m, "error");
  t.non_finite = m.flag("non_finite");
  t.scheduling = read_scheduling(m.at("scheduling"), m.place("scheduling"));
  t.ttft_ms = not_negative(m, "ttft_ms");
  t.total_ms = not_negative(m, "total_ms");
  for (const Json& value : m.array("embedding"))
    t.embedding.push_back(a_float(m, "embedding", value));
  t.positions = read_positions(m);
  return s;
}

ForcedRecord read_forced(const Json& json, const std::string& where, const RunRecord& run) {
  const JsonMembers m(json, where,
                      {"cell", "prompt", "repeat", "sample_index", "over_run", "tokens", "logprobs",
                       "margins", "logits_hashes", "top"});
  ForcedRecord f;
  f.cell_index = index_below(m, "cell", run.cells.size());
  f.prompt_index = index_below(m, "prompt", run.requests.size());
  f.repeat = m.int32("repeat");
  f.sample_index = m.int32("sample_index");
  f.over_run = m.text("over_run");
  f.positions = read_positions(m);
  return f;
}

void check_cells(const std::vector<CellRecord>& cells, const std::string& where) {
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto reference = static_cast<size_t>(cells[i].reference_index);
    if (static_cast<size_t>(cells[i].index) != i)
      throw Error(ErrorCode::environment, element(where, "cells", i) + ": is out of order");
    if (reference >= cells.size() || !cells[reference].is_reference()) {
      throw Error(ErrorCode::environment, element(where, "cells", i) + ": cell " +
                                              std::to_string(reference) +
                                              " is not a reference cell");
    }
  }
}

// Ascending and without repetition, by what tells the elements apart.
template <typename T, typename Key>
void check_order(const std::vector<T>& items, const Key& key, const std::string& where,
                 const char* section) {
  for (size_t i = 1; i < items.size(); ++i) {
    if (key(items[i - 1]) < key(items[i])) continue;
    throw Error(ErrorCode::environment,
                element(where, section, i) + ": is out of order, or there twice");
  }
}

}  // namespace

RunRecord run_from_sections(const Json& sections, const std::string& where) {
  const std::vector<std::string> names = {"run",   "fingerprint", "requests",
                                          "cells", "samples",     "forced"};
  for (const std::string& name : names) {
    if (!sections.contains(name))
      throw Error(ErrorCode::environment, where + ": \"" + name + "\" is missing");
  }
  const auto each = [&](const char* section, const auto& read) {
    const Json& list = sections[section];
    if (!list.is_array())
      throw Error(ErrorCode::environment,
                  where + ": " + section + ": an array is expected, found " + json_kind(list));
    for (size_t i = 0; i < list.size(); ++i) read(list[i], element(where, section, i));
  };
  RunRecord run;
  read_header(sections["run"], where + ": run", run);
  each("fingerprint", [&](const Json& json, const std::string& at) {
    run.fingerprint.items.push_back(read_item(json, at));
  });
  check_order(
      run.fingerprint.items,
      [](const FingerprintItem& item) { return std::tuple(item.item_class, item.name); }, where,
      "fingerprint");
  each("requests", [&](const Json& json, const std::string& at) {
    run.requests.push_back(read_request(json, at, run.prompt_texts.emplace_back()));
  });
  each("cells",
       [&](const Json& json, const std::string& at) { run.cells.push_back(read_cell(json, at)); });
  check_cells(run.cells, where);
  each("samples", [&](const Json& json, const std::string& at) {
    run.samples.push_back(read_sample(json, at, run));
  });
  each("forced", [&](const Json& json, const std::string& at) {
    run.forced.push_back(read_forced(json, at, run));
  });
  check_order(
      run.samples,
      [](const SampleRecord& s) {
        return std::tuple(s.cell_index, s.prompt_index, s.repeat, s.trace.sample_index);
      },
      where, "samples");
  check_order(
      run.forced,
      [](const ForcedRecord& f) {
        return std::tuple(f.cell_index, f.prompt_index, f.repeat, f.sample_index, f.over_run);
      },
      where, "forced");
  return run;
}

}  // namespace isobit
