/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_JAVA_HOTSPOT_H
#define RECORD_JAVA_HOTSPOT_H

/*
 * A Java process whose virtual machine is HotSpot: the layout of its structures, its code cache and
 * its interpreter, as the kernel half (bpf/abi/hotspot.h) and the names of its methods need them.
 */

#include "bpf/abi/hotspot.h"
#include "record/java/hotspot_tables.h"

struct hotspot {
	struct target_memory memory;
	uint64_t bias; /* from link-time addresses of libjvm.so to those in the process */
	struct hotspot_exports exports;
	struct hotspot_tables tables;
	bool tables_known;
	struct hotspot_process process;
	uint32_t version; /* 17 */
};

enum hotspot_state {
	HOTSPOT_READY,
	HOTSPOT_NOT_YET, /* the machine is still being set up, or is none: ask again */
	HOTSPOT_REFUSED,
};

/*
 * A process that has mapped `libjvm`, `bias` bytes above its link-time addresses. False: the file
 * exports no tables. It is not needed afterwards.
 */
bool hotspot_init(struct hotspot *h, const struct target_memory *memory,
		  const struct elf_file *libjvm, uint64_t bias);

/*
 * Reads the state of the virtual machine. Unless it is ready, `why` is static text that says what
 * is missing or not understood.
 */
enum hotspot_state hotspot_attach(struct hotspot *h, const char **why);

#endif
