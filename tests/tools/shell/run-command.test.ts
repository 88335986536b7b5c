import { describe, expect, test } from 'vitest';
import { FileError } from '../../../src/protocol/tools/workspace.js';
import { runCommand } from '../../../src/tools/shell/run-command.js';
import { memoryWorkspace } from '../../fakes/memory-workspace.js';
import { scriptedShell, toolContext } from '../tool-context.js';

const run = async (...[output, end]: Parameters<typeof scriptedShell>) => {
  const shell = scriptedShell(output, end);
  const context = toolContext(memoryWorkspace(), { shell });
  const outcome = await runCommand.call({ command: 'make' }, context);
  return { ...outcome, content: outcome.content as string, shell, context };
};

describe('Bash', () => {
  test('shows both streams in the order of arrival', async () => {
    const { content, isError } = await run([
      ['stdout', 'one\n'],
      ['stderr', 'two\n'],
      ['stdout', 'three\n'],
    ]);
    expect(content).toBe('one\ntwo\nthree\n');
    expect(isError).toBe(false);
  });

  test('reports an empty output', async () => {
    expect((await run([])).content).toBe('(no output)');
  });

  test.each([
    ['a failure', { exitCode: 3 }, '[Exit code 3.]'],
    ['a signal', { exitCode: null, signal: 'SIGSEGV' }, '[Ended by signal SIGSEGV.]'],
    [
      'an interrupt',
      { reason: 'aborted' as const, exitCode: null },
      '[Interrupted before it ended.]',
    ],
    [
      'a timeout',
      { reason: 'timeout' as const, exitCode: null },
      'Set a longer timeout (at most 600000)',
    ],
  ])('reports %s after the output, as an error', async (_, end, message) => {
    const { content, isError } = await run([['stdout', 'so far\n']], end);
    expect(content).toMatch(/^so far\n\n\[/);
    expect(content).toContain(message);
    expect(isError).toBe(true);
  });

  test('has a time-out of two minutes by default', async () => {
    expect((await run([])).shell.commands).toMatchObject([{ timeoutMs: 120_000, cwd: '/work' }]);
  });

  test('returns a new working directory for the next call', async () => {
    expect((await run([], { cwd: '/work/src' })).notes).toEqual([
      { type: 'cwd.changed', cwd: '/work/src' },
    ]);
    expect((await run([], { cwd: undefined })).notes).toEqual([]);
    expect((await run([])).notes).toEqual([]);
  });

  test('moves to an existing directory if its own is gone', async () => {
    const shell = { run: () => Promise.reject(new FileError('missing', '/work/a/b')) };
    const workspace = memoryWorkspace({ '/work/file': '' });
    const context = toolContext(workspace, { shell, cwd: '/work/a/b' });
    const outcome = await runCommand.call({ command: 'ls' }, context);
    expect(outcome).toMatchObject({ isError: true, notes: [{ cwd: '/work' }] });
  });

  test('reports counts, but no contents', async () => {
    const { facts } = await run([['stdout', 'secret']], { exitCode: 1 });
    expect(facts).toEqual({
      reason: 'exited',
      exitCode: 1,
      bytes: 6,
      truncated: false,
      durationMs: 1,
    });
  });

  test('reports the last line as progress at a limited rate', async () => {
    const chunks = Array.from({ length: 1_000 }, (_, n) => ['stdout', `line ${n}\n`] as const);
    const { context } = await run(chunks);
    expect(context.progressNotes.at(0)).toBe('7 bytes: line 0');
    expect(context.progressNotes.length).toBeLessThan(10);
  });

  test.each([
    ['a NUL character', 'echo a\0b', 'NUL'],
    ['more than a single argument can hold', `echo ${'x'.repeat(130_000)}`, 'with Write'],
  ])('denies a command with %s without a question', (_, command, reason) => {
    expect(runCommand.checkPermissions?.({ command }, 'bypassPermissions')).toEqual({
      behavior: 'deny',
      reason: expect.stringContaining(reason),
    });
  });

  test.each([
    [600_000, 600_000, '(no output)'],
    [3_600_000, 600_000, '[The timeout of 3600000 ms was reduced to 600000 ms, the maximum. Set'],
    [Number.MAX_SAFE_INTEGER, 600_000, 'was reduced to 600000 ms'],
  ])('reduces a timeout above ten minutes, with a note: %s', async (timeout, timeoutMs, note) => {
    const shell = scriptedShell([]);
    const input = runCommand.input.parse({ command: 'ls', timeout });
    const { content } = await runCommand.call(input, toolContext(memoryWorkspace(), { shell }));
    expect(shell.commands).toMatchObject([{ timeoutMs }]);
    expect(content).toContain(note);
  });

  test('adds the note about a reduced timeout after the exit code', async () => {
    const shell = scriptedShell([['stdout', 'x\n']], { exitCode: 1 });
    const context = toolContext(memoryWorkspace(), { shell });
    const { content } = await runCommand.call({ command: 'ls', timeout: 600_001 }, context);
    expect(content).toMatch(/^x\n\n\[Exit code 1\.\]\n\[The timeout of 600001 ms was reduced/);
  });

  test('is described on a single line with its command', () => {
    expect(runCommand.describe({ command: 'a\n  b' })).toBe('Bash a b');
    expect(runCommand.describe({ command: 'make', description: 'Build it' })).toBe(
      'Bash make (Build it)',
    );
  });
});

describe('long output of Bash', () => {
  test('is cut in the middle and written completely to a file', async () => {
    const chunk = Buffer.from('0123456789abcde\n'.repeat(4_096));
    const chunks = Array.from({ length: 20 }, () => ['stdout', chunk] as const);
    const { content, context } = await run([
      ['stdout', 'FIRST\n'],
      ...chunks,
      ['stdout', 'LAST\n'],
    ]);
    expect(content.length).toBeLessThanOrEqual(30_000);
    expect(content.length).toBeGreaterThan(29_900);
    expect(content).toMatch(/^FIRST\n/);
    expect(content).toMatch(/LAST\n$/);
    expect(content).toContain('all of it is in /artifacts/bash-output.txt');
    const whole = Buffer.concat([
      Buffer.from('FIRST\n'),
      ...chunks.map(() => chunk),
      Buffer.from('LAST\n'),
    ]);
    expect(context.artifacts.get('/artifacts/bash-output.txt')?.equals(whole)).toBe(true);
  });

  test('has both ends of each stream apart, so that neither hides the other', async () => {
    const flood = Array.from({ length: 40 }, (_, n) => [
      ['stdout', `out ${n} ${'x'.repeat(4_000)}\n`] as const,
      ['stderr', `err ${n}\n`] as const,
    ]).flat();
    const { content, context } = await run(flood, { exitCode: 1 });
    expect(content.length).toBeLessThanOrEqual(30_000);
    expect(content.length).toBeGreaterThan(29_500);
    expect(content).toMatch(
      /^\[\d+ bytes in all, .* in \/artifacts\/bash-output\.txt, which Read can open\./,
    );
    const [, stdout = '', stderr = ''] =
      /\n\[stdout, \d+ characters\]\n(.*)\n\[stderr, \d+ characters\]\n(.*)$/s.exec(content) ?? [];
    expect(stdout).toMatch(/^out 0 x+.*the middle is left out.*out 39 x+\n$/s);
    expect(stderr).toBe(
      `${Array.from({ length: 40 }, (_, n) => `err ${n}\n`).join('')}\n[Exit code 1.]`,
    );
    const whole = flood.map(([, text]) => text).join('');
    expect(context.artifacts.get('/artifacts/bash-output.txt')?.toString()).toBe(whole);
  });

  test('shares the space between two floods', async () => {
    const flood = Array.from({ length: 100 }, () => [
      ['stdout', `${'o'.repeat(999)}\n`] as const,
      ['stderr', `${'e'.repeat(999)}\n`] as const,
    ]).flat();
    const { content } = await run(flood);
    const count = (letter: string) => content.split(letter).length - 1;
    expect(content.length).toBeLessThanOrEqual(30_000);
    expect(count('o')).toBeGreaterThan(14_000);
    expect(count('e')).toBeGreaterThan(14_000);
  });

  test('is shown completely up to the limit, without a file', async () => {
    const { content, context } = await run([['stdout', 'x'.repeat(29_998)]]);
    expect(content).toBe('x'.repeat(29_998));
    expect(context.artifacts.size).toBe(0);
  });

  test('leaves space for the exit code', async () => {
    const { content, context } = await run([['stdout', 'x'.repeat(30_000)]], { exitCode: 1 });
    expect(content.length).toBeLessThanOrEqual(30_000);
    expect(content).toMatch(/\[Exit code 1\.\]$/);
    expect(context.artifacts.get('/artifacts/bash-output.txt')?.length).toBe(30_000);
  });

  test.each([1, 2, 3, 5, 7])('never splits a character, with chunks of %i bytes', async (size) => {
    const bytes = Buffer.from('aé漢😀'.repeat(8_000));
    const chunks = Array.from(
      { length: Math.ceil(bytes.length / size) },
      (_, n) => ['stdout', bytes.subarray(n * size, (n + 1) * size)] as const,
    );
    const { content } = await run(chunks);
    expect(content).not.toMatch(/\p{Surrogate}|\ufffd/u);
    expect(content.length).toBeLessThanOrEqual(30_000);
  });

  test('joins a character that the other stream interrupts', async () => {
    const [first, second] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)];
    const { content } = await run([
      ['stdout', first],
      ['stderr', '!'],
      ['stdout', second],
    ]);
    expect(content).toBe('!é');
  });

  test('is valid JSON for binary output', async () => {
    const { content } = await run([['stdout', Buffer.from([0, 255, 254, 27, 0xc3])]]);
    expect(JSON.parse(JSON.stringify(content))).toBe(content);
    expect(content).not.toMatch(/\p{Surrogate}/u);
  });

  test('reports that it could not be written', async () => {
    const artifact = () => ({
      path: '/a',
      write: () => undefined,
      close: () => Promise.reject(new Error('no space left')),
    });
    const shell = scriptedShell([['stdout', 'x'.repeat(40_000)]]);
    const context = toolContext(memoryWorkspace(), { shell, artifact });
    const { content } = await runCommand.call({ command: 'make' }, context);
    expect(content).toContain('it could not be kept: no space left');
  });
});
