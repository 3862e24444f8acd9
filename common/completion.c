/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/completion.h"

#include <stdio.h>
#include <string.h>

static bool is_list(const struct option_entry *e)
{
	return strchr(e->argument, ',') || strstr(e->argument, "LIST");
}

static bool has_values(const struct option_entry *e)
{
	return e->argument && e->values;
}

static bool is_path(const char *values)
{
	return !strcmp(values, VALUES_FILES) || !strcmp(values, VALUES_FOLDERS);
}

/* A command, the same in all shells, that prints the values, one per line. */
static void print_command(const char *values)
{
	if (!strncmp(values, "$ ", 2))
		fputs(values + 2, stdout);
	else
		printf("printf \"%%s\\n\" %s", values);
}

/* Inside single quotes; `also` are characters that get a backslash. */
static void print_quoted(const char *text, const char *also)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			printf("%s%c", strchr(also, *text) ? "\\" : "", *text);
	}
}

/* The name of a function: "_prof_record". */
static void print_function(const struct options *o)
{
	putchar('_');
	for (const char *c = o->program; *c; c++)
		putchar(*c == '-' ? '_' : *c);
}

/* -------- bash -------- */

/*
 * bash divides words at "=" and ":", too: `word` is all that was typed since the last blank, and
 * of a completed one only the part is returned that replaces bash's own last word. Values may be
 * names from a trace, which must not become commands of the line: zsh and fish quote them.
 */
static const char bash_functions[] =
	"_prof_offer() {\n"
	"\tlocal value last=$typed head=\n"
	"\tif [[ $1 ]]; then last=${typed##*,} head=${typed%\"${typed##*,}\"}; fi\n"
	"\twhile IFS=$'\\t' read -r value _; do\n"
	"\t\t[[ $value && $value == \"$last\"* ]] || continue\n"
	"\t\tprintf -v value %q \"$value\"\n"
	"\t\tCOMPREPLY+=(\"$head$value\")\n"
	"\tdone\n"
	"}\n"
	"_prof_words() {\n"
	"\tlocal line=${COMP_LINE:0:COMP_POINT} w\n"
	"\tcur=${COMP_WORDS[COMP_CWORD]} word=${line##*[[:space:]]} trace=trace.prf after=\n"
	"\t[[ $cur == [=:] ]] && cur=\n"
	"\tread -ra words <<< \"${line%\"$word\"}\"\n"
	"\tfor w in \"${words[@]:1}\"; do\n"
	"\t\t[[ $w == -- ]] && after=1\n"
	"\t\t[[ $w == *.prf && -f $w ]] && trace=$w\n"
	"\tdone\n"
	"\tcase $word in\n"
	"\t--*=*) option=${word%%=*}= typed=${word#*=} ;;\n"
	"\t-[!-]?*) option=${word:0:2} typed=${word:2} ;;\n"
	"\t*) option=${words[-1]} typed=$word ;;\n"
	"\tesac\n"
	"}\n"
	"_prof_done() {\n"
	"\tlocal i full before=${word%\"$cur\"}\n"
	"\tfor i in \"${!COMPREPLY[@]}\"; do\n"
	"\t\tfull=${word%\"$typed\"}${COMPREPLY[i]}\n"
	"\t\tCOMPREPLY[i]=${full#\"$before\"}\n"
	"\tdone\n"
	"}\n"
	"_prof_paths() {\n"
	"\tcompopt -o filenames\n"
	"\tmapfile -t COMPREPLY < <(compgen \"$1\" -- \"$typed\")\n"
	"}\n";

static void print_bash_values(const char *values, bool list)
{
	if (is_path(values)) {
		printf("_prof_paths %s", strcmp(values, VALUES_FILES) ? "-d" : "-f");
		return;
	}
	printf("_prof_offer %s < <({ ", list ? "," : "''");
	print_command(values);
	printf("; } 2>/dev/null)");
}

static void print_bash_case(const struct option_entry *e)
{
	const char * or = "";

	printf("\t");
	if (!option_is_optional(e)) {
		if (e->letter)
			printf("-%c", e->letter);
		or = e->letter ? "|" : "";
		if (e->name)
			printf("%s--%s", or, e->name);
		or = "|";
	}
	if (e->name)
		printf("%s--%s=", or, e->name);
	printf(") ");
	if (e->values)
		print_bash_values(e->values, is_list(e));
	else
		printf(":");
	printf(" ;;\n");
}

static void print_bash_options(const struct options *o)
{
	const struct option_entry *e;

	printf("\t\t[[ $word == -* ]] && mapfile -t COMPREPLY < <(compgen -W '");
	for (size_t i = 0; (e = options_entry(o, i)); i++) {
		if (e->letter)
			printf("-%c ", e->letter);
		if (e->name)
			printf("--%s%s ", e->name,
			       e->argument && !option_is_optional(e) ? "=" : "");
	}
	printf("' -- \"$word\")\n\t\ttyped=$word\n"
	       "\t\t[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n");
}

static void print_bash(const struct options *o)
{
	const struct option_entry *e;

	printf("%s", bash_functions);
	print_function(o);
	printf("() {\n\tlocal cur word words option typed trace after\n\tCOMPREPLY=()\n"
	       "\t_prof_words\n");
	printf("\tif [[ $after ]]; then\n\t\ttyped=$word\n"
	       "\t\tif [[ ${words[-1]} == -- ]]; then mapfile -t COMPREPLY < <(compgen -c -- "
	       "\"$word\"); else _prof_paths -f; fi\n"
	       "\t\t_prof_done\n\t\treturn\n\tfi\n");
	printf("\tcase $option in\n");
	for (size_t i = 0; (e = options_entry(o, i)); i++)
		if (e->argument)
			print_bash_case(e);
	printf("\t*)\n\t\ttyped=$word\n");
	print_bash_options(o);
	if (o->command_follows)
		printf("\t\t[[ $word == -* ]] || mapfile -t COMPREPLY < <(compgen -c -- "
		       "\"$word\")\n");
	if (o->values) {
		printf("\t\t[[ $word == -* ]] || ");
		print_bash_values(o->values, false);
		printf("\n");
	}
	printf("\t\t[[ $word == -* || ${#COMPREPLY[@]} -gt 0 ]] || _prof_paths -f ;;\n"
	       "\tesac\n\t_prof_done\n}\ncomplete -F ");
	print_function(o);
	printf(" %s\n", o->program);
}

/* -------- zsh -------- */

static const char zsh_functions[] =
	"_prof_offer() {\n"
	"\tlocal separator=$1 line\n"
	"\tlocal -a values shown\n"
	"\tshift\n"
	"\t[[ -n $separator ]] && compset -P '*,'\n"
	"\twhile IFS= read -r line; do\n"
	"\t\tvalues+=(\"${line%%$'\\t'*}\")\n"
	"\t\tshown+=(\"${line//$'\\t'/  }\")\n"
	"\tdone\n"
	"\tcompadd \"$@\" -d shown -a values\n"
	"}\n"
	"_prof_trace() {\n"
	"\tlocal w\n"
	"\ttrace=trace.prf\n"
	"\tfor w in $words; do [[ $w == *.prf && -f $w ]] && trace=$w; done\n"
	"}\n";

/* A function that completes the values, named after the option: "_prof_record-pid". */
static void print_zsh_values(const struct options *o, const char *name, const char *values,
			     bool list)
{
	print_function(o);
	printf("-%s() {\n", name);
	if (is_path(values)) {
		printf("\t_files%s\n}\n", strcmp(values, VALUES_FILES) ? " -/" : "");
		return;
	}
	if (strstr(values, "$trace"))
		printf("\tlocal trace\n\t_prof_trace\n");
	printf("\t_prof_offer %s \"$@\" < <({ ", list ? "," : "''");
	print_command(values);
	printf("; } 2>/dev/null)\n}\n");
}

static void print_zsh_argument(const struct options *o, const struct option_entry *e)
{
	if (!e->argument)
		return;
	printf("%s:", option_is_optional(e) ? ":" : "");
	print_quoted(e->argument, ":\\[]");
	printf(":");
	if (has_values(e)) {
		print_function(o);
		printf("-%s", e->name);
	} else {
		printf(" ");
	}
}

/* One form of an option: '(-p --pid)--pid=[help]:PID:_prof_record-pid' */
static void print_zsh_form(const struct options *o, const struct option_entry *e, bool with_name)
{
	printf(" \\\n\t'");
	if (e->letter && e->name)
		printf("(-%c --%s)", e->letter, e->name);
	if (with_name)
		printf("--%s%s", e->name, !e->argument ? "" : option_is_optional(e) ? "=-" : "=");
	else
		printf("-%c%s", e->letter, e->argument ? "+" : "");
	printf("[");
	print_quoted(e->help, "[]\\");
	printf("]");
	print_zsh_argument(o, e);
	printf("'");
}

static void print_zsh(const struct options *o)
{
	const struct option_entry *e;

	printf("#compdef %s\n%s", o->program, zsh_functions);
	for (size_t i = 0; (e = options_entry(o, i)); i++)
		if (has_values(e))
			print_zsh_values(o, e->name, e->values, is_list(e));
	if (o->values)
		print_zsh_values(o, "rest", o->values, false);
	printf("_arguments -s -S");
	for (size_t i = 0; (e = options_entry(o, i)); i++) {
		if (e->letter)
			print_zsh_form(o, e, false);
		if (e->name)
			print_zsh_form(o, e, true);
	}
	if (o->command_follows) {
		printf(" \\\n\t'*::command: _normal'\n");
		return;
	}
	if (o->values) {
		printf(" \\\n\t'1:argument:");
		print_function(o);
		printf("-rest'");
	}
	printf(" \\\n\t'*:file:_files'\n");
}

/* -------- fish -------- */

static const char fish_functions[] =
	"function __prof_offer\n"
	"\tset -l head (commandline -ct | string replace -r '^(--[^=]*=|-[a-zA-Z])' '' | "
	"string match -r '^.*,')\n"
	"\twhile read -l line\n"
	"\t\techo \"$head$line\"\n"
	"\tend\n"
	"end\n"
	"function __prof_trace\n"
	"\tset -l trace trace.prf\n"
	"\tfor word in (commandline -opc)\n"
	"\t\tstring match -q '*.prf' -- $word; and test -f $word; and set trace $word\n"
	"\tend\n"
	"\techo $trace\n"
	"end\n"
	"function __prof_after\n"
	"\tcontains -- -- (commandline -opc)\n"
	"end\n";

static void print_fish_values(const char *values, bool list)
{
	if (!strcmp(values, VALUES_FILES)) {
		printf(" -F");
		return;
	}
	printf(" -f -a '(");
	if (!strcmp(values, VALUES_FOLDERS)) {
		print_quoted("__fish_complete_directories", "");
	} else {
		if (strstr(values, "$trace"))
			printf("set -l trace (__prof_trace); ");
		printf("begin; ");
		print_command(values);
		printf("; end 2>/dev/null%s", list ? " | __prof_offer" : "");
	}
	printf(")'");
}

static void print_fish_option(const struct options *o, const struct option_entry *e)
{
	printf("complete -c %s -n 'not __prof_after'", o->program);
	if (e->letter)
		printf(" -s %c", e->letter);
	if (e->name)
		printf(" -l %s", e->name);
	if (e->argument && !option_is_optional(e))
		printf(" -r");
	if (has_values(e))
		print_fish_values(e->values, is_list(e));
	else if (e->argument)
		printf(" -f");
	printf(" -d '");
	print_quoted(e->help, "\\");
	printf("'\n");
}

static void print_fish(const struct options *o)
{
	const struct option_entry *e;

	printf("%s", fish_functions);
	if (o->command_follows) {
		printf("complete -c %s -n 'not __prof_after' -f -a '(complete -C (commandline "
		       "-ct))'\n",
		       o->program);
		printf("complete -c %s -n __prof_after -f -a '(complete -C (commandline -cp | "
		       "string replace -r \"^.*? -- +\" \"\"))'\n",
		       o->program);
	} else if (o->values) {
		printf("complete -c %s -a '(", o->program);
		print_command(o->values);
		printf(")'\n");
	}
	for (size_t i = 0; (e = options_entry(o, i)); i++)
		if (e->letter || e->name)
			print_fish_option(o, e);
}

bool completion_print(const struct options *o, const char *shell)
{
	static const struct {
		const char *name;
		void (*print)(const struct options *o);
	} shells[] = { { "bash", print_bash }, { "zsh", print_zsh }, { "fish", print_fish } };

	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		if (!strcmp(shells[i].name, shell)) {
			shells[i].print(o);
			return true;
		}
	return false;
}
