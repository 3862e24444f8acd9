# SPDX-License-Identifier: GPL-2.0-or-later
# Says of itself which methods it is in, whenever it calls mark(), where the sampler looks.
#
# oracle.rb LIBRARY OUTPUT COUNT: a line of JSON for each call: the labels and lines, leaf first.
# Before that, it makes the file $READY, and waits for a byte from its standard input.
require "fiddle"
require "json"

LIBRARY = Fiddle.dlopen(ARGV[0])
MARK = Fiddle::Function.new(LIBRARY["mark"], [], Fiddle::TYPE_VOID)
CALL_BACK = Fiddle::Function.new(LIBRARY["call_back"], [Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT], Fiddle::TYPE_INT)
GETTID = Fiddle::Function.new(Fiddle::Handle::DEFAULT["gettid"], [], Fiddle::TYPE_INT)
SAID = []

def snap(_ = nil)
  SAID << [GETTID.call, caller_locations(0)]; MARK.call
  0
end

def deep(n)
  n > 0 ? deep(n - 1) : snap
end

module Outer
  class Thing
    include Comparable

    def initialize(value)
      @value = value
    end

    def <=>(_)
      snap
    end

    def each
      yield 1
      yield 2
    end

    define_method(:defined) { |x| snap(x) }

    def self.of_class
      snap
    end

    class << self
      def of_singleton
        snap
      end
    end

    def method_missing(name, *)
      name == :missing ? snap : super
    end

    def respond_to_missing?(*)
      true
    end

    def to_s
      snap
      "thing"
    end
  end
end

def ensured
  yield
ensure
  snap
end

def raising
  raise ArgumentError, "a"
rescue ArgumentError
  snap
  begin
    [1].each { |x| Integer("b") }
  rescue ArgumentError => error
    snap
  end
end

def retrying(n = 0)
  n += 1
  raise "again" if n < 3
  snap
rescue RuntimeError
  retry
end

FROM_C = Class.new(Fiddle::Closure) do
  def call(depth)
    snap
    depth > 0 ? CALL_BACK.call(self, depth - 1) : 0
  end
end.new(Fiddle::TYPE_INT, [Fiddle::TYPE_INT])

def in_fibers
  generator = Enumerator.new { |y| 3.times { |i| snap; y << i } }
  generator.next
  generator.next
  fiber = Fiber.new { |x| snap; Fiber.yield x; snap }
  fiber.resume(1)
  deep(5)
  fiber.resume(2)
end

def made(number)
  eval("\n" * (number % 50) + "def made_%05d()\n  snap\nend\nmade_%05d()" % [number, number], binding, "<made %05d>" % number)
  Object.send(:remove_method, "made_%05d" % number)
end

def a_long_method(x)
  a = 1 if x
  b = [a, x, 3].map { |y| y.to_s + "b" }
  c = { a: a, b: b, "c" => x }
  d = "#{a} #{b} #{c} #{x}"
  e = x ? a : b
  f = [a, b, c, d, e]
  g = f.size > 3 && f.first && f.last
  h = case x
      when 1 then :one
      when 2 then :two
      else :many
      end
  i = f.inspect + g.to_s + h.to_s
  snap
  j = i.size.times.select(&:even?).first(3)
  snap if j
  [a, b, c, d, e, f, g, h, i, j].each_slice(3) { |k| snap }
end

def everything(count)
  deep(0)
  deep(20)
  deep(200)
  [3, 1, 2].each { |x| snap }
  [3, 1, 2].map { |x| [x].each_with_index { |y, i| snap } }
  [3, 1, 2].sort_by { |x| snap; x }
  { a: 1 }.each_pair { |k, v| snap }
  2.times(&method(:snap))
  2.times { |i| lambda { |x| snap }.call(i) }
  proc { snap }.call
  [1].each(&proc { |x| snap })
  [[1, 2]].each { |(a, b)| 1.upto(2) { |n| snap } }
  thing = Outer::Thing.new(1)
  thing == Outer::Thing.new(2)
  thing.each { snap }
  thing.defined(1)
  thing.missing
  thing.send(:defined, 1)
  thing.public_send(:missing)
  thing.instance_eval { snap }
  Outer::Thing.of_class
  Outer::Thing.of_singleton
  "#{thing}"
  ensured { snap }
  begin
    ensured { raise "b" }
  rescue RuntimeError
    snap
  end
  catch(:done) { ensured { throw :done } }
  raising
  retrying
  in_fibers
  CALL_BACK.call(FROM_C, 5)
  eval("snap")
  eval("class Outer::Thing\n  snap\nend")
  binding.eval("[1].each { snap }")
  Class.new { snap; define_method(:x) { snap } }.new.x
  "a-b".gsub(/-/) { snap; "+" }
  [1, 2].inject { |a, b| snap }
  loop { snap; break }
  a_long_method(1)
  (1..3).lazy.map { |x| snap; x }.first(2)
  Hash.new { |h, k| snap }[1]
  tap { snap }
  at = ObjectSpace.each_object(Class).first
  count.times { |number| made(number) }
end

File.write(ENV["READY"], "")
$stdin.sysread(1)
everything(Integer(ARGV[2]))
2.times { Thread.new { everything(Integer(ARGV[2])) }.join }
File.open(ARGV[1], "w") do |output|
  SAID.each do |thread, stack|
    output.puts JSON.generate([thread, stack.map { |l| [l.label, l.lineno, l.path] }])
  end
end
