/*
 * A tree of calls in preorder: the children of node n are n + 1, end[n + 1], ... up to end[n].
 * Node 0 is "all", with function -1. Weights are kept beside it, one array per meaning.
 */

class Tree {
	constructor(count) {
		this.count = count;
		this.fn = new Int32Array(count).fill(-1);
		this.parent = new Int32Array(count).fill(-1);
		this.depth = new Uint16Array(count);
		this.end = new Uint32Array(count);
	}
	/* Inclusive weights from the weights of the stacks that end at each node. */
	totals(self) {
		const total = self.slice();
		for (let n = this.count - 1; n > 0; n--)
			total[this.parent[n]] += total[n];
		return total;
	}
	/*
	 * Where the boxes of a node's children begin, of those that have `least`, in units of weight: side by
	 * side from where its own does.
	 */
	placeChildren(node, total, byWeight, least, places) {
		const children = [];
		for (let c = node + 1; c < this.end[node]; c = this.end[c])
			children.push(c);
		if (byWeight)
			children.sort((a, b) => total[b] - total[a] || a - b);
		let at = places.get(node);
		for (const c of children) {
			if (total[c] >= least)
				places.set(c, at);
			at += total[c];
		}
	}
	/* Calls visit(node) for the outermost nodes that `chosen` says yes to. */
	outermost(chosen, visit) {
		for (let n = 1; n < this.count;) {
			if (chosen(this.fn[n])) {
				visit(n);
				n = this.end[n];
			} else {
				n++;
			}
		}
	}
}

/* Self and total of each function; recursion counts once. */
function functionTotals(tree, count, self, total) {
	const own = new Float64Array(count), all = new Float64Array(count), open = new Uint32Array(count);
	const path = [];
	for (let n = 1; n < tree.count; n++) {
		while (path.length && n >= tree.end[path[path.length - 1]])
			open[tree.fn[path.pop()]]--;
		const f = tree.fn[n];
		own[f] += self[n];
		if (!open[f]++)
			all[f] += total[n];
		path.push(n);
	}
	return { self: own, total: all };
}

/*
 * Grows a tree by path, to be put into preorder at the end, children by function number: `place` says
 * where each node is then.
 */
class TreeBuilder {
	constructor(functions, weights) {
		this.scale = functions + 1;
		this.fn = [-1];
		this.parent = [-1];
		this.self = Array.from({ length: weights }, () => [0]);
		this.index = new Map();
	}
	child(parent, fn) {
		const key = parent * this.scale + fn;
		let node = this.index.get(key);
		if (node === undefined) {
			node = this.fn.push(fn) - 1;
			this.parent.push(parent);
			for (const self of this.self)
				self.push(0);
			this.index.set(key, node);
		}
		return node;
	}
	finish() {
		const count = this.fn.length, tree = new Tree(count);
		const children = Array.from({ length: count }, () => []);
		const self = this.self.map(() => new Float64Array(count));
		for (let n = 1; n < count; n++)
			children[this.parent[n]].push(n);
		const todo = [[0, -1]], place = new Int32Array(count);
		let next = 0;
		while (todo.length) {
			const [node, parent] = todo.pop(), n = next++;
			place[node] = n;
			tree.fn[n] = this.fn[node];
			tree.parent[n] = parent;
			tree.depth[n] = parent < 0 ? 0 : tree.depth[parent] + 1;
			self.forEach((values, i) => { values[n] = this.self[i][node]; });
			children[node].sort((a, b) => this.fn[b] - this.fn[a]);
			for (const c of children[node])
				todo.push([c, n]);
		}
		for (let n = count - 1; n >= 0; n--) {
			tree.end[n] = Math.max(tree.end[n], n + 1);
			if (n)
				tree.end[tree.parent[n]] = Math.max(tree.end[tree.parent[n]], tree.end[n]);
		}
		return { tree, self, place };
	}
}

/* What one function calls. `selves` are weights per node of `tree`, one array per meaning. */
function calleesOf(tree, fn, selves, functions) {
	const builder = new TreeBuilder(functions, selves.length);
	const root = builder.child(0, fn), merged = new Int32Array(tree.count);
	tree.outermost((f) => f === fn, (top) => {
		merged[top] = root;
		for (let n = top; n < tree.end[top]; n++) {
			if (n !== top)
				merged[n] = builder.child(merged[tree.parent[n]], tree.fn[n]);
			selves.forEach((self, i) => { builder.self[i][merged[n]] += self[n]; });
		}
	});
	return builder.finish();
}

/* Who calls it: the same paths, turned around. */
function callersOf(tree, fn, totals, functions) {
	const builder = new TreeBuilder(functions, totals.length);
	const root = builder.child(0, fn);
	tree.outermost((f) => f === fn, (top) => {
		let at = root;
		for (let n = tree.parent[top]; n > 0; n = tree.parent[n])
			at = builder.child(at, tree.fn[n]);
		totals.forEach((total, i) => { builder.self[i][at] += total[top]; });
	});
	return builder.finish();
}
