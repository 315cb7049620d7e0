// Prompt records as other tools write them.
#include "base/error.h"
#include "text/prompt_formats.h"

namespace isobit {
namespace {

PromptRecord read_openai_body(const JsonFields& body) {
  // The first nine change how an answer is delivered, not its tokens. A key that changes the answer
  // and is not read here is refused, never skipped.
  body.allow_only({"model",
                   "stream",
                   "stream_options",
                   "user",
                   "store",
                   "metadata",
                   "logprobs",
                   "top_logprobs",
                   "service_tier",
                   "messages",
                   "tools",
                   "prompt",
                   "max_tokens",
                   "max_completion_tokens",
                   "temperature",
                   "top_p",
                   "top_k",
                   "min_p",
                   "repetition_penalty",
                   "frequency_penalty",
                   "presence_penalty",
                   "seed",
                   "n",
                   "logit_bias",
                   "stop",
                   "stop_token_ids",
                   "ignore_eos"});
  PromptRecord record;
  require_one_input(body);
  if (body.has("messages")) {
    read_messages(body, record);
  } else {
    record.prompt = body.string("prompt");
  }
  const bool old_name = body.has("max_tokens");
  const bool new_name = body.has("max_completion_tokens");
  if (old_name && new_name && body.at("max_tokens") != body.at("max_completion_tokens")) {
    body.fail("\"max_tokens\" and \"max_completion_tokens\" differ");
  }
  if (old_name || new_name)
    record.max_tokens = read_max_tokens(body, new_name ? "max_completion_tokens" : "max_tokens");
  read_sampling(body, record.sampling);
  read_stop(body, record);
  return record;
}

const char* sharegpt_role(const JsonFields& turn) {
  const std::string from = turn.string("from");
  if (from == "human" || from == "user") return "user";
  if (from == "gpt" || from == "assistant" || from == "chatgpt" || from == "bing" || from == "bard")
    return "assistant";
  if (from == "system") return "system";
  turn.fail("unknown speaker \"" + from + "\" (human, gpt and system are known)");
}

}  // namespace

PromptRecord read_openai_batch_prompt(const JsonFields& fields) {
  fields.allow_only({"custom_id", "method", "url", "body"});
  if (fields.has("method") && fields.string("method") != "POST")
    fields.fail_at("method", "\"POST\"");
  if (fields.has("url")) {
    const std::string url = fields.string("url");
    if (url != "/v1/chat/completions" && url != "/v1/completions") {
      fields.fail_at("url", "\"/v1/chat/completions\" or \"/v1/completions\"");
    }
  }
  PromptRecord record = read_openai_body(fields.object("body"));
  record.id = fields.string("custom_id");
  if (record.id.empty()) fields.fail_at("custom_id", "a string that is not empty");
  return record;
}

// The turns up to the last one that the model is to answer: a closing answer of the model is left
// out.
PromptRecord read_sharegpt_prompt(const JsonFields& fields) {
  fields.allow_only(
      {"id", "conversations", "system", "source", "model", "items", "markdown", "lang", "hash"});
  PromptRecord record;
  record.id = fields.string_or("id", "");
  record.messages = Json::array();
  if (fields.has("system"))
    record.messages.push_back({{"role", "system"}, {"content", fields.string("system")}});
  size_t n_kept = 0;
  size_t i = 0;
  for (const Json& value : fields.array("conversations")) {
    const JsonFields turn(value, fields.where() + ": conversations[" + std::to_string(i++) + "]",
                          ErrorCode::usage);
    const std::string role = sharegpt_role(turn);
    record.messages.push_back({{"role", role}, {"content", turn.string("value")}});
    if (role == "user") n_kept = record.messages.size();
  }
  if (n_kept == 0) fields.fail_at("conversations", "at least one turn of the user");
  Json kept = Json::array();
  for (size_t m = 0; m < n_kept; ++m) kept.push_back(record.messages[m]);
  record.messages = std::move(kept);
  return record;
}

PromptRecord read_workload_prompt(const JsonFields& fields) {
  fields.allow_only({"id", "prompt", "output_tokens_count", "input_tokens_count"});
  PromptRecord record;
  record.id = fields.string_or("id", "");
  record.prompt = fields.string("prompt");
  record.max_tokens = read_max_tokens(fields, "output_tokens_count");
  record.ignore_eos = true;  // the workload says how many tokens come out
  return record;
}

}  // namespace isobit
