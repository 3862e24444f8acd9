// Runs the script of a page of -f html without a browser, and compares what it finds with
// folded stacks: node views-html.js PAGE FOLDED. Says "good", or what is not.
"use strict";
const fs = require("fs"), vm = require("vm"), zlib = require("zlib"), assert = require("assert");

const [page, foldedText] = process.argv.slice(2).map((path) => fs.readFileSync(path, "utf8"));
const [, data] = /<script type="text\/plain" id="data">([^<]*)<\/script>/.exec(page);
const script = /<script>\s*"use strict";([^]*)<\/script>/.exec(page)[1].replace(/\nstart\(\);\s*$/, "");
const names = "bytesFromBase64, KINDS, OFF_CPU, Colours, readProfile, Tree, functionTotals, callersOf, calleesOf, plain, percent, weight";
vm.runInThisContext(`(() => { "use strict"; ${script}; globalThis.pageCode = { ${names} }; })()`);
const code = globalThis.pageCode;

const bytes = new Uint8Array(zlib.inflateSync(code.bytesFromBase64(data)));
const profile = code.readProfile(bytes), { tree, cells, base, head } = profile;

// The weights of all stacks, as the page adds them up.
function selfOf(list) {
	const self = new Float64Array(tree.count);
	for (let i = 0; i < list.count; i++)
		self[list.node[i]] += list.value[i];
	return self;
}

function folded(self) {
	const lines = new Map();
	for (let n = 1; n < tree.count; n++) {
		const path = [];
		for (let at = n; at > 0; at = tree.parent[at])
			path.unshift(profile.name(tree.fn[at]));
		if (self[n])
			lines.set(path.join(";"), (lines.get(path.join(";")) ?? 0) + self[n]);
	}
	return lines;
}

const self = selfOf(cells), columns = head.diff ? [selfOf(base), self] : [self];
const expected = columns.map(() => new Map());
for (const line of foldedText.trim().split("\n")) {
	const parts = line.split(" "), values = parts.splice(-columns.length).map(Number);
	values.forEach((value, i) => { if (value) expected[i].set(parts.join(" "), value); });
}
columns.forEach((values, i) => {
	const sorted = (map) => [...map].sort((a, b) => a[0] < b[0] ? -1 : 1);
	assert.deepStrictEqual(sorted(folded(values)), sorted(expected[i]), `column ${i}`);
});

// The tree is one, in preorder, and places lie inside those of their callers.
const total = tree.totals(self);
assert.strictEqual(total[0], head.total);
for (const byWeight of [false, true]) {
	const places = tree.places(total, byWeight);
	for (let n = 1; n < tree.count; n++) {
		const parent = tree.parent[n];
		assert(parent < n && n < tree.end[parent] && tree.end[n] <= tree.end[parent]);
		assert(places[n] >= places[parent] && places[n] + total[n] <= places[parent] + total[parent]);
	}
}

// Every kind of function has a colour, and colours are for kinds that there are.
assert.deepStrictEqual(head.kinds.slice().sort(), Object.keys(code.KINDS).sort());
for (const name in code.OFF_CPU)
	assert(head.kinds.includes(name));
const colours = new code.Colours(profile);
for (let f = -1; f < profile.functions.count; f++)
	for (const scheme of ["kind", "object", "name"]) {
		colours.use(scheme);
		assert(/^hsl\(\d+ \d+% \d+%\)$/.test(colours.of(f, f % 2)), `colour of ${f}`);
	}

// Slices of time and sources are where they should be, and cells in the order of time.
for (let i = 0; i < cells.count; i++) {
	assert(cells.slice[i] < head.slices && cells.source[i] < head.sources.length);
	assert(!i || cells.slice[i] >= cells.slice[i - 1]);
}
assert(head.slices > 1 && head.slices <= 2000);

// A function's callers and callees have the weight that it has itself.
const sums = code.functionTotals(tree, profile.functions.count, self, total);
for (let f = 0; f < profile.functions.count; f++) {
	const callers = code.callersOf(tree, f, [total], profile.functions.count);
	const callees = code.calleesOf(tree, f, [self], profile.functions.count);
	assert.strictEqual(callers.tree.totals(callers.self[0])[0], sums.total[f]);
	assert.strictEqual(callees.tree.totals(callees.self[0])[0], sums.total[f]);
}
assert.strictEqual(sums.self.reduce((a, b) => a + b, 0), head.total);

assert.strictEqual(code.plain("a\u202eb\u0000\u001b[31m"), "a\ufffdb\ufffd\ufffd[31m");
assert.strictEqual(code.percent(1, 8), "12.5 %");
assert.strictEqual(code.weight(1500, "us"), "1.50 ms");
console.log("good");
