/* What colour a box has: by kind of code, by object, by function, or by difference. */

/* By the names that report/page/html.c gives to the kinds of frames. */
const KINDS = {
	"user": { hue: 43, saturation: 85, light: 66 },
	"kernel": { hue: 14, saturation: 78, light: 62 },
	"JIT": { hue: 95, saturation: 45, light: 60 },
	"stack not complete": { hue: 0, saturation: 0, light: 62 },
	"separator": { hue: 0, saturation: 0, light: 78 },
	"thread, process or group": { hue: 215, saturation: 14, light: 78 },
	"script": { hue: 58, saturation: 70, light: 58 },
	"inlined": { hue: 174, saturation: 48, light: 64 },
	"waker": { hue: 285, saturation: 38, light: 72 },
};
/* And of those that mostly wait: for something, or for a CPU. */
const OFF_CPU = {
	"user": { hue: 212, saturation: 70, light: 70 },
	"kernel": { hue: 246, saturation: 58, light: 76 },
	"JIT": { hue: 196, saturation: 55, light: 70 },
	"script": { hue: 180, saturation: 45, light: 62 },
	"inlined": { hue: 224, saturation: 62, light: 80 },
};
const PREEMPTED = {
	"user": { hue: 132, saturation: 30, light: 68 },
	"kernel": { hue: 146, saturation: 34, light: 56 },
	"JIT": { hue: 108, saturation: 28, light: 66 },
	"script": { hue: 120, saturation: 32, light: 58 },
	"inlined": { hue: 138, saturation: 32, light: 78 },
};

/* What a thread does, by the numbers of enum state in report/page/html.c. */
const STATES = [
	{ name: "on CPU", kinds: KINDS }, { name: "off CPU", kinds: OFF_CPU }, { name: "preempted", kinds: PREEMPTED },
];

/* Pairs of hues for "more" and "less", and what they are called. */
const DIFFERENCES = {
	"red-blue": { name: "red, blue", more: [4, 80], less: [215, 80] },
	"orange-purple": { name: "orange, purple", more: [30, 95], less: [268, 55] },
};

function hash(text) {
	let value = 2166136261;
	for (let i = 0; i < text.length; i++)
		value = Math.imul(value ^ text.charCodeAt(i), 16777619);
	return (value ^ value >>> 15) >>> 0;
}

function hsl(hue, saturation, light) {
	return `hsl(${hue} ${saturation}% ${light}%)`;
}

class Colours {
	constructor(profile) {
		this.profile = profile;
		this.dark = false;
		this.differences = profile.head.diff?.safe ? "orange-purple" : "red-blue";
		this.usual = profile.head.diff ? this.differences : "kind";
		this.use(this.usual);
	}
	use(scheme) {
		this.scheme = scheme;
		this.known = new Map();
	}
	/* Light colours under dark text, a little less light on a dark page. */
	shade(hue, saturation, light, turn) {
		return hsl(hue, saturation, light + turn - (this.dark ? 10 : 0));
	}
	of(fn, state) {
		const key = STATES.length * fn + state;
		let colour = this.known.get(key);
		if (colour === undefined) {
			colour = this.made(fn, state);
			this.known.set(key, colour);
		}
		return colour;
	}
	made(fn, state) {
		if (fn < 0)
			return this.shade(215, 10, 82, 0);
		const { functions, texts } = this.profile;
		const name = this.profile.kind(fn), turn = hash(texts.get(functions.name[fn])) % 9 - 4;
		if (this.scheme === "object")
			return this.ofObject(functions.object[fn]);
		if (this.scheme === "name") {
			const h = hash(texts.get(functions.name[fn]));
			return this.shade(h % 60, 75, 58 + (h >> 8) % 14, 0);
		}
		const kind = STATES[state].kinds[name] ?? KINDS[name];
		return this.shade(kind.hue, kind.saturation, kind.light, turn);
	}
	ofObject(object) {
		const h = hash(this.profile.texts.get(object));
		return this.shade(h % 360, 40 + (h >> 9) % 30, 68, 0);
	}
	/* change: -1 vanished, 0 the same, 1 new. */
	difference(change) {
		const { more, less } = DIFFERENCES[this.scheme];
		const [hue, saturation] = change >= 0 ? more : less, size = Math.min(1, Math.abs(change));
		if (size < 0.01)
			return this.dark ? "hsl(0 0% 62%)" : "hsl(0 0% 90%)";
		return hsl(hue, Math.round(saturation * (0.35 + 0.65 * size)),
			Math.round((this.dark ? 76 : 90) - (this.dark ? 14 : 28) * size));
	}
	/* Of a number that surely changed: dark enough, or light enough, to be read. */
	textOfChange(change) {
		const { more, less } = DIFFERENCES[this.scheme] ?? DIFFERENCES[this.differences];
		return hsl((change > 0 ? more : less)[0], 75, this.dark ? 72 : 36);
	}
}
