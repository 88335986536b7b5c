/** What a person can do with the agents of a swarm from elsewhere: write to one, stop it, let it go on. */

import type { CommandReply, SwarmControl } from '../../protocol/agent/swarm-commands.js';
import { SkeinError } from '../../protocol/errors.js';
import { rawText } from '../../protocol/model/wire.js';
import { agentLabel } from '../../tools/agents/agent-report.js';
import { type Delivered, deliver } from '../messages/deliver-letter.js';
import type { Swarm } from '../swarm/swarm.js';
import type { ChildNode } from '../tree/agent-node.js';
import { type AgentEntry, isLive, isPresent } from '../tree/agent-registry.js';
import { BY_PERSON } from '../tree/stop-reasons.js';

export const GO_ON = 'Go on where you stopped.';

const PERSON = 'user';

/** Of the agents below the lead; the lead itself is steered by its host. */
export interface Steering extends SwarmControl {
  /** The ids of those that an address may mean. */
  called(agent: string): readonly string[];
  /** Somebody has this very name. */
  isNamed(agent: string): boolean;
  /**
   * Stops all that work for the lead, and holds what they report until a person speaks to it. Resolves
   * with how many there were.
   */
  stopAll(): Promise<number>;
  /** The lead goes on with what it was told while it was held; false when that is nothing. */
  letLeadGoOn(): boolean;
}

export const steering = (swarm: Swarm): Steering => {
  const called = (address: string) => swarm.roster.called(address).map(({ tag }) => tag.id);
  const whenMeant = async (
    address: string,
    act: (entry: AgentEntry) => Promise<CommandReply>,
  ): Promise<CommandReply> => {
    const [entry, ...more] = swarm.roster.called(address);
    const wanted = JSON.stringify(address.slice(0, 80));
    const nobody = (sentence: string) => ({ ok: false, sentence, agent: null });
    if (entry === undefined) return nobody(`There is no agent ${wanted} in this session.`);
    if (more.length > 0) {
      const ids = called(address).slice(0, 10);
      return nobody(`Several agents are called ${wanted}: ${ids.join(', ')}. Give the whole id.`);
    }
    try {
      return await act(entry);
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      return says(entry, false, `cannot be steered: ${error.message}`);
    }
  };
  return {
    called,
    isNamed: (address) => swarm.roster.called(address).some(({ tag }) => tag.name === address),
    async stopAll() {
      const { roster, lead, employment } = swarm;
      const live = [...roster.all()].filter(isLive);
      if (live.length > 0 || lead.agent?.isResting === false) lead.agent?.hold();
      await employment.haltBelow(lead, BY_PERSON);
      return live.length;
    },
    letLeadGoOn: () => swarm.lead.agent?.goOn() ?? false,
    send: (address, text, from, letter) =>
      whenMeant(address, async (entry) => {
        if (text.trim() === '')
          return says(entry, false, 'was sent nothing: the message is empty.');
        const raw = `[${rawText(text)}]`;
        const came = await deliver(swarm, entry, { letter, from, raw });
        return says(entry, ...DELIVERED[came]);
      }),
    stop: (address) =>
      whenMeant(address, async (entry) => {
        const isAtWork = isPresent(entry);
        await swarm.employment.halt(entry, BY_PERSON);
        if (!isAtWork) return says(entry, true, `is not at work (${entry.status}).`);
        return entry.status === 'stopped'
          ? says(entry, true, 'is stopped, with all that worked for it.')
          : says(entry, true, 'had come to its end already.');
      }),
    resume: (address) =>
      whenMeant(address, async (entry) => {
        if (isLive(entry)) return says(entry, true, 'is at work already.');
        if (entry.child !== undefined)
          return says(entry, true, 'rests; write to it with skein send.');
        const letter = swarm.lead.deps.ids('letter');
        const revived = await swarm.revive(entry, (child) => remind(child, letter));
        return revived ? says(entry, true, 'goes on.') : says(entry, false, NOTHING_LEFT);
      }),
  };
};

const NOTHING_LEFT = 'left nothing to go on with.';

const says = ({ tag }: AgentEntry, ok: boolean, what: string): CommandReply => ({
  ok,
  sentence: `${agentLabel(tag)} ${what}`,
  agent: tag.id,
});

const DELIVERED: Readonly<Record<Delivered, readonly [ok: boolean, what: string]>> = {
  delivered: [true, 'has it, and reads it with its next step.'],
  resumed: [true, 'had ended and goes on with it.'],
  held: [true, 'has it, and reads it when it goes on.'],
  refused: [false, 'was stopped by a person; resume it first.'],
  lost: [false, NOTHING_LEFT],
};

/** One that has nothing left to answer is asked to go on. */
const remind = ({ deps: { notebook } }: ChildNode, letter: string): true => {
  const { waiting, calls, owesAnswer, cutShort } = notebook.history;
  if (waiting > 0 || calls.size > 0 || owesAnswer || cutShort) return true;
  notebook.record({ type: 'letter.received', letter, from: PERSON, raw: `[${rawText(GO_ON)}]` });
  return true;
};
