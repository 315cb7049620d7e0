// The words and sentence patterns that built-in prompts are made of. Written for isobit.
//
// A pattern holds slots in braces, each filled from the list of that name: {person}, {town},
// {month}, {weekday}, {food}, {animal}, {object}, {colour}, {job}, {language}, {topic}; {small} (2
// to 12), {number} (13 to 98), {large} (120 to 990) and {year}. {hero} and {place} keep one person
// and one town through a whole text.
#pragma once

#include <span>
#include <string_view>

namespace isobit {

using WordList = std::span<const std::string_view>;

// The list for a slot name, or an empty one when there is none.
WordList slot_words(std::string_view slot);

// A subject with sentences that can follow one another in many orders.
struct PassageSubject {
  std::string_view title;
  WordList sentences;
};
std::span<const PassageSubject> passage_subjects();

// What is asked, by kind. "short" patterns stand alone; "long" ones are followed by a passage or by
// code.
struct PromptKind {
  std::string_view name;
  WordList short_patterns;
  WordList long_patterns;
  bool on_code;  // the long patterns are followed by code
};
std::span<const PromptKind> prompt_kinds();

WordList code_fragments();       // short Python functions
WordList extra_requests();       // sentences that narrow down a request
WordList one_token_sentences();  // every word and mark of them is one token in the vocabularies
                                 // that prompt_sets.h names

}  // namespace isobit
