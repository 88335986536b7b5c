import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { LineTerminal } from '../../../src/terminal/input/line-terminal.js';
import type { TerminalHost } from '../../../src/terminal/terminal-host.js';
import { eventually } from '../../host/process/processes.js';

const never = new AbortController().signal;

/** Line terminal on a pipe, or on a dumb terminal with a person. */
const lines = ({ isTTY = false } = {}) => {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  let written = '';
  const heard: string[] = [];
  const machine = {
    stdin: stdin as unknown as TerminalHost['stdin'],
    out: (text: string) => {
      written += text;
    },
  };
  const terminal = new LineTerminal(machine as TerminalHost);
  terminal.open({
    line: (text) => heard.push(text),
    interrupt: () => heard.push('interrupt'),
    escape: () => heard.push('escape'),
    end: () => heard.push('end'),
  });
  const hears = (...expected: readonly string[]) =>
    eventually(
      `it hears ${JSON.stringify(expected)}, not ${JSON.stringify(heard)}`,
      () => JSON.stringify(heard) === JSON.stringify(expected),
    );
  return { stdin, terminal, heard, hears, text: () => written };
};

describe('a pipe of lines', () => {
  test('is read when what came before has been dealt with', async () => {
    const { stdin, terminal, heard, hears } = lines();
    stdin.end('one\ntwo\n');
    terminal.setBusy(false);
    await hears('one', 'two', 'end');
    expect(heard).toHaveLength(3);
  });

  test('waits while something is under way', async () => {
    const { stdin, terminal, heard, hears, text } = lines();
    stdin.write('one\n');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(heard).toEqual([]);
    terminal.setBusy(false);
    await hears('one');
    expect(text()).toBe('> one\n');
  });

  test('answers questions with its next line', async () => {
    const { stdin, terminal, hears, text } = lines();
    stdin.write('o\nnext\n');
    expect(await terminal.ask('Allow? ', never)).toEqual({ kind: 'line', text: 'o' });
    terminal.setBusy(false);
    await hears('next');
    expect(text()).toBe('Allow? o\n> next\n');
  });

  test('has no answer when it has ended', async () => {
    const { stdin, terminal } = lines();
    stdin.end();
    expect(await terminal.ask('Allow? ', never)).toEqual({ kind: 'gone' });
  });

  test('gives several lines as one between fences, or after backslashes', async () => {
    const { stdin, terminal, hears } = lines();
    terminal.setBusy(false);
    stdin.end('"""\none\n\n  two\\\n"""\nthree\\\nfour\n\nfive\n');
    await hears('one\n\n  two\\', 'three\nfour', 'five', 'end');
  });

  test('gives a block that never ended, and then the end', async () => {
    const { stdin, terminal, hears } = lines();
    terminal.setBusy(false);
    stdin.end('"""\none\ntwo');
    await hears('one\ntwo', 'end');
  });

  test('keeps to the bound of a prompt, and says so', async () => {
    const { stdin, terminal, heard, hears, text } = lines();
    terminal.setBusy(false);
    stdin.end(`${'x'.repeat(1_000_001)}\n"""\n${`${'y'.repeat(999)}\n`.repeat(1_100)}"""\n`);
    await eventually('all is read', () => heard.includes('end'));
    expect(heard.slice(0, 2).map(({ length }) => length)).toEqual([1_000_000, 999_999]);
    expect(text().match(/the rest was dropped/g)).toHaveLength(2);
    await hears(...heard);
  });

  test('loses no line, however many wait', async () => {
    const { stdin, terminal, heard } = lines();
    const all = Array.from({ length: 5_000 }, (_, index) => `line ${index}`);
    stdin.end(`${all.join('\n')}\n`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    terminal.setBusy(false);
    await eventually('all is read', () => heard.includes('end'));
    expect(heard).toEqual([...all, 'end']);
  });
});

describe('a dumb terminal', () => {
  test('has a prompt when nothing is under way, and takes lines at any time', async () => {
    const { stdin, terminal, hears, text } = lines({ isTTY: true });
    terminal.setBusy(false);
    expect(text()).toBe('> ');
    stdin.write('one\n');
    await hears('one');
    terminal.setBusy(true);
    stdin.write('two\n');
    await hears('one', 'two');
    expect(text()).toBe('> ');
  });

  test('ignores lines that came too soon to be an answer', async () => {
    const { stdin, terminal, heard, text } = lines({ isTTY: true });
    const reply = terminal.ask('Allow? ', never);
    stdin.write('o\n');
    await eventually('it is said', () => text().includes('typed before the question'));
    expect(heard).toEqual([]);
    const late = setInterval(() => stdin.write('s\n'), 100);
    expect(await reply).toEqual({ kind: 'line', text: 's' });
    clearInterval(late);
  });

  test('puts a question once more when other lines came after it', async () => {
    const { terminal, text } = lines({ isTTY: true });
    const controller = new AbortController();
    const reply = terminal.ask('Allow? ', controller.signal);
    terminal.freshLine();
    terminal.write('    ok Bash one\n');
    await eventually('it is put again', () => text() === 'Allow? \n    ok Bash one\nAllow? ');
    controller.abort();
    await reply;
  });

  test('takes at once what it was asked for in return', async () => {
    const { stdin, terminal } = lines({ isTTY: true });
    const reply = terminal.ask('Why not? ', never, true);
    stdin.write('because\n');
    expect(await reply).toEqual({ kind: 'line', text: 'because' });
  });

  test('gives up a question that is withdrawn', async () => {
    const { terminal, text } = lines({ isTTY: true });
    const controller = new AbortController();
    const reply = terminal.ask('Allow? ', controller.signal);
    controller.abort();
    expect(await reply).toEqual({ kind: 'withdrawn' });
    expect(text()).toBe('Allow? \n');
    expect(await terminal.ask('Allow? ', controller.signal)).toEqual({ kind: 'withdrawn' });
  });

  test('tells the end even while something is under way', async () => {
    const { stdin, hears } = lines({ isTTY: true });
    stdin.end();
    await hears('end');
  });
});
