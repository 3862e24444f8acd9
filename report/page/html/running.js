/*
 * How many threads of its process ran when a sample was taken, where the page knows: in ranges that double (1, 2,
 * 3-4, 5-8, ...), each with the time that so many ran. In that time a phase of one thread is as long as it took,
 * however few samples it has.
 */

class Running {
	constructor({ head, cells }) {
		const times = [];
		this.time = 0;
		eachRun(cells, (slice, source, first, end) => {
			const running = head.sources[source][2];
			if (!running)
				return;
			const i = Math.ceil(Math.log2(running));
			times[i] ??= 0;
			for (let cell = first; cell < end; cell++) {
				const time = head.latency ? cells.value[cell] : cells.value[cell] / running;
				times[i] += time;
				this.time += time;
			}
		});
		this.ranges = [];
		times.forEach((time, i) => this.ranges.push({ low: i ? 2 ** (i - 1) + 1 : 1, high: 2 ** i, time }));
		for (const range of this.ranges)
			range.value = range.low === range.high ? `${range.low}` : `${range.low}-${range.high}`;
	}
	/* Whether there is anything to choose. */
	get any() {
		return this.ranges.some(({ high }) => high > 1);
	}
	text({ value }) {
		return value === "1" ? "1 thread runs" : `${value} threads run`;
	}
	/* Whether samples of a source are chosen: "all", or the value of a range. */
	has(chosen, [, , running]) {
		const range = this.ranges.find(({ value }) => value === chosen);
		return !range || (running >= range.low && running <= range.high);
	}
}
