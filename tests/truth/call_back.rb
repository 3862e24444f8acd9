# SPDX-License-Identifier: GPL-2.0-or-later
# call_back SECONDS: methods and functions in C call each other, eight times, one within the other.
def leaf_work(x) = (1..200).sum { |i| i * x % 7 }

def step(depth, x)
  return leaf_work(x) if depth.zero?

  [x].sort_by { |y| step(depth - 1, y) }.first
end

finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[0].to_f
step(8, 3) while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
