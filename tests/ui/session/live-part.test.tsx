import { describe, expect, test } from 'vitest';
import { draftOf } from '../../../src/terminal/input/draft.js';
import { viewDraft } from '../../../src/terminal/input/draft-view.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';
import { CompletionMenu } from '../../../src/ui/session/completion-menu.js';
import { cursorOf, LivePart, type LivePartState } from '../../../src/ui/session/live-part.js';
import { laidOut } from '../../fakes/terminal/laid-out.js';
import { liveStateOn, started, tag } from './live-state-fixtures.js';

const setUp = (columns = 80, text = 'hello') => {
  const { live, wait } = liveStateOn(columns);
  const menu = new CompletionMenu(() => ['src/a.ts', 'src/b.ts']);
  menu.update(draftOf(text));
  live.view = viewDraft('> ', draftOf(text), columns);
  const state: LivePartState = {
    live,
    menu,
    inbox: () => ({ lines: [] }),
    isAnswering: false,
    images: [],
    status: 'status',
    activity: undefined,
  };
  const draw = (change: Partial<LivePartState> = {}, rows = 24) =>
    laidOut(<LivePart state={{ ...state, ...change }} size={{ columns, rows }} />, columns, rows);
  return { live, wait, state, draw };
};

const SIZE = { columns: 80, rows: 24 };

describe('the live part of a session', () => {
  test('is a prompt and a status line while idle', () => {
    expect(setUp(20).draw()).toEqual(['─'.repeat(20), '> hello', 'status']);
  });

  test('shows calls, agents, todos and queued prompts from top to bottom', () => {
    const { live, wait, draw } = setUp(60);
    live.write('being said');
    live.callStarted(started());
    const agent = tag();
    live.receive({ type: 'agent.spawned', agent, model: 'm', isQueued: false, prompt: '' });
    live.todosChanged([
      { content: 'Look', status: 'completed' },
      { content: 'Run the tests', activeForm: 'Running the tests', status: 'in_progress' },
      { content: 'Report', status: 'pending' },
    ]);
    live.queue('and then', () => true);
    wait(12_000);
    const lines = draw({ activity: 'tool-running' });
    live.close();
    expect(lines).toEqual([
      'being said',
      '⠋ Bash npm test 12s',
      '⠋ explorer a_123456: starts 12s',
      '  Things to do: 1 of 3 done',
      '  ● Running the tests',
      '  ○ Report',
      '» waits for the next step: and then',
      '⠋ tool-running 12s · Esc interrupts',
      '─'.repeat(60),
      '> hello',
      'status',
    ]);
  });

  test('counts the calls and agents that it does not show', () => {
    const { live, draw } = setUp();
    for (let at = 0; at < 30; at += 1) {
      live.callStarted(started({ call: `toolu_${at}` }));
      const agent = tag({ id: `a_${at}` });
      live.receive({ type: 'agent.spawned', agent, model: 'm', isQueued: false, prompt: '' });
    }
    const lines = draw({});
    live.close();
    expect(lines).toContain('  … 25 more calls');
    expect(lines).toContain('  … 26 more agents (Ctrl-S shows all)');
  });

  test('is always shorter than the terminal and keeps the prompt', () => {
    const { live, draw } = setUp();
    for (let at = 0; at < 30; at += 1) live.callStarted(started({ call: `toolu_${at}` }));
    const asked = Array.from({ length: 30 }, (_, at) => `question ${at}`);
    const inbox = (rows: number) => ({ lines: asked.slice(0, rows) });
    const lines = draw({ inbox }, 12);
    live.close();
    expect(lines.length).toBeLessThan(12);
    expect(lines.slice(-2)).toEqual(['> hello', 'status']);
    expect(lines).toContain('question 0');
  });

  test('puts the cursor into the prompt', () => {
    const { state, draw } = setUp(80, '/co');
    const lines = draw();
    expect(lines).toHaveLength(6);
    expect(cursorOf(state, lines.length, SIZE)).toEqual({ row: 1, column: 5 });
  });

  test('puts the cursor into the answer to a question', () => {
    const { state, draw } = setUp();
    const answering = {
      ...state,
      inbox: () => ({ lines: ['a', 'Why not? x'], cursor: { row: 1, column: 10 } }),
      isAnswering: true,
    };
    const lines = draw(answering);
    const cursor = cursorOf(answering, lines.length, SIZE);
    expect(lines[cursor?.row ?? 0]).toBe('Why not? x');
  });

  test.each([60, 80, 120, 160, 250])('is at most %i columns wide', (columns) => {
    const { live, draw } = setUp(columns);
    live.callStarted(started({ description: '漢字'.repeat(300) }));
    const agent = tag({ type: '👩‍👩‍👧'.repeat(60) });
    live.receive({ type: 'agent.spawned', agent, model: 'm', isQueued: false, prompt: '' });
    live.todosChanged([{ content: '漢字 '.repeat(200), status: 'in_progress' }]);
    live.queue('漢字 '.repeat(200), () => true);
    const lines = draw();
    live.close();
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(columns);
  });
});
