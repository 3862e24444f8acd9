<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// Stops in a stack that has each kind of PHP function.
//
// stack.php LIBRARY SAYS: before that it writes to SAYS which ones it is in, leaf first. A function in C
// has no line of its own.
namespace Image;

const NO_NAMES = ['include', 'include_once', 'require', 'require_once', 'eval'];

$library = \FFI::cdef('void stop(void); int call_back(int (*function)(int), int depth);', $argv[1]);

function say($trace, $line)
{
    $place = __FILE__ . ":$line";
    $lines = "stop :0\n";
    foreach ($trace as $call) {
        $name = in_array($call['function'], NO_NAMES) ? '{main}' : $call['function'];
        $class = $call['class'] ?? '';
        // A function of a library belongs to an object, and to no class.
        $lines .= $class == 'FFI' ? "$name :0\n" : ($class ? "$class::$name" : $name) . " $place\n";
        $place = isset($call['line']) ? "$call[file]:$call[line]" : ':0';
    }
    file_put_contents($GLOBALS['argv'][2], $lines . "{main} $place\n");
}

function last()
{
    say(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS), __LINE__ + 1);
    $GLOBALS['library']->stop();
}

function größe($n)
{
    return $n > 0 ? größe($n - 1) : last();
}

trait OfTrait
{
    public function inTrait()
    {
        return größe(3);
    }
}

class Thing implements \Countable
{
    use OfTrait;

    public function __toString()
    {
        return (string)$this->inTrait();
    }

    public function count(): int
    {
        // PHP 8.4 calls it without a frame.
        return \strlen(\implode(' ', [$this, 'text']));
    }

    public static function __callStatic($name, $arguments)
    {
        return count(new self());
    }
}

function numbers()
{
    yield Thing::missing();
}

function in_a_fiber()
{
    $fiber = new \Fiber(function () {
        foreach (numbers() as $number) {
            return $number;
        }
    });
    $fiber->start();
}

function many_lines($a)
{
    $b = [$a, 1, 2];
    $c = ['a' => $a, 'b' => $b];

    return array_map(
        function ($x) use ($c) {
            in_a_fiber();
        },
        [1]
    );
}

function a_function_with_a_name_that_is_longer_than_what_the_kernel_half_has_room_for_so_that_the_recorder_has_to_read_the_rest_of_it_from_the_memory_of_the_process_which_it_does_for_all_names_of_more_than_so_many_characters()
{
    $array = [2, 1];
    usort($array, fn ($x, $y) => many_lines($x));
}

eval("\n\nnamespace Image;\n\nfunction made(\$f) {\n  \$f();\n}\n");
$library->call_back(function ($depth) {
    made('Image\a_function_with_a_name_that_is_longer_than_what_the_kernel_half_has_room_for_so_that_the_recorder_has_to_read_the_rest_of_it_from_the_memory_of_the_process_which_it_does_for_all_names_of_more_than_so_many_characters');
    return 0;
}, 1);
