/** A lead with teammates that write to each other, in memory. */
import { sendMessage } from '../../../src/tools/agents/send-message.js';
import { type Answer, calls } from '../../fakes/agents/scripted-model.js';
import type { LeadOptions } from '../session/lead-in-hand.js';
import { type SwarmInHand, swarmInHand, type Talk, talkOf, task } from '../swarm/swarm-in-hand.js';

export const MATE = { subagent_type: 'explorer', team_name: 'geese' };

export const mate = (name: string, prompt: string, more: object = {}) =>
  calls(`c-${name}`, 'Task', task(prompt, { ...MATE, description: name, name, ...more }));

export const writes = (id: string, to: string, message: string, more: object = {}) =>
  calls(id, 'SendMessage', { to, message, ...more });

export const team = (
  answer: (talk: Talk) => Answer | undefined,
  options: Partial<Omit<LeadOptions, 'model'>> = {},
): Promise<SwarmInHand> =>
  swarmInHand(answer, {
    lingers: true,
    ...options,
    tools: [sendMessage, ...(options.tools ?? [])],
  });

/** True if the conversation started with this task. */
export const isOf = ({ said }: Talk, word: string) => said[0]?.includes(word) === true;

/** Requests of the conversation that started with this word, the newest last. */
export const sentFor = ({ requests }: SwarmInHand, word: string): readonly string[] =>
  requests.filter((it) => isOf(talkOf(it), word)).map(({ body }) => body);
export const lastFor = (hand: SwarmInHand, word: string): string =>
  sentFor(hand, word).at(-1) ?? '';

export const ended = ({ items }: SwarmInHand) =>
  items.flatMap((it) => (it.type === 'agent.ended' ? [it.report] : []));
