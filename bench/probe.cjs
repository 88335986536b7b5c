/**
 * Probe that is preloaded into a measured process. At each request and at exit it records the time and the
 * CPU of all threads (µs). Some samples also have the resident memory in bytes, the last one its maximum.
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

// The built-in fetch uses the first channel, node:http the second.
subscribe('undici:request:create', sampleNow);
subscribe('http.client.request.start', sampleNow);
process.on('exit', () => {
  sample(process.resourceUsage().maxRSS * 1024);
  writeFileSync(process.env.BENCH_PROBE, JSON.stringify(samples));
});
