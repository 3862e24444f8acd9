<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// call_back SECONDS: functions in PHP and in C call each other, eight times, one within the other.
function leaf_work($x)
{
    for ($sum = $i = 0; $i < 200; $i++) {
        $sum += $i * $x % 7;
    }
    return $sum;
}

function step($depth, $x)
{
    return $depth ? array_map(fn ($y) => step($depth - 1, $y), [$x])[0] : leaf_work($x);
}

$end = hrtime(true) + $argv[1] * 1e9;
while (hrtime(true) < $end) {
    step(8, 3);
}
