/*
 * Weight over time as a heat map, one row for each of the busiest threads and one for the
 * rest. Dragging selects a span of time.
 */

const STRIP_ROWS = 8, STRIP_ROW = 13, STRIP_AXIS = 16, STRIP_LABEL = 150;

class Strip {
	constructor(canvas, profile, { changed, dropped, pointed, pick }) {
		this.canvas = canvas;
		this.profile = profile;
		this.changed = changed;
		this.dropped = dropped;
		this.pointed = pointed;
		this.pick = pick;
		this.slices = profile.head.slices;
		this.from = 0;
		this.to = this.slices; /* exclusive */
		this.fill();
		canvas.addEventListener("pointerdown", (event) => this.down(event));
		canvas.addEventListener("pointermove", (event) => this.move(event));
		for (const end of ["pointerup", "pointercancel"])
			canvas.addEventListener(end, () => {
				this.drag = null;
				this.dropped();
			});
		canvas.addEventListener("pointerleave", () => this.pointed(null));
		canvas.addEventListener("dblclick", () => this.select(0, this.slices));
		canvas.addEventListener("keydown", (event) => this.key(event));
	}
	get whole() {
		return this.from === 0 && this.to === this.slices;
	}
	/* Adds the cells up into rows of slices; the busiest threads have a row of their own. */
	fill() {
		const { head, cells } = this.profile, sums = threadSums(this.profile);
		const order = [...sums.keys()].sort((a, b) => sums[b] - sums[a] || a - b);
		const own = order.length > STRIP_ROWS ? STRIP_ROWS - 1 : order.length;
		this.threads = order.slice(0, own);
		this.rows = Array.from({ length: Math.min(order.length, STRIP_ROWS) || 1 },
			() => new Float64Array(this.slices));
		const rowOf = new Uint8Array(head.threads.length).fill(own);
		this.threads.forEach((thread, row) => { rowOf[thread] = row; });
		const steps = this.rows.map(() => new Float64Array(this.slices + 1));
		const waits = STATES.map((_, i) => i && head.sources.some(([, state]) => state === i)
			? this.rows.map(() => new Float64Array(this.slices + 1)) : []);
		eachRun(cells, (slice, source, first, end) => {
			const [thread, state] = head.sources[source], row = rowOf[thread], after = slice + 1;
			const lines = state ? [steps[row], waits[state][row]] : [steps[row]];
			for (let i = first; i < end; i++) {
				const length = this.length(slice, cells.value[i], state), each = cells.value[i] / length;
				for (const step of lines) {
					step[after - length] += each;
					step[after] -= each;
				}
			}
		});
		const added = (step) => {
			let sum = 0;
			return step.map((change) => (sum += change) > 1e-6 ? sum : 0);
		};
		this.rows = steps.map(added);
		this.waits = waits.map((rows) => rows.map(added)); /* by state */
		this.labels = this.rows.map((_, row) => row < own ? head.threads[order[row]].label
			: `${order.length - own} other ${head.threadsAre}s`);
	}
	/* A wait is counted at its end, but drawn over the slices that it took. */
	length(slice, value, wait) {
		const { head } = this.profile;
		if (!wait || head.unit !== "us")
			return 1;
		return Math.min(slice + 1, 1 + Math.floor(value * 1000 / head.slice_ns));
	}
	get height() {
		return this.rows.length * STRIP_ROW + STRIP_AXIS;
	}
	x(slice) {
		return STRIP_LABEL + (this.canvas.clientWidth - STRIP_LABEL - 4) * slice / this.slices;
	}
	slice(x) {
		const slice = (x - STRIP_LABEL) / (this.canvas.clientWidth - STRIP_LABEL - 4) * this.slices;
		return Math.min(this.slices, Math.max(0, slice));
	}
	draw(style) {
		const { canvas } = this, ratio = devicePixelRatio || 1;
		canvas.style.height = this.height + "px";
		const width = canvas.clientWidth;
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(this.height * ratio);
		const pen = canvas.getContext("2d");
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
		pen.font = "11px system-ui, sans-serif";
		pen.textBaseline = "middle";
		this.heat(pen, width, style);
		this.axis(pen, width, style);
		this.losses(pen, style);
		if (!this.whole)
			this.selection(pen, width, style);
	}
	/*
	 * Columns of equally many slices, at least a pixel wide, and wider when there are few
	 * samples; all rows on one scale, which ends at the busiest column.
	 */
	heat(pen, width, style) {
		const room = width - STRIP_LABEL - 4;
		const { cells, head } = this.profile, spread = head.unit === "us" && head.sources.some(([, off]) => off);
		const wanted = spread ? room : Math.max(60, cells.count / this.rows.length / 2);
		const each = Math.max(1, Math.ceil(this.slices / Math.min(room, wanted)));
		const columns = Math.ceil(this.slices / each);
		const added = (row) => {
			const sum = new Float64Array(columns);
			for (let s = 0; s < this.slices; s++)
				sum[Math.floor(s / each)] += row[s];
			return sum;
		};
		const sums = this.rows.map(added), waits = this.waits.map((rows) => rows.map(added));
		const most = sums.reduce((m, sum) => sum.reduce((a, b) => Math.max(a, b), m), 0) || 1;
		const dark = style.dark, wide = room * each / this.slices;
		sums.forEach((sum, row) => {
			pen.fillStyle = style.text;
			pen.fillText(cut(this.labels[row], 24), 6, row * STRIP_ROW + STRIP_ROW / 2);
			for (let c = 0; c < columns; c++) {
				if (!sum[c])
					continue;
				/* In steps: a browser takes long over each colour that it has not seen before. */
				const heat = Math.round(Math.sqrt(sum[c] / most) * 100) / 100, parts = waits.map((rows) => rows[row]?.[c] ?? 0);
				parts[0] = sum[c] - parts.reduce((all, part) => all + part, 0);
				const [hue, saturation] = [[55 - 45 * heat, 90], [200 + 25 * heat, 60], [140, 35]][parts.indexOf(Math.max(...parts))];
				pen.fillStyle = hsl(hue, saturation, dark ? 12 + 48 * heat : 92 - 47 * heat);
				pen.fillRect(STRIP_LABEL + c * wide, row * STRIP_ROW + 1, Math.max(Math.min(wide, room - c * wide), 1), STRIP_ROW - 2);
			}
		});
	}
	axis(pen, width, style) {
		const seconds = this.slices * this.profile.head.slice_ns / 1e9, y = this.rows.length * STRIP_ROW;
		const rough = seconds / Math.max(1, (width - STRIP_LABEL) / 90);
		const power = 10 ** Math.floor(Math.log10(rough || 1));
		const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) || 1;
		pen.fillStyle = style.dim;
		for (let at = 0; at <= seconds; at += step) {
			const x = this.x(at / seconds * this.slices);
			pen.fillRect(x, y, 1, 4);
			if (x < width - 40)
				pen.fillText(shortSeconds(at, step), x + 3, y + 9);
		}
	}
	losses(pen, style) {
		pen.fillStyle = style.bad;
		for (const [from, to] of this.profile.head.losses)
			pen.fillRect(this.x(from), this.rows.length * STRIP_ROW - 3,
				Math.max(2, this.x(to) - this.x(from)), 3);
	}
	selection(pen, width, style) {
		const a = this.x(this.from), b = this.x(this.to);
		pen.fillStyle = style.veil;
		pen.fillRect(STRIP_LABEL, 0, a - STRIP_LABEL, this.height);
		pen.fillRect(b, 0, width - b, this.height);
		pen.strokeStyle = style.accent;
		pen.lineWidth = 2;
		pen.strokeRect(a, 1, Math.max(b - a, 2), this.height - 2);
	}
	/* `repeats`: by a key that is held down. */
	select(from, to, repeats = false) {
		from = Math.max(0, Math.min(Math.round(from), this.slices - 1));
		to = Math.min(this.slices, Math.max(Math.round(to), from + 1));
		if (from === this.from && to === this.to)
			return;
		this.from = from;
		this.to = to;
		this.changed(repeats);
	}
	/* Near an edge: moves it; inside: moves the span; elsewhere: begins a new one. */
	down(event) {
		const x = event.offsetX, at = this.slice(x);
		if (x < STRIP_LABEL)
			return this.pick(this.threads[Math.floor(event.offsetY / STRIP_ROW)]);
		this.canvas.setPointerCapture(event.pointerId);
		if (!this.whole && Math.abs(x - this.x(this.from)) < 5)
			this.drag = { fixed: this.to };
		else if (!this.whole && Math.abs(x - this.x(this.to)) < 5)
			this.drag = { fixed: this.from };
		else if (!this.whole && at > this.from && at < this.to)
			this.drag = { grip: at - this.from, size: this.to - this.from };
		else
			this.drag = { fixed: at };
		this.drag.start = x;
	}
	move(event) {
		const at = this.slice(event.offsetX), drag = this.drag;
		if (!drag)
			return this.pointed(event, Math.min(this.slices - 1, Math.floor(at)),
				Math.floor(event.offsetY / STRIP_ROW));
		if (Math.abs(event.offsetX - drag.start) < 2 && !drag.moved)
			return;
		drag.moved = true;
		if (drag.size) {
			const from = Math.max(0, Math.min(at - drag.grip, this.slices - drag.size));
			this.select(from, from + drag.size);
		} else {
			this.select(Math.min(drag.fixed, at), Math.max(drag.fixed, at));
		}
	}
	/* Arrows move the span, with Shift its end. */
	key(event) {
		const step = (event.key === "ArrowRight") - (event.key === "ArrowLeft");
		const size = this.to - this.from, by = step * Math.max(1, Math.round(this.slices / 100));
		if (!step)
			return;
		if (event.shiftKey)
			this.select(this.from, Math.max(this.from + 1, this.to + by), event.repeat);
		else if (this.whole)
			this.select(step > 0 ? this.slices * 0.9 : 0, step > 0 ? this.slices : this.slices * 0.1, event.repeat);
		else if (this.from + by >= 0 && this.to + by <= this.slices)
			this.select(this.from + by, this.from + by + size, event.repeat);
		event.preventDefault();
	}
}
