/** Commands for the lead of a session, by way of what every host can do with it. */
import type { LeadSession } from '../actors/session.js';
import type { CommandReply, SwarmControl } from '../protocol/swarm-commands.js';
import { promptBlocks } from './prompt-blocks.js';
import { untilResting } from './resting.js';

export const leadControl = (session: LeadSession): SwarmControl => {
  const { id, meta } = session;
  const agent = meta.lead;
  const says = (ok: boolean, sentence: string): CommandReply => ({ ok, sentence, agent });
  const whenMeant = async (wanted: string, act: () => Promise<CommandReply>) => {
    const isMeant = wanted !== '' && [agent, id, 'lead'].some((name) => name.startsWith(wanted));
    if (isMeant) return act();
    const sentence = `There is no agent "${wanted.slice(0, 80)}" in session ${id}.`;
    return { ok: false, sentence, agent: null };
  };
  return {
    send: (wanted, text) =>
      whenMeant(wanted, async () => {
        if (session.state === 'stopped') {
          return says(false, `The lead has ended; \`skein --resume ${id}\` goes on with it.`);
        }
        if (text.trim() === '') return says(false, 'The message is empty.');
        session.submit(promptBlocks(text));
        return says(true, 'Delivered to the lead; it is read with its next step.');
      }),
    stop: (wanted) =>
      whenMeant(wanted, async () => {
        if (session.isResting) return says(true, 'The lead is not working on anything.');
        session.interrupt();
        await untilResting(session);
        return says(true, 'The lead is stopped.');
      }),
    resume: (wanted) =>
      whenMeant(wanted, async () => says(false, 'The lead is running: write to it instead.')),
  };
};
