// SPDX-License-Identifier: GPL-2.0-or-later

// An addon for node: run(COUNT, FILE) makes isolates, one after the other on the calling thread.
// Each one runs a function of another name for a few milliseconds, and ends. Which one ran from when
// to when is written to the file, with the line where it begins.

#include <cstdio>
#include <ctime>
#include <node.h>
#include <string>

using namespace v8;

static double now()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void clock(const FunctionCallbackInfo<Value> &arguments)
{
	arguments.GetReturnValue().Set(now());
}

static void run_one(Isolate *isolate, int n, FILE *log)
{
	Isolate::Scope in(isolate);
	HandleScope scope(isolate);
	Local<ObjectTemplate> global = ObjectTemplate::New(isolate);

	global->Set(isolate, "clock", FunctionTemplate::New(isolate, clock));

	Local<Context> context = Context::New(isolate, nullptr, global);
	Context::Scope within(context);
	std::string name = "phase_" + std::to_string(n);
	double begin = now();
	std::string source = std::string(n % 7, '\n') + "(function " + name +
			     "(clock, end) { let s = 0; do { for (let i = 0; i < 2000; i++) s += i % 7; } "
			     "while (clock() < end); return s; })(clock, " +
			     std::to_string(begin + 5e6) + ")";
	Local<String> text = String::NewFromUtf8(isolate, source.c_str()).ToLocalChecked();

	begin = now();
	Script::Compile(context, text).ToLocalChecked()->Run(context).ToLocalChecked();
	fprintf(log, "%s %.0f %.0f %d\n", name.c_str(), begin, now(), n % 7 + 1);
}

static void run(const FunctionCallbackInfo<Value> &arguments)
{
	Isolate *own = arguments.GetIsolate();
	Local<Context> context = own->GetCurrentContext();
	int count = arguments[0]->Int32Value(context).FromJust();
	FILE *log = fopen(*String::Utf8Value(own, arguments[1]), "w");
	node::MultiIsolatePlatform *platform =
		node::GetMultiIsolatePlatform(node::GetCurrentEnvironment(context));
	Isolate::CreateParams parameters;

	parameters.array_buffer_allocator = ArrayBuffer::Allocator::NewDefaultAllocator();
	for (int n = 0; n < count; n++) {
		Isolate *isolate = Isolate::Allocate();

		platform->RegisterIsolate(isolate, node::GetCurrentEventLoop(own));
		Isolate::Initialize(isolate, parameters);
		run_one(isolate, n, log);
		platform->UnregisterIsolate(isolate);
		isolate->Dispose();
	}
	fclose(log);
}

NODE_MODULE_INIT()
{
	NODE_SET_METHOD(exports, "run", run);
}
