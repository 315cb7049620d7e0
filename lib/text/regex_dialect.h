// Translates a tokenizer's regular expression from Oniguruma's dialect to PCRE2's.
//
// The two agree on most of what tokenizers write, and disagree silently on the rest: \s and \w
// cover other characters, \p{Han} means the script extensions in one and the script in the other,
// \h is a hexadecimal digit in one and a blank in the other, [a[b]] and && build sets in one only.
// What can be translated exactly is; anything else that would change meaning is refused by name.
// Sources: Oniguruma doc/RE and doc/UNICODE_PROPERTIES; pcre2pattern(3).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/regex.h"

namespace isobit {

// Classes of characters as PCRE2's tables have them, or with the characters that are newer than
// those (unicode_newer.h).
enum class CharacterTables { kPcre2, kNewer };

// Throws Error(environment) that names `where` and the construct.
std::string pcre2_pattern_from_oniguruma(std::string_view pattern, const std::string& where,
                                         CharacterTables tables = CharacterTables::kPcre2);

// A pattern twice: as PCRE2 matches it fastest, and for the few texts that have newer characters.
class OnigurumaRegex {
 public:
  // Throws as above, and as Regex does.
  OnigurumaRegex(const std::string& pattern, const std::string& where);
  const Regex& for_text(std::string_view text) const;

 private:
  Regex usual_;
  std::optional<Regex> newer_;  // where it differs
};

}  // namespace isobit
