// Runs the script of a page of -f html without a browser, and compares what it finds with
// folded stacks, and of a comparison with -f top --diff --json and -f tree --diff --min=1 --json, both
// without and with --normalize: node views-html.js PAGE FOLDED [TOP SCALED TREE SCALED], or in a shape that people gave it:
// node views-html.js PAGE FOLDED focus|hide|once NAME. Or where a function has another name than before: node
// views-html.js PAGE FOLDED renamed NAME OLD. Or with a number of threads chosen, and its share of the time in words:
// node views-html.js PAGE FOLDED running RANGE SHARE. Says "good", or what is not.
"use strict";
const fs = require("fs"), vm = require("vm"), zlib = require("zlib"), assert = require("assert");

const shaped = ["focus", "hide", "once", "renamed", "running"].includes(process.argv[4]) ? process.argv.slice(4) : null;
const [page, foldedText, ...compared] = process.argv.slice(2, shaped ? 4 : undefined).map((path) => fs.readFileSync(path, "utf8"));
const [, data] = /<script type="text\/plain" id="data">([^<]*)<\/script>/.exec(page);
const script = /<script>\s*"use strict";([^]*)<\/script>/.exec(page)[1].replace(/\nstart\(\);\s*$/, "");
const names = "Shape, Weights, bytesFromBase64, KINDS, STATES, Colours, readProfile, eachRun, Tree, functionTotals, callersOf, calleesOf, Tip, plain, percent, signed, weight, cutName, FunctionChanges";
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

// Functions of one name in several files, which the page tells apart, and --collapse-recursion does not.
function isNamesake(f, other) {
	return f !== other && other >= 0 && ["name", "object"].every((key) => profile.functions[key][f] === profile.functions[key][other]);
}

function folded(self, tree, once) {
	const lines = new Map();
	for (let n = 1; n < tree.count; n++) {
		const path = [];
		for (let at = n; at > 0; at = tree.parent[at])
			if (!once || !isNamesake(tree.fn[at], tree.fn[tree.parent[at]]))
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
const sorted = (map) => [...map].sort((a, b) => a[0] < b[0] ? -1 : 1);

// A renamed function is one row of two functions, which is shown at that of now, and found by both names.
if (shaped?.[0] === "renamed") {
	const names = shaped.slice(1), changes = new code.FunctionChanges({ profile, scale: "as-is" });
	const [fn, old] = names.map((name) => profile.tree.fn.find((f) => f >= 0 && profile.name(f) === name));
	assert(changes.rowOf(fn) >= 0 && changes.rowOf(fn) === changes.rowOf(old));
	assert(changes.changeOf(fn, "total") !== undefined);
	assert.strictEqual(changes.changeOf(old, "total"), undefined);
	for (const name of names) {
		changes.app.pattern = new RegExp(`^${name}$`);
		assert.deepStrictEqual([...changes.list.name.keys()].filter((i) => changes.found(i)), [changes.rowOf(fn)], name);
	}
	console.log("good");
	process.exit();
}

if (shaped?.[0] === "running") {
	const [, chosen, share] = shaped, shape = new code.Shape(profile), weights = new code.Weights(profile, shape);
	const { running } = weights, range = running.ranges.find(({ value }) => value === chosen);
	assert(running.any);
	assert.strictEqual(code.percent(range.time, running.time), share);
	weights.select({ from: 0, to: head.slices, thread: "all", running: chosen, scale: "as-is" });
	assert.deepStrictEqual(sorted(folded(weights.self, tree)), sorted(expected[0]), chosen);
	weights.select({ from: 0, to: head.slices, thread: "all", running: "all", scale: "as-is" });
	assert.strictEqual(weights.whole, head.total);
	console.log("good");
	process.exit();
}

// Hidden functions and the like are what the options of prof-report make of them.
if (shaped) {
	const [what, name] = shaped, shape = new code.Shape(profile), weights = new code.Weights(profile, shape);
	for (let f = 0; f < profile.functions.count; f++)
		if (profile.name(f) === name)
			what === "focus" ? shape.focus = f : shape.hidden.add(f);
	if (what === "once")
		[shape.hidden, shape.once] = [new Set(), true];
	shape.build();
	weights.select({ from: 0, to: head.slices, thread: "all", scale: "as-is" });
	assert(shape.tree.count < tree.count);
	assert.deepStrictEqual(sorted(folded(weights.self, shape.tree, shape.once)), sorted(expected[0]), what);
	assert.strictEqual(shape.parts().length, 1);
	shape.parts()[0][1]();
	shape.build();
	assert.strictEqual(shape.tree, tree);
	console.log("good");
	process.exit();
}

columns.forEach((values, i) => {
	assert.deepStrictEqual(sorted(folded(values, tree)), sorted(expected[i]), `column ${i}`);
});

// The tree is one, in preorder, and places lie inside those of their callers.
const total = tree.totals(self);
assert.strictEqual(total[0], head.total);
for (const byWeight of [false, true]) {
	const places = new Map([[0, 0]]);
	tree.placeChildren(0, total, byWeight, 0, places);
	for (let n = 1; n < tree.count; n++) {
		const parent = tree.parent[n], at = places.get(n), from = places.get(parent);
		assert(parent < n && n < tree.end[parent] && tree.end[n] <= tree.end[parent]);
		assert(at >= from && at + total[n] <= from + total[parent]);
		tree.placeChildren(n, total, byWeight, 0, places);
	}
}

// Every kind of function has a colour, and colours are for kinds that there are.
assert.deepStrictEqual(head.kinds.slice().sort(), Object.keys(code.KINDS).sort());
for (const { kinds } of code.STATES)
	for (const name in kinds)
		assert(head.kinds.includes(name));
const colours = new code.Colours(profile);
for (let f = -1; f < profile.functions.count; f++)
	for (const scheme of ["kind", "object", "name"]) {
		colours.use(scheme);
		assert(/^hsl\(\d+ \d+% \d+%\)$/.test(colours.of(f, (f + 1) % 3)), `colour of ${f}`);
	}
// ... and user code another one in each state.
const user = new code.Colours({ ...profile, kind: () => "user" });
assert.strictEqual(new Set([0, 1, 2].map((state) => user.of(0, state))).size, 3);

// Slices of time and sources are where they should be, and cells in the order of time.
let sliceBefore = 0, cellsBefore = 0;
code.eachRun(cells, (slice, source, first, end) => {
	assert(slice < head.slices && source < head.sources.length && slice >= sliceBefore);
	assert(first === cellsBefore && end > first);
	[sliceBefore, cellsBefore] = [slice, end];
});
assert.strictEqual(cellsBefore, cells.count);
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

// What a function has itself is not said of its box among callers, which has what begins there.
globalThis.document = { createElement: () => ({}) };
const picture = { tree, total, chains: new Map(), zoom: 0 };
const app = { profile, weights: { whole: head.total, waits: [] }, callers: { ...picture }, nowOf: (flame, node) => flame.total[node] };
const saysSelf = (flame) => new code.Tip(null, app).describe(flame, 1).some(({ textContent }) => textContent.startsWith("self "));
assert.deepStrictEqual([picture, app.callers].map(saysSelf), [true, false]);

// What changed by function is what -f top says, and each function knows its row.
assert.strictEqual(compared.length, head.diff ? 4 : 0);
function agrees(numbers, i, expected, what) {
	for (const key of ["before", "now", "low", "high", "p"]) {
		const difference = Math.abs(numbers[key][i] - expected[key]);
		assert(difference <= 1e-6 * Math.abs(expected[key]) + 1e-37, `${what} ${key}`);
	}
}
compared.slice(0, 2).forEach((text, scaled) => {
	const top = JSON.parse(text), changes = profile.changes[scaled ? "same" : "as-is"];
	assert.strictEqual(changes.count, top.rows.length);
	assert(top.rows.length > 50);
	for (const key of ["unit", "alpha"])
		assert.strictEqual(changes.head[key], top[key]);
	assert.deepStrictEqual(changes.head.runs, [top.runs.before, top.runs.now]);
	assert.deepStrictEqual(changes.head.totals, [top.total.before, top.total.now]);
	const known = new Set();
	// A function and its copies by the compiler have one row, named after one of them.
	const common = (name) => name.replace(/( \[clone [^[]*\]|\.cold(\.\d+)?|\.(constprop|isra|part|llvm|lto_priv)\.\d+)+(?=( \[guessed\])?$)/, "");
	changes.rowOf.forEach((number, f) => {
		const row = (number - 1) >> 1, old = number && number - 1 & 1;
		known.add(row);
		assert(!old || changes.flags[row] & 16);
		const name = number && (old ? changes.other[row] : changes.name[row]);
		assert(!number || common(profile.texts.get(name)) === common(profile.name(f)), `row of ${profile.name(f)}`);
		assert(number || profile.kind(f) === "thread, process or group");
	});
	top.rows.forEach((row, i) => {
		assert(known.has(i), row.name);
		assert.strictEqual(profile.texts.get(changes.name[i]), row.name);
		assert.strictEqual(profile.texts.get(changes.object[i]), row.object);
		assert.strictEqual(profile.texts.get(changes.other[i]), row.other ?? "");
		const lineage = ["renamed", "inlined", "called"].indexOf(row.state);
		const was = lineage >= 0 ? row.total.before > 0 : row.state !== "new";
		const is = lineage >= 0 ? row.total.now > 0 : row.state !== "vanished";
		const flags = (was ? 1 : 0) | (is ? 2 : 0) | (row.self.sure ? 4 : 0) | (row.total.sure ? 8 : 0) |
			(lineage >= 0 ? 16 << lineage : 0);
		assert.strictEqual(changes.flags[i], flags);
		for (const side of ["self", "total"])
			agrees(changes[side], i, row[side], `${row.name} ${side}`);
	});
});

// What changed by call is what -f tree says.
compared.slice(2).forEach((text, scaled) => {
	const { call } = profile.changes[scaled ? "same" : "as-is"], rows = new Map();
	for (let i = 0; i < call.count; i++) {
		const path = [];
		for (let n = call.node[i]; n > 0; n = tree.parent[n])
			path.unshift(profile.name(tree.fn[n]));
		rows.set(path.join(";"), i);
	}
	const check = (calls, above) => calls.forEach(({ name, total, calls: below }) => {
		const path = [...above, name].join(";"), i = rows.get(path);
		assert(i !== undefined, path);
		assert.strictEqual(call.flags[i], total.sure ? 8 : 0, path);
		agrees(call, i, total, path);
		rows.delete(path);
		check(below, [...above, name]);
	});
	assert(rows.size > 20);
	check(JSON.parse(text).calls, []);
	assert.deepStrictEqual([...rows.keys()], []);
});

const cutNames = [40, 33, 26, 14, 6, 2].map((room) => code.cutName("std::a<x::y>::(anonymous namespace)::run", room));
assert.deepStrictEqual(cutNames, ["std::a<x::y>::(anonymous namespace)::run", "a<x:…::(anonymous namespace)::run",
	"(anonymous namespace)::run", "(anonymo…::run", "run", "…n"]);
assert.strictEqual(code.cutName(`${"a::".repeat(1000)}run`, 6), "a…:run");

assert.strictEqual(code.signed(-1234.5, 0), "−1,235");
assert.strictEqual(code.signed(0.0004, 3), "+0.000");
assert.strictEqual(code.plain("a\u202eb\u061c\u0000\u001b[31m"), "a\ufffdb\ufffd\ufffd\ufffd[31m");
assert.strictEqual(code.percent(1, 8), "12.5 %");
assert.strictEqual(code.weight(1500, "us"), "1.50 ms");
console.log("good");
