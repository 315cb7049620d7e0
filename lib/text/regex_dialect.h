// Translates a tokenizer's regular expression from Oniguruma's dialect to PCRE2's.
//
// The two agree on most of what tokenizers write, and disagree silently on the rest: \s and \w
// cover other characters, \p{Han} means the script extensions in one and the script in the other,
// \h is a hexadecimal digit in one and a blank in the other, [a[b]] and && build sets in one only.
// What can be translated exactly is; anything else that would change meaning is refused by name.
// Sources: Oniguruma doc/RE and doc/UNICODE_PROPERTIES; pcre2pattern(3).
#pragma once

#include <string>
#include <string_view>

namespace isobit {

// Throws Error(environment) that names `where` and the construct.
std::string pcre2_pattern_from_oniguruma(std::string_view pattern, const std::string& where);

}  // namespace isobit
