#include "text/decoder.h"

#include <algorithm>

#include "text/byte_level.h"
#include "text/vocabulary.h"

namespace isobit {
namespace {

std::string replaced_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  size_t done = 0;
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, done)) {
    out += text.substr(done, at - done);
    out += to;
    done = at + from.size();
  }
  out += text.substr(done);
  return out;
}

std::string stripped(std::string_view text, const DecodeStrip& strip) {
  for (size_t i = 0; i < strip.n_start && text.starts_with(strip.character); ++i)
    text.remove_prefix(strip.character.size());
  for (size_t i = 0; i < strip.n_stop && text.ends_with(strip.character); ++i)
    text.remove_suffix(strip.character.size());
  return std::string(text);
}

// In this order, each on the result of the one before.
std::string cleaned_up(std::string text) {
  static constexpr std::pair<const char*, const char*> kReplacements[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kReplacements) text = replaced_all(text, from, to);
  return text;
}

struct StepRunner {
  std::string text;
  TokenPlace place;

  std::string operator()(const DecodeByteLevel&) const {
    return from_byte_level(text).value_or(text);
  }
  std::string operator()(const DecodeByteFallback&) const {
    const auto byte = byte_of_token(text);
    return byte ? std::string(1, static_cast<char>(*byte)) : text;
  }
  std::string operator()(const DecodeReplace& s) const {
    return replaced_all(text, s.literal, s.content);
  }
  std::string operator()(const DecodeStrip& s) const { return stripped(text, s); }
  std::string operator()(const DecodeMetaspace& s) const {
    const bool drops = place == TokenPlace::kFirst && s.prepended;
    return replaced_all(text, s.replacement, drops ? "" : " ");
  }
  std::string operator()(const DecodeWordPiece& s) const {
    std::string out = text;
    if (place == TokenPlace::kLater) {
      const bool continues = !s.prefix.empty() && text.starts_with(s.prefix);
      out = continues ? text.substr(s.prefix.size()) : " " + text;
    }
    return s.cleanup ? cleaned_up(std::move(out)) : out;
  }
  std::string operator()(const DecodeSpaced&) const {
    return place == TokenPlace::kLater ? " " + text : text;
  }
};

struct StepDescriber {
  Json operator()(const DecodeByteLevel&) const { return {{"type", "ByteLevel"}}; }
  Json operator()(const DecodeByteFallback&) const { return {{"type", "ByteFallback"}}; }
  Json operator()(const DecodeReplace& s) const {
    return {{"type", "Replace"}, {"string", s.literal}, {"content", s.content}};
  }
  Json operator()(const DecodeStrip& s) const {
    return {{"type", "Strip"}, {"content", s.character}, {"start", s.n_start}, {"stop", s.n_stop}};
  }
  Json operator()(const DecodeMetaspace& s) const {
    return {{"type", "Metaspace"}, {"replacement", s.replacement}, {"prepended", s.prepended}};
  }
  Json operator()(const DecodeWordPiece& s) const {
    return {{"type", "WordPiece"}, {"prefix", s.prefix}, {"cleanup", s.cleanup}};
  }
  Json operator()(const DecodeSpaced&) const { return {{"type", "Spaced"}}; }
};

}  // namespace

std::string Decoder::token_bytes(std::string_view token, TokenPlace place) const {
  std::string text(token);
  for (const DecoderStep& step : steps_)
    text = std::visit(StepRunner{.text = std::move(text), .place = place}, step);
  return text;
}

std::string Decoder::finish(std::string bytes) const {
  return final_strip_ ? stripped(bytes, *final_strip_) : bytes;
}

bool Decoder::is_byte_level() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const DecoderStep& step) {
    return std::holds_alternative<DecodeByteLevel>(step);
  });
}

Json Decoder::description() const {
  Json steps = Json::array();
  for (const DecoderStep& step : steps_) steps.push_back(std::visit(StepDescriber{}, step));
  if (final_strip_) {
    steps.push_back({{"type", "Fuse"}});
    steps.push_back(StepDescriber{}(*final_strip_));
  }
  return steps;
}

}  // namespace isobit
