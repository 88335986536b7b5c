import { describe, expect, test } from 'vitest';
import { readHookSettings } from '../../../src/config/settings/hook-settings.js';
import { temporaryFolder } from '../temporary-folder.js';

const GOOD = { matcher: 'Edit|Write', hooks: [{ type: 'command', command: 'check', timeout: 5 }] };

const readHooks = (hooks: unknown, more: object = {}) => {
  const folder = temporaryFolder();
  const text = JSON.stringify({ ...more, hooks }, null, 1);
  const file = folder.put('home/.claude/settings.json', text);
  const { setups, warnings } = readHookSettings(folder.load());
  return { setups, warnings: warnings.map((warning) => warning.replace(file, 'FILE')) };
};

const readHook = (hook: unknown) => readHooks({ Stop: [{ hooks: [hook] }, { hooks: GOOD.hooks }] });

describe('hooks in settings', () => {
  test('are read in the documented shape', () => {
    const { setups, warnings } = readHooks({ PreToolUse: [GOOD] });
    expect(warnings).toEqual([]);
    expect(setups).toMatchObject([
      {
        event: 'PreToolUse',
        timeoutMs: 5_000,
        isAsync: false,
        once: false,
        action: { kind: 'command', command: 'check' },
      },
    ]);
    expect(['Edit', 'Write', 'Read'].map((name) => setups[0]?.matches(name))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('have a time-out of 60 seconds and may be asynchronous or run once', () => {
    const hook = { type: 'command', command: 'c', async: true, once: true, statusMessage: 'Hm' };
    expect(readHook(hook)).toMatchObject({
      setups: [{ timeoutMs: 60_000, isAsync: true, once: true }, {}],
      warnings: [],
    });
  });

  test('of a weaker source come first', () => {
    const folder = temporaryFolder();
    const hooksOf = (command: string) =>
      JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } });
    folder.put('home/.skein/settings.json', hooksOf('second'));
    folder.put('home/.claude/settings.json', hooksOf('first'));
    expect(readHookSettings(folder.load()).setups).toMatchObject([
      { action: { command: 'first' } },
      { action: { command: 'second' } },
    ]);
  });

  test.each([
    [{ PreTooluse: [GOOD] }, /^hooks\.PreTooluse in FILE, line 3, .*did you mean PreToolUse/],
    [{ Nonsense: [GOOD] }, /^hooks\.Nonsense in FILE, line 3, .*no such event/],
    [{ Stop: GOOD }, /^hooks\.Stop in FILE, line 3, is ignored: write a list instead of an obj/],
    ['off', /^hooks in FILE, line 2, is ignored: write an object of events/],
    [
      { PreToolUse: [{ ...GOOD, matcher: '(' }] },
      /matcher in FILE, line \d+, .*not a regular expr/,
    ],
    [{ PreToolUse: [{ ...GOOD, matcher: '(a+)+' }] }, /too long to match/],
    [{ PreToolUse: [{ ...GOOD, matcher: 5 }] }, /matcher .*write a text instead of 5/],
    [{ PreToolUse: ['check'] }, /hooks\.PreToolUse\[0\] .*write \{ "matcher", "hooks" \}/],
    [{ PreToolUse: [{ hooks: 'check' }] }, /PreToolUse\[0\]\.hooks .*write a list/],
  ])('with a mistake cause a warning with file, line, key and fix: %j', (hooks, sentence) => {
    const { setups, warnings } = readHooks(hooks);
    expect(setups).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(sentence)]);
  });

  test.each([
    ['check', /hooks\.Stop\[0\]\.hooks\[0\] in FILE, line \d+, is ignored: write \{ "type"/],
    [{ type: 'prompt', prompt: 'Good?' }, /hooks\[0\]\.type .*write "command"/],
    [{ type: 'command' }, /hooks\[0\]\.command .*write a command line/],
    [{ type: 'command', command: ' ' }, /\.command .*write a command line/],
    [{ type: 'command', command: 'a\0b' }, /\.command .*write a command line/],
    [{ type: 'command', command: 'c', timeout: '5' }, /\.timeout .*write seconds, more than 0/],
    [{ type: 'command', command: 'c', timeout: -1 }, /\.timeout .*write seconds, more than 0/],
    [{ type: 'command', command: 'c', async: 'yes' }, /\.async .*write true or false/],
    [{ type: 'command', command: 'c', if: 'Bash(git *)' }, /\.if .*conditions are not supported/],
  ])('lose only the invalid hook: %j', (hook, sentence) => {
    const { setups, warnings } = readHook(hook);
    expect(setups).toMatchObject([{ action: { command: 'check' } }]);
    expect(warnings).toEqual([expect.stringMatching(sentence)]);
  });

  test('with ignored keys run with a warning', () => {
    expect(readHook({ type: 'command', command: 'c', shell: 'fish' })).toMatchObject({
      setups: [{}, {}],
      warnings: [expect.stringMatching(/runs, but .*does not use: shell/)],
    });
    expect(readHooks({ Stop: [{ ...GOOD, matcher: 'Edit' }] })).toMatchObject({
      setups: [{}],
      warnings: [expect.stringMatching(/Stop has no matcher, so its hooks always run/)],
    });
  });

  test('are limited to 50', () => {
    const hooks = Array.from({ length: 51 }, (_, at) => ({ type: 'command', command: `c${at}` }));
    const { setups, warnings } = readHooks({ Stop: [{ hooks }] });
    expect([setups.length, warnings.length]).toEqual([50, 1]);
  });

  test('can be disabled', () => {
    expect(readHooks({ PreToolUse: [GOOD] }, { disableAllHooks: true }).setups).toEqual([]);
  });
});
