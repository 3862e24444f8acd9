/*
 * What is counted at each node of the tree: in the selected span of time and threads, of it in each
 * of the states that are no work, and in a comparison before.
 */

/* What each thread has, in all of the recording. */
function threadSums({ head, cells }) {
	const sums = new Float64Array(head.threads.length);
	eachRun(cells, (slice, source, first, end) => {
		const [thread] = head.sources[source];
		for (let i = first; i < end; i++)
			sums[thread] += cells.value[i];
	});
	return sums;
}

class Weights {
	constructor(profile, shape) {
		this.profile = profile;
		this.shape = shape;
		this.running = new Running(profile);
		this.diff = Boolean(profile.head.diff);
		this.states = STATES.map((_, i) => i).filter((i) => profile.head.sources.some(([, state]) => state === i));
		this.waits = this.states.filter((state) => state);
	}
	get tree() {
		return this.shape.tree;
	}
	/* `chosen`: "all", "t3" for the third thread, or "p" and the process. */
	ofThread(chosen, [thread]) {
		const [kind, id] = [chosen[0], chosen.slice(1)];
		return kind === "a" || (kind === "t" ? thread === Number(id) : String(this.profile.head.threads[thread].process) === id);
	}
	/* Adds up the cells of slices `from` up to `to` and of the chosen threads, while as many ran as is chosen. */
	select({ from, to, thread, running, scale }) {
		const { cells, head } = this.profile, { tree } = this, { nodeOf } = this.shape;
		const mask = Uint8Array.from(head.sources, (source) => this.ofThread(thread, source) && this.running.has(running, source));
		const self = new Float64Array(tree.count);
		const waits = this.waits.map(() => new Float64Array(tree.count));
		eachRun(cells, (slice, source, first, end) => {
			if (slice < from || slice >= to || !mask[source])
				return;
			const wait = waits[this.waits.indexOf(head.sources[source][1])];
			for (let i = first; i < end; i++) {
				const node = nodeOf ? nodeOf[cells.node[i]] : cells.node[i];
				if (node < 0)
					continue;
				self[node] += cells.value[i];
				if (wait)
					wait[node] += cells.value[i];
			}
		});
		this.self = self;
		this.total = tree.totals(self);
		this.waitSelf = waits;
		this.waitTotal = waits.map((wait) => tree.totals(wait));
		this.whole = this.total[0];
		this.sums = this.baseSums = null;
		if (this.diff)
			this.selectBase(scale);
	}
	selectBase(scale) {
		const { base } = this.profile, { tree } = this, { nodeOf } = this.shape;
		this.baseSelf = new Float64Array(tree.count);
		for (let i = 0; i < base.count; i++) {
			const node = nodeOf ? nodeOf[base.node[i]] : base.node[i];
			if (node >= 0)
				this.baseSelf[node] += base.value[i];
		}
		this.baseTotal = tree.totals(this.baseSelf);
		const before = this.baseTotal[0], { runs } = this.profile.changes[scale].head;
		/* As it is: one run beside one run. */
		this.baseScale = scale !== "same" ? runs[1] / runs[0] : before ? this.whole / before : 1;
	}
	/* Self and total of each function. */
	functions() {
		return this.sums ??= functionTotals(this.tree, this.profile.functions.count, this.self, this.total);
	}
	/* Those before, as they are. */
	baseFunctions() {
		return this.baseSums ??= functionTotals(this.tree, this.profile.functions.count, this.baseSelf, this.baseTotal);
	}
}
