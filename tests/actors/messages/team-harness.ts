/** Lead with teammates that send messages to each other, in memory. */
import { sendMessage } from '../../../src/tools/agents/send-message.js';
import { type Answer, calls } from '../../fakes/agents/scripted-model.js';
import type { LeadOptions } from '../session/lead-harness.js';
import {
  type Conversation,
  conversationOf,
  type SwarmHarness,
  swarmHarness,
  task,
} from '../swarm/swarm-harness.js';

export const MATE = { subagent_type: 'explorer', team_name: 'geese' };

export const mate = (name: string, prompt: string, more: object = {}) =>
  calls(`c-${name}`, 'Task', task(prompt, { ...MATE, description: name, name, ...more }));

export const writes = (id: string, to: string, message: string, more: object = {}) =>
  calls(id, 'SendMessage', { to, message, ...more });

export const team = (
  answer: (conversation: Conversation) => Answer | undefined,
  options: Partial<Omit<LeadOptions, 'model'>> = {},
): Promise<SwarmHarness> =>
  swarmHarness(answer, {
    staysIdle: true,
    ...options,
    tools: [sendMessage, ...(options.tools ?? [])],
  });

/** True if the conversation started with this task. */
export const isOf = ({ said }: Conversation, word: string) => said[0]?.includes(word) === true;

/** Requests of the conversation that started with this word, the newest last. */
export const sentFor = ({ requests }: SwarmHarness, word: string): readonly string[] =>
  requests.filter((it) => isOf(conversationOf(it), word)).map(({ body }) => body);
export const lastFor = (harness: SwarmHarness, word: string): string =>
  sentFor(harness, word).at(-1) ?? '';

export const ended = ({ items }: SwarmHarness) =>
  items.flatMap((it) => (it.type === 'agent.ended' ? [it.report] : []));
