<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// Says of itself which functions it is in, whenever it calls mark(), where the sampler looks.
//
// oracle.php LIBRARY OUTPUT COUNT: a line of JSON for each call: the functions and lines, leaf first.
// Before that, it makes the file $READY, and waits for a byte from its standard input.

const HEADER = 'void mark(void); int call_back(int (*function)(int), int depth);';
$library = FFI::cdef(HEADER, $argv[1]);
$said = [];

function snap($value = null)
{
    global $library, $said;

    $said[] = [debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS), __LINE__ + 1];
    $library->mark();
    return 0;
}

function deep($n)
{
    return $n > 0 ? deep($n - 1) : snap();
}

trait Both
{
    public function ofTrait()
    {
        return snap();
    }
}

abstract class Base
{
    public function inherited()
    {
        return snap();
    }
}

enum Suit
{
    case Hearts;

    public function ofEnum()
    {
        return snap();
    }
}

class Thing extends Base implements ArrayAccess, Countable, IteratorAggregate, JsonSerializable
{
    use Both;

    public function __construct(private int $value = 0, bool $quiet = true)
    {
        $quiet or snap();
    }

    public function __destruct()
    {
        $this->value == 7 && snap();
    }

    public function __call($name, $arguments)
    {
        return snap();
    }

    public static function __callStatic($name, $arguments)
    {
        return snap();
    }

    public function __get($name)
    {
        return snap();
    }

    public function __set($name, $value)
    {
        snap();
    }

    public function __invoke($x)
    {
        return snap($x);
    }

    public function __toString()
    {
        snap();
        return "thing";
    }

    public static function ofClass($x = null)
    {
        return snap();
    }

    public function offsetExists(mixed $offset): bool
    {
        return snap() == 0;
    }

    public function offsetGet(mixed $offset): mixed
    {
        return snap();
    }

    public function offsetSet(mixed $offset, mixed $value): void
    {
        snap();
    }

    public function offsetUnset(mixed $offset): void
    {
        snap();
    }

    public function count(): int
    {
        return snap();
    }

    public function getIterator(): Iterator
    {
        snap();
        yield 1;
        snap();
        yield 2;
    }

    public function jsonSerialize(): mixed
    {
        return snap();
    }

    public function closure()
    {
        return fn () => [snap(), array_map(fn ($x) => snap($x), [1, 2])];
    }
}

function numbers($n)
{
    for ($i = 0; $i < $n; $i++) {
        snap();
        $sent = yield $i;
    }
    return snap();
}

function through()
{
    snap();
    foreach (numbers(2) as $number) {
        yield $number;
    }
    snap();
}

function in_generators()
{
    foreach (numbers(3) as $number) {
        snap();
    }
    foreach (through() as $number) {
        snap();
    }
    $generator = numbers(2);
    $generator->current();
    $generator->send(3);
    $generator->next();
}

function in_fibers()
{
    $inner = function ($x) {
        snap();
        Fiber::suspend(deep(3));
        snap();
    };
    $fiber = new Fiber(function ($x) use ($inner) {
        snap();
        usort($x, fn ($a, $b) => snap());
        $other = new Fiber($inner);
        $other->start(1);
        Fiber::suspend(1);
        $other->resume();
        deep(5);
    });
    $fiber->start([2, 1]);
    deep(2);
    $fiber->resume();
}

function raising()
{
    try {
        try {
            throw new LogicException("a");
        } catch (LogicException $e) {
            snap();
            throw new RuntimeException("b");
        } finally {
            snap();
        }
    } catch (RuntimeException $e) {
        return snap();
    }
}

function made($number)
{
    $name = sprintf("made_%05d", $number);
    $code = str_repeat("\n", $number % 50) . "return function () {\n  return snap('$name');\n};";
    (eval($code))();
}

function a_long_function($x)
{
    $a = $x ? 1 : 2;
    $b = array_map(function ($y) {
        return $y . "b";
    }, [$a, $x, 3]);
    $c = ['a' => $a, 'b' => $b, 'c' => $x];
    $d = "$a $x";
    $h = match ($x) {
        1 => "one",
        2 => "two",
        default => "many",
    };
    snap(); foreach ($c as $key => $value) {
        snap();
    }
    do {
        $i = strlen($d . $h);
        snap([
            $i,
            $h,
        ]);
    } while ($i < 0);
    return snap(
        $c
    );
}

function from_c($library)
{
    $call = function ($depth) use (&$call, $library) {
        snap();
        return $depth > 0 ? $library->call_back($call, $depth - 1) : 0;
    };
    $library->call_back($call, 5);
}

// Of PHP 8.4: hooks of properties, and objects that are made when they are asked.
function later_objects()
{
    eval("class Hooked {\n  public \$value {\n    get => snap();\n    set {\n      snap();\n    }\n  }\n}");
    $hooked = new Hooked();
    $hooked->value = $hooked->value;
    $lazy = (new ReflectionClass('Plain'))->newLazyGhost(function ($x) {
        snap();
    });
    $lazy->value;
}

class Plain
{
    public $value = 0;
}

function objects()
{
    $thing = new Thing(1, false);
    $thing->inherited();
    $thing->ofTrait();
    $thing->missing(1);
    Thing::missingToo();
    $thing->absent;
    $thing->absentToo = 1;
    $thing(1);
    "$thing";
    isset($thing[1]);
    $thing[1];
    $thing[1] = 2;
    unset($thing[1]);
    count($thing);
    foreach ($thing as $x) {
        snap();
    }
    json_encode($thing);
    ($thing->closure())();
    Thing::ofClass();
    Suit::Hearts->ofEnum();
    new Thing(7);
    PHP_VERSION_ID < 80400 or later_objects();
    (new class () {
        public function anonymous()
        {
            return snap();
        }
    })->anonymous();
    Closure::bind(fn () => snap(), null, Thing::class)();
    Closure::bind(function () {
        return $this->value + snap();
    }, $thing, Thing::class)();
}

function called_by_c()
{
    $array = [3, 1, 2];
    usort($array, fn ($a, $b) => $a <=> $b + snap());
    array_map('snap', $array);
    array_map(null, array_filter($array, fn ($x) => !snap()));
    array_walk($array, function (&$x, $key) {
        snap();
    });
    array_reduce($array, fn ($a, $b) => snap(), 0);
    call_user_func('snap', 1);
    call_user_func_array([new Thing(), 'inherited'], []);
    call_user_func('Thing::ofClass', 1);
    array_map(Thing::ofClass(...), [1]);
    array_map(snap(...), [1]);
    preg_replace_callback('/-/', fn ($m) => "+" . snap(), "a-b-c");
    iterator_to_array((function () {
        yield snap();
        yield snap();
    })());
    iterator_apply(new ArrayIterator([1, 2]), fn () => snap() == 0);
    (new ReflectionMethod('Thing', 'inherited'))->invoke(new Thing());
    (new ReflectionFunction('snap'))->invoke();
    array_map('call_user_func', ['snap']);
    set_error_handler(fn () => snap() == 0);
    $undefined + 1;
    restore_error_handler();
    spl_autoload_register($load = function ($name) {
        snap();
    });
    class_exists('Nowhere');
    spl_autoload_unregister($load);
    // PHP 8.4 calls these without a frame, and has one in backtraces all the same.
    in_array('no', [new Thing()]);
    implode(' ', [new Thing(), 'and', str_replace('a', 'b', new Thing())]);
    ob_start(fn ($text) => snap() ? "" : "");
    echo "a";
    ob_end_clean();
}

function everything($count)
{
    global $library;

    deep(0);
    deep(20);
    deep(200);
    objects();
    called_by_c();
    in_generators();
    in_fibers();
    raising();
    from_c($library);
    a_long_function(1);
    include __DIR__ . '/included.php';
    (require __DIR__ . '/included.php')();
    eval('snap();');
    eval("\n\nfunction_exists('evaluated') or eval('function evaluated() {\n  snap();\n}');\nevaluated();");
    for ($number = 0; $number < $count; $number++) {
        made($number);
    }
}

const NO_NAMES = ['include', 'include_once', 'require', 'require_once', 'eval'];

// Of each function its name, and where it is: that is, where it calls the next one.
function frames($trace, $line)
{
    $frames = [];
    $place = [$line, __FILE__];
    foreach ($trace as $call) {
        $name = in_array($call['function'], NO_NAMES) ? '{main}' : $call['function'];
        $class = strtok($call['class'] ?? '', "\0");
        $frames[] = [$class ? "$class::$name" : $name, ...$place];
        $place = isset($call['line']) ? [$call['line'], $call['file']] : [0, ''];
    }
    $frames[] = ['{main}', ...$place];
    return $frames;
}

file_put_contents(getenv('READY'), '');
stream_set_read_buffer(STDIN, 0);
fread(STDIN, 1);
everything((int)$argv[3]);
$output = fopen($argv[2], 'w');
foreach ($said as [$trace, $line]) {
    fwrite($output, json_encode([getmypid(), frames($trace, $line)]) . "\n");
}
