// The parts of the HTML report that are the same for every run: its style, its script, its head.
#pragma once

#include <string>
#include <string_view>

namespace isobit {

// Light and dark, wide and narrow, screen and paper. Loads nothing.
std::string_view report_style();

// Copies a command to the clipboard. The page is whole without it.
std::string_view report_script();

// A page whose policy lets in exactly that style and that script, and nothing from anywhere.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace isobit
