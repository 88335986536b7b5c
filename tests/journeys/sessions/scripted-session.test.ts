/** `skein --plain` with a pipe as stdin: lines in, text out. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { calls, type Rules, type Scene, setScene } from '../../fakes/skein-process.js';

const RULES: Rules = [
  { match: { toolResult: '/./' }, reply: 'Result: {{toolResult}}' },
  { match: { lastUser: 'make' }, reply: calls('Bash', { command: 'touch made' }) },
  {
    match: { lastUser: 'which' },
    reply: calls('AskUser', { question: 'Which?', options: [{ label: 'Red' }, { label: 'Blue' }] }),
  },
  {
    match: { lastUser: 'endless' },
    reply: { text: 'word '.repeat(2_000), chunkBytes: 5, chunkDelayMs: 40 },
  },
  {
    match: { lastUser: 'cut' },
    replies: [{ text: 'Half of it', cut: { afterEvents: 4 } }, { text: 'All of it.' }],
  },
  { reply: 'You said {{lastUser}}!' },
];

const runLines = (scene: Scene, lines: readonly string[], args: readonly string[] = []) =>
  scene.run(['--plain', ...args], { stdin: lines.map((line) => `${line}\n`).join('') });

describe('a scripted session', () => {
  test('answers line by line and exits at the end of its input', async () => {
    const scene = await setScene(RULES);
    const { code, stdout, stderr } = await runLines(scene, ['one', 'two']);
    expect(stdout.split('\n').slice(3)).toEqual([
      '',
      '> one',
      '',
      'You said one!',
      '',
      '> two',
      '',
      'You said two!',
      '',
      expect.stringMatching(/^Session s_\w+, cost \$0\.\d{4}\. Resume with: skein --resume s_\w+$/),
      '',
    ]);
    expect([code, stderr]).toEqual([0, '']);
    expect(scene.bodies()[1]?.messages).toHaveLength(3);
  });

  test('prints no control characters', async () => {
    const scene = await setScene(RULES);
    const { stdout } = await runLines(scene, [
      'make it',
      'd',
      'no',
      '/help',
      '/nope',
      '\u001b[31m',
    ]);
    expect(stdout).not.toMatch(/(?!\n)\p{Cc}/u);
  });

  test('takes the next lines as answers to questions', async () => {
    const scene = await setScene(RULES);
    const { stdout } = await runLines(scene, ['make it', 'what?', 'o', 'which', '2']);
    expect(stdout).toMatch(
      /d deny: what\?\nPlease answer o, s, p or d\.\n.*d deny: o\n {2}Bash touch made\n/,
    );
    expect(stdout).toContain(
      'A number, or your own words: 2\n    ok AskUser Which?: The user chose: Blue\n',
    );
    expect(existsSync(join(scene.workspace, 'made'))).toBe(true);
  });

  test('denies a call whose question comes after the end of input', async () => {
    const scene = await setScene(RULES);
    const { stdout, code } = await runLines(scene, ['make it']);
    expect(stdout).toContain('answered: The terminal or program that could answer has closed');
    expect(code).toBe(0);
    expect(existsSync(join(scene.workspace, 'made'))).toBe(false);
  });

  test('marks the text of a broken attempt as void', async () => {
    const scene = await setScene(RULES);
    const { stdout } = await runLines(scene, ['cut']);
    expect(stdout).toMatch(
      /\n\(The text above was cut off and does not count: .*\)\n[\s\S]*All of it\.\n/,
    );
  });

  test('exits on /exit and ignores later lines', async () => {
    const scene = await setScene(RULES);
    const { stdout, code } = await runLines(scene, ['/exit', 'never']);
    expect(code).toBe(0);
    expect(stdout).not.toContain('never');
    expect(scene.bodies()).toEqual([]);
  });

  test('stores no session without a prompt', async () => {
    const scene = await setScene(RULES);
    await runLines(scene, ['/cost', '/clear', '/compact', '/resume']);
    expect(readdirSync(join(scene.skeinHome, 'sessions'))).toEqual([]);
  });

  test('summarises the conversation on /compact', async () => {
    const scene = await setScene([
      { match: { lastUser: '/summar/i' }, reply: '<summary>They counted.</summary>' },
      { reply: 'You said {{lastUser}}!' },
    ]);
    const counted = ['one', 'two', 'three', 'four', 'five', 'six'];
    const { stdout } = await runLines(scene, [...counted, '/compact the numbers', 'more']);
    expect(stdout.match(/\(Summarised \d+ older messages.*\)/g)).toHaveLength(1);
    expect(JSON.stringify(scene.bodies().at(-1)?.messages)).toContain('They counted.');
    expect(JSON.stringify(scene.bodies().at(-2)?.messages)).toContain('the numbers');
  });

  test('resumes a session by id, and copies the newest with --continue --fork-session', async () => {
    const scene = await setScene(RULES);
    const first = await runLines(scene, ['one']);
    const [, id = ''] = /session (s_\w+)/.exec(first.stdout) ?? [];
    const resumed = await runLines(scene, ['two'], ['--resume', id]);
    expect(resumed.stdout).toContain(`session ${id}`);
    expect(resumed.stdout).toContain('The last exchange:\n\n> one\n\nYou said one!\n\n> two\n');
    const forked = await runLines(scene, ['three'], ['--continue', '--fork-session']);
    expect(forked.stdout).not.toContain(`session ${id}\n`);
    expect(scene.bodies().at(-1)?.messages).toHaveLength(5);
  });

  test('writes the same journal records as a print run', async () => {
    const [plain, printed] = [await setScene(RULES), await setScene(RULES)];
    const allowed = ['--allowed-tools', 'Bash(touch made)'];
    await runLines(plain, ['make it'], allowed);
    await printed.run(['-p', 'make it', ...allowed]);
    const kinds = async (scene: Scene) => (await scene.journal()).map(({ type }) => type);
    expect(await kinds(plain)).toEqual(await kinds(printed));
    expect(plain.bodies().map(({ messages }) => messages.length)).toEqual([1, 3]);
  });

  test.each(['SIGTERM', 'SIGHUP'] as const)('closes its session on %s', async (signal) => {
    const scene = await setScene(RULES);
    const process = scene.start(['--plain']);
    process.write('endless\n');
    await eventually('the answer streams', () => process.stdout.includes('word word'));
    process.kill(signal);
    const { code, stdout } = await process.ended;
    expect(code).toBe(130);
    expect(stdout).toMatch(/Session s_\w+, cost/);
    const [id = ''] = readdirSync(join(scene.skeinHome, 'sessions'));
    const again = await runLines(scene, ['go on'], ['--resume', id]);
    expect(again.stdout).toContain('You said go on!');
  });

  /** Interrupts a command that ignores SIGTERM and SIGINT. */
  const interruptStubbornCommand = async () => {
    const scene = await setScene([
      { reply: calls('Bash', { command: "trap '' TERM INT; touch deaf; sleep 60; sleep 60" }) },
    ]);
    const process = scene.start(['--plain', '--permission-mode', 'bypassPermissions']);
    process.write('go\n');
    await eventually('the command runs', () => existsSync(join(scene.workspace, 'deaf')));
    process.kill('SIGINT');
    await eventually('the interrupt is shown', () => process.stdout.includes('(Interrupting…)'));
    return process;
  };

  test('is interrupted by SIGINT and continues with the next line', async () => {
    const process = await interruptStubbornCommand();
    process.write('/cost\n');
    process.endInput();
    const { code, stdout } = await process.ended;
    expect(stdout).toMatch(/\(Interrupted\..*\)\n\n> \/cost\n1 turn/);
    expect(code).toBe(0);
  });

  test('exits on a second SIGINT during the run', async () => {
    const process = await interruptStubbornCommand();
    // A second signal within a short time counts as the same key press.
    await new Promise((resolve) => setTimeout(resolve, 150));
    process.kill('SIGINT');
    expect(await process.ended).toMatchObject({ code: 130 });
  });
});

describe('the start of a plain session', () => {
  test('fails with a reason for a missing API key or an unknown session', async () => {
    const scene = await setScene(RULES);
    const noKey = await scene.run(['--plain'], { env: { ANTHROPIC_API_KEY: '' }, stdin: 'hi\n' });
    expect(noKey).toMatchObject({ code: 2, stdout: '' });
    expect(noKey.stderr).toContain('set ANTHROPIC_API_KEY');
    const unknown = await runLines(scene, ['hi'], ['--resume', 's_nobody']);
    expect(unknown).toMatchObject({ code: 2 });
    expect(unknown.stderr).toMatch(/^skein: .*s_nobody/);
  });

  test.each([
    [['--plain', '-p', 'hi'], 'leave out -p'],
    [['--plain', '--output-format', 'json'], 'needs -p'],
  ])('fails together with flags of other modes: %j', async (args, sentence) => {
    const scene = await setScene(RULES);
    const { code, stderr } = await scene.run(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
  });

  test('is a print run without a terminal and without --plain', async () => {
    const scene = await setScene(RULES);
    const { stdout, code } = await scene.run([], { stdin: 'hello\n' });
    expect([code, stdout]).toEqual([0, 'You said hello!\n']);
  });

  test('uses the built-in simulator with --simulate', async () => {
    const scene = await setScene(RULES);
    const { stdout } = await runLines(scene, ['echo this'], ['--simulate']);
    expect(stdout).toContain('\n\necho this\n');
    expect(scene.bodies()).toEqual([]);
  });
});
