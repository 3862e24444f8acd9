/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/firefox.h"

#include "report/views/firefox_thread.h"

static void write_meta(const struct firefox *w, const char *title)
{
	const struct profile *p = w->profile;
	const struct profile_trace *trace = p->trace_count ? &p->traces[0] : NULL;
	const uint64_t interval_ns = profile_interval_ns(p);
	struct sink *s = w->sink;

	sink_text(s, "{\"meta\":{\"version\":24,\"preprocessedProfileVersion\":49,\"interval\":");
	firefox_ms(s, interval_ns ? interval_ns / 1000 : 1000);
	sink_text(s, ",\"startTime\":");
	firefox_ms(s, trace ? trace->realtime_ns / 1000 : 0);
	sink_text(s, ",\"product\":");
	sink_json_string(s, title);
	sink_text(s, ",\"oscpu\":");
	sink_json_string(s, trace ? trace->kernel : "");
	sink_text(s,
		  ",\"importedFrom\":\"prof\",\"processType\":0,\"categories\":["
		  "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
		  "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
		  "{\"name\":\"JIT\",\"color\":\"green\",\"subcategories\":[\"Other\"]},"
		  "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		  "{\"name\":\"Script\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}],"
		  "\"markerSchema\":[{\"name\":\"LostSamples\",\"tooltipLabel\":\"Lost samples\","
		  "\"tableLabel\":\"{marker.data.count} lost: {marker.data.reason}\","
		  "\"chartLabel\":\"{marker.data.count} lost\","
		  "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"data\":["
		  "{\"key\":\"count\",\"label\":\"Samples\",\"format\":\"integer\"},"
		  "{\"key\":\"reason\",\"label\":\"Reason\",\"format\":\"string\"}]}],"
		  "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":"
		  "\"\xc2\xb5s\"},"
		  "\"symbolicated\":true,\"pausedRanges\":[],\"usesOnlyOneStackType\":true,"
		  "\"doesNotUseFrameImplementation\":true,\"sourceCodeIsNotOnSearchfox\":true,"
		  "\"debug\":false,\"stackwalk\":1,\"extensions\":{\"length\":0,\"baseURL\":[],"
		  "\"id\":[],\"name\":[]}},");
}

static void write_build_id(struct sink *s, const struct prf_object *object)
{
	char id[2 * PRF_BUILD_ID_MAX + 1] = "";

	for (unsigned int i = 0; i < object->build_id_size && i < PRF_BUILD_ID_MAX; i++) {
		id[2 * i] = "0123456789abcdef"[object->build_id[i] >> 4];
		id[2 * i + 1] = "0123456789abcdef"[object->build_id[i] & 15];
	}
	sink_text(s, id);
}

/* A build-id as breakpad writes it: a GUID, with its first three parts little-endian, and an age.
 */
static void write_breakpad_id(struct sink *s, const struct prf_object *object)
{
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

	for (unsigned int i = 0; i < 16; i++)
		sink_printf(s, "%02X",
			    order[i] < object->build_id_size ? object->build_id[order[i]] : 0);
	sink_char(s, '0');
}

static void write_libs(const struct firefox *w)
{
	const struct profile *p = w->profile;
	const char *arch = p->trace_count ? p->traces[0].arch : "";
	struct sink *s = w->sink;

	sink_text(s, "\n\"libs\":[");
	for (size_t i = 0; i < p->object_count; i++) {
		const struct prf_object *object = p->objects[i].recorded;

		sink_text(s, i ? ",\n{\"arch\":" : "\n{\"arch\":");
		sink_json_string(s, arch);
		sink_text(s, ",\"name\":");
		sink_json_string(s, p->objects[i].name);
		sink_text(s, ",\"path\":");
		sink_json_string(s, object->path);
		sink_text(s, ",\"debugName\":");
		sink_json_string(s, p->objects[i].name);
		sink_text(s, ",\"debugPath\":");
		sink_json_string(s, object->path);
		sink_text(s, ",\"breakpadId\":\"");
		write_breakpad_id(s, object);
		sink_text(s, "\",\"codeId\":\"");
		write_build_id(s, object);
		sink_text(s, "\"}");
	}
	sink_text(s, "],\n\"pages\":[],\"profilerOverhead\":[],\"counters\":[],\n\"threads\":[\n");
}

struct error *firefox_render(const struct profile *p, const struct view_options *o, struct sink *s)
{
	struct firefox w;
	struct error *error = firefox_init(&w, p, s);

	if (!error) {
		write_meta(&w, o->title ? o->title : p->trace_count ? p->traces[0].path : "prof");
		write_libs(&w);
	}
	for (size_t i = 0; !error && i < w.threads.count; i++) {
		if (i)
			sink_text(s, ",\n");
		error = firefox_thread(&w, i);
	}
	sink_text(s, "]}\n");
	firefox_release(&w);
	return error;
}
