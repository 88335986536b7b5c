/**
 * How agents rest. One that waits for agents of its own leaves its place to others and goes on as soon as it
 * is woken. A teammate that has done what it was told has no place at all: a letter that comes for it waits,
 * as a newcomer would, until there is one.
 */
import type { Stop } from '../../protocol/agent/agent.js';
import { SpawnRefusal } from '../../protocol/agent/swarm.js';
import type { ChildNode } from '../tree/agent-node.js';
import type { AgentEntry } from '../tree/agent-registry.js';
import type { AgentShutdown } from './agent-shutdown.js';

export interface IdleAgentsDeps {
  readonly farewell: AgentShutdown;
  /** Of its own agents that nobody waits for with a call. */
  readonly expectedBy: (child: ChildNode) => number;
  /** Its place is anybody's, until it is woken. */
  readonly lend: (child: ChildNode) => void;
  readonly wake: (child: ChildNode) => void;
  /** Its place is somebody else's for good. */
  readonly leave: (id: string) => void;
  /** Resolves when there is a place. Throws a SpawnRefusal. */
  readonly admit: (child: ChildNode) => {
    readonly isQueued: boolean;
    readonly free: Promise<void>;
  };
  /** It is at work again: it is counted, and its time is watched. */
  readonly begin: (entry: AgentEntry, child: ChildNode) => void;
  /** Its time is watched no more. */
  readonly release: (child: ChildNode) => void;
  readonly isGone: (entry: AgentEntry, child: ChildNode) => boolean;
  /** Ends it, here where it does nothing. */
  readonly finish: (entry: AgentEntry, child: ChildNode, stop: Stop) => void;
}

export class IdleAgents {
  private readonly deps: IdleAgentsDeps;
  /** Teammates that have no place. */
  private readonly placeless = new Set<string>();

  constructor(deps: IdleAgentsDeps) {
    this.deps = deps;
  }

  /** Its machine has nothing to do, or goes on. */
  changed(entry: AgentEntry, child: ChildNode, isResting: boolean): void {
    const { lend, wake, begin } = this.deps;
    if (isResting) {
      lend(child);
      return;
    }
    wake(child);
    if (!child.deps.lingers) return;
    // A person has written to it: it goes on at once, if need be beyond the limit.
    if (this.placeless.delete(child.id)) this.admitted(child);
    begin(entry, child);
  }

  /** The run of a teammate has ended, and that is on record. */
  async ran(entry: AgentEntry, child: ChildNode, stop: Stop): Promise<void> {
    const { farewell, expectedBy, isGone, release, finish, leave } = this.deps;
    if (isGone(entry, child)) return;
    release(child);
    if (entry.halting !== undefined) {
      finish(entry, child, entry.halting);
      return;
    }
    // It goes on when one of its own agents reports, so it has not done its work yet.
    if (expectedBy(child) > 0) return;
    if (!(await farewell.pause(entry, child, stop))) return;
    child.agent?.hold();
    child.deps.grant.rest?.();
    this.placeless.add(child.id);
    leave(child.id);
  }

  /** A letter has come for a teammate that rests. */
  called(entry: AgentEntry, child: ChildNode): void {
    const { isGone } = this.deps;
    if (isGone(entry, child) || !this.placeless.delete(child.id)) return;
    const { isQueued, free } = this.admitted(child);
    if (isQueued) entry.status = 'queued';
    void free.then(() => {
      if (!isGone(entry, child)) child.agent?.goOn();
    });
  }

  /** It has ended. */
  forget({ id }: Pick<ChildNode, 'id'>): void {
    this.placeless.delete(id);
  }

  private admitted(child: ChildNode): { readonly isQueued: boolean; readonly free: Promise<void> } {
    try {
      return this.deps.admit(child);
    } catch (error) {
      if (!(error instanceof SpawnRefusal)) throw error;
      // What was told to it must not be lost with the place.
      return { isQueued: false, free: Promise.resolve() };
    }
  }
}
