/** Commands of a person for the agents of a swarm: send a message, stop, resume. */
import { stops } from '../../machines/stops.js';
import type { CommandReply, SwarmControl } from '../../protocol/agent/swarm-command.js';
import { rawText } from '../../protocol/model/wire-block.js';
import { SkeinError } from '../../protocol/skein-error.js';
import { agentLabel } from '../../tools/agents/agent-report.js';
import { type Delivery, deliverLetter } from '../messages/deliver-letter.js';
import type { Swarm } from '../swarm/swarm.js';
import type { ChildNode } from '../tree/agent-node.js';
import { type AgentEntry, isLive, isPresent } from '../tree/agent-registry.js';

export const RESUME_PROMPT = 'Continue where you stopped.';

const PERSON = 'user';

/** Commands for agents below the lead. The lead itself is steered by its host. */
export interface Steering extends SwarmControl {
  /** Returns the ids of all agents that match an address. */
  matching(agent: string): readonly string[];
  /** True if an agent has exactly this name. */
  isNamed(agent: string): boolean;
  /**
   * Stops all agents below the lead, and holds their reports until a person writes to the lead.
   * Resolves with the number of stopped agents.
   */
  stopAll(): Promise<number>;
  /** Resumes a held lead with the letters that wait for it. Returns false if there are none. */
  resumeLead(): boolean;
}

export const steering = (swarm: Swarm): Steering => {
  const matching = (address: string) => swarm.registry.find(address).map(({ tag }) => tag.id);
  const withAgent = async (
    address: string,
    act: (entry: AgentEntry) => Promise<CommandReply>,
  ): Promise<CommandReply> => {
    const [entry, ...more] = swarm.registry.find(address);
    const wanted = JSON.stringify(address.slice(0, 80));
    const notFound = (sentence: string) => ({ ok: false, sentence, agent: null });
    if (entry === undefined) return notFound(`There is no agent ${wanted} in this session.`);
    if (more.length > 0) {
      const ids = matching(address).slice(0, 10);
      return notFound(`Several agents are called ${wanted}: ${ids.join(', ')}. Give the whole id.`);
    }
    try {
      return await act(entry);
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      return reply(entry, false, `cannot be steered: ${error.message}`);
    }
  };
  return {
    matching,
    isNamed: (address) => swarm.registry.find(address).some(({ tag }) => tag.name === address),
    async stopAll() {
      const { registry, lead, lifecycle } = swarm;
      const live = [...registry.all()].filter(isLive);
      if (live.length > 0 || lead.agent?.isIdle === false) lead.agent?.hold();
      await lifecycle.stopper.stopDescendants(lead, stops.BY_PERSON);
      return live.length;
    },
    resumeLead: () => swarm.lead.agent?.resume() ?? false,
    send: (address, text, from, letter) =>
      withAgent(address, async (entry) => {
        if (text.trim() === '')
          return reply(entry, false, 'was sent nothing: the message is empty.');
        const raw = `[${rawText(text)}]`;
        const delivery = await deliverLetter(swarm, entry, { letter, from, raw });
        return reply(entry, ...DELIVERED[delivery]);
      }),
    stop: (address) =>
      withAgent(address, async (entry) => {
        const wasRunning = isPresent(entry);
        await swarm.lifecycle.stopper.stopTree(entry, stops.BY_PERSON);
        if (!wasRunning) return reply(entry, true, `is not running (${entry.status}).`);
        return entry.status === 'stopped'
          ? reply(entry, true, 'is stopped, with all its sub-agents.')
          : reply(entry, true, 'had already ended.');
      }),
    resume: (address) =>
      withAgent(address, async (entry) => {
        if (isLive(entry)) return reply(entry, true, 'is already running.');
        if (entry.child !== undefined)
          return reply(entry, true, 'is idle; write to it with skein send.');
        const letter = swarm.lead.deps.ids('letter');
        const isRestarted = await swarm.restart(entry, (child) => remind(child, letter));
        return isRestarted ? reply(entry, true, 'is resumed.') : reply(entry, false, NOTHING_LEFT);
      }),
  };
};

const NOTHING_LEFT = 'cannot be resumed: its journal is damaged or empty.';

const reply = ({ tag }: AgentEntry, ok: boolean, what: string): CommandReply => ({
  ok,
  sentence: `${agentLabel(tag)} ${what}`,
  agent: tag.id,
});

const DELIVERED: Readonly<Record<Delivery, readonly [ok: boolean, what: string]>> = {
  delivered: [true, 'has the message and reads it in its next turn.'],
  resumed: [true, 'had ended and is resumed with the message.'],
  held: [true, 'has the message and reads it when it is resumed.'],
  refused: [false, 'was stopped by a person; resume it first.'],
  lost: [false, NOTHING_LEFT],
};

/** Adds a prompt to continue if the agent has no unanswered message. */
const remind = ({ deps: { journal } }: ChildNode, letter: string): true => {
  const { waiting, calls, owesAnswer, cutShort } = journal.history;
  if (waiting > 0 || calls.size > 0 || owesAnswer || cutShort) return true;
  journal.record({
    type: 'letter.received',
    letter,
    from: PERSON,
    raw: `[${rawText(RESUME_PROMPT)}]`,
  });
  return true;
};
