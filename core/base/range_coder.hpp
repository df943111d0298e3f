// An adaptive binary range coder: decisions take as many bits as they are surprising. Encoder and decoder
// have the same methods, so that one function describes a format for both: the encoder writes the value that
// it is given, the decoder ignores it, and each returns the value that is in the file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace marginalia {

// How probable a 0 is, by the decisions so far: their mean at first, later one in which old ones fade.
class AdaptiveBit {
 public:
  static constexpr int kScale = 12;  // log2 of the denominator of `zero`
  std::uint32_t zero() const { return probability_ >> (16 - kScale); }
  void update(bool bit) {
    const std::int32_t target = bit ? kMargin : 65536 - kMargin;
    const std::int32_t now = probability_;
    probability_ = static_cast<std::uint16_t>(now + (target - now) * kRates[seen_] / 65536);
    if (seen_ + 1u < kRates.size()) ++seen_;
  }

 private:
  static constexpr std::int32_t kMargin = 48;  // nothing is certain
  static constexpr auto kRates = [] {
    std::array<std::int32_t, 160> rates{};
    for (std::size_t n = 0; n < rates.size(); ++n)
      rates[n] = static_cast<std::int32_t>(65536 * 2 / (2 * n + 3));
    return rates;
  }();

  std::uint16_t probability_ = 32768;
  std::uint16_t seen_ = 0;
};

class RangeEncoder {
 public:
  static constexpr bool kReads = false;
  bool bit(AdaptiveBit& model, bool value) {
    const std::uint32_t bound = (range_ >> AdaptiveBit::kScale) * model.zero();
    if (value) {
      low_ += bound;
      range_ -= bound;
    } else {
      range_ = bound;
    }
    model.update(value);
    normalise();
    return value;
  }
  // A number of so many bits, at most 32, all equally probable.
  std::uint32_t number(std::uint32_t value, int bits) {
    while (bits > 0) {
      const int step = bits < 8 ? bits : 8;
      bits -= step;
      range_ >>= step;
      low_ += std::uint64_t{value >> bits & ((1u << step) - 1)} * range_;
      normalise();
    }
    return value;
  }
  std::vector<std::uint8_t> finish() {
    for (int i = 0; i < 5; ++i) shift();
    return std::move(bytes_);
  }

 private:
  void normalise() {
    while (range_ < 1u << 24) {
      range_ <<= 8;
      shift();
    }
  }
  // Bytes of 255 wait: what comes may carry over into them.
  void shift() {
    if (low_ < 0xFF000000u || low_ > UINT32_MAX) {
      const auto carry = static_cast<std::uint8_t>(low_ >> 32);
      if (waiting_ > 0) bytes_.push_back(static_cast<std::uint8_t>(first_ + carry));
      for (; waiting_ > 1; --waiting_) bytes_.push_back(static_cast<std::uint8_t>(0xFF + carry));
      waiting_ = 0;
      first_ = static_cast<std::uint8_t>(low_ >> 24);
    }
    ++waiting_;
    low_ = (low_ & 0x00FFFFFF) << 8;
  }

  std::vector<std::uint8_t> bytes_;
  std::uint64_t low_ = 0, waiting_ = 0;
  std::uint32_t range_ = UINT32_MAX;
  std::uint8_t first_ = 0;
};

// Reads zeros behind the end, and knows that it did.
class RangeDecoder {
 public:
  static constexpr bool kReads = true;
  explicit RangeDecoder(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    for (int i = 0; i < 4; ++i) code_ = code_ << 8 | next();
  }
  bool bit(AdaptiveBit& model, bool /*value*/ = false) {
    const std::uint32_t bound = (range_ >> AdaptiveBit::kScale) * model.zero();
    const bool value = code_ >= bound;
    if (value) {
      code_ -= bound;
      range_ -= bound;
    } else {
      range_ = bound;
    }
    model.update(value);
    normalise();
    return value;
  }
  std::uint32_t number(std::uint32_t /*value*/, int bits) {
    std::uint32_t value = 0;
    while (bits > 0) {
      const int step = bits < 8 ? bits : 8;
      bits -= step;
      range_ >>= step;
      std::uint32_t part = code_ / range_;
      if (part >= 1u << step) part = (1u << step) - 1;  // damaged
      code_ -= part * range_;
      value = value << step | part;
      normalise();
    }
    return value;
  }
  bool is_behind_end() const { return behind_ > 0; }
  // As the encoder left it: nothing is missing, nothing is left over.
  bool is_at_end() const { return behind_ == 0 && at_ == bytes_.size(); }

 private:
  std::uint32_t next() {
    if (at_ < bytes_.size()) return bytes_[at_++];
    ++behind_;
    return 0;
  }
  void normalise() {
    while (range_ < 1u << 24) {
      range_ <<= 8;
      code_ = code_ << 8 | next();
    }
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0, behind_ = 0;
  std::uint32_t range_ = UINT32_MAX, code_ = 0;
};

}  // namespace marginalia
