# SPDX-License-Identifier: GPL-2.0-or-later
# Methods that are made, run and freed, one after the other, at the same addresses.
#
# changing.rb LIBRARY COUNT: method f_NUMBER of file <f_NUMBER line LINE> calls mark(), where LINE is
# that of the call, so that the stack of each sample must have the same number and line twice.
# Before that, it makes the file $READY, and waits for a byte from its standard input.
require "fiddle"

MARK = Fiddle::Function.new(Fiddle.dlopen(ARGV[0])["mark"], [], Fiddle::TYPE_VOID)

File.write(ENV["READY"], "")
$stdin.sysread(1)
Integer(ARGV[1]).times do |number|
  name = "f_%06d" % number
  lines = number % 7
  Object.class_eval("def #{name}\n#{"\n" * lines} MARK.call\nend", "<#{name} line #{2 + lines}>", 1)
  send(name)
  Object.send(:remove_method, name)
  GC.start(full_mark: true, immediate_sweep: true) if number % 50 == 49
end
