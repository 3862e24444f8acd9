// SPDX-License-Identifier: GPL-2.0-or-later
//
// Stops in a stack that has each kind of JavaScript function.
//
// stack.js SAYS stop|run [warm]: before it stops it writes to SAYS which functions it is in, innermost
// first, and where each begins; `run`: it is stopped by others in run(), and has written who has called
// that; `warm`: its functions were called so often before that they are compiled.
const fs = require('fs');
const [says, way, warm] = process.argv.slice(2);

Error.stackTraceLimit = 1000;
Error.prepareStackTrace = (error, sites) => sites;

// Lines of this file by what is called there.
const begins = {};
fs.readFileSync(__filename, 'utf8').split('\n').forEach((line, i) => {
	const mark = /\/\/= (.*)/.exec(line);

	if (mark)
		begins[mark[1]] = i + 1;
});

function describe(site) {
	const name = site.getFunctionName() || '(anonymous)', file = site.getFileName();
	/* Also brings the name into one piece, if V8 has it in several: those are not read. */
	const line = begins[name] || 1; /* what has no name is the whole file */

	return file === __filename ? `${name} ${file}:${line}` : `${name} ${file}`;
}

function say(next) { //= say
	const sites = new Error().stack.filter((site) => site.getFileName());

	fs.writeFileSync(says, next + sites.slice(1).map(describe).join('\n') + '\n');
}

function halt() { //= halt
	say('kill node:internal/process/per_thread\n');
	process.kill(process.pid, 'SIGSTOP');
}

// Of several that are called, so that none of them is inlined, and the last one is no surprise.
const acts = { now: halt, others: [() => 0, () => 1, () => 2, () => 3] };

function stop(n) { //= stop
	if (n < 0)
		acts.now();
	return n;
}

class Thing { //= Thing
	constructor(n) { //= Thing
		this.sum = Thing.make(n);
	}
	static make(n) { //= make
		return holder.property(n) + 1;
	}
	method(n) { //= method
		return this.value + n;
	}
	get value() { //= get value
		return arrow(this.sum);
	}
}

const arrow = (n) => deep(n, 3); //= arrow
const holder = {
	property: function (n) { //= property
		return [n].map(function mapped(x) { return größe(x); })[0]; //= mapped
	},
};

function größe(n) { //= größe
	return [2, n].sort(function compare(a, b) { return generator(n).next().value; })[1]; //= compare
}

function* generator(n) { //= generator
	yield arrow(n);
}

function deep(n, levels) { //= deep
	return levels ? deep(n, levels - 1) : stop(n);
}

function //= onTwoLines
onTwoLines(n) {
	return new Thing(n).sum;
}

function outer(n) { //= outer
	return onTwoLines(n);
}

function run(n) { //= run
	say(''); for (let end = Date.now() + 60000; n % 1000 || Date.now() < end; n++) outer(n);
	return n;
}

if (warm)
	for (let i = 0; i < 30000; i++) {
		acts.now = acts.others[i % 4];
		outer(i % 2 ? i : -1);
	}
acts.now = halt;
if (way === 'run')
	run(1);
else
	outer(-1);
