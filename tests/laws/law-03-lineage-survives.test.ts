/** Law 3 on one machine: resume, continue, fork and a crash go on with the very bytes of before. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstBreak, promptOf } from './prompts.js';
import { makePlace, type Place } from './workspace.js';

const script = {
  rules: [
    {
      match: { lastUser: '/First|Third/' },
      reply: {
        thinking: 'Hm.',
        text: 'I look.',
        tool_use: [{ name: 'Read', input: { file_path: 'a.txt' } }],
      },
    },
    { match: { lastUser: 'slow' }, reply: { text: 'never', stall: { afterEvents: 4 } } },
    { reply: 'Answer {{turn}}.' },
  ],
};

describe('law 3, lineage survives', () => {
  let place: Place;
  beforeAll(async () => {
    place = await makePlace(script, { 'a.txt': 'ü🪿\r\n{"a":1}\n' });
    await place.run(['First.', '--session-id', 'line']);
  });
  afterAll(() => place.close());

  const lastBodies = async (args: readonly string[], env?: Record<string, string>) => {
    const before = place.bodies().length;
    const { code } = await place.run(args, env);
    expect(code).toBe(0);
    return place.bodies().slice(before - 1);
  };

  test('a resumed session extends what it sent before', async () => {
    expect(firstBreak(await lastBodies(['Second.', '--resume', 'line']))).toBeUndefined();
  });

  test('a continued one does, too', async () => {
    expect(firstBreak(await lastBodies(['Third.', '--continue']))).toBeUndefined();
  });

  test('another version of the prompt changes nothing for a session that has one', async () => {
    const bodies = await lastBodies([
      'Fourth.',
      '--resume',
      'line',
      '--system-prompt',
      'New rules',
    ]);
    expect(firstBreak(bodies)).toBeUndefined();
  });

  test('a forked session extends its source and leaves it alone', async () => {
    const journal = place.journal('line');
    const args = ['Fork.', '--resume', 'line', '--fork-session', '--session-id', 'forked'];
    expect(firstBreak(await lastBodies(args))).toBeUndefined();
    expect(place.journal('line')).toEqual(journal);
  });

  test('a session that was killed in the middle of an answer asks again with the same bytes', async () => {
    const before = place.bodies().length;
    const running = place.start(['slow.', '--resume', 'line']);
    while (place.bodies().length === before) await new Promise((next) => setTimeout(next, 20));
    running.kill('SIGKILL');
    await running.ended;
    const again = place.start(['--resume', 'line']);
    while (place.bodies().length === before + 1) await new Promise((next) => setTimeout(next, 20));
    again.kill('SIGKILL');
    await again.ended;
    const [first, second] = place.bodies().slice(before);
    expect(second?.equals(first as Buffer)).toBe(true);
  });

  test('catches a tool result that was written again with its keys in another order', () => {
    const bodies = place.bodies();
    const planted = bodies
      .slice(0, 3)
      .map((body, index) =>
        index < 2
          ? body
          : Buffer.from(
              body
                .toString()
                .replace(
                  /\{"type":"tool_result","tool_use_id":("[^"]*")/,
                  '{"tool_use_id":$1,"type":"tool_result"',
                ),
            ),
      );
    expect(promptOf(planted[2] as Buffer)).not.toBe(promptOf(bodies[2] as Buffer));
    expect(firstBreak(planted)).toContain('request 2');
  });
});
