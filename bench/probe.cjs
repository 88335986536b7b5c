/**
 * Preloaded into a measured process: at each request it sends, and when it ends, notes the time, the
 * CPU used so far by all its threads (µs) and now and then its resident memory (bytes); at the end the
 * most that it ever was.
 */
const { subscribe } = require('node:diagnostics_channel');
const { writeFileSync } = require('node:fs');

const MEMORY_EVERY = 10;
const samples = [];

const sample = (memory) => {
  const { user, system } = process.cpuUsage();
  samples.push([performance.now(), user + system, memory]);
};

const sampleNow = () =>
  sample(samples.length % MEMORY_EVERY === 0 ? process.memoryUsage.rss() : null);

// The built-in fetch announces itself on the one, node:http on the other.
subscribe('undici:request:create', sampleNow);
subscribe('http.client.request.start', sampleNow);
process.on('exit', () => {
  sample(process.resourceUsage().maxRSS * 1024);
  writeFileSync(process.env.BENCH_PROBE, JSON.stringify(samples));
});
