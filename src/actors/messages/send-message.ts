/**
 * What agents write to each other. A message has an id that comes from its call, so it is delivered once
 * however often it is sent (law 9); requests and their answers are letters too, and an answer counts only
 * from whoever was asked. Inside one process letters take this direct path.
 */

import { SpawnRefusal } from '../../protocol/agent/swarm.js';
import {
  ANSWER,
  EVERYBODY,
  isUndelivered,
  LEAD_NAME,
  type MessageOrder,
  type MessageReceipt,
  type TeamMessage,
} from '../../protocol/agent/team-message.js';
import { SkeinError } from '../../protocol/errors.js';
import { rawText } from '../../protocol/model/wire.js';
import { agentLabel } from '../../tools/agents/agent-report.js';
import { messageText, type Sender, shownName } from '../../tools/agents/message-text.js';
import type { Swarm } from '../swarm/swarm.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import type { AgentEntry } from '../tree/agent-registry.js';
import { AGREED } from '../tree/stop-reasons.js';
import { deliver, deliverToLead, type Letter, untilOver } from './deliver-letter.js';

/** The lead has no entry. */
type Recipient = AgentEntry | typeof LEAD_NAME;

/**
 * Rejects with a SpawnRefusal that says what to do, before anything is sent. One that cannot be reached
 * keeps it from nobody else.
 */
export const postMessage = async (
  swarm: Swarm,
  sender: AgentNode,
  order: MessageOrder,
): Promise<readonly MessageReceipt[]> => {
  // Others may have begun elsewhere.
  if (swarm.remotes !== undefined) await swarm.remotes.look();
  const recipients = recipientsOf(swarm, sender, order);
  const receipts: MessageReceipt[] = [];
  for (const recipient of recipients) receipts.push(await send(swarm, sender, recipient, order));
  return receipts;
};

const send = async (
  swarm: Swarm,
  sender: AgentNode,
  recipient: Recipient,
  { call, message }: MessageOrder,
): Promise<MessageReceipt> => {
  const to = idOf(swarm, recipient);
  const id = letterId(sender, to, call, message);
  check(sender, recipient, message, swarm);
  const { kind } = message;
  const isYes = message.answers?.approve === true;
  const { notebook } = sender.deps;
  if (notebook.history.family.hasAnswered(id, call)) throw new SpawnRefusal(ANSWERED);
  notebook.record({ type: 'letter.sent', letter: id, to, call, kind });
  await notebook.written();
  const raw = `[${rawText(messageText(senderOf(sender), message, id))}]`;
  const letter: Letter = { letter: id, from: sender.id, raw };
  const isApproval = kind === 'plan_approval_response' && isYes;
  const fate = await carry(swarm, recipient, letter, isApproval);
  if (isUndelivered(fate)) {
    const reason = fate.why ?? fate.came;
    notebook.record({ type: 'letter.undelivered', letter: id, to, reason });
  }
  if (kind === 'shutdown_response' && isYes) {
    const own = swarm.roster.get(sender.id);
    // Not waited for: this very call is part of what ends.
    if (own !== undefined) void swarm.employment.halt(own, AGREED);
  }
  const wantsAnswer = kind.endsWith('_request');
  return { agent: to, name: nameOf(recipient), ...fate, ...(wantsAnswer && { request: id }) };
};

/** What keeps it from this recipient is no defect of ours, and the sender is told. */
const carry = async (
  swarm: Swarm,
  recipient: Recipient,
  letter: Letter,
  isApproval: boolean,
): Promise<Pick<MessageReceipt, 'came' | 'why'>> => {
  try {
    if (recipient === LEAD_NAME) return { came: await deliverToLead(swarm, letter) };
    if (isApproval) await approve(swarm, recipient, letter.from);
    return { came: await deliver(swarm, recipient, letter) };
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    return { came: 'lost', why: error.message };
  }
};

/** Of one that is not at hand it is on record when it goes on. */
const approve = async (swarm: Swarm, recipient: AgentEntry, by: string): Promise<void> => {
  const record = ({ deps: { notebook } }: Pick<ChildNode, 'deps'>) => {
    if (notebook.history.family.isPlanApproved) return;
    notebook.record({ type: 'plan.approved', by });
  };
  await untilOver(swarm, recipient, by);
  // It does not get the answer either.
  if (recipient.status === 'stopped') return;
  if (recipient.child !== undefined) record(recipient.child);
  else {
    await swarm.revive(recipient, (child) => {
      record(child);
      return false;
    });
  }
};

/** The same call writes the same letter; an answer is one for its request. */
const letterId = (sender: AgentNode, to: string, call: string, message: TeamMessage): string => {
  if (message.answers !== undefined) return `${ANSWER}${message.answers.request}`;
  const { turns } = sender.deps.notebook.history;
  return `${PREFIXES[message.kind] ?? 'm'}_${sender.id}_${turns}_${call}_${to}`;
};

const PREFIXES: Readonly<Partial<Record<TeamMessage['kind'], string>>> = {
  shutdown_request: 'shutdown',
  plan_approval_request: 'plan',
};

/** Throws a SpawnRefusal for what this sender may not ask or answer. */
const check = (
  { id, deps, ...sender }: AgentNode | ChildNode,
  recipient: Recipient,
  message: TeamMessage,
  swarm: Swarm,
): void => {
  const to = idOf(swarm, recipient);
  const { request = '' } = message.answers ?? {};
  const wasAsked = (what: string) =>
    request.startsWith(`${what}_${to}_`) && deps.notebook.hasLetter(request);
  switch (message.kind) {
    case 'message':
      break;
    case 'shutdown_request':
      if (recipient === LEAD_NAME || !swarm.roster.isBelow(recipient, id)) {
        throw new SpawnRefusal('Only an agent that it works for can ask another to end.');
      }
      break;
    case 'plan_approval_request': {
      const parent = 'parent' in sender ? sender.parent.id : undefined;
      if (to !== parent) throw new SpawnRefusal(PLAN_TO_PARENT);
      if (deps.desk.mode !== 'plan') throw new SpawnRefusal(NO_PLAN);
      break;
    }
    case 'shutdown_response':
      if (!wasAsked('shutdown')) throw new SpawnRefusal(notAsked('to end'));
      break;
    case 'plan_approval_response':
      if (!wasAsked('plan')) throw new SpawnRefusal(notAsked('for a plan'));
  }
};

const PLAN_TO_PARENT =
  'A plan is approved by the agent that you work for: write to "lead", or whoever started you.';
const ANSWERED =
  'You answered that already, and your first answer counts. Write a message if there is more to say.';
const NO_PLAN = 'You are not in plan mode: there is nothing to approve. Go on.';
const notAsked = (what: string): string =>
  `No such request of that agent reached you: answer ${what} with the request_id that you were given.`;

/** Throws a SpawnRefusal. */
const recipientsOf = (
  { roster, lead }: Swarm,
  sender: AgentNode,
  { to, message }: MessageOrder,
): readonly Recipient[] => {
  const others = [...roster.all()].filter(({ tag }) => tag.id !== sender.id);
  if (to === EVERYBODY) {
    if (message.kind !== 'message') {
      throw new SpawnRefusal('Requests and answers go to one agent: give its name.');
    }
    const team = others.filter(({ tag }) => tag.kind === 'teammate' && isThere(tag.id, roster));
    const all = [...(sender.id === lead.id ? [] : ([LEAD_NAME] as const)), ...team];
    if (all.length === 0) throw new SpawnRefusal('There is nobody else in the team.');
    return all;
  }
  if (to === LEAD_NAME || to === lead.id) {
    if (sender.id === lead.id) throw new SpawnRefusal(TO_ITSELF);
    return [LEAD_NAME];
  }
  const found = roster.called(to);
  const [entry, ...more] = found;
  if (entry === undefined) throw new SpawnRefusal(unknown(to, others, sender.id !== lead.id));
  if (more.length > 0) {
    const ids = found.slice(0, MOST_NAMES).map(({ tag }) => tag.id);
    throw new SpawnRefusal(
      `Several agents fit ${quote(to)}: ${ids.join(', ')}. Give the whole id.`,
    );
  }
  if (entry.tag.id === sender.id) throw new SpawnRefusal(TO_ITSELF);
  return [entry];
};

/** A message to all does not wake those that a person stopped, nor those that have ended. */
const isThere = (id: string, roster: Swarm['roster']): boolean => {
  const status = roster.get(id)?.status;
  return status !== 'stopped' && status !== 'ended';
};

const TO_ITSELF = 'That is you: write to another agent.';
const MOST_NAMES = 20;
const quote = (to: string): string => JSON.stringify(to.slice(0, 100));

const unknown = (to: string, others: readonly AgentEntry[], hasLead: boolean): string => {
  const names = [
    ...(hasLead ? [LEAD_NAME] : []),
    ...others.toReversed().map((entry) => shownName(nameOf(entry))),
  ];
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  const known =
    names.length === 0
      ? 'There is no other agent yet: Task starts one.'
      : `There are: ${names.slice(0, MOST_NAMES).join(', ')}${more}.`;
  return `There is no agent ${quote(to)}. ${known}`;
};

const idOf = ({ lead }: Swarm, recipient: Recipient): string =>
  recipient === LEAD_NAME ? lead.id : recipient.tag.id;

const nameOf = (recipient: Recipient): string =>
  recipient === LEAD_NAME ? LEAD_NAME : (recipient.tag.name ?? recipient.tag.id);

const senderOf = (member: AgentNode | ChildNode): Sender =>
  'tag' in member
    ? { name: member.tag.name ?? member.id, label: agentLabel(member.tag) }
    : { name: LEAD_NAME, label: 'the lead' };
