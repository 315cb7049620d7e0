// What explain, bisect, reduce and replay found, for programs: schemas/why.schema.json.
#pragma once

#include "base/json.h"
#include "why/bisection.h"
#include "why/explanation.h"
#include "why/reduction.h"
#include "why/repetition.h"

namespace isobit {

Json explanation_json(const Explanation& explanation);
Json bisection_json(const Bisection& bisection, const std::string& base,
                    const std::string& candidate);
// `sample`: what was reduced; the smallest case is in it whole, as it would be sent.
Json reduction_json(const Reduction& reduction, const std::string& sample);
// `alone`: how it was asked. `against`: "recorded" or "alone", what each answer was held against.
Json repetition_json(const Repetition& repetition, const std::string& sample, bool alone,
                     const std::string& against);

}  // namespace isobit
