import * as stops from '../../machines/stops.js';
import type { AgentReport, Stop } from '../../protocol/agent/agent.js';
import { UsageError } from '../../protocol/errors.js';
import type { RawJson } from '../../protocol/model/wire.js';
import type { SessionMeta } from '../../protocol/session/store.js';
import { type Agent, startAgent } from '../agent/agent.js';
import { JournaledState } from '../agent/journaled-state.js';
import { SessionHooks } from '../hooks/session-hooks.js';
import { beginSession } from './begin-session.js';
import { equipLead } from './lead-runtime.js';
import type { LeadSession, SessionOptions } from './lead-session.js';
import { PromptGate } from './prompt-gate.js';
import { keepTerms, putTerms } from './publish-lead-config.js';
import { steering } from './steering.js';
import { watchStore } from './store-outages.js';

export type { LeadSession, OpenedSession, SessionOptions } from './lead-session.js';

export const openSession = async (options: SessionOptions): Promise<LeadSession> => {
  const { session, model, head, past } = await beginSession(options);
  const { meta } = session;
  const journal = await session.journal(meta.lead, null);
  const notebook = new JournaledState(journal, past);
  if (notebook.history.messages[0]?.role === 'assistant') {
    await session.close();
    throw new UsageError(headless(meta));
  }
  await putTerms(options, session);
  notebook.record({ type: 'epoch.began', owner: options.owner });
  const checkpoints = options.checkpoints?.(meta, (body) => void notebook.record(body));
  await checkpoints?.settle(past);
  const equipped = await equipLead(options, { session, model, head, notebook, checkpoints });
  const { swarm, deps, equipment, feed, shelf, jobs, hooks, spent, used } = equipped;
  const { ids, clock } = options;
  const heedStore = watchStore(options.store, session, feed);
  const terms = keepTerms(options, session, feed);
  swarm.employment.countSpawns(used.agents);
  await swarm.recall();
  let agent: Agent | undefined;
  /** When those that worked for a lead that is over have ended too. */
  let ended: Promise<void> | undefined;
  let settle: (report: Promise<AgentReport>) => void;
  const stopped = new Promise<AgentReport>((resolve) => {
    settle = resolve;
  });
  let isOver = false;
  /** Nothing was written down; whoever waits for an end hears of one. */
  const refuse = (stop: Stop) => {
    // A session is called after its first prompt.
    if (notebook.history.runs === 0) session.updateMeta({ title: '' }).catch(() => undefined);
    if (agent?.isResting === false) {
      if (stop.detail !== null) feed.emit({ type: 'notice', text: stop.detail });
      return;
    }
    feed.emit({ type: 'run.ended', stop, turns: 0 });
    if (deps.lingers || agent !== undefined) return;
    isOver = true;
    settle(Promise.resolve({ stop, turns: 0 }));
  };
  const gate = new PromptGate({ hooks, notebook, ids, refuse });
  const occasions = new SessionHooks({ hooks, notebook, feed, clock, ids, model }, gate);
  const start = (): Agent => {
    if (agent === undefined) {
      agent = startAgent({ ...deps, expecting: swarm.employment.expectedBy(swarm.lead) });
      swarm.lead.agent = agent;
      void swarm.start();
      settle(agent.stopped);
      const endAll = async (report?: AgentReport) => {
        void jobs.end();
        // What cannot be written here is no reason to end those that others work on: the next lead finds them.
        if (report?.stop.reason === 'storage_failed') await swarm.close();
        else await swarm.employment.haltBelow(swarm.lead, stops.INTERRUPTED);
      };
      ended = agent.stopped.then(endAll, () => endAll());
      ended.catch(() => {});
    }
    return agent;
  };
  const deliver = (blocks: RawJson, letter: string | undefined) => {
    if (agent !== undefined) agent.submit('user', blocks, letter);
    else if (!notebook.hasLetter(letter)) {
      const id = letter ?? deps.ids('letter');
      notebook.record({ type: 'letter.received', letter: id, from: 'user', raw: blocks });
    }
  };
  const submit: LeadSession['submit'] = (blocks, letter, settled) => {
    if (notebook.hasLetter(letter)) settled?.(undefined);
    else gate.admit(blocks, () => deliver(blocks, letter), settled);
  };
  let lostBy: Stop | undefined;
  let isAwaited = false;
  /** Another process has the session: a run that is under way ends with that. */
  const giveUp = (stop: Stop) => {
    const text = stop.detail ?? '';
    if (agent === undefined || (deps.lingers && agent.isResting))
      feed.emit({ type: 'notice', text });
    agent?.fail(text);
    settle(Promise.resolve({ stop, turns: 0 }));
  };
  const startInTurn = () =>
    gate.after((isInterrupted) => {
      isAwaited = true;
      // Nobody listened when it was lost.
      if (lostBy !== undefined) giveUp(lostBy);
      if (isOver) return;
      start();
      if (isInterrupted) agent?.interrupt();
    });
  heedStore.whenLost((stop) => {
    isOver = true;
    lostBy = stop;
    void swarm.close();
    // Whoever starts it later hears of it then.
    if (agent === undefined && !isAwaited) return;
    giveUp(stop);
  });
  const source = options.choice.kind === 'new' ? 'startup' : 'resume';
  occasions.begin(source, deps.lingers, options.hooks);
  return {
    id: meta.id,
    meta,
    fence: session.fenceOf(meta.lead),
    model,
    notebook,
    get window() {
      return deps.windowOf(notebook.history.model || model);
    },
    spent,
    grant: deps.grant,
    steer: steering(swarm),
    get head() {
      return shelf.head;
    },
    damage: journal.past.damage,
    get state() {
      return agent?.state ?? 'idle';
    },
    get isResting() {
      return (agent?.isResting ?? true) && !gate.isBusy;
    },
    start: startInTurn,
    submit,
    interrupt() {
      gate.interrupt();
      agent?.interrupt();
    },
    compact: async (instructions) => start().compact(instructions),
    clear() {
      start().clear();
      occasions.clear();
    },
    get mode() {
      return equipment.desk.mode;
    },
    changeMode: (mode) => equipment.desk.changeMode(mode),
    listen: (listener) => feed.listen(listener),
    async *run(blocks) {
      const items = feed.follow(({ type }) => type === 'run.ended', stopped);
      // Listening begins with the first pull, so the prompt comes after it.
      let next = items.next();
      try {
        if (blocks !== undefined) submit(blocks);
        startInTurn();
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
      heedStore.end();
      await terms.end();
      gate.interrupt();
      // Those whose lead has ended end with it; else the next owner of the session goes on with them.
      if (agent?.state === 'stopped') await ended;
      await swarm.close();
      agent?.dismiss();
      notebook.end();
      await occasions.end(reason);
      hooks.close();
      notebook.close();
      await jobs.end();
      await session.updateMeta({ updatedAt: options.clock.now() });
      await session.close();
    },
  };
};

/** A journal that lost its first message cannot be sent to anybody. */
const headless = ({ id }: SessionMeta): string =>
  `The beginning of session ${id} is damaged, so it cannot be resumed; its journal is kept.`;
