// SPDX-License-Identifier: GPL-2.0-or-later

// phases FILE [COUNT]: in each of COUNT (200) phases another function, often in the place of one
// that was collected. Writes "PHASE FROM TO" (ns) to FILE.
const fs = require('fs'), now = process.hrtime.bigint, lines = [];
const count = Number(process.argv[3] || 200);
for (let k = 0; k < count; k++) {
	let f = eval(`(function phase_${k}_(n) { let s = ${k}; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; })`);
	const from = now();
	while (now() < from + 12000000n) f(20000);
	lines.push(`${k} ${from} ${now()}\n`);
	f = null;
	if (k % 5 === 4) global.gc();
}
fs.writeFileSync(process.argv[2], lines.join(''));
