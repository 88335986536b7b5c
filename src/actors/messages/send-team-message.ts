/**
 * Sends messages between agents. The letter id comes from the call, so a repeated call delivers
 * once (law 9). Requests and answers are letters too; an answer counts only from the agent that was
 * asked. Inside one process letters are delivered directly.
 */

import { stops } from '../../machines/stops.js';
import { findOrders } from '../../policy/scan/find-orders.js';
import { orderWarning } from '../../prompt/messages/order-warning.js';
import { AgentRefusal } from '../../protocol/agent/agents.js';
import {
  ALL_TEAMMATES,
  ANSWER_PREFIX,
  isUndelivered,
  LEAD_NAME,
  type MessageReceipt,
  type MessageRequest,
  type TeamMessage,
} from '../../protocol/agent/team-message.js';
import { rawText } from '../../protocol/model/wire-block.js';
import { SkeinError } from '../../protocol/skein-error.js';
import { agentLabel } from '../../tools/agents/agent-report.js';
import { messageText, type Sender, shownName } from '../../tools/agents/message-text.js';
import type { Swarm } from '../swarm/swarm.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import type { AgentEntry } from '../tree/agent-registry.js';
import { deliverLetter, deliverToLead, type Letter, waitUntilEnded } from './deliver-letter.js';

/** Recipient of a message. The lead has no registry entry. */
type Recipient = AgentEntry | typeof LEAD_NAME;

/**
 * Sends a message to each recipient. Rejects with AgentRefusal before anything is sent if the
 * request is invalid. A recipient that cannot be reached does not affect the others.
 */
export const sendTeamMessage = async (
  swarm: Swarm,
  sender: AgentNode,
  request: MessageRequest,
): Promise<readonly MessageReceipt[]> => {
  // Agents may have started in other processes.
  if (swarm.remote !== undefined) await swarm.remote.refresh();
  const recipients = recipientsOf(swarm, sender, request);
  const receipts: MessageReceipt[] = [];
  for (const recipient of recipients) receipts.push(await send(swarm, sender, recipient, request));
  return receipts;
};

const send = async (
  swarm: Swarm,
  sender: AgentNode,
  recipient: Recipient,
  { call, message }: MessageRequest,
): Promise<MessageReceipt> => {
  const to = idOf(swarm, recipient);
  const id = letterId(sender, to, call, message);
  checkAllowed(sender, recipient, message, swarm);
  const { kind } = message;
  const isApproved = message.answers?.approve === true;
  const { journal } = sender.deps;
  if (journal.history.relations.hasAnswered(id, call)) throw new AgentRefusal(ANSWERED);
  journal.record({ type: 'letter.sent', letter: id, to, call, kind });
  await journal.written();
  // A parent may change the task of its descendant, so its orders are no surprise.
  const isParent = sender.id === swarm.lead.id || isAbove(swarm, sender, recipient);
  const orders = isParent ? [] : findOrders(message.text);
  if (orders.length > 0) {
    journal.record({ type: 'orders.found', from: sender.id, kinds: [...orders], letter: id });
  }
  const warning = orders.length === 0 ? '' : `\n${orderWarning(orders)}`;
  const raw = `[${rawText(`${messageText(senderOf(sender), message, id)}${warning}`)}]`;
  const letter: Letter = { letter: id, from: sender.id, raw };
  const isApproval = kind === 'plan_approval_response' && isApproved;
  const outcome = await deliverTo(swarm, recipient, letter, isApproval);
  if (isUndelivered(outcome)) {
    const reason = outcome.why ?? outcome.outcome;
    journal.record({ type: 'letter.undelivered', letter: id, to, reason });
  }
  if (kind === 'shutdown_response' && isApproved) {
    const senderEntry = swarm.registry.get(sender.id);
    // Not awaited, because this very call is part of the run that ends.
    if (senderEntry !== undefined) void swarm.lifecycle.stopper.stopTree(senderEntry, stops.AGREED);
  }
  const wantsAnswer = kind.endsWith('_request');
  return { agent: to, name: nameOf(recipient), ...outcome, ...(wantsAnswer && { request: id }) };
};

const isAbove = ({ registry }: Swarm, sender: AgentNode, recipient: Recipient): boolean =>
  recipient !== LEAD_NAME && registry.isBelow(recipient, sender.id);

/**
 * Delivers the letter and returns the outcome. A SkeinError becomes the outcome `lost`, which the
 * sender reads.
 */
const deliverTo = async (
  swarm: Swarm,
  recipient: Recipient,
  letter: Letter,
  isApproval: boolean,
): Promise<Pick<MessageReceipt, 'outcome' | 'why'>> => {
  try {
    if (recipient === LEAD_NAME) return { outcome: await deliverToLead(swarm, letter) };
    if (isApproval) await approve(swarm, recipient, letter.from);
    return { outcome: await deliverLetter(swarm, recipient, letter) };
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    return { outcome: 'lost', why: error.message };
  }
};

/**
 * Records the approval of a plan. An agent that is not running reads the record when it is
 * restarted.
 */
const approve = async (swarm: Swarm, recipient: AgentEntry, by: string): Promise<void> => {
  const record = ({ deps: { journal } }: Pick<ChildNode, 'deps'>) => {
    if (journal.history.relations.isPlanApproved) return;
    journal.record({ type: 'plan.approved', by });
  };
  await waitUntilEnded(swarm, recipient, by);
  // A stopped agent does not get the answer either.
  if (recipient.status === 'stopped') return;
  if (recipient.child !== undefined) record(recipient.child);
  else {
    await swarm.restart(recipient, (child) => {
      record(child);
      return false;
    });
  }
};

/**
 * Returns the letter id: the same for each repetition of a call, and for each answer to the same
 * request.
 */
const letterId = (sender: AgentNode, to: string, call: string, message: TeamMessage): string => {
  if (message.answers !== undefined) return `${ANSWER_PREFIX}${message.answers.request}`;
  const { turns } = sender.deps.journal.history;
  return `${PREFIXES[message.kind] ?? 'm'}_${sender.id}_${turns}_${call}_${to}`;
};

const PREFIXES: Readonly<Partial<Record<TeamMessage['kind'], string>>> = {
  shutdown_request: 'shutdown',
  plan_approval_request: 'plan',
};

/** Throws AgentRefusal if the sender may not send this request or answer. */
const checkAllowed = (
  { id, deps, ...sender }: AgentNode | ChildNode,
  recipient: Recipient,
  message: TeamMessage,
  swarm: Swarm,
): void => {
  const to = idOf(swarm, recipient);
  const { request = '' } = message.answers ?? {};
  const hasRequest = (prefix: string) =>
    request.startsWith(`${prefix}_${to}_`) && deps.journal.hasLetter(request);
  switch (message.kind) {
    case 'message':
      break;
    case 'shutdown_request':
      if (recipient === LEAD_NAME || !swarm.registry.isBelow(recipient, id)) {
        throw new AgentRefusal('Only an ancestor of an agent may ask it to end.');
      }
      break;
    case 'plan_approval_request': {
      const parent = 'parent' in sender ? sender.parent.id : undefined;
      if (to !== parent) throw new AgentRefusal(PLAN_TO_PARENT);
      if (deps.permissions.mode !== 'plan') throw new AgentRefusal(NO_PLAN);
      break;
    }
    case 'shutdown_response':
      if (!hasRequest('shutdown')) throw new AgentRefusal(notAskedText('to end'));
      break;
    case 'plan_approval_response':
      if (!hasRequest('plan')) throw new AgentRefusal(notAskedText('for a plan'));
  }
};

const PLAN_TO_PARENT =
  'Your parent agent approves your plan: send it to "lead", or to the agent that started you.';
const ANSWERED =
  'You answered that already, and your first answer counts. Write a message if there is more to say.';
const NO_PLAN = 'You are not in plan mode, so no plan needs approval. Continue.';
const notAskedText = (subject: string): string =>
  `That agent sent you no such request: answer a request ${subject} with its request_id.`;

/** Returns the recipients of an address. Throws AgentRefusal if it is unknown or ambiguous. */
const recipientsOf = (
  { registry, lead }: Swarm,
  sender: AgentNode,
  { to, message }: MessageRequest,
): readonly Recipient[] => {
  const others = [...registry.all()].filter(({ tag }) => tag.id !== sender.id);
  if (to === ALL_TEAMMATES) {
    if (message.kind !== 'message') {
      throw new AgentRefusal('Requests and answers go to one agent: give its name.');
    }
    const team = others.filter(
      ({ tag }) => tag.kind === 'teammate' && isReachable(tag.id, registry),
    );
    const all = [...(sender.id === lead.id ? [] : ([LEAD_NAME] as const)), ...team];
    if (all.length === 0) throw new AgentRefusal('The team has no other agents.');
    return all;
  }
  if (to === LEAD_NAME || to === lead.id) {
    if (sender.id === lead.id) throw new AgentRefusal(TO_ITSELF);
    return [LEAD_NAME];
  }
  const matches = registry.find(to);
  const [entry, ...more] = matches;
  if (entry === undefined)
    throw new AgentRefusal(unknownRecipientText(to, others, sender.id !== lead.id));
  if (more.length > 0) {
    const ids = matches.slice(0, MAX_LISTED_NAMES).map(({ tag }) => tag.id);
    throw new AgentRefusal(
      `Several agents match ${quote(to)}: ${ids.join(', ')}. Give the whole id.`,
    );
  }
  if (entry.tag.id === sender.id) throw new AgentRefusal(TO_ITSELF);
  return [entry];
};

/** True if a message to all teammates reaches the agent: stopped and ended agents are not woken. */
const isReachable = (id: string, registry: Swarm['registry']): boolean => {
  const status = registry.get(id)?.status;
  return status !== 'stopped' && status !== 'ended';
};

const TO_ITSELF = 'That is you: write to another agent.';
const MAX_LISTED_NAMES = 20;
const quote = (to: string): string => JSON.stringify(to.slice(0, 100));

const unknownRecipientText = (
  to: string,
  others: readonly AgentEntry[],
  hasLead: boolean,
): string => {
  const names = [
    ...(hasLead ? [LEAD_NAME] : []),
    ...others.toReversed().map((entry) => shownName(nameOf(entry))),
  ];
  const more =
    names.length > MAX_LISTED_NAMES ? ` and ${names.length - MAX_LISTED_NAMES} more` : '';
  const listing =
    names.length === 0
      ? 'There is no other agent yet: Task starts one.'
      : `There are: ${names.slice(0, MAX_LISTED_NAMES).join(', ')}${more}.`;
  return `There is no agent ${quote(to)}. ${listing}`;
};

const idOf = ({ lead }: Swarm, recipient: Recipient): string =>
  recipient === LEAD_NAME ? lead.id : recipient.tag.id;

const nameOf = (recipient: Recipient): string =>
  recipient === LEAD_NAME ? LEAD_NAME : (recipient.tag.name ?? recipient.tag.id);

const senderOf = (node: AgentNode | ChildNode): Sender =>
  'tag' in node
    ? { name: node.tag.name ?? node.id, label: agentLabel(node.tag) }
    : { name: LEAD_NAME, label: 'the lead' };
