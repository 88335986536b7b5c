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

  test('says so when there is no output', async () => {
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
  ])('tells %s after the output, as an error', async (_, end, said) => {
    const { content, isError } = await run([['stdout', 'so far\n']], end);
    expect(content).toMatch(/^so far\n\n\[/);
    expect(content).toContain(said);
    expect(isError).toBe(true);
  });

  test('gives a command two minutes unless told otherwise', async () => {
    expect((await run([])).shell.asked).toMatchObject([{ timeoutMs: 120_000, cwd: '/work' }]);
  });

  test('carries a new working directory to the next call', async () => {
    expect((await run([], { cwd: '/work/src' })).notes).toEqual([
      { type: 'cwd.changed', cwd: '/work/src' },
    ]);
    expect((await run([], { cwd: undefined })).notes).toEqual([]);
    expect((await run([])).notes).toEqual([]);
  });

  test('moves to a directory that exists when its own is gone', async () => {
    const shell = { run: () => Promise.reject(new FileError('missing', '/work/a/b')) };
    const workspace = memoryWorkspace({ '/work/file': '' });
    const context = toolContext(workspace, { shell, cwd: '/work/a/b' });
    const outcome = await runCommand.call({ command: 'ls' }, context);
    expect(outcome).toMatchObject({ isError: true, notes: [{ cwd: '/work' }] });
  });

  test('reports figures, but no contents', async () => {
    const { facts } = await run([['stdout', 'secret']], { exitCode: 1 });
    expect(facts).toEqual({
      reason: 'exited',
      exitCode: 1,
      bytes: 6,
      truncated: false,
      durationMs: 1,
    });
  });

  test('tells people the last line, and not more often than they can read', async () => {
    const chunks = Array.from({ length: 1_000 }, (_, n) => ['stdout', `line ${n}\n`] as const);
    const { context } = await run(chunks);
    expect(context.said.at(0)).toBe('7 bytes: line 0');
    expect(context.said.length).toBeLessThan(10);
  });

  test.each([
    ['a NUL character', 'echo a\0b', 'NUL'],
    ['more than one argument can hold', `echo ${'x'.repeat(130_000)}`, 'with Write'],
  ])('refuses a command with %s before anybody is asked', (_, command, reason) => {
    expect(runCommand.checkPermissions?.({ command }, 'bypassPermissions')).toEqual({
      behavior: 'deny',
      reason: expect.stringContaining(reason),
    });
  });

  test('does not accept a timeout above ten minutes', () => {
    expect(runCommand.input.safeParse({ command: 'ls', timeout: 600_000 }).success).toBe(true);
    expect(runCommand.input.safeParse({ command: 'ls', timeout: 600_001 }).success).toBe(false);
  });

  test('describes itself in one line, and always by its command', () => {
    expect(runCommand.describe({ command: 'a\n  b' })).toBe('Bash a b');
    expect(runCommand.describe({ command: 'make', description: 'Build it' })).toBe(
      'Bash make (Build it)',
    );
  });
});

describe('long output of Bash', () => {
  test('is cut in the middle, within the limit, and kept whole', async () => {
    const chunk = Buffer.from('0123456789abcde\n'.repeat(4_096));
    const chunks = Array.from({ length: 20 }, () => ['stdout', chunk] as const);
    const { content, context } = await run([
      ['stdout', 'FIRST\n'],
      ...chunks,
      ['stderr', 'LAST\n'],
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

  test('is shown whole up to the limit, and makes no file', async () => {
    const { content, context } = await run([['stdout', 'x'.repeat(29_998)]]);
    expect(content).toBe('x'.repeat(29_998));
    expect(context.artifacts.size).toBe(0);
  });

  test('leaves room for the exit code', async () => {
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

  test('joins a character whose halves have the other stream between them', async () => {
    const [first, second] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)];
    const { content } = await run([
      ['stdout', first],
      ['stderr', '!'],
      ['stdout', second],
    ]);
    expect(content).toBe('!é');
  });

  test('survives JSON when it is not text at all', async () => {
    const { content } = await run([['stdout', Buffer.from([0, 255, 254, 27, 0xc3])]]);
    expect(JSON.parse(JSON.stringify(content))).toBe(content);
    expect(content).not.toMatch(/\p{Surrogate}/u);
  });

  test('says so when it could not be kept', async () => {
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
