// The "model" member of a tokenizer.json.
#pragma once

#include <string>

#include "base/json.h"
#include "text/pre_tokenizer.h"
#include "text/token_model.h"

namespace isobit {

// The pre-tokenizer decides whether a BPE model is over bytes or over characters. Throws
// Error(environment) naming `where` and the member.
TokenModel read_token_model(const Json& value, const std::string& where,
                            const PreTokenizer& pre_tokenizer);

}  // namespace isobit
