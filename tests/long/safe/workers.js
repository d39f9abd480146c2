// workers.js - node with what a tracer may break: code made hot for the JIT, exceptions, worker threads, child processes,
// signals, WebAssembly, garbage collection. Prints only what is the same each time.
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const { spawnSync, execFile } = require('child_process');

function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function fall(n) { if (n === 0) throw new RangeError('deep'); return fall(n - 1) + 1; }
function overflow() { return overflow() + 1; }

if (!isMainThread) {
	let caught = 0;
	for (let i = 0; i < 400; i++)
		try { fall(i % 40); } catch (e) { caught++; }
	parentPort.postMessage([workerData, fib(20), caught]);
} else {
	console.log(fib(22));
	try { overflow(); } catch (e) { console.log(e instanceof RangeError); }
	let garbage = 0;
	for (let i = 0; i < 50000; i++)
		garbage += [i, { i }].length;
	console.log(garbage);
	console.log(spawnSync(process.execPath, ['-e', 'process.exitCode = 5; console.log("child")']).stdout.toString());
	console.log(spawnSync('sh', ['-c', 'kill -9 $$']).signal);
	const wasm = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 7, 7, 1, 3, 97,
		100, 100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11]);
	WebAssembly.instantiate(wasm).then(async (m) => {
		let sum = 0;
		for (let i = 0; i < 100000; i++) sum = m.instance.exports.add(sum, i) & 0xffff;
		console.log(sum);
		console.log(await Promise.all([1, 2].map((n) => new Promise((done) =>
			new Worker(__filename, { workerData: n }).on('message', done)))));
		process.on('SIGUSR2', () => { console.log('usr2'); process.exit(3); });
		execFile('true', () => process.kill(process.pid, 'SIGUSR2'));
		setTimeout(() => {}, 10000);
	});
}
