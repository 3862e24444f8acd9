'use strict';
// Functions that are made, run for a few milliseconds and collected, one after the other. Each calls
// another one with its number, which the compiler inlines. Which one ran from when to when is
// written to a file, with the line where it begins.
//
//   node --expose-gc generated.js SECONDS FILE

const fs = require('fs');
const now = process.hrtime.bigint;
const end = now() + BigInt(Math.round(Number(process.argv[2]) * 1e9));
const log = fs.openSync(process.argv[3], 'w');
let lines = [];

for (let n = 0; now() < end; n++) {
	const name = 'phase_' + n;
	const inner = 'within_' + n;
	const source = '\n'.repeat(n % 7) + '(function ' + name + '(clock, end) {' +
		'function ' + inner + '(s, i) { return s + i % 7; }' +
		'let s = 0; do { for (let i = 0; i < 2000; i++) s = ' + inner + '(s, i); } while (clock() < end); return s; })';
	const run = (0, eval)(source);
	const begin = now();

	run(now, begin + 5000000n);
	lines.push(name + ' ' + begin + ' ' + now() + ' ' + (n % 7 + 1));
	if (n % 3 === 0)
		gc();
}
fs.writeSync(log, lines.join('\n') + '\n');
