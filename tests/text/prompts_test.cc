#include "text/prompts.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/file.h"

using namespace isobit;

namespace {

PromptRecord one(const std::string& line) {
  auto records = parse_prompts(line, "p.jsonl");
  REQUIRE(records.size() == 1);
  return records[0];
}

// The message with which `text` is refused.
std::string refusal(const std::string& text) {
  try {
    parse_prompts(text, "p.jsonl");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    CHECK(error.message().starts_with("p.jsonl"));
    return error.message();
  }
  return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string kFull =
    R"({"id":"q1","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Why?"}],)"
    R"("tools":[{"type":"function"}],"max_tokens":32,"sampling":{"temperature":0.7,"top_k":40,"top_p":0.9,"min_p":0.05,)"
    R"("repetition_penalty":1.1,"frequency_penalty":-0.5,"presence_penalty":0.25,"seed":18446744073709551615,"n":2,)"
    R"("logit_bias":{"5":-100,"3":1.5}},"stop":["\n\n","END"],"stop_token_ids":[2,0],"ignore_eos":true,)"
    R"("tags":["a","b"],"meta":{"anything":{"goes":[1,null]}}})";

}  // namespace

TEST_CASE("the native form keeps every member") {
  const PromptRecord r = one(kFull);
  CHECK(r.id == "q1");
  CHECK(r.messages.size() == 2);
  CHECK(r.messages[1].at("content") == "Why?");
  CHECK(r.tools.size() == 1);
  CHECK_FALSE(r.prompt);
  CHECK(r.max_tokens == 32);
  CHECK(r.sampling.temperature == 0.7);
  CHECK(r.sampling.top_k == 40);
  CHECK(r.sampling.seed == 18446744073709551615u);
  CHECK(r.sampling.n == 2);
  CHECK(r.sampling.frequency_penalty == -0.5);
  CHECK(r.sampling.logit_bias == std::vector<std::pair<int32_t, double>>{{3, 1.5}, {5, -100}});
  CHECK(r.stop == std::vector<std::string>{"\n\n", "END"});
  CHECK(r.stop_token_ids == std::vector<int32_t>{2, 0});
  CHECK(r.ignore_eos);
  CHECK(r.tags == std::vector<std::string>{"a", "b"});
  CHECK(r.meta.at("anything").at("goes").size() == 2);
  CHECK(to_json(parse_prompt_record(to_json(r), "again", "x")) == to_json(r));
}

TEST_CASE("text and token ids are prompts too, and ids default to the line") {
  const auto records = parse_prompts(
      "{\"prompt\":\"Once\"}\n\n  "
      "\r\n{\"prompt_token_ids\":[1,2,3]}\r\n{\"id\":\"z\",\"prompt\":\"\"}",
      "p");
  REQUIRE(records.size() == 3);
  CHECK(records[0].id == "line-1");
  CHECK(records[0].prompt == "Once");
  CHECK_FALSE(records[0].ignore_eos);
  CHECK_FALSE(records[0].max_tokens);
  CHECK(records[1].id == "line-4");
  CHECK(records[1].prompt_token_ids == std::vector<int32_t>{1, 2, 3});
  CHECK(records[2].prompt == "");
  CHECK(one(R"({"prompt":"a","stop":"."})").stop == std::vector<std::string>{"."});
  CHECK(one("\xEF\xBB\xBF{\"prompt\":\"a\"}").prompt == "a");
}

TEST_CASE("a misspelt key is an error that names the line and the likely word") {
  CHECK(contains(refusal("{\"prompt\":\"a\"}\n{\"prompt\":\"b\",\"max_token\":3}"),
                 "line 2: unknown key \"max_token\" (did you mean 'max_tokens'?)"));
  CHECK(contains(refusal(R"({"prompt":"a","sampling":{"temprature":0}})"),
                 "line 1: sampling: unknown key \"temprature\" (did you mean 'temperature'?)"));
  CHECK(contains(refusal(R"({"prompt":"a","temperature":0})"), "\"temperature\""));
  CHECK(contains(refusal(R"({"prompts":"a"})"), "did you mean 'prompt'"));
}

TEST_CASE("wrong values are refused with what was expected and found") {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"id":"a"})", "exactly one of"},
      {R"({"prompt":"a","prompt_token_ids":[1]})", "found 2"},
      {R"({"prompt":7})", "\"prompt\": expected a string, found 7"},
      {R"({"id":"","prompt":"a"})", "\"id\""},
      {R"({"id":3,"prompt":"a"})", "\"id\""},
      {R"({"prompt_token_ids":[]})", "at least one token id"},
      {R"({"prompt_token_ids":[1,-2]})", "found -2 at index 1"},
      {R"({"prompt_token_ids":[1,2147483648]})", "2147483648"},
      {R"({"prompt_token_ids":[1.0]})", "1.0"},
      {R"({"prompt_token_ids":"1"})", "an array"},
      {R"({"messages":[]})", "at least one message"},
      {R"({"messages":"hi"})", "an array"},
      {R"({"messages":["hi"]})", "messages[0]: expected an object"},
      {R"({"messages":[{"content":"hi"}]})", "\"role\" is missing"},
      {R"({"messages":[{"role":"user"}]})", "\"content\" is missing"},
      {R"({"messages":[{"role":"user","content":3}]})", "\"content\""},
      {R"({"prompt":"a","tools":[]})", "\"tools\" needs"},
      {R"({"prompt":"a","max_tokens":0})", "an integer from 1"},
      {R"({"prompt":"a","max_tokens":1e3})", "an integer from 1"},
      {R"({"prompt":"a","max_tokens":4294967296})", "4294967296"},
      {R"({"prompt":"a","max_tokens":18446744073709551615})", "18446744073709551615"},
      {R"({"prompt":"a","sampling":[]})", "an object"},
      {R"({"prompt":"a","sampling":{"temperature":-1}})", "\"temperature\""},
      {R"({"prompt":"a","sampling":{"top_p":0}})", "\"top_p\""},
      {R"({"prompt":"a","sampling":{"top_p":1.5}})", "\"top_p\""},
      {R"({"prompt":"a","sampling":{"min_p":2}})", "\"min_p\""},
      {R"({"prompt":"a","sampling":{"top_k":-1}})", "\"top_k\""},
      {R"({"prompt":"a","sampling":{"seed":-1}})", "\"seed\""},
      {R"({"prompt":"a","sampling":{"seed":1.5}})", "\"seed\""},
      {R"({"prompt":"a","sampling":{"n":0}})", "\"n\""},
      {R"({"prompt":"a","sampling":{"repetition_penalty":0}})", "\"repetition_penalty\""},
      {R"({"prompt":"a","sampling":{"logit_bias":{"x":1}}})", "token id as the key"},
      {R"({"prompt":"a","sampling":{"logit_bias":{"7":1,"07":2}}})", "twice"},
      {R"({"prompt":"a","stop":[""]})", "empty string"},
      {R"({"prompt":"a","stop":[3]})", "expected strings, found 3"},
      {R"({"prompt":"a","ignore_eos":1})", "true or false"},
      {R"({"prompt":"a","tags":"x"})", "an array"},
      {R"({"prompt":"a","meta":3})", "\"meta\""},
      {R"([1])", "item 1: expected an object"},
      {R"(7)", "expected an object"},
  };
  for (const auto& [line, message] : cases)
    CHECK_MESSAGE(contains(refusal(line), message), line << " -> " << refusal(line));
}

TEST_CASE("files without prompts, with two of one id, or not UTF-8 are refused") {
  for (const char* text : {"", "\n", " \r\n\t\n", "[]", "\xEF\xBB\xBF"})
    CHECK(contains(refusal(text), "no prompts in it"));
  CHECK(contains(refusal("{\"id\":\"a\",\"prompt\":\"1\"}\n\n{\"id\":\"a\",\"prompt\":\"2\"}"),
                 "line 3: the id \"a\" is already used by line 1"));
  CHECK(contains(refusal("{\"prompt\":\"1\"}\n{\"id\":\"line-1\",\"prompt\":\"2\"}"),
                 "already used"));
  CHECK(contains(refusal("{\"prompt\":\"ab\xFF\"}"), "not valid UTF-8 at byte 13 (0xff)"));
  CHECK(contains(refusal("{\"prompt\":\"a\"}{\"prompt\":\"b\"}"), "line 1: not valid JSON"));
  CHECK(contains(refusal("{\"prompt\":\"a\",\"prompt\":\"b\"}"), "duplicate key"));
}

TEST_CASE("a line of many megabytes is read, one past the limit is refused") {
  const std::string body(size_t{3} << 20, 'x');
  CHECK(one("{\"prompt\":\"" + body + "\"}").prompt->size() == body.size());
  CHECK(contains(refusal("{\"prompt\":\"" + std::string(kMaxPromptLineBytes, 'x') + "\"}"),
                 "bytes long, at most"));
}

TEST_CASE("OpenAI batch requests") {
  const PromptRecord r = one(
      R"({"custom_id":"c7","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"Hi"}],)"
      R"("max_completion_tokens":5,"temperature":0,"top_p":1,"seed":3,"stop":"x","stream":false}})");
  CHECK(r.id == "c7");
  CHECK(r.messages.size() == 1);
  CHECK(r.max_tokens == 5);
  CHECK(r.sampling.seed == 3u);
  CHECK(one(R"({"custom_id":"c","body":{"prompt":"Hi","max_tokens":5}})").prompt == "Hi");
  CHECK(contains(refusal(R"({"custom_id":"c","body":{"prompt":"Hi","response_format":{}}})"),
                 "\"response_format\""));
  CHECK(contains(
      refusal(
          R"({"custom_id":"c","body":{"prompt":"Hi","max_tokens":5,"max_completion_tokens":6}})"),
      "differ"));
  CHECK(contains(refusal(R"({"custom_id":"c","url":"/v1/embeddings","body":{"prompt":"Hi"}})"),
                 "\"url\""));
  CHECK(contains(refusal(R"({"custom_id":"","body":{"prompt":"Hi"}})"), "\"custom_id\""));
  CHECK(contains(refusal(R"({"custom_id":"c"})"), "\"body\" is missing"));
  CHECK(contains(refusal(R"({"body":{"prompt":"Hi"}})"), "\"custom_id\" is missing"));
}

TEST_CASE("ShareGPT conversations end where the model is to answer") {
  const auto records = parse_prompts(
      R"([{"id":"s1","conversations":[{"from":"human","value":"A"},{"from":"gpt","value":"B"},{"from":"human","value":"C"},{"from":"gpt","value":"D"}]},)"
      R"({"conversations":[{"from":"system","value":"S"},{"from":"user","value":"A"}]}])",
      "p");
  REQUIRE(records.size() == 2);
  CHECK(records[0].messages.size() == 3);
  CHECK(records[0].messages[1].at("role") == "assistant");
  CHECK(records[0].messages[2].at("content") == "C");
  CHECK(records[1].id == "item-2");
  CHECK(records[1].messages[0].at("role") == "system");
  CHECK(contains(refusal(R"({"conversations":[{"from":"gpt","value":"B"}]})"),
                 "at least one turn of the user"));
  CHECK(contains(refusal(R"({"conversations":[{"from":"cat","value":"B"}]})"),
                 "conversations[0]: unknown speaker \"cat\""));
  CHECK(contains(refusal(R"({"conversations":[{"from":"human"}]})"), "\"value\""));
}

TEST_CASE("workload records say how long the answer is") {
  const PromptRecord r = one(R"({"prompt":"Hi","output_tokens_count":9})");
  CHECK(r.prompt == "Hi");
  CHECK(r.max_tokens == 9);
  CHECK(r.ignore_eos);
  CHECK(contains(refusal(R"({"prompt":"Hi","output_tokens_count":0})"), "output_tokens_count"));
}

TEST_CASE("example prompt files are valid and show each form") {
  const std::string folder = std::string(ISOBIT_SOURCE_DIR) + "/examples/prompts/";
  CHECK(parse_prompts(read_file(folder + "native.jsonl"), "native").size() >= 4);
  CHECK(parse_prompts(read_file(folder + "openai_batch.jsonl"), "batch").size() >= 2);
  CHECK(parse_prompts(read_file(folder + "sharegpt.jsonl"), "sharegpt").size() >= 2);
}

TEST_CASE("the schema lists the keys that the parser knows") {
  const Json schema = parse_json(
      read_file(std::string(ISOBIT_SOURCE_DIR) + "/schemas/prompts.schema.json"), "schema");
  const Json full = parse_json(kFull, "full");
  std::vector<std::string> keys{"prompt", "prompt_token_ids"};
  for (auto it = full.begin(); it != full.end(); ++it) keys.push_back(it.key());
  CHECK(schema.at("properties").size() == keys.size());
  for (const std::string& key : keys) CHECK_MESSAGE(schema.at("properties").contains(key), key);
  const Json& sampling = schema.at("properties").at("sampling").at("properties");
  CHECK(sampling.size() == full.at("sampling").size());
  for (auto it = full.at("sampling").begin(); it != full.at("sampling").end(); ++it)
    CHECK_MESSAGE(sampling.contains(it.key()), it.key());
}

TEST_CASE("records cut anywhere and with any byte flipped never crash") {
  for (size_t n = 1; n < kFull.size(); ++n)
    CHECK_THROWS_AS(parse_prompts(kFull.substr(0, n), "p"), Error);
  for (size_t at = 0; at < kFull.size(); ++at) {
    for (const int flip : {0x01, 0x02, 0x08, 0x20, 0x80}) {
      std::string text = kFull;
      text[at] = static_cast<char>(text[at] ^ flip);
      try {
        for (const PromptRecord& record : parse_prompts(text, "p")) to_json(record);
      } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::usage);
      }
    }
  }
}
