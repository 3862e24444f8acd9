/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/kernel_symbols.h"

#include "common/arena.h"
#include "common/array.h"
#include "common/buffer.h"
#include "common/sorted.h"
#include "record/symbols/kernel_modules.h"
#include "record/symbols/kernel_name.h"
#include "record/system/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* There are some hundred thousand. */
struct symbol {
	uint64_t address;
	const char *name;
	uint32_t size;	 /* 0: up to the next one */
	uint16_t module; /* index, or one of those below */
	bool text : 1;
	bool needed : 1; /* a frame lies in it */
	bool written : 1;
	bool gone : 1;	/* was unloaded, and is only kept until it is written */
	bool owned : 1; /* the name is on the heap */
};
_Static_assert(sizeof(struct symbol) == 24, "no gaps");

#define IN_KERNEL UINT16_MAX
#define IN_BPF (UINT16_MAX - 1) /* or other code that the kernel has made */
_Static_assert(KERNEL_MODULES_MAX <= IN_BPF, "numbers of modules are below them");
#define PAGE_BYTES 4096

/* Symbols by address. */
struct symbol_list {
	struct symbol *symbols;
	size_t n, capacity;
};

struct kernel_symbols {
	struct arena names;	    /* of `known` */
	struct kernel_names *asker; /* NULL: none was needed yet */
	bool asks;		    /* false: what is not in `known` has no name */
	bool has_read;		    /* `known` was read from the running kernel */
	struct symbol_list asked;   /* one by one, with their sizes */
	struct symbol_list known;   /* as read from /proc/kallsyms */
	struct symbol_list dynamic; /* from the side band */
	struct kernel_modules modules;
	uint64_t base; /* of _text */
	uint8_t build_id[PRF_BUILD_ID_MAX];
	uint8_t build_id_size;
	bool hidden;
	bool live;	     /* they are those of the running kernel */
	struct buffer fresh; /* u32 indices into `known`: needed and not written */
	uint32_t generation;
};

static bool append(struct symbol_list *list, const struct symbol *symbol)
{
	if (!array_reserve(&list->symbols, &list->capacity, list->n + 1))
		return false;
	list->symbols[list->n++] = *symbol;
	return true;
}

/* How many of the symbols begin at or below the address. */
static size_t count_below(const struct symbol_list *list, uint64_t address)
{
	return sorted_up_to(list->symbols, list->n, SORTED_BY(struct symbol, address), address);
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* The kernel's own symbols come sorted, and most of what follows has higher addresses. */
static void sort(struct symbol_list *list)
{
	struct symbol *symbols = list->symbols;
	size_t i = 1;

	while (i < list->n && symbols[i - 1].address <= symbols[i].address)
		i++;
	if (i >= list->n)
		return;
	qsort(symbols + i, list->n - i, sizeof(*symbols), by_address);
	if (symbols[i].address < symbols[i - 1].address)
		qsort(symbols, list->n, sizeof(*symbols), by_address);
}

/* strtoull() for sixteen hex digits, a hundred thousand times. */
static uint64_t parse_hex(char *text, char **rest)
{
	uint64_t value = 0;

	for (;; text++) {
		unsigned char c = (unsigned char)*text;

		if (c >= '0' && c <= '9')
			value = value << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (c - 'a' + 10);
		else
			break;
	}
	*rest = text;
	return value;
}

/* The "module" of code that the kernel has made, for BPF, ftrace or kprobes. */
static bool is_made(const char *module)
{
	return !strcmp(module, "bpf") || !strncmp(module, "__builtin__", strlen("__builtin__"));
}

/*
 * Symbols of a module stand together, so the last one is most likely the same. Code that the kernel
 * has made lies elsewhere in each boot, so it is no part of the kernel as its build-id names it.
 * That holds for a module that is not listed, too.
 */
static bool find_module(struct kernel_symbols *k, const char *name, uint64_t address,
			uint16_t *module)
{
	size_t i;

	if (is_made(name)) {
		*module = IN_BPF;
		return true;
	}
	if (*module < k->modules.n && !strcmp(k->modules.modules[*module].name, name))
		return true;
	i = kernel_modules_index(&k->modules, name);
	*module = i < KERNEL_MODULES_MAX ? (uint16_t)i : IN_BPF;
	return i < k->modules.n || kernel_modules_add(&k->modules, name, address, false);
}

/* "ffffffff81000000 T _text" or "ffffffffc0001000 t init	[module]". */
static bool parse_line(struct kernel_symbols *k, char *line, uint16_t *last_module)
{
	struct symbol symbol = { .module = IN_KERNEL };
	const char *module = NULL;
	char *rest, *tab;

	symbol.address = parse_hex(line, &rest);
	if (rest == line || rest[0] != ' ' || !rest[1] || rest[2] != ' ')
		return true;
	symbol.text = strchr("tTwW", rest[1]) != NULL;
	symbol.name = rest + 3;
	tab = strpbrk(rest + 3, "\t");
	if (tab) {
		char *close = strchr(tab, ']');

		*tab++ = 0;
		if (*tab == '[' && close) {
			*close = 0;
			module = tab + 1;
		}
	}
	if (!symbol.address)
		return true;
	k->hidden = false;
	if (!module && !strcmp(symbol.name, "_text"))
		k->base = symbol.address;
	/* Counters of each CPU have small numbers for addresses. */
	if (symbol.address < UINT64_C(1) << 63)
		return true;
	if (module) {
		if (!find_module(k, module, symbol.address, last_module))
			return false;
		symbol.module = *last_module;
	}
	/* Of others only the place is wanted, and not for long: see read_all(). */
	if (k->asks && symbol.module != IN_BPF)
		symbol.name = "";
	else
		symbol.name = arena_text(&k->names, symbol.name, strlen(symbol.name));
	return symbol.name && append(&k->known, &symbol);
}

/* False without memory. */
static bool parse_symbols(struct kernel_symbols *k, char *text)
{
	uint16_t last_module = IN_KERNEL;
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n")))
		if (!parse_line(k, line, &last_module))
			return false;
	sort(&k->known);
	for (size_t i = 0; i < k->known.n && !k->base; i++)
		if (k->known.symbols[i].module == IN_KERNEL && k->known.symbols[i].text)
			k->base = k->known.symbols[i].address;
	return true;
}

struct error *kernel_symbols_parse(struct kernel_symbols **symbols, char *kallsyms, char *modules)
{
	struct kernel_symbols *k = calloc(1, sizeof(*k));

	if (!k)
		return error_memory();
	k->hidden = true;
	if (!kernel_modules_parse(&k->modules, modules) || !parse_symbols(k, kallsyms)) {
		kernel_symbols_free(k);
		return error_memory();
	}
	*symbols = k;
	return NULL;
}

/*
 * Where a symbol ends. One without a size goes on to the next one; where that is of something else,
 * not beyond its page: what was loaded in between later is not known.
 */
static uint64_t end_of(const struct symbol_list *list, size_t i)
{
	const struct symbol *symbol = &list->symbols[i];
	uint64_t page = (symbol->address | (PAGE_BYTES - 1)) + 1;

	if (symbol->size)
		return symbol->address + symbol->size;
	for (size_t next = i + 1; next < list->n; next++) {
		const struct symbol *after = &list->symbols[next];

		if (after->address == symbol->address)
			continue;
		return after->module == symbol->module || after->address < page ? after->address
										: page;
	}
	return page;
}

static void release_list(struct symbol_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->symbols[i].owned)
			free((char *)(uintptr_t)list->symbols[i].name);
	free(list->symbols);
	*list = (struct symbol_list){ 0 };
}

/* What the kernel has made keeps the sizes that it has among the others, which take megabytes. */
static void keep_made(struct symbol_list *list)
{
	struct symbol_list made = { 0 };

	for (size_t i = 0; i < list->n; i++) {
		struct symbol symbol = list->symbols[i];

		symbol.size = (uint32_t)(end_of(list, i) - symbol.address);
		if (symbol.module == IN_BPF && !append(&made, &symbol))
			break;
	}
	free(list->symbols);
	*list = made;
}

/*
 * All of them, or those that it does not tell when it is asked. From then on only what came later
 * is asked for.
 */
static struct error *read_all(struct kernel_symbols *k)
{
	struct buffer text = { 0 };
	int status = read_file("/proc/kallsyms", &text);
	struct error *error = NULL;

	k->has_read = true;
	if (status)
		error = error_system(status, "cannot read /proc/kallsyms");
	else if (!buffer_string(&text) || !parse_symbols(k, (char *)text.data))
		error = error_memory();
	if (!error && k->asks)
		keep_made(&k->known);
	/* Some would be there without a name. */
	if (error && k->asks)
		release_list(&k->known);
	buffer_release(&text);
	return error;
}

/*
 * Sets whether the addresses are hidden, and where the kernel begins: before _text there is little
 * but counters of each CPU. False if it was not found.
 */
static bool read_beginning(struct kernel_symbols *k)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[1024];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		char *rest;
		uint64_t address = parse_hex(line, &rest);

		if (address)
			k->hidden = false;
		found = !strcmp(rest, " T _text\n");
		if (found)
			k->base = address;
	}
	if (file)
		fclose(file);
	return found;
}

struct error *kernel_symbols_new(struct kernel_symbols **symbols)
{
	struct kernel_symbols *k = calloc(1, sizeof(*k));
	struct error *error = NULL;

	if (!k)
		return error_memory();
	k->hidden = k->live = true;
	if (!kernel_modules_read(&k->modules))
		error = error_memory();
	else if (!read_beginning(k))
		error = read_all(k);
	else
		k->asks = !k->hidden;
	if (error) {
		kernel_symbols_free(k);
		return error;
	}
	k->build_id_size = kernel_build_id("/sys/kernel/notes", k->build_id);
	*symbols = k;
	return NULL;
}

void kernel_symbols_free(struct kernel_symbols *k)
{
	if (!k)
		return;
	kernel_names_free(k->asker);
	release_list(&k->asked);
	release_list(&k->known);
	release_list(&k->dynamic);
	kernel_modules_release(&k->modules);
	arena_release(&k->names);
	buffer_release(&k->fresh);
	free(k);
}

bool kernel_symbols_hidden(const struct kernel_symbols *k)
{
	return k->hidden;
}

uint32_t kernel_symbols_generation(const struct kernel_symbols *k)
{
	return k->generation;
}

/* After those that begin at or below it. The name is copied. NULL without memory. */
static struct symbol *insert(struct symbol_list *list, const struct symbol *symbol)
{
	struct symbol new = *symbol;
	size_t at = count_below(list, new.address);

	new.name = strdup(symbol->name);
	new.owned = true;
	if (!new.name || !append(list, &new)) {
		free((char *)(uintptr_t) new.name);
		return NULL;
	}
	memmove(list->symbols + at + 1, list->symbols + at, (list->n - 1 - at) * sizeof(new));
	list->symbols[at] = new;
	return &list->symbols[at];
}

struct error *kernel_symbols_add(struct kernel_symbols *k, uint64_t start, uint32_t size,
				 const char *name)
{
	const struct symbol symbol = {
		.address = start,
		.size = size,
		.module = IN_BPF,
		.name = name,
		.text = true,
	};

	if (!insert(&k->dynamic, &symbol))
		return error_memory();
	k->generation++;
	return NULL;
}

static void drop(struct symbol_list *list, size_t i)
{
	if (list->symbols[i].owned)
		free((char *)(uintptr_t)list->symbols[i].name);
	memmove(list->symbols + i, list->symbols + i + 1, (--list->n - i) * sizeof(*list->symbols));
}

void kernel_symbols_remove(struct kernel_symbols *k, uint64_t start)
{
	size_t i = count_below(&k->dynamic, start);

	while (i-- && k->dynamic.symbols[i].address == start) {
		if (k->dynamic.symbols[i].needed)
			k->dynamic.symbols[i].gone = true;
		else
			drop(&k->dynamic, i);
		k->generation++;
	}
}

/* What came while recording. */
static struct symbol *find_dynamic(struct kernel_symbols *k, uint64_t address)
{
	size_t i = count_below(&k->dynamic, address);

	/* Newer ones come after older ones of the same place, which may linger as "gone". */
	while (i--) {
		struct symbol *symbol = &k->dynamic.symbols[i];

		if (!symbol->gone && address - symbol->address < symbol->size)
			return symbol;
		if (address - symbol->address >= UINT32_MAX)
			break;
	}
	return NULL;
}

static struct symbol *find_known(struct kernel_symbols *k, uint64_t address)
{
	size_t i = count_below(&k->known, address);

	if (i && address >= end_of(&k->known, i - 1))
		return NULL;
	/* Of several names for one place, the last one that is code. */
	for (size_t first = i; i; i--) {
		struct symbol *symbol = &k->known.symbols[i - 1];

		if (symbol->address != k->known.symbols[first - 1].address)
			break;
		if (symbol->text)
			return symbol;
	}
	return NULL;
}

/* A module that was loaded meanwhile, or again, is listed now. False without memory. */
static bool find_new_module(struct kernel_symbols *k, const char *name, uint64_t address,
			    uint16_t *module)
{
	if (!is_made(name) && !kernel_modules_holds(&k->modules, name, address) &&
	    !kernel_modules_read(&k->modules))
		return false;
	return find_module(k, name, address, module);
}

/* NULL: it cannot be asked, as it does not even know where it begins. */
static struct kernel_names *new_asker(uint64_t base)
{
	struct kernel_names *asker = kernel_names_new();
	struct kernel_name found;

	if (asker && !kernel_names_find(asker, base, &found)) {
		kernel_names_free(asker);
		asker = NULL;
	}
	return asker;
}

/* The symbol that the kernel has there; NULL if it has none, or without memory. */
static struct symbol *ask(struct kernel_symbols *k, uint64_t address)
{
	struct symbol symbol = { .module = IN_KERNEL, .text = true };
	struct kernel_name found;

	if (!k->asker)
		k->asker = new_asker(k->base);
	k->asks = k->asker;
	if (!k->asks || !kernel_names_find(k->asker, address, &found))
		return NULL;
	symbol.address = found.start;
	symbol.size = found.size;
	symbol.name = found.name;
	if (found.module && !find_new_module(k, found.module, found.start, &symbol.module))
		return NULL;
	return insert(&k->asked, &symbol);
}

/* One that was asked for before. */
static struct symbol *find_asked(struct kernel_symbols *k, uint64_t address)
{
	size_t i = count_below(&k->asked, address);
	struct symbol *symbol = i ? &k->asked.symbols[i - 1] : NULL;

	return symbol && address - symbol->address < symbol->size ? symbol : NULL;
}

/* One of which nothing is known. */
static struct symbol *find_new(struct kernel_symbols *k, uint64_t address)
{
	struct symbol *symbol = ask(k, address);

	if (symbol || k->has_read)
		return symbol;
	/*
	 * Code that the kernel has made for ftrace and kprobes is only listed. What is gone
	 * already is not, so this happens once.
	 */
	error_ignore(read_all(k));
	return find_known(k, address);
}

static struct symbol *find(struct kernel_symbols *k, uint64_t address)
{
	struct symbol *symbol = find_dynamic(k, address);

	if (!symbol)
		symbol = find_asked(k, address);
	if (!symbol)
		symbol = find_known(k, address);
	return symbol || !k->asks ? symbol : find_new(k, address);
}

/* Of a symbol, or of code without one: the object that it is in, and where that begins. */
static void describe(struct kernel_symbols *k, const struct symbol *symbol,
		     struct prf_object *object)
{
	static const char kernel_path[] = "[kernel]";

	*object = (struct prf_object){
		.kind = PRF_OBJECT_KERNEL,
		.path = kernel_path,
		.root = "",
		.base = k->base,
		.build_id_size = k->build_id_size,
	};
	memcpy(object->build_id, k->build_id, sizeof(object->build_id));
	if (!symbol || symbol->module == IN_KERNEL)
		return;
	object->build_id_size = 0;
	if (symbol->module == IN_BPF) {
		object->kind = PRF_OBJECT_BPF;
		object->path = symbol->name;
		object->base = symbol->address;
	} else {
		struct kernel_module *module = &k->modules.modules[symbol->module];

		if (k->live)
			kernel_module_read_build_id(module);
		object->kind = PRF_OBJECT_MODULE;
		object->path = module->name;
		object->base = module->base;
		object->build_id_size = module->build_id_size;
		memcpy(object->build_id, module->build_id, sizeof(object->build_id));
	}
}

/*
 * Samples have addresses even where kptr_restrict keeps them from the user, who can read the trace:
 * only what is relative to a BPF program is stored then.
 */
static void hide(const struct symbol *symbol, struct prf_object *object, struct prf_frame *frame)
{
	object->base = 0;
	if (!symbol)
		frame->offset = 0;
}

struct error *kernel_symbols_frame(struct kernel_symbols *k, struct prf_writer *w, uint64_t address,
				   struct prf_frame *frame)
{
	/*
	 * A call may be the last instruction of a function, and its return address the first byte
	 * of the next one. So the byte before is looked up.
	 */
	struct symbol *symbol = find(k, frame->flags & PRF_FRAME_EXACT ? address : address - 1);
	struct prf_object object;

	if (symbol && !symbol->needed) {
		symbol->needed = true;
		if (symbol >= k->known.symbols && symbol < k->known.symbols + k->known.n) {
			uint32_t index = (uint32_t)(symbol - k->known.symbols);

			buffer_append(&k->fresh, &index, sizeof(index));
		}
	}
	describe(k, symbol, &object);
	frame->flags |= PRF_FRAME_KERNEL;
	frame->offset = address - object.base;
	if (k->hidden)
		hide(symbol, &object, frame);
	return prf_writer_object(w, &object, &frame->object);
}

static bool begins_with(const char *name, const char *const *prefixes)
{
	while (*prefixes && strncmp(name, *prefixes, strlen(*prefixes)))
		prefixes++;
	return *prefixes;
}

bool kernel_symbols_is_plumbing(struct kernel_symbols *k, uint64_t address)
{
	static const char *const prefixes[] = { "bpf_trace_run", "__bpf_trace_", "__traceiter_",
						"bpf_trampoline", NULL };
	const struct symbol *symbol = find(k, address - 1);

	return symbol && (symbol->module == IN_BPF || begins_with(symbol->name, prefixes));
}

bool kernel_symbols_is_interrupt(struct kernel_symbols *k, uint64_t address)
{
	/* x86, x86 with FRED, whose entries are those of system calls, too, and arm64 */
	static const char *const prefixes[] = { "asm_sysvec_",
						"asm_common_interrupt",
						"asm_spurious_interrupt",
						"fred_sysvec_",
						"fred_extint",
						"common_interrupt",
						"el0t_64_irq",
						"el0t_64_fiq",
						"el0t_32_irq",
						"el0t_32_fiq",
						"el1h_64_irq",
						"el1h_64_fiq",
						NULL };
	const struct symbol *symbol = find(k, address - 1);

	return symbol && begins_with(symbol->name, prefixes);
}

static struct error *write_symbol(struct kernel_symbols *k, const struct symbol_list *list,
				  size_t i, struct prf_writer *w)
{
	struct symbol *symbol = &list->symbols[i];
	struct prf_object object;
	struct prf_symbol written;
	struct error *error;
	uint64_t start;
	uint32_t id;

	describe(k, symbol, &object);
	start = symbol->address - object.base;
	if (k->hidden)
		object.base = 0;
	error = prf_writer_object(w, &object, &id);
	if (error)
		return error;
	written = (struct prf_symbol){
		.start = start,
		.size = end_of(list, i) - symbol->address,
		.name = symbol->name,
	};
	symbol->written = true;
	return prf_writer_symbols(w, id, &written, 1);
}

/* Of a list that is short enough to be gone through. */
static struct error *write_needed(struct kernel_symbols *k, struct symbol_list *list,
				  struct prf_writer *w)
{
	struct error *error = NULL;

	for (size_t i = list->n; i-- && !error;) {
		const struct symbol *symbol = &list->symbols[i];

		if (symbol->needed && !symbol->written)
			error = write_symbol(k, list, i, w);
		if (symbol->gone)
			drop(list, i);
	}
	return error;
}

struct error *kernel_symbols_write(struct kernel_symbols *k, struct prf_writer *w)
{
	struct error *error = NULL;

	for (size_t i = 0; i + sizeof(uint32_t) <= k->fresh.size && !error; i += sizeof(uint32_t)) {
		uint32_t index;

		memcpy(&index, k->fresh.data + i, sizeof(index));
		error = write_symbol(k, &k->known, index, w);
	}
	buffer_clear(&k->fresh);
	if (!error)
		error = write_needed(k, &k->asked, w);
	return error ? error : write_needed(k, &k->dynamic, w);
}

static void forget_written(struct symbol_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		list->symbols[i].needed = list->symbols[i].written = false;
}

void kernel_symbols_forget_written(struct kernel_symbols *k)
{
	forget_written(&k->asked);
	forget_written(&k->known);
	forget_written(&k->dynamic);
	buffer_clear(&k->fresh);
}
