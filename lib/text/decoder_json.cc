// Reads decoder steps from a tokenizer.json.
#include "base/error.h"
#include "text/decoder.h"
#include "text/json_fields.h"
#include "text/unicode.h"

namespace isobit {
namespace {

struct Steps {
  std::vector<DecoderStep> steps;
  bool fused = false;
  std::optional<DecodeStrip> final_strip;
};

DecodeStrip read_strip(const JsonFields& fields) {
  constexpr int64_t kMax = 1 << 20;
  DecodeStrip strip{.character = fields.string("content"),
                    .n_start = static_cast<size_t>(fields.integer("start", 0, kMax)),
                    .n_stop = static_cast<size_t>(fields.integer("stop", 0, kMax))};
  if (strip.character.empty() ||
      code_point_at(strip.character, 0).n_bytes != strip.character.size()) {
    fields.fail_at("content", "one character");
  }
  return strip;
}

DecodeReplace read_replace(const JsonFields& fields) {
  const JsonFields pattern = fields.object("pattern");
  if (!pattern.has("String")) pattern.fail("a decoder's pattern must be a \"String\"");
  DecodeReplace replace{.literal = pattern.string("String"), .content = fields.string("content")};
  if (replace.literal.empty()) pattern.fail("an empty \"String\" cannot be replaced");
  return replace;
}

DecodeMetaspace read_metaspace(const JsonFields& fields) {
  const std::string scheme = fields.string_or(
      "prepend_scheme", fields.boolean_or("add_prefix_space", true) ? "always" : "never");
  return {.replacement = fields.string_or("replacement", "\u2581"), .prepended = scheme != "never"};
}

void read_step(const JsonFields& fields, const std::string& type, Steps& out) {
  if (out.fused) {
    if (type != "Strip" || out.final_strip)
      fields.fail("the decoder \"" + type + "\" comes after Fuse (one Strip may)");
    out.final_strip = read_strip(fields);
  } else if (type == "ByteLevel") {
    out.steps.push_back(DecodeByteLevel{});
  } else if (type == "ByteFallback") {
    out.steps.push_back(DecodeByteFallback{});
  } else if (type == "Fuse") {
    out.fused = true;
  } else if (type == "Strip") {
    out.steps.push_back(read_strip(fields));
  } else if (type == "Replace") {
    out.steps.push_back(read_replace(fields));
  } else if (type == "Metaspace") {
    out.steps.push_back(read_metaspace(fields));
  } else if (type == "WordPiece") {
    out.steps.push_back(DecodeWordPiece{.prefix = fields.string_or("prefix", "##"),
                                        .cleanup = fields.boolean_or("cleanup", true)});
  } else {
    fields.fail("the decoder \"" + type +
                "\" is not supported (Sequence, ByteLevel, ByteFallback, Fuse, Strip, Replace, "
                "Metaspace and WordPiece are)");
  }
}

void read_steps(const Json& value, const std::string& where, Steps& out) {
  const JsonFields fields(value, where, ErrorCode::environment);
  const std::string type = fields.string("type");
  if (type != "Sequence") return read_step(fields, type, out);
  size_t i = 0;
  for (const Json& step : fields.array("decoders"))
    read_steps(step, where + ": decoders[" + std::to_string(i++) + "]", out);
}

}  // namespace

Decoder read_decoder(const Json& value, const std::string& where) {
  if (value.is_null()) return Decoder({DecodeSpaced{}}, std::nullopt);
  Steps out;
  read_steps(value, where, out);
  return Decoder(std::move(out.steps), std::move(out.final_strip));
}

}  // namespace isobit
