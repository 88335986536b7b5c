/**
 * Letters that arrive twice, late, or across a crash: each is read once, in the order of its
 * sender.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { calls, says } from '../../fakes/agents/scripted-model.js';
import {
  allSettled,
  type Conversation,
  conversationOf,
  type SwarmHarness,
  swarmHarness,
  task,
} from '../swarm/swarm-harness.js';

const isMate = ({ said }: Conversation) => said[0]?.includes('listen well') === true;

const answer = (conversation: Conversation) => {
  if (isMate(conversation)) return [says('heard')];
  const ada = task('listen well', { subagent_type: 'explorer', name: 'ada', team_name: 'geese' });
  return conversation.turn === 0 ? [calls('c1', 'Task', ada)] : [says('ok')];
};

const open = (before?: SwarmHarness) =>
  swarmHarness(answer, {
    staysIdle: true,
    ...(before && { store: before.store, choice: { kind: 'resume', id: before.lead.id } as const }),
  });

/** Letters in the newest request of ada. */
const readBy = (harnesses: readonly SwarmHarness[]): readonly string[] => {
  const conversations = harnesses
    .flatMap(({ requests }) => requests.map(conversationOf))
    .filter(isMate);
  return [...(conversations.at(-1)?.said.join('\n') ?? '').matchAll(/word-(\d+)/g)].map(
    ([, n]) => n ?? '',
  );
};

/** A step: the next letter (repeated if it came before), a wait, or a crash of the process. */
const steps = fc.array(
  fc.record({ letter: fc.nat(6), waits: fc.boolean(), dies: fc.nat(5).map((n) => n === 0) }),
  { minLength: 1, maxLength: 20 },
);

test('letters that are sent repeatedly and across crashes are read once, in order of arrival', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      let harness = await open();
      const harnesses = [harness];
      await harness.say('begin');
      await allSettled();
      for (const { letter, waits, dies } of plan) {
        const sent = await harness.lead.steer.send('ada', `word-${letter}`, 'a_9', `m_${letter}`);
        expect(sent.ok).toBe(true);
        if (waits) await allSettled();
        if (!dies) continue;
        await harness.lead.close();
        harness = await open(harness);
        harnesses.push(harness);
        harness.lead.start();
        await allSettled();
      }
      await allSettled(40);
      await harness.lead.close();
      const first = [...new Set(plan.map(({ letter }) => String(letter)))];
      expect(readBy(harnesses)).toEqual(first);
    }),
    { numRuns: 40 },
  );
}, 120_000);
