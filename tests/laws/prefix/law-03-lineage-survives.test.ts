/** Law 3 on one machine: resume, continue, fork and a crash go on with the very bytes of before. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type JournalRecord, parseRecord } from '../../../src/protocol/session/journal-record.js';
import { openScene } from '../../fakes/skein-process.js';
import { KILLER, killPoints, whenAt } from '../killed-run.js';
import { firstBreak, promptOf } from '../prompts.js';
import { makePlace, type Place } from '../workspace.js';

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

describe('law 3, after a rewind', () => {
  test('the next request extends the one that was sent there, also of a fork, and after undo', async () => {
    const scene = await openScene(script.rules);
    try {
      writeFileSync(join(scene.workspace, 'a.txt'), 'ü🪿\r\n');
      const bodies = () => scene.simulator.requests.map(({ body }) => body);
      /** The last body that a prompt led to. */
      const say = async (prompt: string, ...flags: readonly string[]): Promise<Buffer> => {
        const { code } = await scene.run(['-p', prompt, ...flags]);
        expect(code).toBe(0);
        return bodies().at(-1) as Buffer;
      };
      const rewind = async (...flags: readonly string[]) =>
        expect(await scene.run(['rewind', 'line', '--yes', ...flags])).toMatchObject({ code: 0 });
      const first = await say('First.', '--session-id', 'line');
      const second = await say('Second.', '--resume', 'line');
      const third = await say('Third.', '--resume', 'line');
      await rewind('--to', '2');
      const other = await say('Other.', '--resume', 'line');
      expect(firstBreak([first, other])).toBeUndefined();
      expect(firstBreak([second, other])).toContain('request 1');
      const fork = ['--resume', 'line', '--fork-session', '--session-id', 'copy'];
      expect(firstBreak([other, await say('Fork.', ...fork)])).toBeUndefined();
      await rewind('--undo');
      expect(firstBreak([third, await say('Again.', '--resume', 'line')])).toBeUndefined();
    } finally {
      await scene.close();
    }
  });
});

/** Instructions, a rule for what is read, and on the second day another head. */
describe('law 3, where a briefed session dies', () => {
  const FILES = {
    'CLAUDE.md': 'Use tabs. 🪿\n\n@docs/more.md\n',
    'docs/more.md': 'Be brief.',
    '.claude/rules/ts.md': '---\npaths: src/**\n---\nNo any.',
    'src/x.ts': 'x\n',
    'y.ts': 'y\n',
  };
  const rules = [
    {
      match: { lastUser: 'First' },
      reply: { tool_use: [{ name: 'Read', input: { file_path: 'y.ts' } }] },
    },
    {
      match: { lastUser: 'Second' },
      reply: { thinking: 'Hm.', tool_use: [{ name: 'Read', input: { file_path: 'src/x.ts' } }] },
    },
    { reply: 'Answer {{turn}}.' },
  ];
  /** It is always another day there than where the session began. */
  const NEXT_DAY = { TZ: 'Etc/GMT+12', SKEIN_CACHE_BREAKER: 'anew' };

  let place: Place;
  let copies = 0;
  beforeAll(async () => {
    place = await makePlace({ rules }, FILES);
    await place.run(['First.', '--session-id', 'line'], { TZ: 'Pacific/Kiritimati' });
    // From here on nobody looks at them: the session has been told.
    writeFileSync(join(place.workspace, 'CLAUDE.md'), 'Use spaces.');
  });
  afterAll(() => place.close());

  /** The same session in a home of its own, so that it can go on more than once. */
  const copyOfHome = (): string => {
    copies += 1;
    const copy = join(place.home, `copy-${copies}`);
    cpSync(join(place.home, '.skein'), copy, { recursive: true });
    return copy;
  };

  const goOn = async (env: Record<string, string>, args: readonly string[]) => {
    const before = place.bodies().length;
    const { code, signal, stderr } = await place.run([...args, '--resume', 'line'], {
      ...NEXT_DAY,
      ...env,
    });
    return { code, signal, stderr, bodies: place.bodies().slice(before) };
  };

  const journalIn = (home: string): readonly JournalRecord[] => {
    const folder = join(home, 'sessions', 'line', 'agents');
    const name = readdirSync(folder).find((file) => file.endsWith('.jsonl')) ?? '';
    const lines = readFileSync(join(folder, name), 'utf8').split('\n');
    return lines.flatMap((line) => parseRecord(line) ?? []);
  };

  test('it goes on with the very bytes, whichever write was its last', async () => {
    const whole = copyOfHome();
    const count = join(place.home, 'count');
    const { code, bodies } = await goOn({ SKEIN_HOME: whole, ...KILLER, KILL_COUNT_FILE: count }, [
      'Second.',
    ]);
    expect(code).toBe(0);
    const [first = '', last = ''] = bodies.map(String);
    expect(bodies).toHaveLength(2);
    expect(journalIn(whole).filter(({ type }) => type === 'prompt.broken')).toMatchObject([
      { reason: 'section', section: 'memory, cache breaker' },
    ]);
    expect(first).toContain('Use tabs. 🪿');
    expect(first).toMatch(/"text":"Second\."\},\{"type":"text","text":"<system-reminder>.nToday's/);
    expect(last).toMatch(/"tool_result"[\s\S]*No any\./);

    const writes = Number(readFileSync(count, 'utf8'));
    expect([writes > 12, place.bodies().length]).toEqual([true, 4]);
    const wrong: unknown[] = [];
    for (const at of killPoints(1, writes)) {
      const home = copyOfHome();
      const killer = { ...KILLER, KILL_AT: String(at), KILL_WHEN: whenAt(at) };
      const killed = await goOn({ SKEIN_HOME: home, ...killer }, ['Second.']);
      const letters = journalIn(home).filter(({ type }) => type === 'letter.received');
      const isHeard = letters.length > 1;
      const after = await goOn({ SKEIN_HOME: home }, isHeard ? [] : ['Second.']);
      const sent = [...killed.bodies, ...after.bodies].map(String);
      const isOver = at === writes;
      const isRight =
        killed.signal === 'SIGKILL' &&
        after.code === 0 &&
        sent.every((body) => body === first || body === last) &&
        (isOver || sent.at(-1) === last || killed.bodies.length === 2);
      if (!isRight) wrong.push({ at, killed: killed.signal, code: after.code, said: after.stderr });
    }
    expect(wrong).toEqual([]);
  }, 300_000);
});
