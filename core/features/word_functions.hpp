// Functions of words that look into a table: first bits of the paths of clusters, entries of lexicons.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "features/word_table.hpp"

namespace marginalia {

inline constexpr std::size_t kLongestPath = 255;

// How many bits of a path "all" or a number from 1 to 255 asks for; throws std::invalid_argument.
std::size_t path_bits(std::string_view argument);

// Throws std::invalid_argument unless the table's texts are paths of 1 to 255 bits.
void check_paths(const WordTable& words);

// Writes the first bits of the path of a word; false for unknown words. A shorter path is taken whole.
bool cluster(const WordTable& words, std::size_t bits, std::string_view word, std::string& out);

// What is asked of a word's entry, LABEL⇥BAND⇥LABEL⇥BAND…, the most frequent label first.
struct LexiconQuestion {
  enum class How {
    candidate,  // "1" if the label is one of the word's
    band,       // how often it was seen: 10, 100, 1000…
    rank,       // its place among the word's labels, from 1 on
    set,        // all labels of the word, in order of their text, with | between
    best,       // the first
  };
  How how = How::candidate;
  std::string_view label;  // of candidate, band and rank
};

// Of "set", "best", "candidate,LABEL", "band,LABEL" or "rank,LABEL"; throws std::invalid_argument.
LexiconQuestion lexicon_question(std::string_view argument);

// Throws std::invalid_argument unless the table's texts are entries.
void check_entries(const WordTable& words);

// Writes the answer; false if there is none.
bool lexicon(const WordTable& words, const LexiconQuestion& asked, std::string_view word, std::string& out);

}  // namespace marginalia
