// Which examples taught a weight: an online learner's weight is a sum of updates, each made at an example.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace marginalia {

inline constexpr std::uint32_t kNoExample = UINT32_MAX;  // the model that training began with

// What an example has of a weight: the parts of all examples sum to it.
struct ProvenanceEntry {
  std::uint32_t row, output, example;
  double part;
};

// All that examples did to weights, one entry for each weight and example.
class ProvenanceLog {
 public:
  // `total` is step * change, of which lazy averaging takes its share.
  void add(std::uint32_t row, std::uint32_t output, std::uint32_t example, double change, double total);
  // By row, output and example; `steps`: of the mean of the weights after so many steps, 0: of the last ones.
  std::vector<ProvenanceEntry> provenance(double steps);

 private:
  struct Entry {
    std::uint32_t row, output, example;
    double change, total;
  };
  void merge();

  std::vector<Entry> entries_;  // the first `merged_` sorted and distinct
  std::size_t merged_ = 0;
};

// Provenance by row, output and size, for a model file. Row r of it is that of training row `rows[r]`.
struct ProvenanceStorage {
  std::vector<std::uint32_t> row_end;   // [rows] into outputs
  std::vector<std::uint32_t> outputs;   // rising in each row
  std::vector<std::uint32_t> end;       // [outputs] into examples and parts
  std::vector<std::uint32_t> examples;  // those with the largest parts, largest first
  std::vector<float> parts;
  std::vector<float> rest;  // [outputs] the sum of the parts that are left out

  // At most `most` examples of each weight, 0: all. `start` is the number that kNoExample gets.
  ProvenanceStorage(const std::vector<ProvenanceEntry>& provenance, std::span<const std::uint32_t> rows,
                    std::size_t most, std::uint32_t start);

 private:
  void add_weight(std::span<const ProvenanceEntry> of_weight, std::size_t most, std::uint32_t start);
};

}  // namespace marginalia
