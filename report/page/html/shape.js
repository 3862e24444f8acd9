/*
 * The tree as people shape it, as the options of prof-report do: only stacks with a function
 * (--focus), without some functions (--hide), calls of a function by itself as one call
 * (--collapse-recursion).
 */

class Shape {
	constructor(profile) {
		this.profile = profile;
		this.clear();
	}
	clear() {
		this.focus = -1;
		this.hidden = new Set();
		this.once = false;
		this.build();
	}
	/* To be called after a change. nodeOf has the node of each of the profile's nodes, -1 for none; null: the same. */
	build() {
		const { tree, functions } = this.profile;
		this.tree = tree;
		this.nodeOf = null;
		if (this.focus < 0 && !this.hidden.size && !this.once)
			return;
		const { counts, wanted } = this.focused(), builder = new TreeBuilder(functions.count, 0);
		const nodeOf = new Int32Array(tree.count);
		for (let n = 1; n < tree.count; n++) {
			const parent = nodeOf[tree.parent[n]], fn = tree.fn[n];
			if (!wanted[n] || this.hidden.has(fn) || (this.once && builder.fn[parent] === fn))
				nodeOf[n] = parent;
			else
				nodeOf[n] = builder.child(parent, fn);
		}
		const { tree: made, place } = builder.finish();
		this.tree = made;
		this.nodeOf = nodeOf.map((node, n) => counts[n] ? place[node] : -1);
	}
	/* Nodes whose own samples count, and those that lead to one. */
	focused() {
		const { tree } = this.profile, counts = new Uint8Array(tree.count).fill(this.focus < 0 ? 1 : 0);
		for (let n = 1; n < tree.count; n++)
			if (this.focus >= 0 && (counts[tree.parent[n]] || tree.fn[n] === this.focus))
				counts[n] = 1;
		const wanted = counts.slice();
		for (let n = tree.count - 1; n > 0; n--)
			if (wanted[n])
				wanted[tree.parent[n]] = 1;
		return { counts, wanted };
	}
	/* What is to be said about it, each with what takes it back. */
	parts() {
		const { profile } = this, list = [];
		if (this.focus >= 0)
			list.push([`only with ${profile.name(this.focus)}`, () => { this.focus = -1; }]);
		for (const fn of this.hidden)
			list.push([`without ${profile.name(fn)}`, () => { this.hidden.delete(fn); }]);
		if (this.once)
			list.push(["recursion once", () => { this.once = false; }]);
		return list;
	}
}
