/* The profile in the page: base64 of a zlib stream of what report/views/html.c writes. */

function bytesFromBase64(text) {
	const raw = atob(text.trim());
	const bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return bytes;
}

/* A canonical Huffman code: counts per length, and symbols in the order of their codes. */
function huffman(lengths) {
	const counts = new Uint16Array(16), offsets = new Uint16Array(16);
	const symbols = new Uint16Array(lengths.length);
	for (const length of lengths)
		counts[length]++;
	counts[0] = 0;
	for (let i = 1; i < 16; i++)
		offsets[i] = offsets[i - 1] + counts[i - 1];
	lengths.forEach((length, symbol) => { if (length) symbols[offsets[length]++] = symbol; });
	return { counts, symbols };
}

/* Inflates a zlib stream of known size, for browsers that cannot do it themselves. */
function inflate(input, size) {
	const out = new Uint8Array(size);
	let at = 2, held = 0, bits = 0, end = 0;

	function take(n) {
		while (bits < n) {
			held |= input[at++] << bits;
			bits += 8;
		}
		const value = held & ((1 << n) - 1);
		held >>>= n;
		bits -= n;
		return value;
	}
	function decode({ counts, symbols }) {
		let code = 0, first = 0, index = 0;
		for (let length = 1; length < 16; length++) {
			code |= take(1);
			if (code - first < counts[length])
				return symbols[index + code - first];
			index += counts[length];
			first = (first + counts[length]) << 1;
			code <<= 1;
		}
		throw new Error("damaged data");
	}
	function fixed() {
		const lengths = new Array(288).fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280);
		return [huffman(lengths), huffman(new Array(30).fill(5))];
	}
	function dynamic() {
		const literals = take(5) + 257, distances = take(5) + 1, codes = take(4) + 4;
		const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
		const lengths = new Array(19).fill(0), all = [];
		for (let i = 0; i < codes; i++)
			lengths[order[i]] = take(3);
		const code = huffman(lengths);
		while (all.length < literals + distances) {
			const symbol = decode(code);
			if (symbol < 16)
				all.push(symbol);
			else if (symbol === 16)
				for (let n = 3 + take(2), last = all[all.length - 1]; n; n--) all.push(last);
			else
				for (let n = symbol === 17 ? 3 + take(3) : 11 + take(7); n; n--) all.push(0);
		}
		return [huffman(all.slice(0, literals)), huffman(all.slice(literals))];
	}
	function distanceOf(symbol) {
		if (symbol < 4)
			return symbol + 1;
		const extra = (symbol >> 1) - 1;
		return ((2 + (symbol & 1)) << extra) + 1 + take(extra);
	}
	function lengthOf(symbol) {
		if (symbol < 265)
			return symbol - 254;
		if (symbol === 285)
			return 258;
		const extra = (symbol - 261) >> 2;
		return ((4 + ((symbol - 261) & 3)) << extra) + 3 + take(extra);
	}
	for (let last = 0; !last;) {
		last = take(1);
		const type = take(2);
		if (type === 0) {
			held = bits = 0;
			const n = input[at] | input[at + 1] << 8;
			out.set(input.subarray(at + 4, at + 4 + n), end);
			at += 4 + n;
			end += n;
			continue;
		}
		const [literal, distance] = type === 1 ? fixed() : dynamic();
		for (;;) {
			const symbol = decode(literal);
			if (symbol === 256)
				break;
			if (symbol < 256) {
				out[end++] = symbol;
				continue;
			}
			let n = lengthOf(symbol), from = end - distanceOf(decode(distance));
			while (n--)
				out[end++] = out[from++];
		}
	}
	return out;
}

async function inflated(bytes, size, own) {
	if (own || typeof DecompressionStream !== "function")
		return inflate(bytes, size);
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
	return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, "\ufffd");
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

function readProfile(bytes) {
	const reader = new Reader(bytes);
	const head = JSON.parse(new TextDecoder().decode(reader.bytes(reader.number())));
	head.threads = head.threads.map(([pid, tid, comm, trace]) => ({ pid, tid, comm: plain(comm),
		process: `${trace}.${pid}`, label: `${plain(comm)} ${pid === tid ? pid : `${pid}/${tid}`}` }));
	const texts = new Texts(reader);
	const n = reader.number();
	const functions = {
		count: n,
		name: reader.column(n, Uint32Array), object: reader.column(n, Uint32Array),
		file: reader.column(n, Uint32Array), line: reader.column(n, Uint32Array),
		kind: reader.column(n, Uint8Array),
	};
	const tree = readTree(reader);
	const m = reader.number();
	const cells = {
		count: m,
		slice: reader.column(m, Uint32Array), source: reader.column(m, Uint32Array),
		node: reader.column(m, Uint32Array), value: reader.column(m, Float64Array),
	};
	for (let i = 1; i < m; i++)
		cells.slice[i] += cells.slice[i - 1];
	const b = reader.number();
	const base = { count: b, node: reader.column(b, Uint32Array), value: reader.column(b, Float64Array) };
	return { head, texts, functions, tree, cells, base,
		name: (f) => f < 0 ? "all" : texts.get(functions.name[f]) };
}
