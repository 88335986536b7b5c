/** Identity of an agent, read from events. Values of events come from disk and are not trusted. */

import { textOr } from '../../lib/text/text-or.js';
import { CHILD_KINDS, type ChildKind } from '../../protocol/agent/agent-tag.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';

/** From the agent's first record, or before that from its parent's request. */
export interface AgentIdentity {
  readonly kind: 'lead' | ChildKind;
  readonly type: string | null;
  readonly name: string | null;
  readonly description: string;
  readonly depth: number;
}

export const LEAD_IDENTITY: AgentIdentity = {
  kind: 'lead',
  type: null,
  name: null,
  description: '',
  depth: 0,
};

export const requestedIdentity = (event: SwarmEvent, depth: number): AgentIdentity => ({
  kind: kindOf(event.kind),
  type: textOr(event.agentType, null),
  name: null,
  description: textOr(event.description, ''),
  depth,
});

/** Returns undefined for a lead, which has no origin. */
export const originIdentity = (origin: unknown): AgentIdentity | undefined => {
  if (typeof origin !== 'object' || origin === null) return undefined;
  const { kind, type, name, description, depth } = origin as Readonly<Record<string, unknown>>;
  return {
    kind: kindOf(kind),
    type: textOr(type, null),
    name: textOr(name, null),
    description: textOr(description, ''),
    depth: typeof depth === 'number' ? depth : 1,
  };
};

const kindOf = (value: unknown): ChildKind => CHILD_KINDS.find((kind) => kind === value) ?? 'sync';
