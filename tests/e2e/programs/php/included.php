<?php
// SPDX-License-Identifier: GPL-2.0-or-later
namespace Inner;

function_exists('Inner\of_space') or eval('namespace Inner; function of_space() { return \snap(); }');

snap();
of_space();
return function () {
    return snap();
};
