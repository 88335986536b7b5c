/**
 * Opens a session: starts or resumes its lead, and connects prompts, hooks, store outages and the
 * swarm.
 */
import { stops } from '../../machines/stops.js';
import type { AgentOutput } from '../../protocol/agent/agent-state.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import type { SessionMeta } from '../../protocol/session/session-store.js';
import { UsageError } from '../../protocol/skein-error.js';
import { type Agent, startAgent } from '../agent/agent.js';
import { JournaledState } from '../agent/journaled-state.js';
import { SessionHooks } from '../hooks/session-hooks.js';
import { beginSession } from './begin-session.js';
import { openLeadRuntime } from './lead-runtime.js';
import type { LeadSession, SessionOptions } from './lead-session.js';
import { PromptGate } from './prompt-gate.js';
import { publishLeadConfig, republishOnChange } from './publish-lead-config.js';
import { steering } from './steering.js';
import { watchStoreOutages } from './store-outages.js';

export type { LeadSession, OpenedSession, SessionOptions } from './lead-session.js';

export const openSession = async (options: SessionOptions): Promise<LeadSession> => {
  const { session, model, head, past } = await beginSession(options);
  const { meta } = session;
  const log = await session.journal(meta.lead, null);
  const journal = new JournaledState(log, past);
  if (journal.history.messages[0]?.role === 'assistant') {
    await session.close();
    throw new UsageError(damagedText(meta));
  }
  await publishLeadConfig(options, session);
  journal.record({ type: 'epoch.began', owner: options.owner });
  const checkpoints = options.checkpoints?.(meta, (body) => void journal.record(body));
  await checkpoints?.settle(past);
  const equipped = await openLeadRuntime(options, { session, model, head, journal, checkpoints });
  const { swarm, deps, equipment, feed, promptHead, jobs, hooks, spent, used } = equipped;
  const { ids, clock } = options;
  const storeOutages = watchStoreOutages(options.store, session, feed);
  const terms = republishOnChange(options, session, feed);
  swarm.lifecycle.countSpawns(used.agents);
  await swarm.loadRegistry();
  let agent: Agent | undefined;
  /** Resolves when the agents of an ended lead have ended too. */
  let ended: Promise<void> | undefined;
  let settle: (report: Promise<AgentOutput>) => void;
  const stopped = new Promise<AgentOutput>((resolve) => {
    settle = resolve;
  });
  let isOver = false;
  /** Reports a refused prompt. No record was written, so the end of the run is emitted here. */
  const refuse = (stop: Stop) => {
    // The title comes from the first prompt, which has been refused.
    if (journal.history.runs === 0) session.updateMeta({ title: '' }).catch(() => undefined);
    if (agent?.isIdle === false) {
      if (stop.detail !== null) feed.emit({ type: 'notice', text: stop.detail });
      return;
    }
    feed.emit({ type: 'run.ended', stop, turns: 0 });
    if (deps.staysIdle || agent !== undefined) return;
    isOver = true;
    settle(Promise.resolve({ stop, turns: 0 }));
  };
  const gate = new PromptGate({ hooks, journal, ids, refuse });
  const sessionHooks = new SessionHooks({ hooks, journal, feed, clock, ids, model }, gate);
  const start = (): Agent => {
    if (agent === undefined) {
      agent = startAgent({
        ...deps,
        pendingChildren: swarm.lifecycle.pendingReports.countFor(swarm.lead),
      });
      swarm.lead.agent = agent;
      void swarm.start();
      settle(agent.stopped);
      const endAll = async (report?: AgentOutput) => {
        void jobs.end();
        // A storage failure here must not stop agents on workers: the next lead finds them.
        if (report?.stop.reason === 'storage_failed') await swarm.close();
        else await swarm.lifecycle.stopDescendants(swarm.lead, stops.INTERRUPTED);
      };
      ended = agent.stopped.then(endAll, () => endAll());
      ended.catch(() => {});
    }
    return agent;
  };
  const deliver = (blocks: RawJson, letter: string | undefined) => {
    if (agent !== undefined) agent.submit('user', blocks, letter);
    else if (!journal.hasLetter(letter)) {
      const id = letter ?? deps.ids('letter');
      journal.record({ type: 'letter.received', letter: id, from: 'user', raw: blocks });
    }
  };
  const submit: LeadSession['submit'] = (blocks, letter, settled) => {
    if (journal.hasLetter(letter)) settled?.(undefined);
    else gate.admit(blocks, () => deliver(blocks, letter), settled);
  };
  let lostBy: Stop | undefined;
  let isAwaited = false;
  /** Ends the run because another process took over the session. */
  const endLost = (stop: Stop) => {
    const text = stop.detail ?? '';
    if (agent === undefined || (deps.staysIdle && agent.isIdle))
      feed.emit({ type: 'notice', text });
    agent?.fail(text);
    settle(Promise.resolve({ stop, turns: 0 }));
  };
  const startAfterPrompts = () =>
    gate.after((isInterrupted) => {
      isAwaited = true;
      // The session was lost before any listener was there, so report it now.
      if (lostBy !== undefined) endLost(lostBy);
      if (isOver) return;
      start();
      if (isInterrupted) agent?.interrupt();
    });
  storeOutages.onLost((stop) => {
    isOver = true;
    lostBy = stop;
    void swarm.close();
    // `start` reports the loss later.
    if (agent === undefined && !isAwaited) return;
    endLost(stop);
  });
  const source = options.choice.kind === 'new' ? 'startup' : 'resume';
  sessionHooks.begin(source, deps.staysIdle, options.hooks);
  return {
    id: meta.id,
    meta,
    fence: session.fenceOf(meta.lead),
    model,
    journal,
    get window() {
      return deps.windowOf(journal.history.model || model);
    },
    spent,
    budget: deps.budget,
    steer: steering(swarm),
    get head() {
      return promptHead.head;
    },
    damage: log.past.damage,
    get state() {
      return agent?.state ?? 'idle';
    },
    get isIdle() {
      return (agent?.isIdle ?? true) && !gate.isBusy;
    },
    start: startAfterPrompts,
    submit,
    interrupt() {
      gate.interrupt();
      agent?.interrupt();
    },
    compact: async (instructions) => start().compact(instructions),
    clear() {
      start().clear();
      sessionHooks.clear();
    },
    get mode() {
      return equipment.permissions.mode;
    },
    changeMode: (mode) => equipment.permissions.changeMode(mode),
    listen: (listener) => feed.listen(listener),
    async *run(blocks) {
      const items = feed.follow(({ type }) => type === 'run.ended', stopped);
      // The first pull starts listening, so the prompt is submitted after it.
      let next = items.next();
      try {
        if (blocks !== undefined) submit(blocks);
        startAfterPrompts();
        for (;;) {
          const { value, done } = await next;
          if (done) return;
          yield value;
          next = items.next();
        }
      } finally {
        void items.return();
      }
    },
    stopped,
    rename: (title) => session.updateMeta({ title }),
    async close(reason = 'other') {
      isOver = true;
      storeOutages.end();
      await terms.end();
      gate.interrupt();
      // Agents of an ended lead end with it. Otherwise the next owner of the session resumes them.
      if (agent?.state === 'stopped') await ended;
      await swarm.close();
      agent?.dispose();
      journal.end();
      await sessionHooks.end(reason);
      hooks.close();
      journal.close();
      await jobs.end();
      await session.updateMeta({ updatedAt: options.clock.now() });
      await session.close();
    },
  };
};

/** Text for a journal without its first message, which cannot be sent to a model. */
const damagedText = ({ id }: SessionMeta): string =>
  `The beginning of session ${id} is damaged, so it cannot be resumed; its journal is kept.`;
