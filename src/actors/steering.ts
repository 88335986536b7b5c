/** What a person can do with the agents of a swarm from elsewhere: write to one, stop it, let it go on. */
import type { Stop } from '../protocol/agent.js';
import { SkeinError } from '../protocol/errors.js';
import type { CommandReply, SwarmControl } from '../protocol/swarm-commands.js';
import { rawText } from '../protocol/wire.js';
import { agentLabel } from '../tools/agent-report.js';
import type { Child } from './member.js';
import { type Entry, isLive } from './roster.js';
import type { Swarm } from './swarm.js';

const BY_PERSON: Stop = {
  reason: 'stopped',
  detail: 'A person stopped it; `skein resume` lets it go on.',
};

const GO_ON = 'Go on where you stopped.';

const PERSON = 'user';

/** Of the agents below the lead; the lead itself is steered by its host. */
export const steering = (swarm: Swarm): SwarmControl => {
  const says = ({ tag }: Entry, ok: boolean, what: string): CommandReply => ({
    ...{ ok, sentence: `${agentLabel(tag)} ${what}`, agent: tag.id },
  });
  const whenMeant = async (
    address: string,
    act: (entry: Entry) => Promise<CommandReply>,
  ): Promise<CommandReply> => {
    const [entry, ...more] = swarm.roster.called(address);
    const wanted = JSON.stringify(address.slice(0, 80));
    const nobody = (sentence: string) => ({ ok: false, sentence, agent: null });
    if (entry === undefined) return nobody(`There is no agent ${wanted} in this session.`);
    if (more.length > 0) {
      const ids = [entry, ...more].slice(0, 10).map(({ tag }) => tag.id);
      return nobody(`Several agents are called ${wanted}: ${ids.join(', ')}. Give the whole id.`);
    }
    try {
      return await act(entry);
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      return says(entry, false, `cannot be steered: ${error.message}`);
    }
  };
  const revive = async (entry: Entry, prepare: (child: Child) => void, what: string) => {
    const revived = await swarm.revive(entry, prepare);
    return revived === undefined
      ? says(entry, false, 'left nothing to go on with.')
      : says(entry, true, what);
  };
  return {
    send: (address, text, from, letter) =>
      whenMeant(address, async (entry) => {
        if (text.trim() === '')
          return says(entry, false, 'was sent nothing: the message is empty.');
        if (entry.status === 'stopped') {
          return says(entry, false, 'was stopped by a person; resume it first.');
        }
        const raw = `[${rawText(text)}]`;
        const { agent, deps } = entry.child ?? {};
        if (agent !== undefined) agent.submit(from, raw, letter);
        else if (deps !== undefined) {
          deps.notebook.record({ type: 'letter.received', letter, from, raw });
        } else {
          const write = (child: Child) =>
            child.deps.notebook.record({ type: 'letter.received', letter, from, raw });
          return revive(entry, (child) => void write(child), 'had ended and goes on with it.');
        }
        return says(entry, true, 'has it, and reads it with its next step.');
      }),
    stop: (address) =>
      whenMeant(address, async (entry) => {
        if (!isLive(entry)) return says(entry, true, `is not at work (${entry.status}).`);
        await swarm.employment.halt(entry, BY_PERSON);
        return says(entry, true, 'is stopped, with all that worked for it.');
      }),
    resume: (address) =>
      whenMeant(address, async (entry) => {
        if (isLive(entry)) return says(entry, true, 'is at work already.');
        const { ids } = swarm.lead.deps;
        return revive(entry, (child) => remind(child, ids('letter')), 'goes on.');
      }),
  };
};

/** One that has nothing left to answer is asked to go on. */
const remind = ({ deps: { notebook } }: Child, letter: string): void => {
  const { waiting, calls, owesAnswer, cutShort } = notebook.history;
  if (waiting > 0 || calls.size > 0 || owesAnswer || cutShort) return;
  notebook.record({ type: 'letter.received', letter, from: PERSON, raw: `[${rawText(GO_ON)}]` });
};
