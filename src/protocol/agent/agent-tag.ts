/** Identity of a sub-agent: its kind, its parent and its names. */

/**
 * A call of the parent waits for `sync` and `fork` children. A `background` child may be a fork too. A
 * `teammate` stays idle after its run and can be given more work.
 */
export const CHILD_KINDS = ['sync', 'background', 'fork', 'teammate'] as const;
export type ChildKind = (typeof CHILD_KINDS)[number];

/** True if a call of the parent waits for the child's end. Other parents get the report in a letter. */
export const isWaitedFor = (kind: ChildKind): boolean => kind === 'sync' || kind === 'fork';

/** Identity of a sub-agent, as all readers of the tree see it. */
export interface AgentTag {
  readonly id: string;
  readonly parent: string;
  readonly kind: ChildKind;
  /** Name of the agent's definition. Null: a fork, which has the definition of its parent. */
  readonly type: string | null;
  /** Label that messages can be addressed to. */
  readonly name?: string;
  /** Team name. Teammates only. */
  readonly team?: string;
  /** Purpose of the agent, in a few words. */
  readonly description: string;
  /** Id of the parent's call that spawned the agent. */
  readonly call: string;
  /** Distance from the lead. Children of the lead have depth 1. */
  readonly depth: number;
  readonly color?: string;
}
