/** Commands for all agents of a session: the lead by way of what every host can do with it, and the rest. */
import type { LeadSession } from '../../actors/session/session.js';
import { GO_ON } from '../../actors/session/steering.js';
import type { Stop } from '../../protocol/agent/agent.js';
import type { CommandReply, SwarmControl } from '../../protocol/agent/swarm-commands.js';
import { promptBlocks } from '../api/messages/prompt-blocks.js';
import { untilResting } from '../api/resting.js';

export type SteeredSession = Pick<
  LeadSession,
  'id' | 'meta' | 'state' | 'isResting' | 'submit' | 'interrupt' | 'listen' | 'steer' | 'stopped'
>;

export const swarmControl = (session: SteeredSession): SwarmControl => {
  const { steer } = session;
  const lead = leadControl(session);
  const meant = (wanted: string): SwarmControl | CommandReply => {
    if (isLead(session, wanted)) return lead;
    const others = steer.called(wanted);
    if (!mayBeLead(session, wanted)) return steer;
    if (others.length === 0) return lead;
    if (others.length === 1 && steer.isNamed(wanted) && wanted !== 'lead') return steer;
    const ids = [session.meta.lead, ...others.slice(0, MOST_CANDIDATES)].join(', ');
    const sentence = `Several agents are called ${JSON.stringify(wanted.slice(0, 80))}, the lead among them: ${ids}. Give the whole id.`;
    return { ok: false, sentence, agent: null };
  };
  const hand = async (wanted: string, act: (control: SwarmControl) => Promise<CommandReply>) => {
    const control = meant(wanted);
    return 'ok' in control ? control : act(control);
  };
  return {
    send: (wanted, text, from, letter) =>
      hand(wanted, (control) => control.send(wanted, text, from, letter)),
    stop: (wanted) => hand(wanted, (control) => control.stop(wanted)),
    resume: (wanted) => hand(wanted, (control) => control.resume(wanted)),
  };
};

const MOST_CANDIDATES = 9;

const isLead = ({ id, meta }: SteeredSession, wanted: string): boolean =>
  wanted === meta.lead || wanted === id;

const mayBeLead = ({ id, meta }: SteeredSession, wanted: string): boolean =>
  wanted !== '' && [meta.lead, id, 'lead'].some((name) => name.startsWith(wanted));

/** Whatever it is called. */
const leadControl = (session: SteeredSession): SwarmControl => {
  const { id, meta } = session;
  const ENDED = `The lead has ended; \`skein --resume ${id}\` goes on with it.`;
  const says = (ok: boolean, sentence: string): CommandReply => ({
    ok,
    sentence,
    agent: meta.lead,
  });
  const submit = async (text: string, letter: string | undefined, done: string) => {
    const blocks = promptBlocks(text);
    // Hooks may look at it for as long as they like, and may refuse it.
    const refusal = await new Promise<Stop | undefined>((settled) => {
      session.submit(blocks, letter, settled);
    });
    if (refusal === undefined) return says(true, done);
    const why = refusal.detail ?? `It was ${refusal.reason} before it got in.`;
    return says(false, `The lead did not get it. ${why}`);
  };
  return {
    async send(_wanted, text, _from, letter) {
      if (session.state === 'stopped') return says(false, ENDED);
      if (text.trim() === '') return says(false, 'The message is empty.');
      return submit(text, letter, 'Delivered to the lead; it is read with its next step.');
    },
    async stop() {
      const wasResting = session.isResting;
      // Ahead of the lead, whose interrupt would end them as if nobody had stopped them.
      const halted = session.steer.stopAll();
      session.interrupt();
      await untilResting(session);
      // Once more for those that were just beginning.
      const many = (await halted) + (await session.steer.stopAll());
      if (many > 0) return says(true, 'The lead is stopped, with all that worked for it.');
      return says(
        true,
        wasResting ? 'The lead is not working on anything.' : 'The lead is stopped.',
      );
    },
    async resume() {
      if (session.state === 'stopped') return says(false, ENDED);
      if (!session.isResting) return says(true, 'The lead is at work already.');
      const done = 'The lead goes on.';
      return session.steer.letLeadGoOn() ? says(true, done) : submit(GO_ON, undefined, done);
    },
  };
};
