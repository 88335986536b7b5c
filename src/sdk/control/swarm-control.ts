/** Controls the agents of a session by address: the lead by its session, others by steering. */
import type { LeadSession } from '../../actors/session/lead-session.js';
import { RESUME_PROMPT } from '../../actors/session/steering.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { CommandReply, SwarmControl } from '../../protocol/agent/swarm-command.js';
import { toWireBlocks } from '../api/messages/prompt-content.js';
import { untilIdle } from './until-idle.js';

type ControlledSession = Pick<
  LeadSession,
  'id' | 'meta' | 'state' | 'isIdle' | 'submit' | 'interrupt' | 'listen' | 'steer' | 'stopped'
>;

export const swarmControl = (session: ControlledSession): SwarmControl => {
  const { steer } = session;
  const lead = leadControl(session);
  const controlOf = (address: string): SwarmControl | CommandReply => {
    if (isLead(session, address)) return lead;
    const others = steer.matching(address);
    if (!mayBeLead(session, address)) return steer;
    if (others.length === 0) return lead;
    if (others.length === 1 && steer.isNamed(address) && address !== 'lead') return steer;
    const ids = [session.meta.lead, ...others.slice(0, MAX_CANDIDATES)].join(', ');
    const sentence = `Several agents are called ${JSON.stringify(address.slice(0, 80))}, the lead among them: ${ids}. Give the whole id.`;
    return { ok: false, sentence, agent: null };
  };
  const withControl = async (
    address: string,
    act: (control: SwarmControl) => Promise<CommandReply>,
  ) => {
    const control = controlOf(address);
    return 'ok' in control ? control : act(control);
  };
  return {
    send: (address, text, from, letter) =>
      withControl(address, (control) => control.send(address, text, from, letter)),
    stop: (address) => withControl(address, (control) => control.stop(address)),
    resume: (address) => withControl(address, (control) => control.resume(address)),
  };
};

/** Maximum other agents that are listed for an ambiguous address. */
const MAX_CANDIDATES = 9;

const isLead = ({ id, meta }: ControlledSession, address: string): boolean =>
  address === meta.lead || address === id;

const mayBeLead = ({ id, meta }: ControlledSession, address: string): boolean =>
  address !== '' && [meta.lead, id, 'lead'].some((name) => name.startsWith(address));

/** Controls the lead, whatever the address. */
const leadControl = (session: ControlledSession): SwarmControl => {
  const { id, meta } = session;
  const ENDED = `The lead has ended; \`skein --resume ${id}\` resumes it.`;
  const reply = (isOk: boolean, sentence: string): CommandReply => ({
    ok: isOk,
    sentence,
    agent: meta.lead,
  });
  const submit = async (text: string, letter: string | undefined, done: string) => {
    const blocks = toWireBlocks(text);
    // Hooks may take any time and may refuse the prompt.
    const refusal = await new Promise<Stop | undefined>((settled) => {
      session.submit(blocks, letter, settled);
    });
    if (refusal === undefined) return reply(true, done);
    const why = refusal.detail ?? `The prompt was stopped: ${refusal.reason}.`;
    return reply(false, `The lead did not get the message. ${why}`);
  };
  return {
    async send(_address, text, _from, letter) {
      if (session.state === 'stopped') return reply(false, ENDED);
      if (text.trim() === '') return reply(false, 'The message is empty.');
      return submit(text, letter, 'Delivered to the lead, which reads it with its next step.');
    },
    async stop() {
      const wasIdle = session.isIdle;
      // Before the lead: its interrupt would end its agents without recording that a person stopped them.
      const stopped = session.steer.stopAll();
      session.interrupt();
      await untilIdle(session);
      // Again, for agents that were just starting.
      const count = (await stopped) + (await session.steer.stopAll());
      if (count > 0) return reply(true, 'The lead is stopped, with all its agents.');
      return reply(
        true,
        wasIdle ? 'The lead is idle, with no agent running.' : 'The lead is stopped.',
      );
    },
    async resume() {
      if (session.state === 'stopped') return reply(false, ENDED);
      if (!session.isIdle) return reply(true, 'The lead is already running.');
      const done = 'The lead resumes.';
      return session.steer.resumeLead()
        ? reply(true, done)
        : submit(RESUME_PROMPT, undefined, done);
    },
  };
};
