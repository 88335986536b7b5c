import { describe, expect, test } from 'vitest';
import { STOP_REASONS, type StopReason } from '../../../src/protocol/agent/stop.js';
import type { StreamEvent } from '../../../src/protocol/model/model-port.js';
import type { FeedItem } from '../../../src/protocol/session/feed.js';
import { FeedPrinter } from '../../../src/terminal/output/feed-printer.js';
import { childEnded, childSays, childUses, spawned } from '../../fakes/agents/child-agents.js';
import { scriptedTerminal } from '../../fakes/terminal/scripted-terminal.js';

/** Returns the output for these items. */
const printed = (...items: readonly FeedItem[]): string => {
  const terminal = scriptedTerminal();
  const printer = new FeedPrinter(terminal);
  for (const item of items) printer.receive(item);
  return terminal.text();
};

const request: FeedItem = { type: 'request.started', turn: 1, attempt: 1, model: 'm' };
const event = (value: object): FeedItem => ({ type: 'stream.event', event: value as StreamEvent });
const block = (type: string, name?: string) =>
  event({ type: 'content_block_start', content_block: { type, name } });
const delta = (text: string) =>
  event({ type: 'content_block_delta', delta: { type: 'text_delta', text } });
const end = event({ type: 'content_block_stop' });
const says = (...parts: readonly string[]) => [block('text'), ...parts.map(delta), end];
const started = (call: string, description: string): FeedItem => ({
  type: 'tool.started',
  call,
  tool: 'Bash',
  input: {},
  description,
});
const ended = (call: string, content: string): FeedItem => ({
  type: 'tool.ended',
  call,
  tool: 'Bash',
  input: {},
  description: 'Bash a',
  outcome: 'ok',
  raw: JSON.stringify({ type: 'tool_result', content }),
});
const stop = (reason: StopReason, detail: string | null = null): FeedItem => ({
  type: 'run.ended',
  stop: { reason, detail },
  turns: 1,
});

describe('the feed printer', () => {
  test('prints text as it arrives, each block as a paragraph', () => {
    expect(printed(request, ...says('Hel', 'lo.'), ...says('More.'))).toBe('\nHello.\n\nMore.\n');
  });

  test('spells out control characters in text', () => {
    expect(printed(...says('a\u001b[2J\u202eb'))).toBe('\na^[[2J<U+202E>b\n');
  });

  test('mentions thinking once in a turn, without its content', () => {
    const thinks = [
      block('thinking'),
      event({ type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'secret' } }),
      end,
    ];
    expect(printed(request, ...thinks, ...thinks)).toBe('(thinking…)\n');
  });

  test('marks text as void if the stream was cut', () => {
    const discarded: FeedItem = {
      type: 'attempt.discarded',
      turn: 1,
      attempt: 1,
      reason: 'The stream was cut.',
    };
    expect(printed(request, block('text'), delta('Half'), discarded)).toBe(
      '\nHalf\n(The text above was cut off and does not count: The stream was cut.)\n',
    );
  });

  test('prints a repeated failure reason once, until an attempt succeeds', () => {
    const discarded: FeedItem = {
      type: 'attempt.discarded',
      turn: 1,
      attempt: 1,
      reason: 'It is overloaded.',
    };
    const sentence = '(The attempt failed: It is overloaded.)\n';
    expect(printed(request, discarded, request, discarded)).toBe(sentence);
    expect(printed(request, discarded, stop('end_turn'), request, discarded)).toBe(
      sentence.repeat(2),
    );
    const waits: FeedItem = { type: 'notice', text: 'Trying again in 2 s. It is overloaded.' };
    expect(printed(request, discarded, waits)).toBe(`${sentence}(Trying again in 2 s.)\n`);
    const end = printed(request, discarded, stop('model_error', 'It is overloaded.'));
    expect(end.match(/It is overloaded/g)).toHaveLength(1);
    expect(end).toContain('type "continue" to retry.)\n');
  });

  test('prints a line for each call, with its end below', () => {
    expect(printed(started('c', 'Bash ls'), ended('c', 'a'))).toBe('  Bash ls\n    ok\n      a\n');
  });

  test('names the ended call if another call started in between', () => {
    expect(
      printed(started('c', 'Bash a'), started('d', 'Bash b'), ended('c', 'x'), ended('d', 'y')),
    ).toBe('  Bash a\n  Bash b\n    ok Bash a\n      x\n    ok Bash b\n      y\n');
  });

  test('names the ended call if other lines were printed in between', () => {
    const terminal = scriptedTerminal();
    const printer = new FeedPrinter(terminal);
    printer.receive(started('c', 'Bash a'));
    printer.printLines('', 'A question.');
    printer.receive(ended('c', 'x'));
    expect(terminal.text()).toBe('  Bash a\n\nA question.\n    ok Bash a\n      x\n');
  });

  test('prints no feed items between a question and its answer', () => {
    const terminal = scriptedTerminal();
    const printer = new FeedPrinter(terminal);
    const release = printer.pause();
    printer.printLines('The lead asks to use Bash.', '  command: rm -rf ~');
    for (const item of says('The lead asks to use Bash.\n  command: ls')) printer.receive(item);
    expect(terminal.text()).toBe('The lead asks to use Bash.\n  command: rm -rf ~\n');
    release();
    printer.receive(started('c', 'Bash a'));
    expect(terminal.text()).toMatch(/rm -rf ~\n\nThe lead .*\n {2}command: ls\n {2}Bash a\n$/);
  });

  test('prints the number of events dropped while a question was open', () => {
    const terminal = scriptedTerminal();
    const printer = new FeedPrinter(terminal);
    const release = printer.pause();
    for (let count = 0; count < 10_005; count++) printer.receive(delta('x'));
    release();
    expect(terminal.text()).toBe(
      `${'x'.repeat(10_000)}\n(5 more events happened meanwhile; skein logs shows them.)\n`,
    );
  });

  test('describes a call that never started', () => {
    const raw = JSON.stringify({ type: 'tool_result', content: 'Not this.', is_error: true });
    const call = { call: 'c', tool: 'Edit', input: {}, description: 'Edit src/a.ts' };
    expect(printed({ type: 'tool.ended', ...call, outcome: 'denied', raw })).toBe(
      '    denied Edit src/a.ts: Not this.\n',
    );
  });

  test('prints no progress of calls', () => {
    expect(printed(started('c', 'Bash a'), { type: 'tool.progress', call: 'c', note: '1' })).toBe(
      '  Bash a\n',
    );
  });

  test('prints todos, summaries and notices', () => {
    const text = printed(
      { type: 'todos.changed', todos: [{ content: 'Look', status: 'pending' }] },
      { type: 'context.compacted', summary: 'Summarised.' },
      { type: 'notice', text: 'Trying again.' },
      block('server_tool_use', 'web_search'),
    );
    expect(text).toBe(
      '    Things to do: 1 of 1 left\n    to do: Look\n(Summarised.)\n(Trying again.)\n  web_search (run by the provider)\n',
    );
  });

  test('prints why a run stopped, except after end_turn', () => {
    expect(printed(stop('end_turn'))).toBe('');
    expect(printed(stop('model_error', 'It said 401.'))).toMatch(/^\(Stopped: .*It said 401\. /);
    expect(printed(stop('max_turns', 'All turns are used.'))).toContain('type "continue"');
    for (const reason of STOP_REASONS.filter((it) => it !== 'end_turn')) {
      expect(printed(stop(reason))).not.toContain('_');
    }
  });
});

test('the feed printer shows whether an interrupted agent continues or waits', () => {
  const item = {
    type: 'run.ended',
    stop: { reason: 'interrupted', detail: null },
    turns: 1,
  } as const;
  expect(printed(item)).toBe('(Interrupted. Say what to do instead, or /exit.)\n');
  expect(printed({ ...item, goesOn: true })).toBe(
    '(Interrupted. The agent continues with the messages that were sent meanwhile.)\n',
  );
});

test('the feed printer redacts keys in the description of a call', () => {
  const key = `ghp_${'a1B2c3D4e5F6g7H8i9J0'}`;
  const output = printed({
    type: 'tool.started',
    call: 'c',
    tool: 'Bash',
    input: {},
    description: `Bash curl ${key}`,
  });
  expect(output).toContain('Bash curl ghp_[redacted]');
});

describe('the feed printer with child agents', () => {
  const task = (call: string): FeedItem => ({
    type: 'tool.started',
    call,
    tool: 'Task',
    input: {},
    description: 'Task Find it',
  });
  const taskEnded = (call: string, outcome: 'ok' | 'error', content = 'x'): FeedItem => ({
    type: 'tool.ended',
    call,
    tool: 'Task',
    input: {},
    description: 'Task',
    outcome,
    raw: JSON.stringify({ type: 'tool_result', content, is_error: outcome !== 'ok' }),
  });

  test('prints lines of the child and none of its Task call', () => {
    expect(
      printed(
        task('toolu_1'),
        spawned(),
        childUses('Grep'),
        childSays(),
        childEnded(),
        taskEnded('toolu_1', 'ok'),
        stop('end_turn'),
      ),
    ).toBe('  explorer ag_1 started: Find the parser\n  explorer ag_1 done, 3 turns, $0.0123\n');
  });

  test('prints the error of a Task call that started no child', () => {
    expect(printed(task('toolu_1'), taskEnded('toolu_1', 'error', 'No such agent.'))).toBe(
      '    failed Task Find it\n      No such agent.\n',
    );
  });

  test('does not interrupt a paragraph of the lead', () => {
    expect(
      printed(
        request,
        block('text'),
        delta('One '),
        spawned(),
        delta('two.'),
        end,
        stop('end_turn'),
      ),
    ).toBe('\nOne two.\n  explorer ag_1 started: Find the parser\n');
  });

  test('holds back lines of children while a question is open', () => {
    const terminal = scriptedTerminal();
    const printer = new FeedPrinter(terminal);
    const release = printer.pause();
    printer.receive(spawned());
    printer.swarm.flush();
    printer.receive(stop('end_turn'));
    expect(terminal.text()).toBe('');
    release();
    expect(terminal.text()).toBe('  explorer ag_1 started: Find the parser\n');
  });
});
