import { describe, expect, test } from 'vitest';
import { TerminalSurface } from '../../../src/cli/repl/terminal-surface.js';
import type {
  PermissionQuestion,
  PersonQuestion,
} from '../../../src/protocol/permission/permission-question.js';
import { eventually } from '../../fakes/eventually.js';
import {
  type ScriptedAnswer,
  type ScriptedTerminal,
  SILENCE,
  scriptedTerminal,
} from '../../fakes/terminal/scripted-terminal.js';

const question: PermissionQuestion = {
  id: 'q_1',
  agent: 'a_1',
  call: 'toolu_1',
  tool: 'Bash',
  input: { command: 'ls' },
  inputDigest: 'digest',
  cwd: '/repo',
  risk: 'medium',
  description: 'Bash ls',
  reason: 'No rule.',
  grant: 'Bash(ls)',
};
const choice: PersonQuestion = {
  id: 'q_2',
  agent: 'a_1',
  call: 'toolu_2',
  question: 'Which?',
  multiple: false,
  options: [{ label: 'Red', description: 'warm' }, { label: 'Blue' }],
};

/** Surface of a person with these scripted answers. */
const surfaceWith = (...answers: readonly ScriptedAnswer[]) => {
  const terminal = scriptedTerminal(...answers);
  let interrupts = 0;
  let rings = 0;
  let isHeld = false;
  const surface = new TerminalSurface({
    terminal,
    print: (...lines) => {
      terminal.freshLine();
      terminal.write(`${lines.join('\n')}\n`);
    },
    holdOutput: () => {
      isHeld = true;
      return () => {
        isHeld = false;
      };
    },
    nameOf: (agent) => `Agent ${agent}`,
    purposeOf: (agent) => (agent === 'a_child' ? 'the lead, Find it' : undefined),
    alert: () => {
      rings += 1;
    },
    interruptRun: () => {
      interrupts += 1;
    },
  });
  const controller = new AbortController();
  return {
    terminal,
    surface,
    controller,
    interrupts: () => interrupts,
    rings: () => rings,
    isHeld: () => isHeld,
  };
};

/** Waits until a question is open. */
const isAsked = (terminal: ScriptedTerminal) =>
  eventually('a question is asked', () => /: $/.test(terminal.text()));

describe('a question of a sub-agent', () => {
  test('names the asking agent and its purpose', async () => {
    const { surface, terminal, controller } = surfaceWith('o', 'Blue');
    await surface.ask({ ...question, agent: 'a_child' }, controller.signal);
    await surface.choose(
      { id: 'q', agent: 'a_child', call: 'c', question: 'Which?', options: [], multiple: false },
      controller.signal,
    );
    expect(terminal.text()).toMatch(/Agent a_child asks to use .*\n {2}for: the lead, Find it\n/);
    expect(terminal.text()).toMatch(/Agent a_child has a question.\n {2}for: the lead, Find it\n/);
  });
});

describe('a question', () => {
  test('rings once, even after several invalid answers', async () => {
    const { surface, controller, rings } = surfaceWith('x', 'v', 'd', '', '3', 'Blue');
    await surface.ask(question, controller.signal);
    expect(rings()).toBe(1);
    await surface.choose(choice, controller.signal);
    expect(rings()).toBe(2);
  });

  test('does not ring if it is withdrawn before it is shown', async () => {
    const { surface, controller, rings } = surfaceWith();
    controller.abort();
    await expect(surface.ask(question, controller.signal)).rejects.toThrow('withdrawn');
    await expect(surface.choose(choice, controller.signal)).rejects.toThrow('withdrawn');
    expect(rings()).toBe(0);
  });
});

describe('a permission question', () => {
  test('that is too long is shown in full on request', async () => {
    const { surface, terminal, controller } = surfaceWith('v', 'd no');
    const command = Array.from({ length: 100 }, (_, line) => `line ${line}`).join('\n');
    await surface.ask({ ...question, input: { command } }, controller.signal);
    expect(terminal.text()).not.toMatch(/line 50\n[\s\S]*v shows it/);
    expect(terminal.text()).toMatch(
      /v shows it[\s\S]*line 50\n[\s\S]*line 99\n {2}\| rule: Bash\(ls\)\nAllow it\?/,
    );
  });

  test('holds back other output while it is open', async () => {
    const { surface, terminal, controller, isHeld } = surfaceWith(SILENCE);
    const answer = surface.ask(question, controller.signal);
    await isAsked(terminal);
    expect(isHeld()).toBe(true);
    controller.abort();
    await expect(answer).rejects.toThrow('withdrawn');
    expect(isHeld()).toBe(false);
  });

  test('shows the agent, the input, the reason and the effect of each answer', async () => {
    const { surface, terminal, controller } = surfaceWith('o');
    await surface.ask(question, controller.signal);
    expect(terminal.text()).toBe(
      [
        '',
        'Agent a_1 asks to use Bash.',
        '  | command: ls',
        '  risk: medium, it changes the workspace',
        '  reason: No rule.',
        '  rule: Bash(ls)',
        '  o  once: this call and no other',
        '  s  session: all calls that the rule allows, until the session ends',
        '  p  project: the same from now on, saved in .skein/settings.local.json',
        '  d  deny: the call does not run, and you can say why',
        'Allow it? o once, s session, p project, d deny: o',
        '',
      ].join('\n'),
    );
  });

  test('can be allowed once only if no rule can be saved', async () => {
    const { surface, terminal, controller } = surfaceWith('s', 'p', 'o');
    const { grant: _, ...questionWithoutRule } = question;
    expect(await surface.ask(questionWithoutRule, controller.signal)).toEqual({
      behavior: 'allow',
      scope: 'once',
    });
    expect(terminal.text()).toContain('Allow it? o once, d deny: s\nPlease answer o or d');
  });

  test.each([
    ['o', 'once'],
    [' Once ', 'once'],
    ['s', 'session'],
    ['SESSION', 'session'],
    ['p', 'project'],
    ['project', 'project'],
  ])('is allowed by %j for %s', async (answer, scope) => {
    const { surface, controller } = surfaceWith(answer);
    expect(await surface.ask(question, controller.signal)).toEqual({ behavior: 'allow', scope });
  });

  test.each([
    [['d', ''], 'The user denied this call.'],
    [['d', 'use rg'], 'The user denied this call. Reason: use rg'],
    [['deny use rg instead'], 'The user denied this call. Reason: use rg instead'],
    [['no', ' '], 'The user denied this call.'],
  ])('is denied by %j', async (answers, reason) => {
    const { surface, controller } = surfaceWith(...answers);
    expect(await surface.ask(question, controller.signal)).toEqual({ behavior: 'deny', reason });
  });

  test.each(['', 'y', 'yes', 'os', 'o s', 'once more', '/help', 'oops', '\u001b[A'])(
    'is not answered by %j',
    async (answer) => {
      const { surface, terminal, controller } = surfaceWith(answer, 'o');
      expect(await surface.ask(question, controller.signal)).toMatchObject({ behavior: 'allow' });
      expect(terminal.text()).toContain('\nPlease answer o, s, p or d.\n');
    },
  );

  test('is denied by Esc, at the answer or at the reason, and the run is interrupted', async () => {
    for (const answers of [[{ kind: 'cancelled' }], ['d', { kind: 'cancelled' }]] as const) {
      const { surface, controller } = surfaceWith(...answers);
      expect(await surface.ask(question, controller.signal)).toMatchObject({
        behavior: 'deny',
        interrupt: true,
      });
    }
  });

  test('is rejected if the terminal is gone', async () => {
    const { surface, controller } = surfaceWith({ kind: 'gone' });
    await expect(surface.ask(question, controller.signal)).rejects.toThrow(
      'could answer has closed',
    );
  });

  test('disappears with a notice when it is withdrawn', async () => {
    const { surface, terminal, controller } = surfaceWith(SILENCE);
    const answer = surface.ask(question, controller.signal);
    await isAsked(terminal);
    controller.abort();
    await expect(answer).rejects.toThrow('withdrawn');
    expect(terminal.text()).toMatch(/\(The question is withdrawn\.\)\n$/);
  });

  test('waits for the previous question, and is not shown if it is withdrawn meanwhile', async () => {
    const { surface, terminal, controller } = surfaceWith(SILENCE, 'o');
    const first = surface.ask(question, controller.signal);
    const later = new AbortController();
    const second = surface.ask({ ...question, tool: 'Edit' }, later.signal);
    const third = surface.ask({ ...question, tool: 'Write' }, new AbortController().signal);
    await isAsked(terminal);
    expect(terminal.text()).not.toContain('Edit');
    later.abort();
    controller.abort();
    const ends = await Promise.allSettled([first, second]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await third).toMatchObject({ behavior: 'allow' });
    expect(terminal.text()).not.toContain('Edit');
    expect(terminal.text()).toContain('asks to use Write');
  });
});

describe('a choice', () => {
  test('is shown with numbers', async () => {
    const { surface, terminal, controller } = surfaceWith('2');
    expect(await surface.choose(choice, controller.signal)).toEqual({ chosen: ['Blue'] });
    expect(terminal.text()).toBe(
      [
        '',
        'Agent a_1 has a question.',
        '  Which?',
        '  1. Red (warm)',
        '  2. Blue',
        'A number, or your own words: 2',
        '',
      ].join('\n'),
    );
  });

  test('may have several answers if multiple is allowed', async () => {
    const { surface, controller } = surfaceWith('2, 1,2');
    const answer = await surface.choose({ ...choice, multiple: true }, controller.signal);
    expect(answer).toEqual({ chosen: ['Blue', 'Red'] });
  });

  test('may be answered with free text', async () => {
    const { surface, controller } = surfaceWith(' 2 of the greens ');
    const answer = await surface.choose(choice, controller.signal);
    expect(answer).toEqual({ chosen: [], text: '2 of the greens' });
  });

  test.each([
    ['', 'Please give an answer'],
    ['3', 'The numbers go from 1 to 2.'],
    ['0', 'The numbers go from 1 to 2.'],
    ['1,2', 'Please choose one number.'],
  ])('is asked again after %j', async (answer, sentence) => {
    const { surface, terminal, controller } = surfaceWith(answer, '1');
    expect(await surface.choose(choice, controller.signal)).toEqual({ chosen: ['Red'] });
    expect(terminal.text()).toContain(sentence);
  });

  test('can be cancelled, which interrupts the run', async () => {
    const { surface, controller, interrupts } = surfaceWith({ kind: 'cancelled' });
    await expect(surface.choose(choice, controller.signal)).rejects.toThrow(
      'did not want to answer',
    );
    expect(interrupts()).toBe(1);
  });

  test('is rejected if the terminal is gone or the question is withdrawn', async () => {
    const { surface, terminal, controller } = surfaceWith({ kind: 'gone' }, SILENCE);
    await expect(surface.choose(choice, controller.signal)).rejects.toThrow(
      'could answer has closed',
    );
    const withdrawn = surface.choose(choice, controller.signal);
    await isAsked(terminal);
    controller.abort();
    await expect(withdrawn).rejects.toThrow('withdrawn');
    await expect(surface.choose(choice, controller.signal)).rejects.toThrow('withdrawn');
  });
});
