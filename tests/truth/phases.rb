# SPDX-License-Identifier: GPL-2.0-or-later
# phases FILE: in each phase another method, which is freed before the next one. Writes "PHASE FROM TO"
# (ns) to FILE.
def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

File.open(ARGV[0], "w") do |times|
  100.times do |k|
    eval "def self.phase_#{k}_(n) = (1..n).sum { |i| i * i % 7 }"
    start = now
    send("phase_#{k}_", 2000) while now < start + 30_000_000
    times.puts "#{k} #{start} #{now}"
    singleton_class.send(:remove_method, "phase_#{k}_")
    GC.start
  end
end
