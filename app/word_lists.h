// Lists on the command line: "a,b,c" and "1,8,32"; how many threads one may ask for.
#pragma once

#include <string>
#include <vector>

namespace isobit::app {

inline constexpr int kMostThreads = 1024;

std::vector<std::string> split_words(const std::string& text, char separator = ',');

// Throws Error(usage) naming `flag` for anything but whole numbers from 1.
std::vector<int> positive_numbers(const std::string& flag, const std::string& text);

}  // namespace isobit::app
