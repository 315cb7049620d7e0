// The native form of a prompt record, and the members that other forms share with it.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "text/prompt_formats.h"

namespace isobit {
namespace {

constexpr int64_t kMaxInt32 = INT32_MAX;
constexpr size_t kMaxIdBytes = 512;

double real_between(const JsonFields& fields, const char* key, double low, double high,
                    const char* expected) {
  const double value = fields.real(key);
  if (value < low || value > high) fields.fail_at(key, expected);
  return value;
}

std::vector<std::string> read_strings(const JsonFields& fields, const char* key) {
  std::vector<std::string> strings;
  for (const Json& value : fields.array(key)) {
    if (!value.is_string())
      fields.fail("\"" + std::string(key) + "\": expected strings, found " + describe(value));
    strings.push_back(value.get<std::string>());
  }
  return strings;
}

std::vector<int32_t> read_token_ids(const JsonFields& fields, const char* key) {
  std::vector<int32_t> ids;
  for (const Json& value : fields.array(key)) {
    const bool negative =
        value.is_number_integer() && !value.is_number_unsigned() && value.get<int64_t>() < 0;
    if (!value.is_number_integer() || negative ||
        value.get<uint64_t>() > static_cast<uint64_t>(kMaxInt32)) {
      fields.fail("\"" + std::string(key) + "\": expected token ids, found " + describe(value) +
                  " at index " + std::to_string(ids.size()));
    }
    ids.push_back(value.get<int32_t>());
  }
  if (ids.empty()) fields.fail_at(key, "at least one token id");
  return ids;
}

void read_logit_bias(const JsonFields& fields, PromptSampling& sampling) {
  const JsonFields bias = fields.object("logit_bias");
  for (auto it = bias.json().begin(); it != bias.json().end(); ++it) {
    const std::string& key = it.key();
    if (key.empty() || key.size() > 9 || key.find_first_not_of("0123456789") != std::string::npos) {
      bias.fail("\"" + key + "\": expected a token id as the key");
    }
    // Not bias.real(key), which looks the key up: a stranger's line may have a million of them.
    if (!it->is_number()) bias.fail("\"" + key + "\": expected a number, found " + describe(*it));
    sampling.logit_bias.emplace_back(std::stoi(key), it->get<double>());
  }
  std::sort(sampling.logit_bias.begin(), sampling.logit_bias.end());
  for (size_t i = 1; i < sampling.logit_bias.size(); ++i) {  // "7" and "07"
    if (sampling.logit_bias[i - 1].first == sampling.logit_bias[i].first)
      bias.fail("one token id is written twice");
  }
}

Json strings_or_null(const std::vector<std::string>& strings) {
  return strings.empty() ? Json() : Json(strings);
}

template <typename T>
void put(Json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}

Json sampling_json(const PromptSampling& sampling) {
  Json json = Json::object();
  put(json, "temperature", sampling.temperature);
  put(json, "top_k", sampling.top_k);
  put(json, "top_p", sampling.top_p);
  put(json, "min_p", sampling.min_p);
  put(json, "repetition_penalty", sampling.repetition_penalty);
  put(json, "frequency_penalty", sampling.frequency_penalty);
  put(json, "presence_penalty", sampling.presence_penalty);
  put(json, "seed", sampling.seed);
  put(json, "n", sampling.n);
  if (sampling.logit_bias.empty()) return json;
  // Appended: the ids are unique, and operator[] would compare each with all before it.
  Json biases = Json::object();
  std::vector<std::pair<const std::string, Json>>& members = biases.get_ref<Json::object_t&>();
  for (const auto& [id, bias] : sampling.logit_bias)
    members.emplace_back(std::to_string(id), Json(bias));
  json["logit_bias"] = std::move(biases);
  return json;
}

}  // namespace

void require_one_input(const JsonFields& fields) {
  const int n = fields.has("messages") + fields.has("prompt") + fields.has("prompt_token_ids");
  if (n != 1) {
    fields.fail(
        "expected exactly one of \"messages\", \"prompt\" and \"prompt_token_ids\", found " +
        std::to_string(n));
  }
}

void read_messages(const JsonFields& fields, PromptRecord& record) {
  const Json& messages = fields.array("messages");
  if (messages.empty()) fields.fail_at("messages", "at least one message");
  for (size_t i = 0; i < messages.size(); ++i) {
    const JsonFields message(messages[i], fields.where() + ": messages[" + std::to_string(i) + "]",
                             ErrorCode::usage);
    message.string("role");
    const bool speaks = message.has("content");
    if (!speaks && !message.has("tool_calls")) message.fail("\"content\" is missing");
    if (speaks && !message.at("content").is_string() && !message.at("content").is_array()) {
      message.fail_at("content", "a string or an array of parts");
    }
  }
  record.messages = messages;
  if (fields.has("tools")) record.tools = fields.array("tools");
}

void read_sampling(const JsonFields& fields, PromptSampling& sampling) {
  const auto real = [&](const char* key, std::optional<double>& out, double low, double high,
                        const char* expected) {
    if (fields.has(key)) out = real_between(fields, key, low, high, expected);
  };
  real("temperature", sampling.temperature, 0, 100, "a number from 0 to 100");
  real("top_p", sampling.top_p, 0, 1, "a number above 0 and at most 1");
  if (sampling.top_p == 0.0) fields.fail_at("top_p", "a number above 0 and at most 1");
  real("min_p", sampling.min_p, 0, 1, "a number from 0 to 1");
  real("repetition_penalty", sampling.repetition_penalty, 0, 100,
       "a number above 0 and at most 100");
  if (sampling.repetition_penalty == 0.0)
    fields.fail_at("repetition_penalty", "a number above 0 and at most 100");
  real("frequency_penalty", sampling.frequency_penalty, -100, 100, "a number from -100 to 100");
  real("presence_penalty", sampling.presence_penalty, -100, 100, "a number from -100 to 100");
  if (fields.has("top_k"))
    sampling.top_k = static_cast<int32_t>(fields.integer("top_k", 0, kMaxInt32));
  if (fields.has("n")) sampling.n = static_cast<int32_t>(fields.integer("n", 1, 1024));
  if (fields.has("seed")) {
    const Json& seed = fields.at("seed");
    const bool negative =
        seed.is_number_integer() && !seed.is_number_unsigned() && seed.get<int64_t>() < 0;
    if (!seed.is_number_integer() || negative)
      fields.fail_at("seed", "an integer from 0 to 2^64 - 1");
    sampling.seed = seed.get<uint64_t>();
  }
  if (fields.has("logit_bias")) read_logit_bias(fields, sampling);
}

void read_stop(const JsonFields& fields, PromptRecord& record) {
  if (fields.has("stop")) {
    record.stop = fields.at("stop").is_string() ? std::vector{fields.string("stop")}
                                                : read_strings(fields, "stop");
    for (const std::string& text : record.stop) {
      if (text.empty()) fields.fail("\"stop\": an empty string would stop every answer at once");
    }
  }
  if (fields.has("stop_token_ids"))
    record.stop_token_ids = read_token_ids(fields, "stop_token_ids");
  record.ignore_eos = fields.boolean_or("ignore_eos", false);
}

int32_t read_max_tokens(const JsonFields& fields, const char* key) {
  return static_cast<int32_t>(fields.integer(key, 1, kMaxInt32));
}

PromptRecord read_native_prompt(const JsonFields& fields) {
  fields.allow_only({"id", "messages", "tools", "prompt", "prompt_token_ids", "max_tokens",
                     "sampling", "stop", "stop_token_ids", "ignore_eos", "tags", "meta"});
  require_one_input(fields);
  PromptRecord record;
  record.id = fields.string_or("id", "");
  if (fields.has("id") && record.id.empty()) fields.fail_at("id", "a string that is not empty");
  if (record.id.size() > kMaxIdBytes)
    fields.fail_at("id", "at most " + std::to_string(kMaxIdBytes) + " bytes");
  if (fields.has("messages")) read_messages(fields, record);
  if (fields.has("tools") && !fields.has("messages")) fields.fail("\"tools\" needs \"messages\"");
  if (fields.has("prompt")) record.prompt = fields.string("prompt");
  if (fields.has("prompt_token_ids"))
    record.prompt_token_ids = read_token_ids(fields, "prompt_token_ids");
  if (fields.has("max_tokens")) record.max_tokens = read_max_tokens(fields, "max_tokens");
  if (fields.has("sampling")) {
    const JsonFields sampling = fields.object("sampling");
    sampling.allow_only({"temperature", "top_k", "top_p", "min_p", "repetition_penalty",
                         "frequency_penalty", "presence_penalty", "seed", "n", "logit_bias"});
    read_sampling(sampling, record.sampling);
  }
  read_stop(fields, record);
  if (fields.has("tags")) record.tags = read_strings(fields, "tags");
  if (fields.has("meta")) record.meta = fields.object("meta").json();
  return record;
}

Json to_json(const PromptRecord& record) {
  Json json = Json::object();
  json["id"] = record.id;
  if (!record.messages.is_null()) json["messages"] = record.messages;
  if (!record.tools.is_null()) json["tools"] = record.tools;
  put(json, "prompt", record.prompt);
  if (!record.prompt_token_ids.empty()) json["prompt_token_ids"] = record.prompt_token_ids;
  put(json, "max_tokens", record.max_tokens);
  if (Json sampling = sampling_json(record.sampling); !sampling.empty())
    json["sampling"] = std::move(sampling);
  if (Json stop = strings_or_null(record.stop); !stop.is_null()) json["stop"] = std::move(stop);
  if (!record.stop_token_ids.empty()) json["stop_token_ids"] = record.stop_token_ids;
  if (record.ignore_eos) json["ignore_eos"] = true;
  if (Json tags = strings_or_null(record.tags); !tags.is_null()) json["tags"] = std::move(tags);
  if (!record.meta.is_null()) json["meta"] = record.meta;
  return json;
}

}  // namespace isobit
