// Minimises a smooth function plus l1 * |x|: L-BFGS, and for l1 > 0 its orthant-wise form OWL-QN (Andrew and
// Gao 2007). The caller evaluates: give the function's value and gradient at x() to tell(), and again, until
// it says that it is done.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace marginalia {

class Lbfgs {
 public:
  enum class Status {
    evaluate,  // the step was too long: evaluate at the new x()
    stepped,   // an iteration is over: its point is best(); evaluate at x(), the first trial of the next one
    stuck,     // no step makes the function smaller: best() is as good as it gets
  };

  Lbfgs(std::vector<double> start, std::size_t memory, double l1);

  const std::vector<double>& x() const { return x_; }
  const std::vector<double>& best() const { return point_; }  // where the last iteration ended
  double value() const { return value_; }                     // there, with the l1 term
  double gradient_norm() const;                               // there, of the pseudo-gradient

  Status update(double value, const std::vector<double>& gradient);

  // What another one needs to go on from here.
  struct State {
    std::vector<double> point, gradient;
    std::vector<std::vector<double>> steps, changes;
    double value = 0.0;
    double length = 1.0;  // of the step to try next, and how many were tried
    std::size_t trials = 0;
  };
  State state() const;
  // Goes on from a state: the first x() is the first trial of its next iteration.
  Lbfgs(State state, std::size_t memory, double l1);

 private:
  struct Pair {
    std::vector<double> step, change;  // of x and of the gradient
    double product;                    // step · change
  };

  double with_l1(double value, const std::vector<double>& x) const;
  void set_pseudo_gradient();
  void set_direction();
  void try_step();
  void accept(double value, const std::vector<double>& gradient);

  std::size_t memory_;
  double l1_;
  bool started_ = false;
  std::vector<double> x_, point_, gradient_, pseudo_, direction_;
  double value_ = 0.0, length_ = 1.0;
  std::size_t trials_ = 0;
  std::deque<Pair> pairs_;
};

}  // namespace marginalia
