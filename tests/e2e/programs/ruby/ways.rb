# SPDX-License-Identifier: GPL-2.0-or-later
# The ways to run Ruby code: ways.rb WAY LIBRARY calls mark() in a method named WAY, 30 times in a
# second and a half, as a process that has just begun has to be noticed by the recorder. Before that, it
# makes the file $READY, and waits for a byte from its standard input.
def here(way, library)
  require "fiddle"
  mark = Fiddle::Function.new(Fiddle.dlopen(library)["mark"], [], Fiddle::TYPE_VOID)
  Object.define_method(:call_it) { mark.call }
  eval("def #{way}\n  30.times { call_it; sleep 0.05 }\nend\n#{way}", TOPLEVEL_BINDING.dup)
end

way, library = ARGV
if way != "executed"
  File.write(ENV["READY"], "")
  $stdin.sysread(1)
end
case way
when "fork" then Process.wait(fork { here("fork", library) })
when "exec" then exec(RbConfig.ruby, __FILE__, "executed", library)
when "thread" then Thread.new { here(way, library) }.join
when "fiber" then Fiber.new { here(way, library) }.resume
else here(way, library)
end
