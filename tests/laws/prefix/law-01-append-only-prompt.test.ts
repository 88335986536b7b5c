/**
 * Law 1: the prompt of each request extends the previous prompt byte for byte, or a break is
 * declared.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../../src/protocol/session/journal-record.js';
import { eventually } from '../../fakes/eventually.js';
import { type Line, openScene } from '../../fakes/skein-process.js';
import { firstBreak, promptOf } from '../prompts.js';
import { openPrintScene, type PrintScene } from '../workspace.js';

const script = {
  rules: [
    {
      match: { turn: { max: 7 } },
      reply: {
        thinking: 'Let me see {{turn}}.',
        text: 'Line one.\nÄöü 🪿 "quoted" \\ {{turn}}',
        tool_use: [
          { name: 'Read', input: { file_path: 'a.txt', offset: 1 } },
          {
            name: 'Nothing',
            input: { '2': 'b', '10': 'a', x: { '1': [1.0, 1e21, -0] }, y: '{{turn}}' },
          },
        ],
      },
    },
    { reply: 'Done.' },
  ],
};

const NO = { name: 'No', input: {} };

describe('law 1, append-only prompt', () => {
  let scene: PrintScene;
  beforeAll(async () => {
    scene = await openPrintScene(script, { 'a.txt': 'tab\there\r\nü🪿\u2028x\n' });
  });
  afterAll(() => scene.close());

  test('every request extends the previous request', async () => {
    const { code } = await scene.run(['Look at it.', '--session-id', 'long']);
    expect(code).toBe(0);
    expect(scene.bodies()).toHaveLength(9);
    expect(firstBreak(scene.bodies())).toBeUndefined();
  });

  test('a change of model is a declared break, and the messages are still extended', async () => {
    const before = scene.bodies().length;
    await scene.run(['Again.', '--resume', 'long', '--model', 'opus']);
    expect(scene.bodies().length).toBeGreaterThan(before);
    expect(firstBreak(scene.bodies())).toBeUndefined();
    const breaks = scene.journal('long').filter(({ type }) => type === 'prompt.broken');
    expect(breaks).toMatchObject([
      { reason: 'model', section: 'model claude-sonnet-5-5 → claude-opus-5-5' },
    ]);
  });

  test('a prompt that had to be cut is a declared break in the journal', async () => {
    const tooLong = { status: 400, message: 'prompt is too long: 210 tokens > 200 maximum' };
    const cut = await openPrintScene({
      rules: [
        { match: { firstUser: 'Earlier turns' }, reply: 'Fits.' },
        { match: { turn: { max: 3 } }, reply: { thinking: 'Hm.', tool_use: [NO] } },
        { reply: { error: tooLong } },
      ],
    });
    const { code } = await cut.run(['Go.', '--session-id', 'cut']);
    const journal = cut.journal('cut');
    await cut.close();
    expect(code).toBe(0);
    expect(firstBreak(cut.bodies())).toBeDefined();
    expect(journal.filter(({ type }) => type === 'prompt.broken')).toMatchObject([
      { reason: 'truncation', section: 'messages' },
    ]);
  });

  test('catches a single changed byte', () => {
    const bodies = scene.bodies();
    const planted = bodies.map((body, index) =>
      index === 4 ? Buffer.from(body.toString().replace('Line one', 'Line two')) : body,
    );
    expect(firstBreak(planted)).toContain('request 4 leaves the prompt of request 3');
  });

  test('catches a system prompt with the time', () => {
    const [first, second] = scene.bodies();
    const planted = second?.toString().replace('Platform:', 'Time: 12:00 Platform:') ?? '';
    expect(firstBreak([first as Buffer, Buffer.from(planted)])).toContain('request 1');
  });

  test('compares prompts without cache breakpoints', () => {
    expect(scene.bodies().every((body) => body.includes('cache_control'))).toBe(true);
    expect(scene.bodies().some((body) => promptOf(body).includes('cache_control'))).toBe(false);
  });
});

describe('law 1, changes during a session', () => {
  const FILES = {
    'CLAUDE.md': 'Use tabs.',
    '.claude/rules/ts.md': '---\npaths: src/**\n---\nNo any.',
    '.claude/rules/all.md': 'No todo.',
    'src/x.ts': 'x\n',
    'src/y.ts': 'y\n',
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/objects/x': '',
  };
  const read = (...names: string[]) => ({
    tool_use: names.map((name) => ({ name: 'Read', input: { file_path: name } })),
  });
  const rules = [
    { match: { lastUser: 'Read both' }, reply: read('src/x.ts', 'src/y.ts') },
    { match: { lastUser: 'Read one' }, reply: read('src/x.ts') },
    { reply: 'Well. '.repeat(400) },
  ];

  let scene: Awaited<ReturnType<typeof openScene>>;
  const put = async (name: string, text: string) => {
    await mkdir(dirname(join(scene.workspace, name)), { recursive: true });
    await writeFile(join(scene.workspace, name), text);
  };
  beforeEach(async () => {
    scene = await openScene(rules);
    for (const [name, text] of Object.entries(FILES)) await put(name, text);
  });
  afterEach(() => scene.close());

  const raw = () => scene.simulator.requests.map(({ body }) => body);
  /** Texts of a message of the newest request. Negative indexes count from the end. */
  const textsAt = (index: number): string[] =>
    scene
      .bodies()
      .at(-1)
      ?.messages.at(index)
      .content.map(({ type, text }: Line) => text ?? type);
  const breaks = async () =>
    (await scene.journal()).filter(({ type }) => type === 'prompt.broken').map(wordsOf);
  const wordsOf = (record: JournalRecord) =>
    record.type === 'prompt.broken' ? `${record.reason}: ${record.section}` : '';

  test('a new date, branch and mode are reminders at the end, and no break', async () => {
    const east = { TZ: 'Pacific/Kiritimati' };
    const west = { TZ: 'Etc/GMT+12' };
    await scene.run(['-p', 'One.', '--session-id', 's'], { env: east });
    await put('.git/HEAD', 'ref: refs/heads/next\n');
    const mode = ['--permission-mode', 'plan'];
    await scene.run(['-p', 'Two.', '--resume', 's', ...mode], { env: west });
    const day = /^<system-reminder>\nToday's date is now \d{4}-\d{2}-\d{2}\.\n<\/system-reminder>$/;
    expect(textsAt(-1)).toEqual([
      'Two.',
      expect.stringMatching(day),
      '<system-reminder>\nThe repository is now on branch next.\n</system-reminder>',
      expect.stringContaining('Permission mode: plan.'),
    ]);
    await scene.run(['-p', 'Three.', '--resume', 's', ...mode], { env: west });
    expect(textsAt(-1)).toEqual(['Three.']);
    expect(firstBreak(raw())).toBeUndefined();
    expect(await breaks()).toEqual([]);
  });

  test('rules for some files are reminders at the end, once, and no break', async () => {
    await scene.run(['-p', 'Read both.', '--session-id', 's']);
    expect(textsAt(0).join()).toContain('No todo.');
    expect(textsAt(0).join()).not.toContain('No any.');
    expect(textsAt(-1).map((text) => text.includes('No any.'))).toEqual([false, false, true]);
    await scene.run(['-p', 'Read one.', '--resume', 's']);
    expect(textsAt(-1)).toEqual(['tool_result']);
    expect(firstBreak(raw())).toBeUndefined();
    expect(await breaks()).toEqual([]);
    expect(raw()).toHaveLength(4);
  });

  test('instruction files are read once, until the conversation is cleared or compacted', async () => {
    const session = scene.start(['--plain']);
    const say = async (text: string) => {
      const before = raw().length;
      session.write(`${text}\n`);
      await eventually(`"${text}" is sent`, () => raw().length > before);
      await eventually('the prompt is answered', () => scene.simulator.requests.at(-1)?.usage);
    };
    await say('One.');
    await put('CLAUDE.md', 'Use spaces.');
    await put('CLAUDE.local.md', 'Sing.');
    await put('.claude/rules/ts.md', '---\npaths: src/**\n---\nNo unknown.');
    await say('Two.');
    await say('Read one.');
    await eventually('the results are sent', () => textsAt(-1)?.[0] === 'tool_result');
    expect(textsAt(-1).at(-1)).toContain('No any.');
    expect(firstBreak(raw())).toBeUndefined();
    expect(await breaks()).toEqual([]);

    session.write('/clear\n');
    await say('Three.');
    expect(textsAt(0)[0]).toMatch(/Use spaces\.[\s\S]*Sing\./);
    expect(textsAt(0).at(-1)).toBe('Three.');
    expect(await breaks()).toEqual(['clear: messages', 'section: memory']);

    await put('CLAUDE.md', 'Use nothing.');
    for (const text of ['Four.', 'Five.', 'Six.']) await say(text);
    expect(textsAt(0)[0]).toContain('Use spaces.');
    await say('/compact');
    await eventually('the conversation is compacted', () => session.stdout.includes('Summarised'));
    await say('Seven.');
    expect(textsAt(0)[0]).toContain('Use nothing.');
    expect(textsAt(0)[1]).toContain('replaced by a summary');
    expect(await breaks()).toEqual(['clear: messages', 'section: memory', 'compaction: messages']);
    session.endInput();
    expect(await session.ended).toMatchObject({ code: 0 });
  }, 60_000);

  test('instruction files are not read again by another process', async () => {
    await scene.run(['-p', 'One.', '--session-id', 's']);
    await put('CLAUDE.md', 'Use spaces.');
    await put('CLAUDE.local.md', 'Sing.');
    const env = { SKEIN_MCP_INSTRUCTIONS_DELTA: 'false' };
    for (const more of [{}, { env }]) await scene.run(['-p', 'Two.', '--resume', 's'], more);
    expect(raw()).toHaveLength(3);
    expect(firstBreak(raw())).toBeUndefined();
    expect(await breaks()).toEqual([]);
  });
});
