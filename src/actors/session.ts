import { CommonFailures } from '../context/common-failures.js';
import { RunUsage } from '../context/run-usage.js';
import * as stops from '../machines/stops.js';
import type { AgentReport, Stop } from '../protocol/agent.js';
import { UsageError } from '../protocol/errors.js';
import { capabilitiesOf } from '../protocol/providers.js';
import type { SessionMeta, SessionStore } from '../protocol/store.js';
import type { RawJson } from '../protocol/wire.js';
import { type Agent, startAgent } from './agent.js';
import { FeedHub } from './feed-hub.js';
import type { LeadSession, SessionOptions } from './lead-session.js';
import { Notebook } from './notebook.js';
import { PromptGate } from './prompt-gate.js';
import { PromptShelf } from './prompt-shelf.js';
import { runGrant } from './run-grant.js';
import { beginSession } from './session-begin.js';
import { openDesk, SessionHooks, withMemory } from './session-hooks.js';
import { sessionJobs } from './session-jobs.js';
import { openSwarm } from './session-swarm.js';
import { steering } from './steering.js';
import { treeSpending } from './tree-spending.js';

export type { LeadSession, OpenedSession, SessionOptions } from './lead-session.js';

export const openSession = async (options: SessionOptions): Promise<LeadSession> => {
  const { session, model, head, past } = await beginSession(options);
  const { meta } = session;
  const journal = await session.journal(meta.lead, null);
  const notebook = new Notebook(journal, past);
  if (notebook.history.messages[0]?.role === 'assistant') {
    await session.close();
    throw new UsageError(headless(meta));
  }
  const usage = new RunUsage(meta.lead, notebook.history.run);
  const spent = await treeSpending(options.store, meta, notebook.history, usage);
  const { used } = usage;
  notebook.record({ type: 'epoch.began', owner: options.owner });
  const feed = new FeedHub(options.wantsStreamEvents);
  const { briefing, requestSettings, capabilities = capabilitiesOf('firstParty') } = options;
  const shelf = new PromptShelf(
    { session, notebook, briefing, capabilities, requestSettings, model },
    head,
  );
  const equipment = options.equip({
    meta,
    artifacts: session.artifactDirectory(),
    inherited: await inheritedArtifacts(options.store, meta),
    tools: head.tools,
  });
  equipment.desk.recall(notebook.history.grants);
  const checkpoints = options.checkpoints?.(meta, (body) => void notebook.record(body));
  await checkpoints?.settle(past);
  const { ids, clock } = options;
  const jobs = sessionJobs({ shell: equipment.shell, notebook, feed, ids, clock });
  const given = withMemory(options.hooks);
  const hooks = openDesk(given, session, {
    ...{ notebook, feed, clock, mode: () => equipment.desk.mode },
  });
  const betas = options.betas ?? [];
  const equipped = {
    ...equipment,
    ...{ hooks, notebook, feed, shelf, briefing, modelName: model, agent: meta.lead },
    ...{ ids, clock, jobs: jobs.table, diagnostics: capabilities.diagnostics, checkpoints },
    failures: new CommonFailures(),
    betas: () => (capabilities.betas ? notebook.history.betas.with(betas) : []),
    grant: runGrant(
      { ...options.budget, turns: equipment.limits.maxTurns },
      notebook.history,
      used,
    ),
  };
  const { swarm, deps } = openSwarm(
    {
      ...{ session, store: options.store, worker: options.owner, hooks: given },
      ...{ capabilities, requestSettings, betas, checkpoints },
      usedBefore: (id) => usage.usedBy(id),
      setup: options.swarm,
    },
    equipped,
    spent,
  );
  swarm.employment.countSpawns(used.agents);
  await swarm.recall();
  let agent: Agent | undefined;
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
      const endAll = () => {
        void jobs.end();
        void swarm.employment.haltBelow(swarm.lead, stops.INTERRUPTED);
      };
      agent.stopped.then(endAll, endAll);
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
  const startInTurn = () =>
    gate.after((isInterrupted) => {
      if (isOver) return;
      start();
      if (isInterrupted) agent?.interrupt();
    });
  const source = options.choice.kind === 'new' ? 'startup' : 'resume';
  occasions.begin(source, deps.lingers, options.hooks);
  return {
    id: meta.id,
    meta,
    model,
    notebook,
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
      gate.interrupt();
      // Those whose lead has ended end with it; else the next owner of the session goes on with them.
      if (agent?.state === 'stopped') {
        await swarm.employment.haltBelow(swarm.lead, stops.INTERRUPTED);
      }
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

const inheritedArtifacts = async (
  store: SessionStore,
  { parentId }: SessionMeta,
): Promise<readonly string[]> => {
  if (parentId === null) return [];
  const parents = new Map((await store.list()).map((meta) => [meta.id, meta.parentId]));
  const found = new Set<string>();
  for (let id: string | null = parentId; id !== null && !found.has(id); ) {
    found.add(id);
    id = parents.get(id) ?? null;
  }
  return [...found].flatMap((id) => store.artifactsOf(id) ?? []);
};
