'use strict';
// Functions of all kinds, each on a stack of its own that is known: `expected` in javascript-names.sh.
const end = Date.now() + Number(process.argv[2]);
function work(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }

class Thing {
	constructor(n) { this.sum = work(n); }
	method(n) { return work(n); }
	get value() { return work(20000); }
	static make(n) { return new Thing(n); }
}

const arrow = (n) => work(n);
const holder = {
	property: function (n) { return work(n); },
	shorthand(n) { return work(n); },
};
function* generator(n) { yield work(n); }
const made = new Function('work', 'n', 'return work(n)');

function outer() {
	let sum = 0;

	sum += new Thing(20000).sum + Thing.make(20000).value;
	sum += new Thing(1).method(20000) + arrow(20000);
	sum += holder.property(20000) + holder.shorthand(20000);
	sum += generator(20000).next().value + made(work, 20000);
	[1, 2].forEach(function each() { sum += work(20000); });
	return sum;
}

let total = 0;
while (Date.now() < end)
	total += outer();
