/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/shortage.h"
#include "report/symbols/demangle.h"

/*
 * One pass finds which brackets belong together, one more writes the short name. A "<" can
 * be a bracket, an operator's name, or a comparison in a template argument: without a partner
 * inside of the same outer brackets it is not a bracket.
 */
struct short_name {
	const char *from;
	size_t size;
	uint32_t *partner; /* of an opening bracket: where it ends; 0: it is no bracket */
	char *to;
	size_t made;
	bool path_style;
	bool in_operator; /* what follows is a conversion operator's type, with spaces */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool at_word(const struct short_name *s, size_t i, const char *word)
{
	size_t size = strlen(word);

	return s->size - i >= size && !memcmp(s->from + i, word, size);
}

/* At the word "operator": the length of it and its symbol, or 0. */
static size_t operator_length(const struct short_name *s, size_t i)
{
	static const char *const symbols[] = { "()", "[]", "<=>", "<<=", ">>=", "->*", "<<",
					       ">>", "<=", ">=",  "->",	 "<",	">" };

	if (!at_word(s, i, "operator") || (i && is_word(s->from[i - 1])) || is_word(s->from[i + 8]))
		return 0;
	for (size_t k = 0; k < sizeof(symbols) / sizeof(*symbols); k++)
		if (at_word(s, i + 8, symbols[k]))
			return 8 + strlen(symbols[k]);
	return 8;
}

static char closing(char c)
{
	return c == '(' ? ')' : c == '<' ? '>' : c == '{' ? '}' : c == '[' ? ']' : 0;
}

static int find_partners(struct short_name *s)
{
	uint32_t *stack = shortage_check(calloc(s->size + 1, sizeof(*stack)));
	size_t depth = 0;

	if (!stack)
		return -1;
	for (size_t i = 0; i < s->size; i++) {
		size_t operator= operator_length(s, i);
		char c = s->from[i];

		if (operator) {
			i += operator- 1;
			continue;
		}
		if (closing(c)) {
			stack[depth++] = (uint32_t)i;
			continue;
		}
		if (c == '>' &&
		    (!depth || s->from[stack[depth - 1]] != '<' || s->from[i - 1] == '-'))
			continue;
		if (c != '>' && c != ')' && c != '}' && c != ']')
			continue;
		/* What is above it on the stack were comparisons. */
		while (depth && s->from[stack[depth - 1]] == '<' && c != '>')
			depth--;
		if (depth && closing(s->from[stack[depth - 1]]) == c)
			s->partner[stack[--depth]] = (uint32_t)i;
	}
	free(stack);
	return 0;
}

static void put(struct short_name *s, const char *text, size_t size)
{
	memcpy(s->to + s->made, text, size);
	s->made += size;
}

static void put_range(struct short_name *s, size_t from, size_t to);

/* "<...>": of template arguments. An `impl` and "<T as Trait>" stay. */
static void put_angle(struct short_name *s, size_t open, size_t close)
{
	bool arguments = open && (is_word(s->from[open - 1]) || s->from[open - 1] == ':' ||
				  s->from[open - 1] == ')' || s->from[open - 1] == ']' ||
				  s->from[open - 1] == ' ' || !s->path_style);

	if (s->path_style && (at_word(s, open, "<impl ") || (open && s->from[open - 1] == ' ')))
		arguments = false;
	if (arguments && close - open > 4) {
		put(s, "<...>", 5);
		return;
	}
	put(s, "<", 1);
	put_range(s, open + 1, close);
	put(s, ">", 1);
}

/* After arguments: " const", " &", ... belong to them. */
static size_t skip_qualifiers(const struct short_name *s, size_t i)
{
	static const char *const qualifiers[] = { " const", " volatile", " noexcept", " &&", " &" };

	for (size_t k = 0; k < sizeof(qualifiers) / sizeof(*qualifiers);) {
		if (at_word(s, i, qualifiers[k])) {
			i += strlen(qualifiers[k]);
			k = 0;
		} else {
			k++;
		}
	}
	return i;
}

/* "{lambda(int)#1}", "{closure#0}", "{unnamed type#1}": stay, but for arguments. */
static void put_brace(struct short_name *s, size_t open, size_t close)
{
	if (!s->path_style && at_word(s, open, "{lambda(") && s->partner[open + 7]) {
		size_t end = s->partner[open + 7];

		put(s, "{lambda(", 8);
		if (end - (open + 7) > 4)
			put(s, "...", 3);
		else
			put(s, s->from + open + 8, end - (open + 8));
		put(s, s->from + end, close + 1 - end);
		return;
	}
	put(s, s->from + open, close + 1 - open);
}

/* Writes [from, to) of the name. A space outside of brackets ends a return type. */
static void put_range(struct short_name *s, size_t from, size_t to)
{
	size_t start = s->made;
	bool outside = !from || s->to[start - 1] == ' ';

	for (size_t i = from; i < to; i++) {
		size_t operator= s->path_style ? 0 : operator_length(s, i);
		size_t partner = s->partner[i];
		char c = s->from[i];

		if (operator) {
			put(s, s->from + i, operator);
			s->in_operator = s->from[i + operator] == ' ';
			i += operator- 1;
		} else if (c == '<' && partner) {
			put_angle(s, i, partner);
			i = partner;
		} else if (c == '{' && partner) {
			put_brace(s, i, partner);
			i = partner;
		} else if (c == '(' && partner && !s->path_style &&
			   !at_word(s, i, "(anonymous namespace)")) {
			i = skip_qualifiers(s, partner + 1) - 1;
		} else if (c == '(' && partner && !s->path_style) {
			put(s, s->from + i, partner + 1 - i);
			i = partner;
		} else if (c == ' ' && outside && !s->path_style && !s->in_operator) {
			s->made = start;
		} else {
			s->in_operator &= c != ':';
			put(s, &c, 1);
		}
	}
}

/* "vtable for X", "virtual thunk to X": words that do not end a return type. */
static size_t special_length(const struct short_name *s)
{
	static const char *const special[] = { "non-virtual thunk to ",
					       "virtual thunk to ",
					       "covariant return thunk to ",
					       "TLS init function for ",
					       "TLS wrapper function for ",
					       "guard variable for ",
					       "vtable for ",
					       "VTT for ",
					       "typeinfo for ",
					       "typeinfo name for " };

	for (size_t k = 0; k < sizeof(special) / sizeof(*special); k++)
		if (at_word(s, 0, special[k]))
			return strlen(special[k]);
	return 0;
}

void shorten_name(char *to, const char *name, bool path_style)
{
	struct short_name s = {
		.from = name, .size = strlen(name), .to = to, .path_style = path_style
	};
	size_t special = path_style ? 0 : special_length(&s);

	s.partner = shortage_check(calloc(s.size + 9, sizeof(*s.partner)));
	if (s.partner && !find_partners(&s)) {
		put(&s, name, special);
		put_range(&s, special, s.size);
	}
	if (s.made == special)
		strcpy(to, name);
	else
		to[s.made] = 0;
	free(s.partner);
}
