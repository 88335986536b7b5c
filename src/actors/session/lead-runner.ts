/**
 * The life of a lead in this process, from the first prompt to its last run.
 *
 *   new ──start──▶ running ──lose, close──▶ over
 *    ├──lose──▶ lost ──start──▶ over     the loss is reported when a host listens
 *    └──refuse, close──▶ over            a run that never starts
 */
import { stops } from '../../machines/stops.js';
import type { AgentOutput } from '../../protocol/agent/agent-state.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import { type Agent, startAgent } from '../agent/agent.js';
import type { LeadRuntime } from './lead-runtime.js';

type Phase =
  | { readonly name: 'new' | 'running' | 'over' }
  | { readonly name: 'lost'; readonly stop: Stop };

export class LeadRunner {
  /** Resolves when the lead has stopped, or will never start. */
  readonly stopped: Promise<AgentOutput>;
  private readonly runtime: LeadRuntime;
  private phase: Phase = { name: 'new' };
  private running: Agent | undefined;
  private settle: (output: AgentOutput | Promise<AgentOutput>) => void = () => {};
  /** Resolves when the agents of a stopped lead have ended too. */
  private descendants: Promise<void> | undefined;

  constructor(runtime: LeadRuntime) {
    this.runtime = runtime;
    this.stopped = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  /** Undefined until the lead has started. */
  get agent(): Agent | undefined {
    return this.running;
  }

  /** Starts the lead, unless its life in this process is over. */
  start(): void {
    const { phase } = this;
    if (phase.name === 'lost') this.endLost(phase.stop);
    else if (phase.name !== 'over') this.started();
  }

  /** Returns the agent of the lead, and starts it if necessary. */
  started(): Agent {
    if (this.running !== undefined) return this.running;
    const { swarm, deps } = this.runtime;
    const agent = startAgent({
      ...deps,
      pendingChildren: swarm.lifecycle.pendingReports.countFor(swarm.lead),
    });
    this.running = agent;
    if (this.phase.name === 'new') this.phase = { name: 'running' };
    swarm.lead.agent = agent;
    void swarm.start();
    this.settle(agent.stopped);
    this.descendants = agent.stopped.then(
      (output) => this.endDescendants(output),
      () => this.endDescendants(),
    );
    this.descendants.catch(() => {});
    return agent;
  }

  /** Gives a prompt to the agent. Before the start it is only recorded. Throws StorageError or UsageError. */
  deliver(blocks: RawJson, letter: string | undefined): void {
    const { ids, journal } = this.runtime.deps;
    if (this.running !== undefined) this.running.submit('user', blocks, letter);
    else if (!journal.hasLetter(letter)) {
      const id = letter ?? ids('letter');
      journal.record({ type: 'letter.received', letter: id, from: 'user', raw: blocks });
    }
  }

  /** Reports a refused prompt. No record was written, so the end of the run is emitted here. */
  refuse(stop: Stop): void {
    const { feed, deps } = this.runtime;
    if (this.running?.isIdle === false) {
      if (stop.detail !== null) feed.emit({ type: 'notice', text: stop.detail });
      return;
    }
    feed.emit({ type: 'run.ended', stop, turns: 0 });
    if (deps.staysIdle || this.running !== undefined) return;
    this.phase = { name: 'over' };
    this.settle({ stop, turns: 0 });
  }

  /** Ends the lead because another process took over the session. */
  lose(stop: Stop): void {
    void this.runtime.swarm.close();
    if (this.phase.name === 'new') this.phase = { name: 'lost', stop };
    else this.endLost(stop);
  }

  /** Ends the lead and its swarm where they are. Agents of a stopped lead have ended before. */
  async close(): Promise<void> {
    this.phase = { name: 'over' };
    // Otherwise the next owner of the session resumes the agents.
    if (this.running?.state === 'stopped') await this.descendants;
    await this.runtime.swarm.close();
    this.running?.dispose();
  }

  private endLost(stop: Stop): void {
    this.phase = { name: 'over' };
    const { feed, deps } = this.runtime;
    const text = stop.detail ?? '';
    const isUnnoticed = this.running === undefined || (deps.staysIdle && this.running.isIdle);
    if (isUnnoticed) feed.emit({ type: 'notice', text });
    this.running?.fail(text);
    this.settle({ stop, turns: 0 });
  }

  private async endDescendants(output?: AgentOutput): Promise<void> {
    const { swarm, jobs } = this.runtime;
    void jobs.end();
    // A storage failure here must not stop agents on workers: the next lead finds them.
    if (output?.stop.reason === 'storage_failed') await swarm.close();
    else await swarm.lifecycle.stopper.stopDescendants(swarm.lead, stops.INTERRUPTED);
  }
}
