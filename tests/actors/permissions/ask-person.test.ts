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

/** Agent with a call that asks a question, and a scripted surface. */
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
  test('is sent to the surface with agent and call, and emitted to the feed', async () => {
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

  test('has no answer if the surface only answers permission questions', async () => {
    expect((await asking()).results()).toEqual({ c1: '"nobody"' });
  });

  test('fails after the permission time-out', async () => {
    const harness = await asking(() => new Promise<PersonAnswer>(() => {}));
    expect(harness.lead.state).toBe('tool-running');
    await harness.clock.advance(600_000);
    expect(harness.results().c1).toMatch(/^error: No answer came within 600 seconds\. Decide it/);
  });

  test('fails with the reason if the surface rejects', async () => {
    const harness = await asking(() => Promise.reject(new Error('Ask me later.')));
    expect(harness.results().c1).toMatch(/^error: There is no answer: Ask me later\. Decide it/);
  });

  test('is withdrawn if the run is interrupted', async () => {
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

describe('a question to several surfaces', () => {
  const askAll = (...choosers: readonly ((signal: AbortSignal) => Promise<PersonAnswer>)[]) => {
    const clock = virtualClock();
    const options = { clock, timeoutMs: 1_000, signal: new AbortController().signal };
    return { clock, answer: askPerson(choosers, options) };
  };

  test('takes the first answer and is withdrawn from the other surfaces', async () => {
    const seen: AbortSignal[] = [];
    const silent = (signal: AbortSignal) => {
      seen.push(signal);
      return new Promise<PersonAnswer>(() => {});
    };
    const { answer, clock } = askAll(
      silent,
      () => Promise.reject(new Error('Not me.')),
      async () => ({ chosen: ['a'] }),
    );
    expect(await answer).toEqual({ chosen: ['a'] });
    expect(seen.map(({ aborted }) => aborted)).toEqual([true]);
    expect(clock.sleepers).toBe(0);
  });

  test('has no answer if all surfaces reject', async () => {
    const { answer } = askAll(
      () => Promise.reject(new Error('Not me.')),
      () => Promise.reject(new Error('Nor me.')),
    );
    expect(await answer).toEqual({ silence: 'There is no answer: Not me.' });
  });
});
