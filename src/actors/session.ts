/**
 * A session from the outside: created, resumed or forked, with its lead agent alive in it. Every
 * host (print mode, a REPL, a program) runs agents through this one door.
 */
import type { Spending } from '../context/spending.js';
import type { RequestSettings } from '../prompt/request-body.js';
import type { AgentReport, AgentState, Stop } from '../protocol/agent.js';
import { UsageError } from '../protocol/errors.js';
import type { FeedItem, FeedListener } from '../protocol/feed.js';
import type { Grant } from '../protocol/grant.js';
import type { Hooks } from '../protocol/hooks.js';
import type { JournalBody } from '../protocol/journal.js';
import type { AgentMode, PermissionMode } from '../protocol/permission.js';
import type { PromptHead } from '../protocol/prompt.js';
import { type Capabilities, capabilitiesOf } from '../protocol/providers.js';
import type { SessionMeta, SessionStore } from '../protocol/store.js';
import type { RawJson } from '../protocol/wire.js';
import { type Agent, type AgentDeps, startAgent } from './agent.js';
import type { Checkpointer } from './checkpointer.js';
import { FeedHub } from './feed-hub.js';
import { Notebook } from './notebook.js';
import { PromptGate } from './prompt-gate.js';
import { PromptShelf } from './prompt-shelf.js';
import { runGrant } from './run-grant.js';
import { type BeginOptions, beginSession } from './session-begin.js';
import { type EndReason, type HookEquipment, openDesk, SessionHooks } from './session-hooks.js';
import { sessionJobs } from './session-jobs.js';
import { treeSpending } from './tree-spending.js';

type Given =
  | 'notebook'
  | 'feed'
  | 'hooks'
  | 'shelf'
  | 'betas'
  | 'briefing'
  | 'diagnostics'
  | 'grant'
  | 'agent'
  | 'modelName'
  | 'ids'
  | 'clock'
  | 'jobs'
  | 'checkpoints';

/** What an agent's equipment depends on: where it works, and where large outputs are kept. */
export interface OpenedSession {
  readonly meta: SessionMeta;
  readonly artifacts: string;
  /** Those of the sessions that this one was forked from: its history names files there. */
  readonly inherited: readonly string[];
  /** What the model is shown. */
  readonly tools: RawJson;
}

export interface SessionOptions extends BeginOptions {
  /** What marks this process as the owner, for the journal. */
  readonly owner: string;
  readonly requestSettings: (model: string) => Omit<RequestSettings, 'model'>;
  /** What the provider takes; those of the public API if left out. */
  readonly capabilities?: Capabilities;
  /** Beta features that this process wants; the session keeps those that it ever had. */
  readonly betas?: readonly string[];
  readonly maxBudgetUsd: number | null;
  readonly wantsStreamEvents: boolean;
  /** Left out when nobody has set up any. */
  readonly hooks?: HookEquipment | Hooks | undefined;
  readonly equip: (session: OpenedSession) => Omit<AgentDeps, Given>;
  /** Keeps files before calls change them; left out, nothing can be rewound. */
  readonly checkpoints?: (meta: SessionMeta, record: (body: JournalBody) => void) => Checkpointer;
}

export interface LeadSession {
  readonly id: string;
  readonly meta: SessionMeta;
  readonly model: string;
  readonly notebook: Notebook;
  /** By the lead and all its agents, in this process and before. */
  readonly spent: Spending;
  /** What there is to spend. */
  readonly grant: Grant;
  /** Lines of the journal that could not be read. */
  readonly damage: readonly string[];
  readonly state: AgentState;
  /** No run is under way or about to begin, and the end of the last one has been told. */
  readonly isResting: boolean;
  start(): void;
  submit(blocks: RawJson): void;
  interrupt(): void;
  /** Summarises the older messages now; resolves with a sentence. Rejects with a UsageError. */
  compact(instructions: string): Promise<string>;
  /** Begins the conversation anew within the session. Throws a UsageError while a run is under way. */
  clear(): void;
  /** What needs no question; the agent is told with its next message. */
  readonly mode: AgentMode;
  /** Throws a UsageError for a mode that may not be used here. */
  changeMode(mode: PermissionMode): void;
  listen(listener: FeedListener): () => void;
  /**
   * Submits a prompt and yields everything until that run has ended. Without one a resumed agent
   * goes on with what it was doing. The first pull starts it, before it returns.
   */
  run(blocks?: RawJson): AsyncGenerator<FeedItem, void>;
  /** What lists call it. */
  rename(title: string): Promise<void>;
  /** What the model is shown ahead of the messages, as it is sent. */
  readonly head: PromptHead;
  readonly stopped: Promise<AgentReport>;
  close(reason?: EndReason): Promise<void>;
}

export const openSession = async (options: SessionOptions): Promise<LeadSession> => {
  const { session, model, head, past } = await beginSession(options);
  const { meta } = session;
  const journal = await session.journal(meta.lead, null);
  const notebook = new Notebook(journal, past);
  if (notebook.history.messages[0]?.role === 'assistant') {
    await session.close();
    throw new UsageError(headless(meta));
  }
  const spent = await treeSpending(options.store, meta, notebook.history);
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
  const hooks = openDesk(options.hooks, session, {
    ...{ notebook, feed, clock, mode: () => equipment.desk.mode },
  });
  const deps: AgentDeps = {
    ...equipment,
    ...{ hooks, notebook, feed, shelf, briefing, modelName: model, agent: meta.lead },
    ...{ ids, clock, jobs: jobs.table, diagnostics: capabilities.diagnostics, checkpoints },
    betas: () => (capabilities.betas ? notebook.history.betas.with(options.betas ?? []) : []),
    grant: runGrant(
      { usd: options.maxBudgetUsd, turns: equipment.limits.maxTurns },
      notebook.history,
    ),
  };
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
      agent = startAgent(deps);
      settle(agent.stopped);
      const endJobs = () => void jobs.end();
      agent.stopped.then(endJobs, endJobs);
    }
    return agent;
  };
  const deliver = (blocks: RawJson) => {
    if (agent !== undefined) agent.submit('user', blocks);
    else {
      const letter = deps.ids('letter');
      notebook.record({ type: 'letter.received', letter, from: 'user', raw: blocks });
    }
  };
  const submit = (blocks: RawJson) => gate.admit(blocks, () => deliver(blocks));
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
