// The byte alphabet of byte-level BPE: each byte is written as one printable character, so that a
// vocabulary is plain text.
//
// Bytes that print as themselves in Latin-1 keep their code point; the other 68 take U+0100 onwards
// in ascending order. So a space is U+0120 and a newline U+010A. Source: the GPT-2 tokenizer, as
// described in the documentation of Hugging Face's `tokenizers` (ByteLevel).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace isobit {

uint32_t byte_level_character(uint8_t byte);
std::optional<uint8_t> byte_level_byte(uint32_t code_point);

std::string to_byte_level(std::string_view bytes);
// Nothing when a character of `token` is outside the alphabet or `token` is not UTF-8.
std::optional<std::string> from_byte_level(std::string_view token);

}  // namespace isobit
