/* The page's address: what is shown can be linked to, and the browser's Back goes one step back. */

/* What a step changes; the rest of what is shown only changes along with it. */
const STEPS = ["view", "zoom", "function", "by", "thread", "running", "from", "to", "scale", "focus", "hide", "once"];

class Address {
	constructor(app) {
		this.app = app;
		this.steps = null;
		this.repeats = false; /* what is saved next is of a key that is held down, whose first press made a step */
	}
	stepsOf(state) {
		/* A search is one step, whatever is typed. */
		return [...STEPS.map((key) => state.get(key)), state.has("search")].join("&");
	}
	/* What one key or click changes is one step, however often it paints. */
	save() {
		this.timer ??= setTimeout(() => {
			this.timer = undefined;
			/* A span of time that is dragged is one step, at its end. */
			if (!this.app.strip.drag)
				this.write(this.state());
		}, 0);
	}
	write(state) {
		const steps = this.stepsOf(state), step = this.steps !== null && this.steps !== steps && !this.repeats;
		this.repeats = false;
		try {
			history[step ? "pushState" : "replaceState"](null, "", "#" + state);
			this.steps = steps;
		} catch {
			/* A page that may not change its address works all the same. */
		}
	}
	state() {
		const state = new URLSearchParams(), { app } = this, { strip, on, shape } = app, put = (key, value, usual) => {
			if (value !== usual)
				state.set(key, value);
		};
		put("view", app.view, "flame");
		put("search", on.search.value, "");
		put("thread", app.thread, "all");
		put("running", app.running, "all");
		put("from", strip.from, 0);
		put("to", strip.to, strip.slices);
		put("zoom", app.zoomNext ?? app.flame.zoom, 0);
		put("colour", app.colours.scheme, app.colours.usual);
		put("order", app.order, "name");
		put("width", app.width, "now");
		put("scale", app.scale, app.usualScale);
		put("focus", shape.focus, -1);
		put("hide", [...shape.hidden].join("."), "");
		put("once", shape.once, false);
		if (app.view === "sandwich" || app.view === "code")
			put("function", app.fn, -1);
		if (app.view === "changes")
			put("by", app.changes.by, "function");
		return state;
	}
	/* Shows what the address says; what is wrong in it is left out. */
	restore() {
		const state = new URLSearchParams(location.hash.slice(1)), { app } = this, { strip, on, shape } = app;
		const number = (key, low, high, usual) => {
			const value = Number(state.get(key) ?? usual);
			return Number.isInteger(value) && value >= low && value <= high ? value : usual;
		};
		const among = (select, key, usual) => {
			const known = [...select.options].some((option) => option.value === state.get(key));
			return select.value = known ? state.get(key) : usual;
		};
		if (state.has("thread"))
			app.controls.addThreads();
		const functions = app.profile.functions.count, view = state.get("view");
		app.view = app.has(view) ? view : "flame";
		app.changes.by = Object.keys(CHANGES_BY).includes(state.get("by")) ? state.get("by") : "function";
		on.search.value = state.get("search") ?? "";
		app.thread = among(on.thread, "thread", "all");
		app.running = among(on.running, "running", "all");
		app.order = among(on.order, "order", "name");
		app.width = among(on.width, "width", "now");
		app.scale = among(on.scale, "scale", app.usualScale);
		app.colours.use(among(on.colour, "colour", app.colours.usual));
		strip.from = number("from", 0, strip.slices - 1, 0);
		strip.to = number("to", strip.from + 1, strip.slices, strip.slices);
		app.fn = number("function", 0, functions - 1, app.fn);
		shape.focus = number("focus", 0, functions - 1, -1);
		shape.hidden = new Set((state.get("hide") ?? "").split(".").filter(Boolean).map(Number)
			.filter((fn) => Number.isInteger(fn) && fn >= 0 && fn < functions));
		shape.once = state.get("once") === "true";
		shape.build();
		app.zoomNext = number("zoom", 0, app.tree.count - 1, 0);
		this.steps = this.stepsOf(state);
		app.recount();
	}
	goBack() {
		const { app } = this;
		this.restore();
		app.tip.hide();
		app.menu.hide();
		app.paint();
		app.focus();
	}
}
