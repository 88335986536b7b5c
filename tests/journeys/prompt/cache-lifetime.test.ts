import { describe, expect, test } from 'vitest';
import { type Line, type Scene, setScene } from '../../fakes/skein-process.js';

const HOUR = { type: 'ephemeral', ttl: '1h' };
const MINUTES = { type: 'ephemeral' };
const HOURLY = { SKEIN_CACHE_HOUR_FOR: 'print' };

/** Cache breakpoints of the last request, in the order in which a server reads them. */
const breakpointsOf = ({ bodies }: Scene): readonly Line[] => {
  const { tools = [], system = [], messages = [] } = bodies().at(-1) ?? {};
  const blocks = messages.flatMap(({ content }: Line) => content);
  return [...tools, ...system, ...blocks].flatMap(({ cache_control }) => cache_control ?? []);
};

/** Runs a session in several processes, each with its own environment. */
const runSessionWith = async (...environments: readonly Record<string, string>[]) => {
  const scene = await setScene();
  const breakpoints: (readonly Line[])[] = [];
  for (const [index, env] of environments.entries()) {
    const choice = index === 0 ? '--session-id' : '--resume';
    await scene.run(['-p', `Prompt ${index}.`, choice, 'talk'], { env });
    breakpoints.push(breakpointsOf(scene));
  }
  return { scene, breakpoints };
};

describe('the lifetime of a cached prompt', () => {
  test('is five minutes by default', async () => {
    const { breakpoints } = await runSessionWith({}, {});
    expect(breakpoints).toEqual([
      [MINUTES, MINUTES, MINUTES],
      [MINUTES, MINUTES, MINUTES, MINUTES],
    ]);
  });

  test('is an hour in every breakpoint if the settings say so, and is billed as such', async () => {
    const { scene, breakpoints } = await runSessionWith(HOURLY);
    expect(breakpoints).toEqual([[HOUR, HOUR, HOUR]]);
    const [first] = scene.simulator.requests;
    expect(first?.usage).toMatchObject({ cacheWrite5m: 0, input: 0 });
    expect(first?.usage?.cacheWrite1h).toBeGreaterThan(0);
  });

  test('is fixed for a session: later settings do not change it (K7)', async () => {
    const toMinutes = await runSessionWith(HOURLY, {}, HOURLY);
    expect(toMinutes.breakpoints.flat()).toEqual(Array.from({ length: 11 }, () => HOUR));
    const toHour = await runSessionWith({}, HOURLY);
    expect(toHour.breakpoints.flat()).toEqual(Array.from({ length: 7 }, () => MINUTES));
    const [, second] = toHour.scene.simulator.requests;
    expect(second?.usage?.cacheRead).toBeGreaterThan(0);
  });
});
