/*
 * Draws a tree of calls as boxes in a scrolled canvas: only the rows in sight, and no box
 * that is too narrow to see, so that the number of frames does not matter.
 */

const ROW = 18, NARROW = 0.4, CHAIN = 6, CHAIN_SHARE = 0.97, FONT = "11px ui-monospace, Menlo, Consolas, monospace";

class Flame {
	/* `host` gives colours, texts and what to do; `up`: callers below, callees above. */
	constructor(scroller, host, { up, bare }) {
		this.scroller = scroller;
		this.canvas = scroller.querySelector("canvas");
		this.spacer = scroller.querySelector(".spacer");
		this.host = host;
		this.up = up;
		this.bare = bare; /* without the row of "all" */
		this.folding = true;
		this.open = new Set(); /* first nodes of chains that are not folded */
		this.zoom = 0;
		this.cursor = -1;
		this.boxes = [];
		this.chains = new Map();
		this.below = 0; /* what is scrolled away at the foot of a flame: it stays as it is */
		scroller.addEventListener("scroll", () => this.scrolled());
		scroller.addEventListener("mousemove", (event) => this.host.hover(this, this.at(event), event));
		scroller.addEventListener("mouseleave", () => this.host.hover(this, -1));
		scroller.addEventListener("click", (event) => this.clicked(event));
		scroller.addEventListener("dblclick", () => {
			if (this.clickedOn > 0)
				this.host.chosen(this.tree.fn[this.clickedOn]);
		});
		scroller.addEventListener("contextmenu", (event) => {
			const node = this.at(event);
			if (node <= 0)
				return;
			event.preventDefault();
			this.cursor = node;
			this.draw();
			this.host.menuFor(this, node, event.clientX, event.clientY);
		});
		scroller.addEventListener("keydown", (event) => this.key(event));
		new ResizeObserver(() => this.resized()).observe(scroller);
	}
	/* `total` of the nodes; siblings stand side by side, by weight or as the tree has them. */
	show(tree, total, byWeight) {
		const other = tree !== this.tree;
		this.tree = tree;
		this.total = total;
		this.byWeight = byWeight;
		if (other) {
			this.zoom = 0;
			this.cursor = -1;
			this.open.clear();
		}
		this.arrange(other);
	}
	/* The boxes that can be seen at this width, and their rows. */
	arrange(toRoot) {
		if (!this.tree)
			return;
		const { tree, total } = this;
		while (this.zoom > 0 && !(total[this.zoom] > 0))
			this.zoom = tree.parent[this.zoom];
		const zoom = this.zoom, width = this.scroller.clientWidth;
		this.wide = width;
		this.high = this.scroller.clientHeight;
		const scale = total[zoom] > 0 ? width / total[zoom] : 0;
		this.boxes = [];
		this.rows = [];
		this.chains = new Map(); /* of a folded chain's first hidden node: all that it hides */
		this.shownAs = new Map(); /* which node's box stands for a node */
		this.rowOf = new Map();
		const around = []; /* outermost first; "all" is in no chain */
		for (let n = tree.parent[zoom]; n >= (this.bare ? 1 : 0); n = tree.parent[n])
			around.unshift(n);
		if (this.folding)
			this.fold(around.slice(this.bare ? 0 : 1));
		for (const n of around)
			this.put(n, { x: 0, width, around: true });
		const places = new Map(scale ? [[zoom, 0]] : []); /* of the boxes, and of those to come */
		for (let n = zoom; n < tree.end[zoom];) {
			if (!places.has(n)) {
				n = tree.end[n];
				continue;
			}
			tree.placeChildren(n, total, this.byWeight, NARROW / scale, places);
			if (this.folding && n > 0 && !this.shownAs.has(n))
				this.fold(this.chain(n));
			this.put(n, { x: places.get(n) * scale, width: total[n] * scale, around: false });
			n++;
		}
		this.height = Math.max(this.rows.length * ROW, this.scroller.clientHeight);
		this.spacer.style.height = this.height + "px";
		if (toRoot)
			this.toRoot();
		else if (this.up)
			this.scroller.scrollTop = this.height - this.scroller.clientHeight - this.below;
		this.draw();
	}
	/* A node and those that it leads to, one after the other, with nearly all of its weight. */
	chain(node) {
		const { tree, total } = this, chain = [node], enough = total[node] * CHAIN_SHARE;
		for (let next = node; next >= 0;) {
			const from = next;
			next = -1;
			for (let c = from + 1; c < tree.end[from] && next < 0; c = tree.end[c])
				if (total[c] >= enough)
					next = c;
			if (next >= 0)
				chain.push(next);
		}
		return chain;
	}
	/* Of a long chain there is its first box, one for all between, and its last one. */
	fold(chain) {
		const inside = chain.slice(1, -1), folded = chain.length >= CHAIN && !this.open.has(chain[0]);
		chain.forEach((node, i) => {
			this.shownAs.set(node, folded && i > 1 && i < chain.length - 1 ? inside[0] : node);
		});
		if (folded)
			this.chains.set(inside[0], inside);
	}
	/* A node's box, on that of its caller; what leaves a folded chain on the way stands on the chain. */
	put(node, place) {
		const shown = this.shownAs.get(node) ?? node;
		const row = shown === node ? (this.rowOf.get(this.tree.parent[node]) ?? -1) + 1 : this.rowOf.get(shown);
		this.rowOf.set(node, row);
		this.shownAs.set(node, shown);
		if (shown !== node)
			return;
		const box = { node, row, ...place };
		this.boxes.push(box);
		(this.rows[row] ??= []).push(box);
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
		for (let row = 0; row < this.rows.length; row++) {
			const y = this.top(row) - scrolled;
			if (y > -ROW && y < height)
				for (const box of this.rows[row] ?? [])
					this.box(pen, box, y);
		}
		if (this.rows.length * ROW > height)
			this.more(pen, Math.round(scrolled / ROW), Math.round((this.height - scrolled - height) / ROW));
		if (this.cursor >= 0)
			this.outline(pen, scrolled, host.style("--text")); /* stands out from every box */
	}
	/* That there is more than is in sight. */
	more(pen, above, below) {
		const { scroller, host } = this, note = (text, y) => {
			const width = pen.measureText(text).width + 12, x = scroller.clientWidth - width - 6;
			pen.fillStyle = host.style("--panel");
			pen.fillRect(x, y, width, ROW);
			pen.strokeStyle = host.style("--line");
			pen.lineWidth = 1;
			pen.strokeRect(x + 0.5, y + 0.5, width - 1, ROW - 1);
			pen.fillStyle = host.style("--text");
			pen.fillText(text, x + 6, y + ROW / 2);
		};
		if (above > 0)
			note(`▲ ${counted(above, "more row")}`, 4);
		if (below > 0)
			note(`▼ ${counted(below, "more row")}`, scroller.clientHeight - ROW - 4);
	}
	box(pen, box, y) {
		const { host } = this, { node, x } = box;
		const gap = box.width > 3 ? 1 : 0, width = box.width - gap;
		pen.globalAlpha = box.around ? 0.5 : 1;
		pen.fillStyle = host.colour(this, node);
		pen.fillRect(x, y, Math.max(width, NARROW), ROW - 1);
		pen.globalAlpha = 1;
		const room = Math.floor((width - 6) / this.letter);
		if (room < 3)
			return;
		const name = this.nameOf(node);
		/* What is around the zoom is dimmed towards the page's own colour. */
		pen.fillStyle = box.around ? host.style("--text") : "#16191d";
		pen.fillText(this.chains.has(node) ? cutMiddle(name, room) : cutName(name, room), x + 3, y + ROW / 2);
	}
	nameOf(node) {
		const { tree, host } = this, chain = this.chains.get(node);
		return chain ? `⋯ ${chain.length} calls: ${chain.slice(0, 20).map((n) => host.name(tree.fn[n])).join(" › ")}`
			: host.name(tree.fn[node]);
	}
	outline(pen, scrolled, colour) {
		const box = this.boxes.find((b) => b.node === this.cursor);
		if (!box)
			return;
		pen.strokeStyle = colour;
		pen.lineWidth = 2;
		pen.strokeRect(box.x + 1, this.top(box.row) - scrolled + 1,
			Math.max(box.width - 2, 2), ROW - 3);
	}
	at(event) {
		if (!this.tree)
			return -1;
		const place = this.scroller.getBoundingClientRect();
		const x = event.clientX - place.left, y = event.clientY - place.top + this.scroller.scrollTop;
		const row = Math.floor((this.up ? this.height - y : y) / ROW);
		for (const box of this.rows[row] ?? [])
			if (x >= box.x && x < box.x + box.width)
				return box.node;
		return -1;
	}
	/* Of a double click the first one says which frame: the second may find another one in its place. */
	clicked(event) {
		if (event.detail > 1)
			return;
		const node = this.at(event);
		this.clickedOn = this.chains.has(node) ? -1 : node;
		this.cursor = node;
		this.scroller.focus({ preventScroll: true });
		if (node >= 0)
			this.zoomTo(node);
	}
	/* What a folded chain hides is shown where it is. */
	zoomTo(node) {
		const chain = this.chains.get(node);
		if (chain)
			this.open.add(this.tree.parent[node]);
		else
			this.zoom = node;
		this.arrange(false);
		this.reveal(node);
		this.host.changed();
	}
	reveal(node) {
		const y = this.top(this.rowOf.get(node) ?? 0), view = this.scroller;
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
			this.zoomTo(Math.max(this.bare ? 1 : 0, tree.parent[this.zoom]));
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
			const row = this.rows[from.row].slice().sort((a, b) => a.x - b.x);
			const place = row.indexOf(from);
			if (where === "out")
				to = this.shownAs.get(this.tree.parent[from.node]);
			else if (where === "in")
				to = this.widest(this.rows[from.row + 1], from);
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
	/* The widest box of a row that lies on another one. */
	widest(row, on) {
		let best;
		for (const box of row ?? [])
			if (box.x >= on.x - NARROW && box.x + box.width <= on.x + on.width + NARROW && !(best?.width >= box.width))
				best = box;
		return best?.node;
	}
}
