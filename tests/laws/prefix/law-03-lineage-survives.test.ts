/**
 * Law 3 on one machine: after resume, continue, fork and a crash the prompt continues byte for
 * byte.
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type JournalRecord, parseRecord } from '../../../src/protocol/session/journal-record.js';
import { openScene } from '../../fakes/skein-process.js';
import { KILLER, killPoints, whenAt } from '../killed-run.js';
import { firstBreak, promptOf } from '../prompts.js';
import { openPrintScene, type PrintScene } from '../workspace.js';

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
  let scene: PrintScene;
  beforeAll(async () => {
    scene = await openPrintScene(script, { 'a.txt': 'ü🪿\r\n{"a":1}\n' });
    await scene.run(['First.', '--session-id', 'line']);
  });
  afterAll(() => scene.close());

  const lastBodies = async (args: readonly string[], env?: Record<string, string>) => {
    const before = scene.bodies().length;
    const { code } = await scene.run(args, env);
    expect(code).toBe(0);
    return scene.bodies().slice(before - 1);
  };

  test('a resumed session extends its last request', async () => {
    expect(firstBreak(await lastBodies(['Second.', '--resume', 'line']))).toBeUndefined();
  });

  test('a continued session extends its last request', async () => {
    expect(firstBreak(await lastBodies(['Third.', '--continue']))).toBeUndefined();
  });

  test('another system prompt does not change an existing session', async () => {
    const bodies = await lastBodies([
      'Fourth.',
      '--resume',
      'line',
      '--system-prompt',
      'New rules',
    ]);
    expect(firstBreak(bodies)).toBeUndefined();
  });

  test('a copied session extends its source and does not change it', async () => {
    const journal = scene.journal('line');
    const args = ['Fork.', '--resume', 'line', '--fork-session', '--session-id', 'forked'];
    expect(firstBreak(await lastBodies(args))).toBeUndefined();
    expect(scene.journal('line')).toEqual(journal);
  });

  test('a session that was killed during an answer repeats the request byte for byte', async () => {
    const before = scene.bodies().length;
    const running = scene.start(['slow.', '--resume', 'line']);
    while (scene.bodies().length === before) await new Promise((next) => setTimeout(next, 20));
    running.kill('SIGKILL');
    await running.ended;
    const again = scene.start(['--resume', 'line']);
    while (scene.bodies().length === before + 1) await new Promise((next) => setTimeout(next, 20));
    again.kill('SIGKILL');
    await again.ended;
    const [first, second] = scene.bodies().slice(before);
    expect(second?.equals(first as Buffer)).toBe(true);
  });

  test('catches a tool result whose keys are in another order', () => {
    const bodies = scene.bodies();
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
  test('the next request extends the request before the rewind point, also in a copy and after undo', async () => {
    const scene = await openScene(script.rules);
    try {
      writeFileSync(join(scene.workspace, 'a.txt'), 'ü🪿\r\n');
      const bodies = () => scene.simulator.requests.map(({ body }) => body);
      /** Last request body after a prompt. */
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

/** Instructions, a rule for a file, and another prompt head on the second day. */
describe('law 3, for a session with instructions that is killed', () => {
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
  /** Time zone in which the date always differs from the start of the session. */
  const NEXT_DAY = { TZ: 'Etc/GMT+12', SKEIN_CACHE_BREAKER: 'anew' };

  let scene: PrintScene;
  let copies = 0;
  beforeAll(async () => {
    scene = await openPrintScene({ rules }, FILES);
    await scene.run(['First.', '--session-id', 'line'], { TZ: 'Pacific/Kiritimati' });
    // A later change has no effect, because the session has already sent the file.
    writeFileSync(join(scene.workspace, 'CLAUDE.md'), 'Use spaces.');
  });
  afterAll(() => scene.close());

  /** Copy of the state directory, so that the same session can be resumed repeatedly. */
  const copyOfHome = (): string => {
    copies += 1;
    const copy = join(scene.home, `copy-${copies}`);
    cpSync(join(scene.home, '.skein'), copy, { recursive: true });
    return copy;
  };

  const resume = async (env: Record<string, string>, args: readonly string[]) => {
    const before = scene.bodies().length;
    const { code, signal, stderr } = await scene.run([...args, '--resume', 'line'], {
      ...NEXT_DAY,
      ...env,
    });
    return { code, signal, stderr, bodies: scene.bodies().slice(before) };
  };

  const journalIn = (home: string): readonly JournalRecord[] => {
    const folder = join(home, 'sessions', 'line', 'agents');
    const name = readdirSync(folder).find((file) => file.endsWith('.jsonl')) ?? '';
    const lines = readFileSync(join(folder, name), 'utf8').split('\n');
    return lines.flatMap((line) => parseRecord(line) ?? []);
  };

  test('the session resumes byte for byte after a kill at any write', async () => {
    const whole = copyOfHome();
    const count = join(scene.home, 'count');
    const { code, bodies } = await resume(
      { SKEIN_HOME: whole, ...KILLER, KILL_COUNT_FILE: count },
      ['Second.'],
    );
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
    expect([writes > 12, scene.bodies().length]).toEqual([true, 4]);
    const failures: unknown[] = [];
    for (const at of killPoints(1, writes)) {
      const home = copyOfHome();
      const killer = { ...KILLER, KILL_AT: String(at), KILL_WHEN: whenAt(at) };
      const killed = await resume({ SKEIN_HOME: home, ...killer }, ['Second.']);
      const letters = journalIn(home).filter(({ type }) => type === 'letter.received');
      const hasPrompt = letters.length > 1;
      const after = await resume({ SKEIN_HOME: home }, hasPrompt ? [] : ['Second.']);
      const sent = [...killed.bodies, ...after.bodies].map(String);
      const isOver = at === writes;
      const isRight =
        killed.signal === 'SIGKILL' &&
        after.code === 0 &&
        sent.every((body) => body === first || body === last) &&
        (isOver || sent.at(-1) === last || killed.bodies.length === 2);
      if (!isRight)
        failures.push({ at, killed: killed.signal, code: after.code, stderr: after.stderr });
    }
    expect(failures).toEqual([]);
  }, 300_000);
});
