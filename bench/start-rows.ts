/** Rows for the time until the first request, and for the memory while the process waits for the answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.js';
import type { Name } from './contender.js';
import { startObserver } from './observer.js';
import { PROMPTS } from './playbook.js';
import { cpuOf, memoryOf } from './process-figures.js';
import type { Row } from './row.js';
import { end } from './simulator-process.js';

/** Time until work after the first request has ended. */
const SETTLE_MS = 700;

const firstRequest = async <T>(
  { contenders, repeat }: Bench,
  rounds: number,
  measure: (pid: number, ms: number) => T | Promise<T>,
): Promise<Record<'floor' | 'ours', T[]>> => {
  const observer = await startObserver();
  const measureOnce = async (name: Name): Promise<T> => {
    const arrival = observer.arrival();
    const began = performance.now();
    const child = contenders.start(name, PROMPTS.loop, observer.url);
    try {
      const ms = (await arrival) - began;
      return await measure(child.pid ?? 0, ms);
    } finally {
      await end(child);
    }
  };
  try {
    await measureOnce('floor');
    await measureOnce('ours');
    return await repeat(rounds, measureOnce);
  } finally {
    observer.close();
  }
};

export const coldStart = async (bench: Bench): Promise<readonly Row[]> => {
  const measure = (pid: number, ms: number) => ({ ms, cpu: cpuOf(pid) });
  const { floor, ours } = await firstRequest(bench, bench.quick ? 3 : 15, measure);
  return [
    {
      id: 'cold-start',
      what: 'start to first request, time',
      unit: 'ms',
      target: 0.9,
      floor: floor.map(({ ms }) => ms),
      ours: ours.map(({ ms }) => ms),
    },
    {
      id: 'cold-start-cpu',
      what: 'start to first request, CPU',
      unit: 'ms',
      floor: floor.map(({ cpu }) => cpu),
      ours: ours.map(({ cpu }) => cpu),
    },
  ];
};

export const idleMemory = async (bench: Bench): Promise<readonly Row[]> => {
  const figures = await firstRequest(bench, bench.quick ? 1 : 7, async (pid) => {
    await sleep(SETTLE_MS);
    return memoryOf(pid);
  });
  const what = 'resident memory while waiting for the first answer';
  return [{ id: 'idle-memory', what, unit: 'MB', target: 1.1, ...figures }];
};
