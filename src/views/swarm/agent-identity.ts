/** What an agent is known by, as events tell it; none of their values has to be what it says it is. */

import { CHILD_KINDS, type ChildKind } from '../../protocol/agent/swarm.js';
import type { SwarmEvent } from '../../protocol/session/events.js';

/** From its own first record, and before that from its parent's request. */
export interface Identity {
  readonly kind: 'lead' | ChildKind;
  readonly type: string | null;
  readonly name: string | null;
  readonly description: string;
  readonly depth: number;
}

export const LEAD_IDENTITY: Identity = {
  kind: 'lead',
  type: null,
  name: null,
  description: '',
  depth: 0,
};

export const requestedIdentity = (event: SwarmEvent, depth: number): Identity => ({
  kind: kindOf(event.kind),
  type: textOr(event.agentType, null),
  name: null,
  description: textOr(event.description, ''),
  depth,
});

/** Undefined of a lead, which has no origin. */
export const originIdentity = (origin: unknown): Identity | undefined => {
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

export const textOr = <Otherwise>(value: unknown, otherwise: Otherwise): string | Otherwise =>
  typeof value === 'string' ? value : otherwise;

const kindOf = (value: unknown): ChildKind => CHILD_KINDS.find((kind) => kind === value) ?? 'sync';
