/* The profile in the page: base64 of a zlib stream of what report/page/html.c writes. */

function bytesFromBase64(text) {
	/* Browsers of 2025 and later do it themselves, and six times as fast. */
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const raw = atob(text.trim());
	const bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return bytes;
}

async function inflated(bytes) {
	if (typeof DecompressionStream !== "function")
		throw new Error("it needs a browser of 2023 or later");
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Reader {
	constructor(bytes) {
		this.data = bytes;
		this.at = 0;
	}
	number() {
		const data = this.data;
		let byte = data[this.at++];
		if (byte < 128)
			return byte;
		let value = byte & 127, scale = 128;
		do {
			byte = data[this.at++];
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte >= 128);
		return value;
	}
	bytes(n) {
		this.at += n;
		return this.data.subarray(this.at - n, this.at);
	}
	json() {
		return JSON.parse(new TextDecoder().decode(this.bytes(this.number())));
	}
	/* Of four bytes each, the lowest first, as all browsers' machines have them. */
	floats(n) {
		return new Float32Array(this.bytes(4 * n).slice().buffer);
	}
	/* As number(), many times: most of the time until the first picture goes by here. */
	column(n, type) {
		const values = new type(n), data = this.data;
		let at = this.at;
		for (let i = 0; i < n; i++) {
			let byte = data[at++];
			if (byte < 128) {
				values[i] = byte;
				continue;
			}
			let value = byte & 127, scale = 128;
			do {
				byte = data[at++];
				value += (byte & 127) * scale;
				scale *= 128;
			} while (byte >= 128);
			values[i] = value;
		}
		this.at = at;
		return values;
	}
}

/* Without what is invisible or could turn the direction of writing around. */
function plain(text) {
	return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, "\ufffd");
}

/* The same for text of several lines. */
function plainLines(text) {
	return text.split("\n").map((line) => line.split("\t").map(plain).join("\t")).join("\n");
}

/* Texts are decoded when they are first shown: most never are. */
class Texts {
	constructor(reader) {
		const n = reader.number(), lengths = reader.column(n, Uint32Array);
		this.start = new Uint32Array(n + 1);
		for (let i = 0; i < n; i++)
			this.start[i + 1] = this.start[i] + lengths[i];
		this.data = reader.bytes(this.start[n]);
		this.known = new Array(n);
		this.decoder = new TextDecoder();
	}
	get(i) {
		return this.known[i] ??= plain(this.decoder.decode(this.data.subarray(this.start[i], this.start[i + 1])));
	}
}

/* The stacks' tree comes in preorder: how many levels up, then which function. */
function readTree(reader) {
	const count = reader.number() + 1;
	const tree = new Tree(count);
	let node = 0;
	for (let i = 1; i < count; i++) {
		for (let up = reader.number(); up; up--) {
			tree.end[node] = i;
			node = tree.parent[node];
		}
		tree.parent[i] = node;
		tree.depth[i] = tree.depth[node] + 1;
		tree.fn[i] = reader.number();
		node = i;
	}
	for (; node >= 0; node = tree.parent[node])
		tree.end[node] = count;
	return tree;
}

/* Cells come in runs of one source in one slice, and within one in the order of their nodes. */
function readCells(reader) {
	const runs = reader.number(), slice = reader.column(runs, Uint32Array);
	const source = reader.column(runs, Uint32Array), end = reader.column(runs, Uint32Array);
	const count = reader.number(), node = reader.column(count, Uint32Array);
	for (let run = 0, cell = 0; run < runs; run++) {
		const first = cell;
		slice[run] += run && slice[run - 1];
		cell = end[run] += first;
		for (let i = first + 1; i < cell; i++)
			node[i] += node[i - 1];
	}
	return { count, node, value: reader.column(count, Float64Array), runs, slice, source, end };
}

/* Calls visit(slice, source, first, end) for each run, with its first cell and that of the next run. */
function eachRun({ runs, slice, source, end }, visit) {
	for (let run = 0, first = 0; run < runs; first = end[run++])
		visit(slice[run], source[run], first, end[run]);
}

/* A comparison by function and by call, as report/page/html_changes.h and html_calls.h describe it. */
function readChanges(reader, functions) {
	const head = reader.json(), n = reader.number();
	const side = (count = n) => Object.fromEntries(["before", "now", "low", "high", "p"].map((key) => [key, reader.floats(count)]));
	const list = { head, count: n,
		name: reader.column(n, Uint32Array), object: reader.column(n, Uint32Array), other: reader.column(n, Uint32Array),
		flags: reader.column(n, Uint8Array), self: side(), total: side(),
		rowOf: reader.column(functions, Uint32Array) };
	const calls = reader.number(), node = reader.column(calls, Uint32Array), flags = reader.column(calls, Uint8Array);
	for (let i = 1; i < calls; i++)
		node[i] += node[i - 1];
	return { ...list, call: { count: calls, node, flags, ...side(calls) } };
}

function readProfile(bytes) {
	const reader = new Reader(bytes);
	const head = reader.json();
	/* Where there are many traces, all threads of a command are one, without numbers. */
	head.threadsAre = head.threads.length && head.threads[0][0] === null ? "command" : "thread";
	head.threads = head.threads.map(([pid, tid, comm, trace], i) => pid === null
		? { pid, tid, comm: plain(comm), process: `${i}`, label: plain(comm) }
		: { pid, tid, comm: plain(comm), process: `${trace}.${pid}`, label: `${plain(comm)} ${pid === tid ? pid : `${pid}/${tid}`}` });
	const texts = new Texts(reader);
	const n = reader.number();
	const functions = {
		count: n,
		name: reader.column(n, Uint32Array), object: reader.column(n, Uint32Array),
		file: reader.column(n, Uint32Array), line: reader.column(n, Uint32Array),
		kind: reader.column(n, Uint8Array),
	};
	const tree = readTree(reader);
	const cells = readCells(reader);
	const b = reader.number();
	const base = { count: b, node: reader.column(b, Uint32Array), value: reader.column(b, Float64Array) };
	const changes = head.diff ? { "as-is": readChanges(reader, n), "same": readChanges(reader, n) } : null;
	const listings = Array.from({ length: reader.number() }, () =>
		({ name: reader.number(), object: reader.number(), bytes: reader.bytes(reader.number()) }));
	return { head, texts, functions, tree, cells, base, changes, listings,
		name: (f) => f < 0 ? "all" : texts.get(functions.name[f]),
		kind: (f) => head.kinds[functions.kind[f]] };
}
