# SPDX-License-Identifier: GPL-2.0-or-later
# Stops in a stack that has each kind of Ruby method and block.
#
# stack.rb SAYS: before that it writes to SAYS which ones it is in, leaf first. A method in C has no
# line of its own.
IN_C = %w[call catch each each_with_index eval instance_eval kill map new send sort_by times upto].freeze

def say
  File.open(ARGV[0], "w") do |out|
    out.puts "kill :0"
    caller_locations(3).each do |frame|
      # Some that are in C become Ruby's own, in files of which there are none.
      in_c = IN_C.include?(frame.label) && !frame.path.start_with?("<internal:")
      out.puts "#{frame.label} #{in_c ? ":0" : "#{frame.path}:#{frame.lineno}"}"
    end
  end
end

def last
  say; Process.kill(:STOP, Process.pid)
end

def größe(n)
  n > 0 ? größe(n - 1) : last
end

module Outer
  class Thing
    def initialize
      [3].each_with_index { |x, i| größe(3) }
    end

    define_method(:defined) { |x| Thing.new }

    def self.of_class
      catch(:done) { allocate.send(:defined, 1) }
    end

    class << self
      def in_a_singleton
        tap { Thing.of_class }
      end
    end
  end
end

def ensured
  raise ArgumentError
rescue ArgumentError
  begin
    1.upto(1) { |x| yield x }
  ensure
    x = 1
  end
end

def many_lines(a)
  b = [a, 1, 2].first
  c = { a: b, b: a, "c" => [a, b] }
  d = "#{a} #{b} #{c}"
  e = case a
      when 1 then :one
      when 2 then :two
      else [a, b, c, d].size
      end
  f = [a, b, c, d, e].first(3).last
  g = f && d && e && c[:a] && c[:b] && c["c"]
  h = g.size + a + b + d.size
  i = [a, b, c, d, e, f, g, h].size
  j = i + h + a + b + i + h + a + b + i + h + a + b
  k = { i: i, j: j, h: h, a: a, b: b, c: c, d: d, e: e }
  l = k.size + j + i + h + k.size + j + i + h + k.size + j + i + h
  [l, k, j, i, h, g, f, e, d, c, b].first(1).map { Outer::Thing.in_a_singleton }
end

def a_method_with_a_name_that_is_longer_than_what_the_kernel_half_has_room_for_so_that_the_recorder_has_to_read_the_rest_of_it_from_the_memory_of_the_process_which_it_does_for_all_names_of_more_than_so_many_characters
  [2, 1].sort_by { |x| ensured { many_lines(1) } }
end

eval("\n\ndef made\n  proc { yield }.call\nend\n", TOPLEVEL_BINDING, "<made>")
2.times { |i| instance_eval { made { lambda { a_method_with_a_name_that_is_longer_than_what_the_kernel_half_has_room_for_so_that_the_recorder_has_to_read_the_rest_of_it_from_the_memory_of_the_process_which_it_does_for_all_names_of_more_than_so_many_characters }.call } } }
