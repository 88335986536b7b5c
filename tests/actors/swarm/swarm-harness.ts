/** Lead with child agents in memory. A function chooses each model answer by the conversation. */
import { spawnAgent } from '../../../src/tools/agents/spawn-agent.js';
import { stopTask } from '../../../src/tools/background/stop-task.js';
import { taskOutput } from '../../../src/tools/background/task-output.js';
import { type Answer, choosingModel, type SentRequest } from '../../fakes/agents/scripted-model.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import { settled } from '../../fakes/virtual-clock.js';
import { type LeadHarness, type LeadOptions, leadHarness } from '../session/lead-harness.js';

export interface Conversation extends SentRequest {
  /** All text of the newest message. */
  readonly last: string;
  /** Texts of all messages of the user, results included. */
  readonly said: readonly string[];
  /** Answers in the conversation so far. */
  readonly turn: number;
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: unknown;
}

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[];
}

const textOf = ({ text, content }: Block): string =>
  text ?? (typeof content === 'string' ? content : JSON.stringify(content ?? ''));

export const conversationOf = (request: SentRequest): Conversation => {
  const { messages } = JSON.parse(request.body) as Body;
  const texts = messages.map(({ content }) => content.map(textOf).join('\n'));
  const said = texts.filter((_, at) => messages[at]?.role === 'user');
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  return { ...request, last: said.at(-1) ?? '', said, turn };
};

export interface SwarmHarness extends LeadHarness {
  readonly requests: readonly SentRequest[];
}

export const swarmHarness = async (
  answer: (conversation: Conversation) => Answer | undefined,
  options: Partial<Omit<LeadOptions, 'model'>> = {},
): Promise<SwarmHarness> => {
  const model = choosingModel((request) => answer(conversationOf(request)));
  const harness = await leadHarness({
    model,
    ...options,
    tools: [spawnAgent, taskOutput, stopTask, ...(options.tools ?? [])],
    swarm: { definitions: [agentDefinition()], ...options.swarm },
  });
  return { ...harness, requests: model.requests };
};

/** Waits for all work that needs no time. Many agents need many rounds of the event loop. */
export const allSettled = async (rounds = 20): Promise<void> => {
  for (let round = 0; round < rounds; round += 1) await settled();
};

export const task = (prompt: string, more: Record<string, unknown> = {}) => ({
  description: prompt,
  prompt,
  ...more,
});
