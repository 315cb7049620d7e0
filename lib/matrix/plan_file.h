// Plans as JSON: the matrix file that a user writes (schemas/matrix.schema.json), and the expanded
// plan that a run stores so that it can be resumed from the store alone.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "matrix/plan.h"

namespace isobit {

// Reads a matrix file; comments are allowed. Throws Error(usage) beginning with `where` for
// anything that the schema does not allow: unknown keys (with the nearest one), unknown axes or
// values, wrong types.
PlanSpec read_matrix(std::string_view text, const std::string& where);

// The same format, normalised.
Json matrix_to_json(const PlanSpec& spec);

// {"matrix": ..., "cells": [{"index", "name", "values", "reference_index"}], "order": [...]}
Json plan_to_json(const Plan& plan);

// Expands the stored matrix again and checks that the cells and their order are those that were
// stored. Throws Error(environment): a stored plan is a file, not something typed.
Plan plan_from_json(std::string_view text, const std::string& where);

// Holds recorded cells against the list that their stored plan ends with, without expanding it
// again: a plan of another version still says which cells it made. Returns one sentence about the
// first cell whose name, values or reference differ; empty where none does. Throws
// Error(environment) where `text` is no stored plan.
std::string first_cell_unlike_plan(std::string_view text, std::span<const CellRecord> cells,
                                   const std::string& where);

}  // namespace isobit
