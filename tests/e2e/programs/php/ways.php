<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// The ways to run PHP code: ways.php WAY LIBRARY calls mark() in a function named WAY, 30 times in a
// second and a half, as a process that has just begun has to be noticed by the recorder. Before that, it
// makes the file $READY, and waits for a byte from its standard input.
function here($way, $library)
{
    global $mark;
    $mark = FFI::cdef('void mark(void);', $library);
    eval("function way_$way() { global \$mark; for (\$i = 0; \$i < 30; \$i++) { \$mark->mark(); usleep(50000); } }");
    ("way_$way")();
}

[, $way, $library] = $argv;
if ($way != 'executed') {
    file_put_contents(getenv('READY'), '');
    stream_set_read_buffer(STDIN, 0);
    fread(STDIN, 1);
}
switch ($way) {
    case 'fork':
        $pid = pcntl_fork();
        if ($pid) {
            pcntl_waitpid($pid, $status);
        } else {
            here('fork', $library);
        }
        break;
    case 'exec':
        pcntl_exec(PHP_BINARY, [__FILE__, 'executed', $library]);
        break;
    case 'fiber':
        (new Fiber('here'))->start($way, $library);
        break;
    case 'shutdown':
        register_shutdown_function('here', $way, $library);
        break;
    default:
        here($way, $library);
}
