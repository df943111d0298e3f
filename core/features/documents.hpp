// Values that depend on a token's whole sentence or document: what else its word does there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/table.hpp"
#include "features/phrases.hpp"

namespace marginalia {

enum class DocumentFunction : std::uint8_t {
  sentence_form,     // length, shares of digits and capitals, and whether it ends with a period
  sentence_number,   // which sentence of its document: 1, 2 ... 5
  document_first,    // the first token of the document, in lower case
  document_case,     // how the word is written within sentences of the document, and whether it comes again
  elsewhere_before,  // the n-th most frequent neighbour of the word's other uses
  elsewhere_after,
  first_use_before,  // the neighbours of its first use, unless that is this token
  first_use_after,
  run_before,  // the neighbours in the longest run of capitalised tokens that has the word, and its place
  run_after,
  run_place,
  elsewhere_list,  // the place of the word in the longest match of a list that has it
};

struct DocumentAttribute {
  DocumentFunction function = DocumentFunction::sentence_form;
  std::uint32_t n = 1;       // elsewhere_before, elsewhere_after: from 1 to kMostNeighbours
  std::uint32_t column = 0;  // of the table
  std::uint32_t list = 0;    // elsewhere_list: which phrase list
};

inline constexpr std::uint32_t kMostNeighbours = 9;

// By the name users write ("document-case"); false if there is none such.
bool find_document_function(std::string_view name, DocumentFunction& out);

// The values of the document that was last looked at.
class DocumentSpace {
 public:
  // Of a token of the table, counted from the table's first one.
  const Hashed& hash(std::size_t attribute, std::size_t token) const {
    return hashes_[attribute * (last_ - first_) + token - first_];
  }
  const std::string& text(std::size_t attribute, std::size_t token) const {
    return texts_[attribute * (last_ - first_) + token - first_];
  }

 private:
  friend class DocumentValues;
  TableIdentity::Id table_;
  std::size_t first_ = 0, last_ = 0;  // tokens
  std::vector<std::string> texts_;    // [attributes][tokens]
  std::vector<Hashed> hashes_;
};

// Computes the values of some attributes. A *word* is a string in lower case. A sentence is *in capitals* if
// four in five of its tokens with letters are. A *use* of a word is a token that begins with an upper-case
// letter, in a sentence that is not in capitals.
class DocumentValues {
 public:
  DocumentValues() = default;
  // Throws std::invalid_argument for attributes that are out of range.
  DocumentValues(std::vector<DocumentAttribute> attributes,
                 std::vector<std::shared_ptr<const PhraseSet>> lists, std::uint32_t columns);

  bool empty() const { return attributes_.empty(); }
  // The values of the document that has this token, the first one of a sentence.
  void read(const TokenTable& table, std::size_t token, DocumentSpace& space) const;

 private:
  std::vector<DocumentAttribute> attributes_;
  std::vector<std::shared_ptr<const PhraseSet>> lists_;
};

}  // namespace marginalia
