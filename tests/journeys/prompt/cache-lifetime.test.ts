import { describe, expect, test } from 'vitest';
import { type Line, type Scene, setScene } from '../../fakes/skein-process.js';

const HOUR = { type: 'ephemeral', ttl: '1h' };
const MINUTES = { type: 'ephemeral' };
const HOURLY = { SKEIN_CACHE_HOUR_FOR: 'print' };

/** The marks of the last request, in the order in which a server reads them. */
const marksOf = ({ bodies }: Scene): readonly Line[] => {
  const { tools = [], system = [], messages = [] } = bodies().at(-1) ?? {};
  const said = messages.flatMap(({ content }: Line) => content);
  return [...tools, ...system, ...said].flatMap(({ cache_control }) => cache_control ?? []);
};

/** A session with some environments, one process after the other. */
const talkIn = async (...environments: readonly Record<string, string>[]) => {
  const scene = await setScene();
  const marks: (readonly Line[])[] = [];
  for (const [index, env] of environments.entries()) {
    const choice = index === 0 ? '--session-id' : '--resume';
    await scene.run(['-p', `Prompt ${index}.`, choice, 'talk'], { env });
    marks.push(marksOf(scene));
  }
  return { scene, marks };
};

describe('the lifetime of a cached prompt', () => {
  test('is five minutes unless something else is said', async () => {
    const { marks } = await talkIn({}, {});
    expect(marks).toEqual([
      [MINUTES, MINUTES, MINUTES],
      [MINUTES, MINUTES, MINUTES, MINUTES],
    ]);
  });

  test('is an hour where the settings say so, in every mark, and is booked as such', async () => {
    const { scene, marks } = await talkIn(HOURLY);
    expect(marks).toEqual([[HOUR, HOUR, HOUR]]);
    const [first] = scene.simulator.requests;
    expect(first?.usage).toMatchObject({ cacheWrite5m: 0, input: 0 });
    expect(first?.usage?.cacheWrite1h).toBeGreaterThan(0);
  });

  test('is decided once: a session keeps its own whatever is said later (K7)', async () => {
    const toMinutes = await talkIn(HOURLY, {}, HOURLY);
    expect(toMinutes.marks.flat()).toEqual(Array.from({ length: 11 }, () => HOUR));
    const toHour = await talkIn({}, HOURLY);
    expect(toHour.marks.flat()).toEqual(Array.from({ length: 7 }, () => MINUTES));
    const [, second] = toHour.scene.simulator.requests;
    expect(second?.usage?.cacheRead).toBeGreaterThan(0);
  });
});
