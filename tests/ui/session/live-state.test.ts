import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { paintFor } from '../../../src/terminal/terminal.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';
import { ended, liveStateOn, started, tag } from './live-state-fixtures.js';

describe('the live state of a session', () => {
  test('prints finished lines and keeps the unfinished line', () => {
    const { live, output } = liveStateOn();
    live.write('one\ntwo\nthr');
    expect(output()).toBe('one\ntwo\n');
    expect(live.tail).toBe('thr');
    live.write('ee\n');
    expect(output()).toBe('one\ntwo\nthree\n');
    expect(live.tail).toBe('');
  });

  test('prints every word once, in order and within the width, for any chunks', () => {
    const words = fc.array(fc.constantFrom('word', '漢字', 'a', ' ', '\n', '👩‍👩‍👧 '), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(words, (pieces) => {
        const { live, output } = liveStateOn(20);
        for (const piece of pieces) live.write(piece);
        live.freshLine();
        const flat = (text: string) => text.replaceAll(/\s+/g, '');
        expect(flat(output())).toBe(flat(pieces.join('')));
        for (const line of output().split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(20);
        expect(live.tail).toBe('');
      }),
    );
  });

  test('colours Markdown only in text of the agent', () => {
    const { live, output } = liveStateOn(20, paintFor(true));
    live.textStarted();
    live.textReceived('```\nco');
    expect(live.shownTail).toBe('\u001b[36mco\u001b[0m');
    live.freshLine();
    live.write('(a `remark` of ours)\n');
    live.textReceived('de\n```\nwhat is **strong over two rows** is so\n');
    expect(output().split('\n')).toEqual([
      '\u001b[2m```\u001b[0m',
      '\u001b[36mco\u001b[0m',
      '(a `remark` of ours)',
      '\u001b[36mde\u001b[0m',
      '\u001b[2m```\u001b[0m',
      'what is \u001b[1m**strong\u001b[0m',
      '\u001b[1mover two rows**\u001b[0m is',
      'so',
      '',
    ]);
  });

  test('replaces tabs and stays within the width', () => {
    const { live, output } = liveStateOn(20);
    for (let at = 0; at < 12; at += 1) live.write('a\t');
    live.freshLine();
    for (const line of output().split('\n')) expect(line.length).toBeLessThanOrEqual(20);
    expect(output()).not.toContain('\t');
  });

  test('prints a submitted prompt after the current paragraph', () => {
    const { live, output } = liveStateOn();
    live.write('half a line');
    live.replace('> and then\n');
    expect(output()).toBe('');
    live.write(' and the rest\n');
    expect(output()).toBe('half a line and the rest\n> and then\n');
  });

  test('shows a running call, and prints a line when the call ends', () => {
    const { live, wait, output } = liveStateOn();
    live.callStarted(started());
    expect([...live.calls.values()]).toMatchObject([{ label: 'Bash npm test' }]);
    wait(3_240);
    live.callEnded(ended('fine\n'));
    expect(live.calls.size).toBe(0);
    expect(output()).toBe('✓ Bash npm test 3.2s\n');
    live.close();
  });

  test('prints failed, denied and interrupted calls', () => {
    const { live, output } = liveStateOn(80);
    live.callStarted(started());
    live.callEnded(ended('1 test failed', { outcome: 'error' }));
    const call = { tool: 'Write', description: 'Write a.ts' };
    live.callEnded(ended('Not now.', { outcome: 'denied', ...call }));
    live.callEnded(ended('', { outcome: 'interrupted', call: 'toolu_2' }));
    expect(output().split('\n')).toEqual([
      '✗ Bash npm test failed: 1 test failed 0.0s',
      '✗ Write a.ts denied: Not now.',
      '✗ Bash npm test interrupted',
      '',
    ]);
    live.close();
  });

  test('prints the outcome of a call with a very long command', () => {
    const { live, output } = liveStateOn(40);
    live.callEnded(ended('No.', { outcome: 'denied', description: `Bash ${'x'.repeat(300)}` }));
    expect(output()).toMatch(/^✗ Bash x+… denied: No\.\n$/);
    expect(textWidth(output().trimEnd())).toBeLessThanOrEqual(40);
  });

  test('keeps queued prompts until they are read, even if a request is retried', () => {
    const { live } = liveStateOn();
    let isRead = false;
    live.queue('and then', () => !isRead);
    live.receive({ type: 'request.started', turn: 1, attempt: 2, model: 'm' });
    expect(live.queued).toMatchObject([{ text: 'and then' }]);
    isRead = true;
    live.receive({ type: 'request.started', turn: 2, attempt: 1, model: 'm' });
    expect(live.queued).toEqual([]);
  });

  test('runs its animation timer only while a call runs', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { live } = liveStateOn();
    live.callStarted(started());
    expect(vi.getTimerCount()).toBe(1);
    live.callEnded(ended('fine'));
    vi.advanceTimersByTime(500);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('removes running calls when the run ends', () => {
    const { live } = liveStateOn();
    live.callStarted(started());
    live.receive({ type: 'run.ended', stop: { reason: 'interrupted', detail: null }, turns: 1 });
    expect(live.calls.size).toBe(0);
    live.close();
  });

  test('lists the working agents with their activity', () => {
    const { live } = liveStateOn();
    const agent = tag();
    live.receive({ type: 'agent.spawned', agent, model: 'm', isQueued: true, prompt: '' });
    expect(live.agents.agents).toMatchObject([{ doing: 'queued', isQueued: true }]);
    expect(live.agents.counts()).toEqual({ running: 0, queued: 1 });
    live.receive({ type: 'agent.feed', agent, item: started({ description: 'Read a.ts' }) });
    expect(live.agents.agents).toMatchObject([
      { name: 'explorer a_123456', doing: 'Read a.ts', isQueued: false },
    ]);
    const question = { type: 'question.asked', question: {} } as never;
    live.receive({ type: 'agent.feed', agent, item: question });
    expect(live.agents.agents).toMatchObject([{ doing: 'asks', isAsking: true }]);
    expect(live.agents.counts()).toEqual({ running: 0, queued: 0 });
    live.receive({ type: 'agent.ended', report: { agent } as never });
    expect(live.agents.agents).toEqual([]);
    live.close();
  });
});
