/*
 * Lists of rows for the keyboard: arrows, Page Up and Down, Home and End walk over the rows, Enter does
 * what a click does. The row that they have gone to has the class "at"; its whole name goes to the foot.
 */

const LIST_PAGE = 15;

class Lists {
	constructor(hosts, app) {
		this.app = app;
		for (const host of hosts)
			host.addEventListener("keydown", (event) => this.key(host, event));
	}
	rows(host) {
		return [...host.querySelectorAll("tbody tr:not(.more)")];
	}
	/* The row that the keyboard has gone to, in the list that has the focus. */
	at() {
		const list = document.activeElement;
		return list?.matches(".walked") ? list.querySelector("tbody tr.at") : null;
	}
	key(host, event) {
		const { key } = event, rows = this.rows(host), from = rows.findIndex((line) => line.matches(".at"));
		const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: LIST_PAGE, PageUp: -LIST_PAGE, Home: -rows.length, End: rows.length };
		const list = event.target.closest(".walked");
		if (event.ctrlKey || event.altKey || event.metaKey || !list)
			return;
		if (key === "Enter" && from >= 0 && event.target === list) {
			rows[from].click();
		} else if (key in steps && rows.length) {
			/* Also from a heading, which is in the list. */
			list.focus({ focusVisible: false });
			this.go(rows, from, steps[key]);
		} else {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
	}
	/* From the chosen row, or else before the first one. */
	go(rows, from, step) {
		const begin = from >= 0 ? from : rows.findIndex((line) => line.matches(".chosen"));
		const to = rows[Math.max(0, Math.min(begin + step, rows.length - 1))];
		rows[from]?.classList.remove("at");
		to.classList.add("at");
		to.scrollIntoView({ block: "nearest" });
		this.app.on.status.textContent = to.title.split("\n").join(" · ");
	}
}
