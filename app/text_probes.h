// What a fingerprint says about text: digests of tokenizer and template, and what becomes of a few
// fixed sentences and of a fixed conversation.
#pragma once

#include "app/loaded_model.h"

namespace isobit::app {

TextInputs text_fingerprint_inputs(const LoadedText& text);

}  // namespace isobit::app
