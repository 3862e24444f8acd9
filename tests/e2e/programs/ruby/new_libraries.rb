# SPDX-License-Identifier: GPL-2.0-or-later
# Calls mark(), where the sampler looks, through each of the libraries as soon as it is loaded.
#
# new_libraries.rb LIBRARY NEW...: makes the file $READY, and waits for a byte from its standard input.
require "fiddle"

MARK = Fiddle.dlopen(ARGV[0])["mark"]
INT = Fiddle::TYPE_INT

def inner(library)
  Fiddle::Function.new(library["call_back"], [Fiddle::TYPE_VOIDP, INT], INT).call(MARK, 0)
end

def outer(path)
  inner(Fiddle.dlopen(path))
end

File.write(ENV["READY"], "")
$stdin.sysread(1)
ARGV.drop(1).each do |path|
  outer(path)
  sleep(0.1)
end
