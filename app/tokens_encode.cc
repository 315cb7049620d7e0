// `isobit tokens encode`: one text, token by token, or many at once for programs.
#include "app/tokens_encode.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include <fmt/format.h>

#include "app/exit_codes.h"
#include "app/loaded_model.h"
#include "app/text_input.h"
#include "base/digest.h"
#include "base/error.h"
#include "report/report.h"
#include "report/text_table.h"
#include "report/untrusted_text.h"
#include "text/base64.h"
#include "text/token_spans.h"

namespace isobit::app {
namespace {

struct EncodeArguments {
  std::string tokenizer, text, text_file, batch;
  bool no_special = false, timing = false;
  CLI::Option* text_option = nullptr;
};

AddSpecial special_of(const EncodeArguments& a) {
  return a.no_special ? AddSpecial::kNo : AddSpecial::kYes;
}

std::string text_of(const EncodeArguments& a) {
  if (a.text_option->count() > 0) return a.text;
  if (!a.text_file.empty()) return read_input(a.text_file);
  return read_piped_input("give --text or --text-file, or pipe the text in");
}

struct EncodedText {
  std::vector<int32_t> ids;
  std::optional<std::vector<TokenSpan>> spans;
};

EncodedText encoded(const Tokenizer& tokenizer, const std::string& text, AddSpecial add_special) {
  EncodedText out{.ids = tokenizer.encode(text, add_special), .spans = {}};
  const size_t n_before = add_special == AddSpecial::kYes ? tokenizer.prefix_ids().size() : 0;
  const size_t n_after = add_special == AddSpecial::kYes ? tokenizer.suffix_ids().size() : 0;
  out.spans = token_spans(tokenizer, text, out.ids, n_before, n_after);
  return out;
}

Json encoded_json(const Tokenizer& tokenizer, const std::string& text, const EncodedText& encoded) {
  Json tokens = Json::array();
  for (size_t i = 0; i < encoded.ids.size(); ++i) {
    const int32_t id = encoded.ids[i];
    const auto place = [&](size_t TokenSpan::*end) {
      return encoded.spans ? Json((*encoded.spans)[i].*end) : Json();
    };
    tokens.push_back({{"id", id},
                      {"piece", json_text(tokenizer.token_text(id))},
                      {"text", json_text(tokenizer.token_bytes(id))},
                      {"special", tokenizer.is_special(id)},
                      {"begin", place(&TokenSpan::begin)},
                      {"end", place(&TokenSpan::end)}});
  }
  return {{"ids", encoded.ids},
          {"n_bytes", text.size()},
          {"round_trips", tokenizer.round_trips(text)},
          {"tokens", tokens}};
}

std::string encoded_listing(const Tokenizer& tokenizer, const std::string& text,
                            const EncodedText& encoded) {
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < encoded.ids.size(); ++i) {
    const int32_t id = encoded.ids[i];
    const std::string bytes = fmt::format("\"{}\"", tokenizer.token_bytes(id));
    rows.push_back({std::to_string(id), std::string(tokenizer.token_text(id)),
                    tokenizer.is_special(id) ? "(special)" : bytes,
                    encoded.spans
                        ? fmt::format("{}..{}", (*encoded.spans)[i].begin, (*encoded.spans)[i].end)
                        : ""});
  }
  std::string out = text_table({{"id", Align::kRight},
                                {"piece", Align::kLeft},
                                {"text", Align::kLeft},
                                {encoded.spans ? "bytes" : "", Align::kLeft}},
                               rows);
  out += fmt::format("{} tokens, {} bytes\n", encoded.ids.size(), text.size());
  if (!tokenizer.round_trips(text))
    out += "the tokenizer changes this text: decoding these ids gives another one back\n";
  return out;
}

int encode_one(const EncodeArguments& a, Session& session) {
  const LoadedText loaded = load_text(a.tokenizer);
  const std::string text = text_of(a);
  const EncodedText result = encoded(*loaded.tokenizer, text, special_of(a));
  session.console.result(session.flags.json
                             ? json_line(encoded_json(*loaded.tokenizer, text, result)) + "\n"
                             : encoded_listing(*loaded.tokenizer, text, result));
  return kOk;
}

// One line of a batch: "text", or {"base64": "..."} for bytes that JSON cannot hold.
std::string batch_text(const std::string& line, const std::string& where) {
  const Json value = parse_json(line, where);
  if (value.is_string()) return value.get<std::string>();
  const bool is_bytes = value.is_object() && value.size() == 1 && value.contains("base64") &&
                        value["base64"].is_string();
  if (!is_bytes)
    throw Error(ErrorCode::usage, where + ": expected \"text\" or {\"base64\": \"...\"}");
  const auto bytes = from_base64(value["base64"].get<std::string>());
  if (!bytes) throw Error(ErrorCode::usage, where + ": \"base64\" is not valid");
  return *bytes;
}

std::vector<std::string> batch_texts(const EncodeArguments& a) {
  const std::string input = read_input(a.batch);
  const std::string file = a.batch == "-" ? "standard input" : a.batch;
  std::vector<std::string> texts;
  for (size_t begin = 0; begin < input.size();) {
    const size_t end = std::min(input.find('\n', begin), input.size());
    texts.push_back(batch_text(input.substr(begin, end - begin),
                               file + ":" + std::to_string(texts.size() + 1)));
    begin = end + 1;
  }
  return texts;
}

// A text that cannot be encoded is an answer of its line: the others have theirs.
int encode_batch(const EncodeArguments& a, Session& session) {
  const LoadedText loaded = load_text(a.tokenizer);
  std::string out;
  bool all_encoded = true;
  for (const std::string& text : batch_texts(a)) {
    try {
      out += Json{{"ids", loaded.tokenizer->encode(text, special_of(a))}}.dump() + "\n";
    } catch (const Error& e) {
      if (e.code() != ErrorCode::usage) throw;
      out += json_line({{"error", json_text(e.message())}}) + "\n";
      all_encoded = false;
    }
  }
  session.console.json_result(out);
  return all_encoded ? kOk : kUsage;
}

// Encoding alone, on one thread, without reading and printing. The digest is over the ids as
// little-endian 32-bit integers, so that another tokenizer's can be held against them.
int time_batch(const EncodeArguments& a, Session& session) {
  const LoadedText loaded = load_text(a.tokenizer);
  const std::vector<std::string> texts = batch_texts(a);
  std::vector<std::vector<int32_t>> ids(texts.size());
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu_start = std::clock();
  for (size_t i = 0; i < texts.size(); ++i)
    ids[i] = loaded.tokenizer->encode(texts[i], special_of(a));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double cpu_seconds =
      static_cast<double>(std::clock() - cpu_start) / static_cast<double>(CLOCKS_PER_SEC);
  Sha256 digest;
  size_t n_bytes = 0, n_tokens = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    n_bytes += texts[i].size();
    n_tokens += ids[i].size();
    digest.update(ids[i].data(), ids[i].size() * sizeof(int32_t));
  }
  session.console.result(json_line({{"seconds", seconds.count()},
                                    {"cpu_seconds", cpu_seconds},
                                    {"n_texts", texts.size()},
                                    {"n_bytes", n_bytes},
                                    {"n_tokens", n_tokens},
                                    {"ids_sha256", hex(digest.finish())}}) +
                         "\n");
  return kOk;
}

}  // namespace

std::function<int()> declare_tokens_encode(CLI::App& app, Session& session) {
  auto a = std::make_shared<EncodeArguments>();
  app.add_option("--tokenizer", a->tokenizer, "Checkpoint folder, tokenizer.json or .gguf")
      ->required();
  a->text_option = app.add_option("--text", a->text, "The text itself");
  CLI::Option* file =
      app.add_option("--text-file", a->text_file, "A file with the text; - is standard input");
  CLI::Option* batch = app.add_option(
      "--batch", a->batch,
      "Many texts: a file with one JSON string a line (or {\"base64\": ...}); one JSON object a "
      "line comes out, {\"ids\"} or {\"error\"}; exit 2 when a text was refused");
  a->text_option->excludes(file)->excludes(batch);
  file->excludes(batch);
  app.add_flag("--no-special", a->no_special, "Add no BOS or EOS");
  app.add_flag("--timing", a->timing, "With --batch: one JSON object with the seconds it took")
      ->needs(batch);
  app.footer(
      "Example:\n  isobit tokens encode --tokenizer examples/tiny-kjv --text 'In the beginning'");
  return [=, &session] {
    if (a->batch.empty()) return encode_one(*a, session);
    return a->timing ? time_batch(*a, session) : encode_batch(*a, session);
  };
}

}  // namespace isobit::app
