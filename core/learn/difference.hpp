// The features of one output minus those of another, each coordinate once.
#pragma once

#include <cstdint>
#include <vector>

#include "weights/weight_table.hpp"

namespace marginalia {

class NetDifference {
 public:
  struct Term {
    Coordinate at;
    double value;
  };

  void clear();
  void add(const Coordinate& at, double value);
  void finish();  // drops what cancelled out

  const std::vector<Term>& terms() const { return terms_; }
  double squared_norm() const;

 private:
  std::size_t slot_of(const Coordinate& at) const;
  void use(std::size_t slot, std::size_t term);
  void grow();

  std::vector<Term> terms_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(256);  // open addressing: term + 1
  std::vector<std::uint32_t> used_;                                     // slots that are not empty
};

}  // namespace marginalia
