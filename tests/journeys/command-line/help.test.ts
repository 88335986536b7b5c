import { describe, expect, test } from 'vitest';
import { setScene } from '../../fakes/skein-process.js';

/** Runs skein with arguments. */
const runSkein = async (...args: string[]) => {
  const { run } = await setScene();
  return run(args);
};

const COMMANDS = [
  'demo',
  'doctor',
  'sessions',
  'cost',
  'report',
  'prompt',
  'context',
  'logs',
  'replay',
  'config',
  'agents',
  'trust',
  'completion',
  'sim',
  'version',
];

describe('the help', () => {
  test('names every command, groups the flags, and fits into 100 columns', async () => {
    const { code, stdout, stderr } = await runSkein('--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const name of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    for (const heading of [
      'A run',
      'Input and output',
      'The model',
      'Permissions',
      'Sessions',
      'Getting started',
      'What happened',
      'Setup',
      'Examples',
      'Settings',
      'Environment',
      'Exit codes',
    ]) {
      expect(stdout).toMatch(new RegExp(`^${heading}:$`, 'm'));
    }
    expect(stdout).not.toMatch(/^Options:$/m);
    const longest = Math.max(...stdout.split('\n').map((line) => line.length));
    expect(longest).toBeLessThanOrEqual(100);
  });

  test.each([...COMMANDS, 'sessions prune'])(
    'of %s has an example and fits into 100 columns',
    async (name) => {
      const words = name.split(' ');
      const { code, stdout } = await runSkein(...words, '--help');
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`\nExample:\n  .*skein ${words[0]}`));
      expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
    },
  );

  test('is printed by `skein help` as well as by --help', async () => {
    const [byCommand, byFlag] = [
      await runSkein('help', 'config'),
      await runSkein('config', '--help'),
    ];
    expect(byCommand).toMatchObject({ code: 0, stdout: byFlag.stdout });
    expect((await runSkein('help')).stdout).toContain('Exit codes:');
  });
});

describe('a misspelled command or flag', () => {
  test.each([
    [
      ['skills'],
      /^skein: There is no command "skills"\. skein --help lists the commands; a prompt of one word needs -p\.\n$/,
    ],
    [['statistics'], /^skein: There is no command "statistics"\. Near: stop\. skein --help lists/],
    [['/commit'], /^skein: There is no command "\/commit"\. /],
    [['doctr'], /^skein: There is no command "doctr"\. Did you mean skein doctor\?/],
    [['sesions'], /Did you mean skein sessions\?/],
    [['--modle', 'opus', '-p', 'x'], /Did you mean --model\?/],
    [['sessions', '--serch', 'x'], /Did you mean --search\?/],
    [['completion', 'tcsh'], /bash, zsh, fish/],
    [['sessions', '--limit', 'few'], /whole number/],
    [
      ['sessions', 'purne'],
      /^skein: There is no command "sessions purne"\. Did you mean prune\?\n$/,
    ],
    [['help', 'doctr'], /^skein: There is no command "doctr"\. Did you mean doctor\?\n$/],
    [['help', 'flying'], /^skein: There is no command "flying"; skein --help lists them\.\n$/],
  ])('is refused with a hint: %j', async (args, sentence) => {
    const { run, simulator } = await setScene();
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(simulator.requests).toEqual([]);
  });

  test('is a normal prompt after -p', async () => {
    expect(await runSkein('-p', 'doctr')).toMatchObject({ code: 0, stdout: 'Done.\n' });
  });
});

test('--resume without a session id names the command that lists the ids', async () => {
  const { code, stderr } = await runSkein('-p', '--resume');
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr:
      "skein: option '-r, --resume <session>' needs the id of a session; skein sessions lists them\n",
  });
});
