/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_CAPTURE_UNWINDER_MAPS_H
#define RECORD_CAPTURE_UNWINDER_MAPS_H

/* Fds of the BPF maps that hold unwind tables: passed from the sampler to the unwinder. */

struct unwinder_maps {
	int segments, pages, rules; /* unwind_segments, _pages, _rules: arrays for mmap() */
	int first_slab;		    /* unwind_first_slab, for mmap(), too */
	int slabs;		    /* unwind_slabs, the array of maps of the others */
	int processes, files;	    /* unwind_processes and unwind_files, the hashes */
};

#endif
