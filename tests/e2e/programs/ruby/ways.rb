# SPDX-License-Identifier: GPL-2.0-or-later
# The ways to run Ruby code: ways.rb WAY LIBRARY calls mark() in a method named WAY ten times. The
# recorder has time to notice the process before the calls.
def here(way, library)
  require "fiddle"
  mark = Fiddle::Function.new(Fiddle.dlopen(library)["mark"], [], Fiddle::TYPE_VOID)
  sleep 0.5
  Object.define_method(:call_it) { mark.call }
  eval("def #{way}\n  10.times { call_it }\nend\n#{way}", TOPLEVEL_BINDING.dup)
end

way, library = ARGV
case way
when "fork" then Process.wait(fork { here("fork", library) })
when "exec" then exec(RbConfig.ruby, __FILE__, "executed", library)
when "thread" then Thread.new { here(way, library) }.join
when "fiber" then Fiber.new { here(way, library) }.resume
else here(way, library)
end
