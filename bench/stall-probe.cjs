/**
 * Probe that is preloaded into a measured process. Writes the longest stall of its event loop, in milliseconds, from
 * the first request to the exit.
 */
const { subscribe, unsubscribe } = require('node:diagnostics_channel');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { writeFileSync } = require('node:fs');

const delays = monitorEventLoopDelay({ resolution: 1 });
const begin = () => {
  delays.enable();
  unsubscribe('http.client.request.start', begin);
};
subscribe('http.client.request.start', begin);
process.on('exit', () => writeFileSync(process.env.BENCH_PROBE, JSON.stringify(delays.max / 1e6)));
