// A session of Microsoft's client for tests of debug adapters with the bridge:
// node dap_client.js ADAPTER ATTACH PROGRAM. ADAPTER is JSON: [COMMAND,
// ARGUMENT], the path of a socket or a port; ATTACH are the arguments of that
// request. One line of JSON for each thing that it has seen.
"use strict";
const fs = require("fs");
const net = require("net");
const path = require("path");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const [adapter, attach] = process.argv.slice(2, 4).map(JSON.parse);
const program = process.argv[4];
const text = fs.readFileSync(path.join(__dirname, "dap_target.py"), "utf8")
	.split("\n");
const lineOf = words => text.findIndex(line => line.includes(words)) + 1;

function say(what, found) {
	console.log(JSON.stringify([what, found]));
}

async function places(client, thread) {
	const trace = await client.stackTraceRequest({ threadId: thread });
	return trace.body.stackFrames.map(frame => [frame.name, frame.line]);
}

// Lets the thread go on by a step, and waits until it stops.
async function step(client, command, thread) {
	const stopped = client.waitForEvent("stopped");
	await client.send(command, { threadId: thread });
	const body = (await stopped).body;
	const where = (await places(client, thread))[0];
	say(command, [body.reason, ...where]);
}

async function begin(client) {
	const ready = client.waitForEvent("initialized");
	const capabilities = (await client.initializeRequest()).body;
	// In the order of VS Code.
	const attached = client.attachRequest(attach);
	await ready;
	const breakpoints = (await client.setBreakpointsRequest({
		source: { path: program },
		breakpoints: [{ line: lineOf("here it stops"),
			condition: "number == 3" }],
	})).body.breakpoints;
	say("breakpoints", breakpoints.map(one => [one.verified, one.line]));
	await client.setExceptionBreakpointsRequest({ filters: [] });
	await client.configurationDoneRequest();
	await attached;
	say("conditions", capabilities.supportsConditionalBreakpoints);
	const threads = (await client.threadsRequest()).body.threads;
	say("threads", threads.map(one => one.name));
	return threads[0].id;
}

async function look(client, frame) {
	const scopes = (await client.scopesRequest({ frameId: frame })).body.scopes;
	const scope = scopes[0].variablesReference;
	const found = (await client.variablesRequest({
		variablesReference: scope })).body.variables;
	say("variables", found.map(one => [one.name, one.value, one.type]));
	const seen = found.find(one => one.name === "seen").variablesReference;
	say("elements", (await client.variablesRequest({
		variablesReference: seen })).body.variables.map(one => one.value));
	say("evaluate", (await client.evaluateRequest({
		expression: "number + seen[2]", frameId: frame })).body.result);
	say("failure", await client.evaluateRequest({ expression: "nobody",
		frameId: frame }).catch(error => error.message));
	say("completions", (await client.completionsRequest({ text: "numb",
		column: 5, frameId: frame })).body.targets.map(one => one.label));
	say("setVariable", (await client.setVariableRequest({
		variablesReference: scope, name: "number", value: "10 * 3",
	})).body.value);
}

async function walk(client, thread) {
	const stopped = client.assertStoppedLocation("breakpoint",
		{ path: program, line: lineOf("here it stops") });
	await client.evaluateRequest({ expression: "going.set()",
		context: "repl" });
	const frames = (await stopped).body.stackFrames;
	say("stopped", frames.map(one => one.name));
	await look(client, frames[0].id);
	await step(client, "next", thread);
	await step(client, "stepOut", thread);
	await step(client, "next", thread);
	await step(client, "stepIn", thread);
	await step(client, "stepIn", thread);
}

async function raise(client, thread) {
	await client.setBreakpointsRequest({ source: { path: program },
		breakpoints: [] });
	await client.setExceptionBreakpointsRequest({ filters: ["raised"] });
	await step(client, "continue", thread);
	const told = (await client.exceptionInfoRequest({ threadId: thread })).body;
	say("exception", [told.exceptionId, told.description, told.breakMode]);
	await client.setExceptionBreakpointsRequest({ filters: [] });
}

async function pause(client, thread) {
	await client.continueRequest({ threadId: thread });
	// Until it spins.
	for (let where = ""; where !== "spin";)
		where = (await places(client, thread))[0][0];
	const stopped = client.waitForEvent("stopped");
	await client.send("pause", { threadId: thread });
	say("pause", [(await stopped).body.reason,
		(await places(client, thread))[0][0]]);
	await client.evaluateRequest({ expression: "is_over = True",
		context: "repl" });
}

async function main() {
	const client = new DebugClient(...(Array.isArray(adapter) ? adapter :
		["", ""]), "probetui");
	client.defaultTimeout = 15000;
	let socket = null;
	if (typeof adapter === "string") {
		socket = net.createConnection(adapter);
		client.connect(socket, socket);
	} else {
		await client.start(typeof adapter === "number" ? adapter :
			undefined);
	}
	const thread = await begin(client);
	await walk(client, thread);
	await raise(client, thread);
	await pause(client, thread);
	await client.stop();
	if (socket)
		socket.end();
	say("end", null);
}

main().catch(error => {
	console.error(error);
	process.exit(1);
});
