<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// phases FILE: in each phase another closure, which is freed before the next one. Writes "PHASE FROM TO"
// (ns) to FILE.
$times = fopen($argv[1], 'w');
for ($k = 0; $k < 100; $k++) {
    $phase = eval("namespace phase_{$k}_; return function (\$n) { for (\$s = \$i = 0; \$i < \$n; \$i++) { \$s += \$i * \$i % 7; } };");
    $start = hrtime(true);
    while (hrtime(true) < $start + 30000000) {
        $phase(2000);
    }
    fwrite($times, "$k $start " . hrtime(true) . "\n");
    unset($phase);
}
