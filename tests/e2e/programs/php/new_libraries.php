<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// Calls mark(), where the sampler looks, through each of the libraries as soon as it is loaded.
//
// new_libraries.php LIBRARY NEW...: makes the file $READY, and waits for a byte from its standard input.
const HEADER = 'int call_back(void *function, int depth); extern char mark[1];';

function inner($library, $mark)
{
    $library->call_back($mark, 0);
}

function outer($path, $mark)
{
    inner(FFI::cdef(HEADER, $path), $mark);
}

$library = FFI::cdef(HEADER, $argv[1]);
$mark = FFI::addr($library->mark);
file_put_contents(getenv('READY'), '');
stream_set_read_buffer(STDIN, 0);
fread(STDIN, 1);
foreach (array_slice($argv, 2) as $path) {
    outer($path, $mark);
    usleep(100000);
}
