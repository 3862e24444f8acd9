/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/events/probe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const struct probe_form probe_forms[] = {
	{ "uprobe:", "FILE:SYMBOL[+OFFSET]", EVENT_UPROBE, false, "uprobe" },
	{ "uretprobe:", "FILE:SYMBOL", EVENT_UPROBE, true, "uprobe" },
	{ "usdt:", "FILE:PROVIDER:NAME", EVENT_USDT, false, "uprobe" },
	{ "kprobe:", "SYMBOL[+OFFSET]", EVENT_KPROBE, false, "kprobe" },
	{ "kretprobe:", "SYMBOL", EVENT_KPROBE, true, "kprobe" },
	{ 0 },
};

static const struct probe_form *form_of(const char *text)
{
	for (const struct probe_form *form = probe_forms; form->word; form++)
		if (!strncmp(text, form->word, strlen(form->word)))
			return form;
	return NULL;
}

/* Sets `symbol` and `symbol_offset` of "SYMBOL+OFFSET". */
static bool take_symbol(struct probe *p, const char *text)
{
	const char *plus = strrchr(text, '+');
	char *end;

	if (plus && isdigit((unsigned char)plus[1])) {
		p->symbol_offset = strtoull(plus + 1, &end, 0);
		/* A function returns from anywhere. */
		if (*end || plus == text || p->form->at_return)
			return false;
	} else {
		plus = text + strlen(text);
	}
	if (plus == text)
		return false;
	p->symbol = strndup(text, (size_t)(plus - text));
	return true;
}

/*
 * Sets `file`, which ends at the first single colon after the last slash; if none is there, at the
 * first one: functions of Go have slashes, too. What follows, or NULL.
 */
static const char *take_file(struct probe *p, const char *text)
{
	const char *slash = strrchr(text, '/'), *colon = slash ? strchr(slash, ':') : NULL;

	if (!colon)
		colon = strchr(text, ':');
	if (!colon || colon == text)
		return NULL;
	p->file = strndup(text, (size_t)(colon - text));
	return colon + 1;
}

static bool take_provider(struct probe *p, const char *text)
{
	const char *colon = strchr(text, ':');

	if (!colon || colon == text || !colon[1])
		return false;
	p->provider = strndup(text, (size_t)(colon - text));
	p->symbol = strdup(colon + 1);
	return true;
}

static bool take_place(struct probe *p, const char *text)
{
	if (p->form->source == EVENT_KPROBE)
		return take_symbol(p, text);
	text = take_file(p, text);
	if (!text)
		return false;
	return p->form->source == EVENT_USDT ? take_provider(p, text) : take_symbol(p, text);
}

struct error *probe_parse(struct probe *probe, const char *text)
{
	const struct probe_form *form = form_of(text);

	*probe = (struct probe){ .form = form };
	if (!form)
		return NULL;
	if (!take_place(probe, text + strlen(form->word)))
		return error_new(ERROR_ARGUMENT, "event '%s': expected %s%s", text, form->word,
				 form->rest);
	if (probe->symbol && (form->source == EVENT_KPROBE || probe->file) &&
	    (form->source != EVENT_USDT || probe->provider))
		return NULL;
	return error_memory();
}

void probe_release(struct probe *probe)
{
	free(probe->file);
	free(probe->provider);
	free(probe->symbol);
	*probe = (struct probe){ 0 };
}
