import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { LineTerminal } from '../../../src/terminal/input/line-terminal.js';
import type { TerminalHost } from '../../../src/terminal/terminal-host.js';
import { eventually } from '../../fakes/eventually.js';

const never = new AbortController().signal;

/** Line terminal on a pipe, or on a dumb terminal with a person. */
const openTerminal = ({ isTTY = false } = {}) => {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  let written = '';
  const received: string[] = [];
  const host = {
    stdin: stdin as unknown as TerminalHost['stdin'],
    out: (text: string) => {
      written += text;
    },
  };
  const terminal = new LineTerminal(host as TerminalHost);
  terminal.open({
    line: (text) => received.push(text),
    interrupt: () => received.push('interrupt'),
    escape: () => received.push('escape'),
    end: () => received.push('end'),
  });
  const expectReceived = (...expected: readonly string[]) =>
    eventually(
      `the terminal receives ${JSON.stringify(expected)}, not ${JSON.stringify(received)}`,
      () => JSON.stringify(received) === JSON.stringify(expected),
    );
  return { stdin, terminal, received, expectReceived, text: () => written };
};

describe('lines from a pipe', () => {
  test('are read in order, followed by the end', async () => {
    const { stdin, terminal, received, expectReceived } = openTerminal();
    stdin.end('one\ntwo\n');
    terminal.setBusy(false);
    await expectReceived('one', 'two', 'end');
    expect(received).toHaveLength(3);
  });

  test('wait while the terminal is busy', async () => {
    const { stdin, terminal, received, expectReceived, text } = openTerminal();
    stdin.write('one\n');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(received).toEqual([]);
    terminal.setBusy(false);
    await expectReceived('one');
    expect(text()).toBe('> one\n');
  });

  test('answer a question with the next line', async () => {
    const { stdin, terminal, expectReceived, text } = openTerminal();
    stdin.write('o\nnext\n');
    expect(await terminal.ask('Allow? ', never)).toEqual({ kind: 'line', text: 'o' });
    terminal.setBusy(false);
    await expectReceived('next');
    expect(text()).toBe('Allow? o\n> next\n');
  });

  test('give no answer after the end of the pipe', async () => {
    const { stdin, terminal } = openTerminal();
    stdin.end();
    expect(await terminal.ask('Allow? ', never)).toEqual({ kind: 'gone' });
  });

  test('are joined to a single prompt between fences and after backslashes', async () => {
    const { stdin, terminal, expectReceived } = openTerminal();
    terminal.setBusy(false);
    stdin.end('"""\none\n\n  two\\\n"""\nthree\\\nfour\n\nfive\n');
    await expectReceived('one\n\n  two\\', 'three\nfour', 'five', 'end');
  });

  test('include an unclosed block, followed by the end', async () => {
    const { stdin, terminal, expectReceived } = openTerminal();
    terminal.setBusy(false);
    stdin.end('"""\none\ntwo');
    await expectReceived('one\ntwo', 'end');
  });

  test('are cut at the maximum length of a prompt, with a notice', async () => {
    const { stdin, terminal, received, expectReceived, text } = openTerminal();
    terminal.setBusy(false);
    stdin.end(`${'x'.repeat(1_000_001)}\n"""\n${`${'y'.repeat(999)}\n`.repeat(1_100)}"""\n`);
    await eventually('all lines are read', () => received.includes('end'));
    expect(received.slice(0, 2).map(({ length }) => length)).toEqual([1_000_000, 999_999]);
    expect(text().match(/the rest was dropped/g)).toHaveLength(2);
    await expectReceived(...received);
  });

  test('are all kept while 5,000 of them wait', async () => {
    const { stdin, terminal, received } = openTerminal();
    const all = Array.from({ length: 5_000 }, (_, index) => `line ${index}`);
    stdin.end(`${all.join('\n')}\n`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    terminal.setBusy(false);
    await eventually('all lines are read', () => received.includes('end'));
    expect(received).toEqual([...all, 'end']);
  });
});

describe('a dumb terminal', () => {
  test('shows a prompt only while idle and accepts lines at any time', async () => {
    const { stdin, terminal, expectReceived, text } = openTerminal({ isTTY: true });
    terminal.setBusy(false);
    expect(text()).toBe('> ');
    stdin.write('one\n');
    await expectReceived('one');
    terminal.setBusy(true);
    stdin.write('two\n');
    await expectReceived('one', 'two');
    expect(text()).toBe('> ');
  });

  test('ignores an answer that arrives too soon after the question', async () => {
    const { stdin, terminal, received, text } = openTerminal({ isTTY: true });
    const reply = terminal.ask('Allow? ', never);
    stdin.write('o\n');
    await eventually('the notice is shown', () => text().includes('typed before the question'));
    expect(received).toEqual([]);
    const late = setInterval(() => stdin.write('s\n'), 100);
    expect(await reply).toEqual({ kind: 'line', text: 's' });
    clearInterval(late);
  });

  test('repeats an open question after other output', async () => {
    const { terminal, text } = openTerminal({ isTTY: true });
    const controller = new AbortController();
    const reply = terminal.ask('Allow? ', controller.signal);
    terminal.freshLine();
    terminal.write('    ok Bash one\n');
    await eventually(
      'the question is repeated',
      () => text() === 'Allow? \n    ok Bash one\nAllow? ',
    );
    controller.abort();
    await reply;
  });

  test('accepts the reply to a follow-up question at once', async () => {
    const { stdin, terminal } = openTerminal({ isTTY: true });
    const reply = terminal.ask('Why not? ', never, true);
    stdin.write('because\n');
    expect(await reply).toEqual({ kind: 'line', text: 'because' });
  });

  test('ends a withdrawn question', async () => {
    const { terminal, text } = openTerminal({ isTTY: true });
    const controller = new AbortController();
    const reply = terminal.ask('Allow? ', controller.signal);
    controller.abort();
    expect(await reply).toEqual({ kind: 'withdrawn' });
    expect(text()).toBe('Allow? \n');
    expect(await terminal.ask('Allow? ', controller.signal)).toEqual({ kind: 'withdrawn' });
  });

  test('reports the end of input while busy', async () => {
    const { stdin, expectReceived } = openTerminal({ isTTY: true });
    stdin.end();
    await expectReceived('end');
  });
});
