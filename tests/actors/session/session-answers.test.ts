/** Effect of an answer for the session on the questions of other agents. */
import { describe, expect, test } from 'vitest';
import type {
  PermissionAnswer,
  PermissionQuestion,
  Surface,
} from '../../../src/protocol/permission/permission-question.js';
import type { JournalRecord } from '../../../src/protocol/session/journal-record.js';
import { calls, says } from '../../fakes/agents/scripted-model.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import {
  allSettled,
  type Conversation,
  type SwarmHarness,
  swarmHarness,
  task,
} from '../swarm/swarm-harness.js';

/** Surface that answers on demand, with its open questions. */
const manualSurface = () => {
  const open = new Map<
    string,
    { question: PermissionQuestion; give: (it: PermissionAnswer) => void }
  >();
  const asked: string[] = [];
  const surface: Surface = {
    ask: (question, signal) =>
      new Promise((give, drop) => {
        asked.push(question.description);
        open.set(question.id, { question, give });
        signal.addEventListener('abort', () => {
          open.delete(question.id);
          drop(signal.reason as Error);
        });
      }),
  };
  /** Answers the oldest question about a call with this description. */
  const answer = (description: string, given: PermissionAnswer) => {
    const found = [...open.values()].find(({ question }) => question.description === description);
    if (found === undefined) throw new Error(`nobody asks about ${description}`);
    open.delete(found.question.id);
    found.give(given);
  };
  const questions = () => [...open.values()].map(({ question }) => question);
  const waiting = () => questions().map(({ description }) => description);
  return { surface, asked, answer, waiting, questions };
};

const SESSION = { behavior: 'allow', scope: 'session' } as const;
const changes = (name: string) => [calls(`c-${name}`, 'Change', { name })];
const workers = (...prompts: readonly string[]) =>
  prompts.map((prompt, at) =>
    calls(`t-${prompt}-${at}`, 'Task', task(prompt, { subagent_type: 'worker' })),
  );

/**
 * Lead that starts these agents with its first message. Each agent changes the file that its task
 * names.
 */
const swarmAsking = async (
  first: readonly ReturnType<typeof calls>[],
  answer: (conversation: Conversation) => ReturnType<typeof changes> | undefined = () => undefined,
) => {
  const person = manualSurface();
  const definitions = [agentDefinition({ name: 'worker', tools: ['Change', 'Task'] })];
  const harness = await swarmHarness(
    (conversation) => {
      const { last } = conversation;
      const given = answer(conversation);
      if (given !== undefined) return given;
      if (last === 'Go') return [...first];
      const [, name] = /change (\w+)$/.exec(last) ?? [];
      return name === undefined ? [says('Done.')] : changes(name);
    },
    { mode: 'default', surface: person.surface, swarm: { definitions } },
  );
  await harness.say('Go');
  await allSettled();
  return { ...harness, ...person };
};

const rulings = async ({ lead, store }: Pick<SwarmHarness, 'lead' | 'store'>) => {
  const found: string[] = [];
  for await (const { type, agent } of store.events(lead.id)) {
    if (type !== 'agent.spawned') continue;
    const { records } = await store.readJournal(lead.id, agent);
    found.push(
      ...records.filter(isFinal).map(({ behavior, step, by }) => `${behavior}@${step} by ${by}`),
    );
  }
  return found.sort();
};

type Ruled = JournalRecord & { readonly type: 'call.ruled' };
const isFinal = (record: JournalRecord): record is Ruled =>
  record.type === 'call.ruled' && record.behavior !== 'ask' && record.tool === 'Change';

describe('an answer for the session', () => {
  test('answers the same question of all other waiting agents', async () => {
    const swarm = await swarmAsking(workers('change a', 'change a', 'change a'));
    expect(swarm.waiting()).toEqual(['Change a', 'Change a', 'Change a']);
    swarm.answer('Change a', SESSION);
    await allSettled();
    expect(swarm.waiting()).toEqual([]);
    expect(swarm.callLog.filter((entry) => entry === 'end a')).toHaveLength(3);
    expect(await rulings(swarm)).toEqual([
      'allow@allow by undefined',
      'allow@allow by undefined',
      'allow@callback by surface-1',
    ]);
  });

  test('leaves other questions open', async () => {
    const swarm = await swarmAsking(workers('change a', 'change b'));
    swarm.answer('Change a', SESSION);
    await allSettled();
    expect(swarm.waiting()).toEqual(['Change b']);
    swarm.answer('Change b', { behavior: 'deny', reason: 'No.' });
    await allSettled();
    expect(swarm.callLog).toEqual(['start a', 'end a']);
  });

  test('does not override a concurrent denial', async () => {
    const swarm = await swarmAsking(workers('change a', 'change a'));
    swarm.answer('Change a', SESSION);
    swarm.answer('Change a', { behavior: 'deny', reason: 'No.' });
    await allSettled();
    expect(await rulings(swarm)).toEqual([
      'allow@callback by surface-1',
      'deny@callback by surface-1',
    ]);
  });

  test('with scope once does not answer other questions', async () => {
    const swarm = await swarmAsking(workers('change a', 'change a'));
    swarm.answer('Change a', { behavior: 'allow', scope: 'once' });
    await allSettled();
    expect(swarm.waiting()).toEqual(['Change a']);
    swarm.answer('Change a', { behavior: 'deny', reason: 'No.' });
    await allSettled();
  });

  test('to a grandchild is valid for the lead and for agents that start later', async () => {
    const swarm = await swarmAsking(workers('have it changed'), ({ last, said, turn }) => {
      if (last.endsWith('have it changed')) return workers('change a');
      const isLead = said[0] === 'Go';
      if (isLead && turn === 1) return changes('a');
      if (isLead && turn === 2) return workers('change a');
      return undefined;
    });
    expect(swarm.asked).toEqual(['Change a']);
    expect(swarm.questions()).toMatchObject([
      {
        askers: [
          { agent: 'a_2', type: 'worker', task: 'have it changed' },
          { agent: 'a_3', type: 'worker', task: 'change a' },
        ],
      },
    ]);
    swarm.answer('Change a', SESSION);
    await allSettled(40);
    expect(swarm.asked).toEqual(['Change a']);
    expect(swarm.callLog.filter((entry) => entry === 'end a')).toHaveLength(3);
  });

  test('covers the input that the person set, not the original input', async () => {
    const swarm = await swarmAsking(workers('change a', 'change b', 'change a'));
    swarm.answer('Change a', { ...SESSION, updatedInput: { name: 'b' } });
    await allSettled();
    expect(swarm.waiting()).toEqual(['Change a']);
    swarm.answer('Change a', { behavior: 'deny', reason: 'No.' });
    await allSettled();
    expect(swarm.callLog).toEqual(['start b', 'end b', 'start b', 'end b']);
  });

  test('to an agent is valid for other agents in the resumed session', async () => {
    const first = await swarmAsking(workers('change a'));
    first.answer('Change a', SESSION);
    await allSettled();
    await first.lead.close();
    const second = await swarmHarness(
      ({ last }) =>
        last.endsWith('Again')
          ? workers('change a')
          : last.endsWith('change a')
            ? changes('a')
            : [says('Done.')],
      {
        mode: 'default',
        surface: manualSurface().surface,
        store: first.store,
        choice: { kind: 'resume', id: first.lead.id },
        swarm: { definitions: [agentDefinition({ name: 'worker', tools: ['Change'] })] },
      },
    );
    await second.say('Again');
    await allSettled();
    expect(second.callLog).toEqual(['start a', 'end a']);
  });
});
