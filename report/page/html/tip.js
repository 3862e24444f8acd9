/* What is said about a frame or a slice of time: at the pointer, or for the keyboard where the frame is not. */

const CHAIN_NAMES = 20;

class Tip {
	constructor(place, app) {
		this.place = place;
		this.app = app;
	}
	hide() {
		this.place.hidden = true;
	}
	/* Shows the lines beside the pointer, on the side where there is room. */
	show(lines, event) {
		const { place } = this;
		place.hidden = false;
		place.replaceChildren(...lines);
		const size = place.getBoundingClientRect();
		const right = event.clientX + 14 + size.width > innerWidth, low = event.clientY + 18 + size.height > innerHeight;
		place.style.left = Math.max(2, right ? event.clientX - 10 - size.width : event.clientX + 14) + "px";
		place.style.top = Math.max(2, low ? event.clientY - 12 - size.height : event.clientY + 18) + "px";
	}
	/* The frame under the pointer. */
	hover(flame, node, event) {
		if (node < 0)
			return this.hide();
		this.show(this.describe(flame, node), event);
	}
	/* The frame that the keyboard has gone to. */
	pointed(flame, node) {
		const { place } = this;
		place.hidden = node < 0;
		if (node < 0)
			return;
		place.replaceChildren(...this.describe(flame, node));
		const { top, height, left } = flame.scroller.getBoundingClientRect(), own = place.getBoundingClientRect().height;
		const low = flame.top(flame.rowOf.get(node) ?? 0) - flame.scroller.scrollTop > height / 2;
		place.style.left = `${left + 12}px`;
		place.style.top = `${Math.max(2, low ? top + 8 : top + height - own - 8)}px`;
	}
	describe(flame, node) {
		const { profile } = this.app, { head, functions, texts } = profile, { tree } = flame, fn = tree.fn[node];
		const { whole } = this.app.weights, total = this.app.nowOf(flame, node);
		let self = total;
		for (let c = node + 1; c < tree.end[node]; c = tree.end[c])
			self -= this.app.nowOf(flame, c);
		const chain = flame.chains.get(node);
		const lines = [element("b", chain ? `${chain.length} calls, one after the other` : cut(profile.name(fn), 1000))];
		const say = (text) => lines.push(element("span", text));
		if (chain) {
			for (const n of chain.slice(0, CHAIN_NAMES))
				say(cut(profile.name(tree.fn[n]), 100));
			say(chain.length > CHAIN_NAMES ? `and ${chain.length - CHAIN_NAMES} more; a click shows them` : "a click shows them");
		} else if (fn >= 0) {
			const object = texts.get(functions.object[fn]), file = texts.get(functions.file[fn]);
			say([profile.kind(fn), cut(object, 200)].filter(Boolean).join(" · "));
			if (file)
				say(cut(file, 300) + (functions.line[fn] ? `:${functions.line[fn]}` : ""));
		}
		say(`total ${withTime(total, head)}, ${percent(total, whole)}` + (flame.zoom > 0
			? `, ${percent(total, this.app.nowOf(flame, flame.zoom))} of the zoom` : ""));
		const states = this.app.weights.waits.length ? this.app.statesOf(flame, node).filter(([, part]) => part > 0) : [];
		if (states.length)
			say(states.map(([state, part]) => `${STATES[state].name} ${weight(part, head.unit)}`).join(", "));
		/* A box of callers has itself what begins there, not what was counted in it. */
		if (!chain && flame !== this.app.callers)
			say(`self ${withTime(self, head)}, ${percent(self, whole)}`);
		if (this.app.weights.diff) {
			const base = this.app.baseOf(flame, node);
			say(`before ${withTime(base, head)}, ${base ? (total - base > 0 ? "+" : "") +
				((total - base) / base * 100).toFixed(1) + " %" : "new"}`);
		}
		return lines;
	}
	/* A slice of time in one line of the strip. */
	overStrip(strip, event, slice, line) {
		const { head } = this.app.profile;
		if (!event || event.offsetX < STRIP_LABEL || line >= strip.rows.length)
			return this.hide();
		this.show([element("b", cut(strip.labels[line], 100)),
			element("span", `${(slice * head.slice_ns / 1e9).toFixed(3)} s: ${weight(strip.rows[line][slice], head.unit)}`)], event);
	}
}
