<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that are made, run and freed, one after the other, at the same addresses.
//
// changing.php LIBRARY COUNT: closures, which are freed at once. Before that, it makes the file
// $READY, and waits for a byte from its standard input.
// A server runs it for each request of /LIBRARY?NUMBER: a function, which the end of the request frees.
//
// Each calls mark(), and has half its number in its name, and its line as often after the first one as
// the remainder of that by 7 says. Two names in a row differ in letters that PHP's own hash is the same for.
//
// PHP 8.4 names closures after their file instead of their namespace.
class Files
{
    public static $text;
    public $context;

    public function stream_open($path, $mode, $options, &$opened)
    {
        return true;
    }

    public function stream_read($count)
    {
        $text = self::$text;
        self::$text = '';
        return $text;
    }

    public function stream_eof()
    {
        return self::$text == '';
    }

    public function stream_stat()
    {
        return [];
    }

    public function stream_set_option($option, $first, $second)
    {
        return false;
    }
}
stream_wrapper_register('file-of', Files::class);

function make_and_run($number, $declared)
{
    $half = intdiv($number, 2);
    $name = sprintf('f_%06d%s', $half, $number % 2 ? 'FY' : 'Ez');
    $lines = str_repeat("\n", $half % 7);
    if ($declared) {
        eval("function $name(\$mark) {{$lines}\$mark->mark();}");
    } else {
        $code = "namespace $name; return function (\$mark) {{$lines}\$mark->mark();};";
        Files::$text = "<?php $code";
        $name = PHP_VERSION_ID < 80400 ? eval($code) : include "file-of://$name";
    }
    $name($GLOBALS['mark']);
}

if (PHP_SAPI != 'cli') {
    $mark = FFI::cdef('void mark(void);', $_SERVER['SCRIPT_NAME']);
    make_and_run((int)$_SERVER['QUERY_STRING'], true);
    exit;
}
$mark = FFI::cdef('void mark(void);', $argv[1]);
file_put_contents(getenv('READY'), '');
stream_set_read_buffer(STDIN, 0);
fread(STDIN, 1);
for ($number = 0; $number < (int)$argv[2]; $number++) {
    make_and_run($number, false);
}
