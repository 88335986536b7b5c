import { describe, expect, onTestFinished, test } from 'vitest';
import { draftOf } from '../../../src/terminal/input/draft.js';
import { LineEditor } from '../../../src/terminal/input/line-editor.js';
import type { TerminalHost } from '../../../src/terminal/terminal-host.js';
import { SessionScreen } from '../../../src/ui/session/session-screen.js';
import { recordingHost } from '../../fakes/terminal/recording-host.js';
import { permission } from '../inbox/questions.js';
import { ended } from './live-state-fixtures.js';

const setUp = (typed = '') => {
  const recorder = recordingHost(80, 24);
  const host = { ...recorder, env: {}, stdin: {} } as unknown as TerminalHost;
  let interrupts = 0;
  const screen = new SessionScreen({
    host,
    session: () => undefined,
    status: () => ({ model: 'm', mode: 'default' }),
    nameOf: () => 'The lead',
    purposeOf: () => undefined,
    changeMode: () => {},
    files: () => [],
    imagesIn: () => [],
    openSwarm: () => undefined,
    interruptRun: () => {
      interrupts += 1;
    },
    onDefect: (error) => {
      throw error;
    },
  });
  const editor = new LineEditor();
  editor.reset(draftOf(typed));
  screen.acquire();
  onTestFinished(() => screen.close());
  const asked = new AbortController();
  const ask = () => screen.surface.ask(permission(), asked.signal).catch(() => undefined);
  const press = (name: string, ctrl = false) =>
    screen.press({ name, ctrl, sequence: name === 'tab' ? '\t' : name }, editor);
  const shown = () => recorder.terminal.screen().join('\n');
  return { screen, editor, asked, ask, press, shown, interrupts: () => interrupts };
};

describe('the keys of a session screen', () => {
  test('interrupt the run at a question and keep the draft', async () => {
    const { editor, asked, ask, press, shown, interrupts } = setUp('half a prompt');
    const answer = ask();
    press('y', true);
    expect(shown()).toContain('Enter confirms');
    expect(press('c', true)).toBe(true);
    expect(interrupts()).toBe(1);
    asked.abort();
    await answer;
    expect(shown()).not.toContain('answered elsewhere');
    expect(editor.draft.text).toBe('half a prompt');
    expect(press('x')).toBe(false);
  });

  test('show calls by their number in the session, with a note about earlier calls', () => {
    const { screen, press, shown } = setUp();
    for (let at = 1; at <= 103; at += 1) screen.live.callEnded(ended(`done ${at}`));
    press('o', true);
    expect(shown()).toContain('103 of 103: Bash npm test (ok)');
    for (let at = 0; at < 110; at += 1) press('left');
    expect(shown()).toContain('4 of 103: Bash npm test (ok)');
    expect(shown()).toContain('(Earlier calls are not kept here; skein explain lists them.)');
  });

  test('pass Ctrl-Z through an open scene, which is shown again afterwards', () => {
    const { screen, press, shown } = setUp();
    press('o', true);
    expect(shown()).toContain('No call has ended yet');
    expect(press('z', true)).toBe(false);
    screen.release();
    expect(shown()).not.toContain('No call has ended yet');
    screen.acquire();
    expect(shown()).toContain('No call has ended yet');
    expect(press('x')).toBe(true);
  });

  test('open the call log from a question and return to the question', () => {
    const { ask, press, shown } = setUp();
    void ask();
    press('y', true);
    press('o', true);
    expect(shown()).toContain('No call has ended yet');
    press('q');
    expect(shown()).toContain('Enter confirms');
    press('g', true);
    expect(shown()).toContain('Enter confirms');
  });

  test('insert no tab into an empty draft', () => {
    const { press } = setUp();
    expect(press('tab')).toBe(true);
    expect(setUp('a').press('tab')).toBe(false);
  });

  test('leave Ctrl-C to the input line if no question has the focus', () => {
    const { ask, press, interrupts } = setUp();
    void ask();
    expect(press('c', true)).toBe(false);
    expect(interrupts()).toBe(0);
  });
});
