import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { paintFor } from '../../../src/terminal/terminal.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';
import { boardOn, ended, started, tag } from './boards.js';

describe('what a session shows', () => {
  test('lets finished lines go, and keeps the one that is being said', () => {
    const { board, said } = boardOn();
    board.write('one\ntwo\nthr');
    expect(said()).toBe('one\ntwo\n');
    expect(board.tail).toBe('thr');
    board.write('ee\n');
    expect(said()).toBe('one\ntwo\nthree\n');
    expect(board.tail).toBe('');
  });

  test('says every word once, in order and within the width, however it arrives', () => {
    const words = fc.array(fc.constantFrom('word', '漢字', 'a', ' ', '\n', '👩‍👩‍👧 '), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(words, (pieces) => {
        const { board, said } = boardOn(20);
        for (const piece of pieces) board.write(piece);
        board.freshLine();
        const flat = (text: string) => text.replaceAll(/\s+/g, '');
        expect(flat(said())).toBe(flat(pieces.join('')));
        for (const line of said().split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(20);
        expect(board.tail).toBe('');
      }),
    );
  });

  test('has what the agent says in the colours of Markdown, and nothing else', () => {
    const { board, said } = boardOn(20, paintFor(true));
    board.textStarted();
    board.textReceived('```\nco');
    expect(board.shownTail).toBe('\u001b[36mco\u001b[0m');
    board.freshLine();
    board.write('(a `remark` of ours)\n');
    board.textReceived('de\n```\nwhat is **strong over two rows** is so\n');
    expect(said().split('\n')).toEqual([
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

  test('knows how wide a tab is', () => {
    const { board, said } = boardOn(20);
    for (let at = 0; at < 12; at += 1) board.write('a\t');
    board.freshLine();
    for (const line of said().split('\n')) expect(line.length).toBeLessThanOrEqual(20);
    expect(said()).not.toContain('\t');
  });

  test('puts what is sent meanwhile behind the paragraph, not into it', () => {
    const { board, said } = boardOn();
    board.write('half a line');
    board.replace('> and then\n');
    expect(said()).toBe('');
    board.write(' and the rest\n');
    expect(said()).toBe('half a line and the rest\n> and then\n');
  });

  test('shows a call while it runs, and one line of it when it has ended', () => {
    const { board, wait, said } = boardOn();
    board.callStarted(started());
    expect([...board.calls.values()]).toMatchObject([{ label: 'Bash npm test' }]);
    wait(3_240);
    board.callEnded(ended('fine\n'));
    expect(board.calls.size).toBe(0);
    expect(said()).toBe('✓ Bash npm test 3.2s\n');
    board.close();
  });

  test('says how a call failed, and that one was denied', () => {
    const { board, said } = boardOn(80);
    board.callStarted(started());
    board.callEnded(ended('1 test failed', { outcome: 'error' }));
    const call = { tool: 'Write', description: 'Write a.ts' };
    board.callEnded(ended('Not now.', { outcome: 'denied', ...call }));
    board.callEnded(ended('', { outcome: 'interrupted', call: 'toolu_2' }));
    expect(said().split('\n')).toEqual([
      '✗ Bash npm test failed: 1 test failed 0.0s',
      '✗ Write a.ts denied: Not now.',
      '✗ Bash npm test interrupted',
      '',
    ]);
    board.close();
  });

  test('says how a call went, however long its command is', () => {
    const { board, said } = boardOn(40);
    board.callEnded(ended('No.', { outcome: 'denied', description: `Bash ${'x'.repeat(300)}` }));
    expect(said()).toMatch(/^✗ Bash x+… denied: No\.\n$/);
    expect(textWidth(said().trimEnd())).toBeLessThanOrEqual(40);
  });

  test('keeps prompts until somebody has read them, however often a request is sent again', () => {
    const { board } = boardOn();
    let isRead = false;
    board.queue('and then', () => !isRead);
    board.receive({ type: 'request.started', turn: 1, attempt: 2, model: 'm' });
    expect(board.queued).toMatchObject([{ text: 'and then' }]);
    isRead = true;
    board.receive({ type: 'request.started', turn: 2, attempt: 1, model: 'm' });
    expect(board.queued).toEqual([]);
  });

  test('moves while something is under way, and rests after that', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { board } = boardOn();
    board.callStarted(started());
    expect(vi.getTimerCount()).toBe(1);
    board.callEnded(ended('fine'));
    vi.advanceTimersByTime(500);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('forgets what ran when the run is over', () => {
    const { board } = boardOn();
    board.callStarted(started());
    board.receive({ type: 'run.ended', stop: { reason: 'interrupted', detail: null }, turns: 1 });
    expect(board.calls.size).toBe(0);
    board.close();
  });

  test('knows which agents work, and what each does', () => {
    const { board } = boardOn();
    const agent = tag();
    board.receive({ type: 'agent.spawned', agent, model: 'm', isQueued: true, prompt: '' });
    expect(board.agents.agents).toMatchObject([{ doing: 'queued', isQueued: true }]);
    expect(board.agents.counts()).toEqual({ running: 0, queued: 1 });
    board.receive({ type: 'agent.feed', agent, item: started({ description: 'Read a.ts' }) });
    expect(board.agents.agents).toMatchObject([
      { name: 'explorer a_123456', doing: 'Read a.ts', isQueued: false },
    ]);
    const question = { type: 'question.asked', question: {} } as never;
    board.receive({ type: 'agent.feed', agent, item: question });
    expect(board.agents.agents).toMatchObject([{ doing: 'asks', isAsking: true }]);
    expect(board.agents.counts()).toEqual({ running: 0, queued: 0 });
    board.receive({ type: 'agent.ended', report: { agent } as never });
    expect(board.agents.agents).toEqual([]);
    board.close();
  });
});
