/*
 * Draws a tree of calls as boxes in a scrolled canvas: only the rows in sight, and no box
 * that is too narrow to see, so that the number of frames does not matter.
 */

const ROW = 18, NARROW = 0.4, FONT = "11px ui-monospace, Menlo, Consolas, monospace";

class Flame {
	/* `host` gives colours, texts and what to do; `up`: callers below, callees above. */
	constructor(scroller, host, up) {
		this.scroller = scroller;
		this.canvas = scroller.querySelector("canvas");
		this.spacer = scroller.querySelector(".spacer");
		this.host = host;
		this.up = up;
		this.zoom = 0;
		this.cursor = -1;
		this.boxes = [];
		this.below = 0; /* what is scrolled away at the foot of a flame: it stays as it is */
		scroller.addEventListener("scroll", () => this.scrolled());
		scroller.addEventListener("mousemove", (event) => this.host.hover(this, this.at(event), event));
		scroller.addEventListener("mouseleave", () => this.host.hover(this, -1));
		scroller.addEventListener("click", (event) => this.clicked(event));
		scroller.addEventListener("dblclick", (event) => {
			const node = this.at(event);
			if (node > 0)
				this.host.chosen(this.tree.fn[node]);
		});
		scroller.addEventListener("keydown", (event) => this.key(event));
		new ResizeObserver(() => this.resized()).observe(scroller);
	}
	/* `totals` of the nodes; `places` is where they begin. */
	show(tree, total, places) {
		const other = tree !== this.tree;
		this.tree = tree;
		this.total = total;
		this.places = places;
		if (other) {
			this.zoom = 0;
			this.cursor = -1;
		}
		this.arrange(other);
	}
	/* The boxes that can be seen at this width, and their rows. */
	arrange(toRoot) {
		if (!this.tree)
			return;
		const { tree, total, places } = this;
		while (this.zoom > 0 && !(total[this.zoom] > 0))
			this.zoom = tree.parent[this.zoom];
		const zoom = this.zoom, width = this.scroller.clientWidth;
		this.wide = width;
		this.high = this.scroller.clientHeight;
		const scale = total[zoom] > 0 ? width / total[zoom] : 0, boxes = [];
		for (let n = tree.parent[zoom]; n >= 0; n = tree.parent[n])
			boxes.push({ node: n, x: 0, width, around: true });
		for (let n = zoom; n < tree.end[zoom];) {
			const size = total[n] * scale;
			if (size < NARROW) {
				n = tree.end[n];
				continue;
			}
			boxes.push({ node: n, x: (places[n] - places[zoom]) * scale, width: size, around: false });
			n++;
		}
		this.boxes = boxes;
		this.rows = [];
		for (const box of boxes)
			(this.rows[tree.depth[box.node]] ??= []).push(box);
		this.height = Math.max(this.rows.length * ROW, this.scroller.clientHeight);
		this.spacer.style.height = this.height + "px";
		if (toRoot)
			this.toRoot();
		else if (this.up)
			this.scroller.scrollTop = this.height - this.scroller.clientHeight - this.below;
		this.draw();
	}
	resized() {
		const { clientWidth, clientHeight } = this.scroller;
		if (clientHeight && (clientWidth !== this.wide || clientHeight !== this.high))
			this.arrange(false);
	}
	toRoot() {
		this.below = 0;
		this.scroller.scrollTop = this.up ? this.height : 0;
	}
	scrolled() {
		if (this.scroller.clientHeight)
			this.below = this.height - this.scroller.clientHeight - this.scroller.scrollTop;
		this.draw();
	}
	top(depth) {
		return this.up ? this.height - (depth + 1) * ROW : depth * ROW;
	}
	draw() {
		if (!this.tree)
			return;
		const { canvas, scroller, tree, host } = this;
		const width = scroller.clientWidth, height = scroller.clientHeight, ratio = devicePixelRatio || 1;
		if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(height * ratio);
			canvas.style.height = height + "px";
		}
		const pen = canvas.getContext("2d"), scrolled = scroller.scrollTop;
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
		pen.clearRect(0, 0, width, height);
		pen.font = FONT;
		pen.textBaseline = "middle";
		this.letter ??= pen.measureText("MMMMMMMMMM").width / 10;
		for (let depth = 0; depth < this.rows.length; depth++) {
			const y = this.top(depth) - scrolled;
			if (y > -ROW && y < height)
				for (const box of this.rows[depth] ?? [])
					this.box(pen, box, y);
		}
		if (this.cursor >= 0)
			this.outline(pen, scrolled, host.style("--text")); /* stands out from every box */
	}
	box(pen, box, y) {
		const { tree, host } = this, { node, x } = box;
		const gap = box.width > 3 ? 1 : 0, width = box.width - gap;
		pen.globalAlpha = box.around ? 0.5 : 1;
		pen.fillStyle = host.colour(this, node);
		pen.fillRect(x, y, Math.max(width, NARROW), ROW - 1);
		pen.globalAlpha = 1;
		const room = Math.floor((width - 6) / this.letter);
		if (room < 3)
			return;
		const name = host.name(tree.fn[node]);
		/* What is around the zoom is dimmed towards the page's own colour. */
		pen.fillStyle = box.around ? host.style("--text") : "#16191d";
		pen.fillText(cutMiddle(name, room), x + 3, y + ROW / 2);
	}
	outline(pen, scrolled, colour) {
		const box = this.boxes.find((b) => b.node === this.cursor);
		if (!box)
			return;
		pen.strokeStyle = colour;
		pen.lineWidth = 2;
		pen.strokeRect(box.x + 1, this.top(this.tree.depth[box.node]) - scrolled + 1,
			Math.max(box.width - 2, 2), ROW - 3);
	}
	at(event) {
		if (!this.tree)
			return -1;
		const place = this.scroller.getBoundingClientRect();
		const x = event.clientX - place.left, y = event.clientY - place.top + this.scroller.scrollTop;
		const depth = Math.floor((this.up ? this.height - y : y) / ROW);
		for (const box of this.rows[depth] ?? [])
			if (x >= box.x && x < box.x + box.width)
				return box.node;
		return -1;
	}
	clicked(event) {
		const node = this.at(event);
		this.cursor = node;
		this.scroller.focus({ preventScroll: true });
		if (node >= 0)
			this.zoomTo(node);
	}
	zoomTo(node) {
		this.zoom = node;
		this.arrange(false);
		this.reveal(node);
		this.host.changed();
	}
	reveal(node) {
		const y = this.top(this.tree.depth[node]), view = this.scroller;
		if (y < view.scrollTop)
			view.scrollTop = y;
		else if (y + ROW > view.scrollTop + view.clientHeight)
			view.scrollTop = y + ROW - view.clientHeight;
	}
	/* Arrow keys walk over the boxes that can be seen. */
	key(event) {
		const { tree } = this;
		const outwards = this.up ? "ArrowDown" : "ArrowUp", inwards = this.up ? "ArrowUp" : "ArrowDown";
		if (!tree || event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (event.key === "Enter" && this.cursor >= 0)
			this.zoomTo(this.cursor);
		else if (event.key === "Backspace")
			this.zoomTo(Math.max(0, tree.parent[this.zoom]));
		else if (event.key === outwards || event.key === inwards ||
			 event.key === "ArrowLeft" || event.key === "ArrowRight")
			this.walk(event.key === outwards ? "out" : event.key === inwards ? "in" : event.key);
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}
	walk(where) {
		const from = this.boxes.find((box) => box.node === this.cursor);
		let to = this.zoom;
		if (from) {
			const depth = this.tree.depth[from.node];
			const row = (this.rows[depth] ?? []).slice().sort((a, b) => a.x - b.x);
			const place = row.indexOf(from);
			if (where === "out")
				to = this.tree.parent[from.node];
			else if (where === "in")
				to = this.widest(this.rows[depth + 1], from.node);
			else
				to = row[place + (where === "ArrowRight" ? 1 : -1)]?.node;
			if (to === undefined || to < 0)
				return;
		}
		this.cursor = to;
		this.reveal(to);
		this.draw();
		this.host.pointed(this, to);
	}
	widest(row, parent) {
		let best;
		for (const box of row ?? [])
			if (this.tree.parent[box.node] === parent && !(best?.width >= box.width))
				best = box;
		return best?.node;
	}
}
