import { describe, expect, test } from 'vitest';
import { askPerson } from '../../../src/actors/permissions/ask-surfaces.js';
import type {
  PersonAnswer,
  PersonQuestion,
  Surface,
} from '../../../src/protocol/permission/permission-question.js';
import type { ToolContext } from '../../../src/protocol/tools/tool.js';
import { calls, says, scriptedModel } from '../../fakes/agents/scripted-model.js';
import { settled, virtualClock } from '../../fakes/virtual-clock.js';
import { leadHarness } from '../session/lead-harness.js';

const asked = { question: 'Which?', options: [{ label: 'a' }, { label: 'b' }], multiple: false };

/** Agent with one call that asks, and a scripted surface. */
const asking = async (choose?: Surface['choose'], turns = 2) => {
  const harness = await leadHarness({
    model: scriptedModel(
      [calls('c1', 'Change', { name: 'ask' })],
      ...[[says('Done.')]].slice(2 - turns),
    ),
    surface: {
      ask: () => Promise.reject(new Error('not a permission')),
      ...(choose && { choose }),
    },
    effects: {
      async ask({ askPerson }: ToolContext) {
        const answer = await askPerson?.(asked);
        return { content: JSON.stringify(answer ?? 'nobody') };
      },
    },
  });
  await harness.say('Go.');
  return harness;
};

describe('a question of a tool to a person', () => {
  test('goes to the surface with its agent and its call, and is told to listeners', async () => {
    const questions: PersonQuestion[] = [];
    const harness = await asking(async (question) => {
      questions.push(question);
      return { chosen: ['b'] };
    });
    const [question] = questions;
    expect(question).toMatchObject({ agent: harness.lead.meta.lead, call: 'c1', ...asked });
    expect(harness.items).toContainEqual({ type: 'person.asked', question });
    expect(harness.results()).toEqual({ c1: '{"chosen":["b"]}' });
  });

  test('cannot be put where the surface can only rule', async () => {
    expect((await asking()).results()).toEqual({ c1: '"nobody"' });
  });

  test('is given up after the time for permissions', async () => {
    const harness = await asking(() => new Promise<PersonAnswer>(() => {}));
    expect(harness.lead.state).toBe('tool-running');
    await harness.clock.advance(600_000);
    expect(harness.results().c1).toMatch(/^error: Nobody answered within 600 seconds\. Decide it/);
  });

  test('is answered with the reason when the person does not want to', async () => {
    const harness = await asking(() => Promise.reject(new Error('Ask me later.')));
    expect(harness.results().c1).toMatch(/^error: There is no answer: Ask me later\. Decide it/);
  });

  test('is withdrawn when the run is interrupted', async () => {
    let isWithdrawn = false;
    const harness = await asking((_, signal) => {
      signal.addEventListener('abort', () => {
        isWithdrawn = true;
      });
      return new Promise(() => {});
    }, 1);
    harness.lead.interrupt();
    await settled();
    expect(isWithdrawn).toBe(true);
    expect(harness.lead.state).toBe('stopped');
  });
});

describe('a question to several people', () => {
  const put = (...choosers: readonly ((signal: AbortSignal) => Promise<PersonAnswer>)[]) => {
    const clock = virtualClock();
    const terms = { clock, timeoutMs: 1_000, signal: new AbortController().signal };
    return { clock, answer: askPerson(choosers, terms) };
  };

  test('is decided by the first who answers, and withdrawn from the others', async () => {
    const seen: AbortSignal[] = [];
    const silent = (signal: AbortSignal) => {
      seen.push(signal);
      return new Promise<PersonAnswer>(() => {});
    };
    const { answer, clock } = put(
      silent,
      () => Promise.reject(new Error('Not me.')),
      async () => ({ chosen: ['a'] }),
    );
    expect(await answer).toEqual({ chosen: ['a'] });
    expect(seen.map(({ aborted }) => aborted)).toEqual([true]);
    expect(clock.sleepers).toBe(0);
  });

  test('has no answer when nobody wants to give one', async () => {
    const { answer } = put(
      () => Promise.reject(new Error('Not me.')),
      () => Promise.reject(new Error('Nor me.')),
    );
    expect(await answer).toEqual({ silence: 'There is no answer: Not me.' });
  });
});
