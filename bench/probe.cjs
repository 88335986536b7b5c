/**
 * Preloaded into a measured process: at each request it sends, and when it ends, notes the time, the
 * CPU used so far by all its threads (µs) and now and then its resident memory (bytes).
 */
const { subscribe } = require('node:diagnostics_channel');
const { writeFileSync } = require('node:fs');

const MEMORY_EVERY = 10;
const samples = [];

const sample = () => {
  const { user, system } = process.cpuUsage();
  const memory = samples.length % MEMORY_EVERY === 0 ? process.memoryUsage.rss() : null;
  samples.push([performance.now(), user + system, memory]);
};

// The built-in fetch announces itself on the one, node:http on the other.
subscribe('undici:request:create', sample);
subscribe('http.client.request.start', sample);
process.on('exit', () => {
  sample();
  writeFileSync(process.env.BENCH_PROBE, JSON.stringify(samples));
});
