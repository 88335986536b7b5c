/**
 * Real environment of an agent without the agent: disk, shell, search, web, jobs and policy as in a
 * session. Calls use the same judge and the same run. Only the model, the user and other agents are
 * scripted.
 */
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { JournaledState } from '../../../src/actors/agent/journaled-state.js';
import { runTool, type ToolEnvironment } from '../../../src/actors/calls/run-tool.js';
import { toolResult } from '../../../src/actors/calls/tool-result.js';
import { judgeCall } from '../../../src/actors/permissions/judge-call.js';
import { modeSwitch } from '../../../src/actors/permissions/mode-switch.js';
import { permissionManager } from '../../../src/actors/permissions/permission-manager.js';
import { signingSurface } from '../../../src/actors/permissions/signing-surface.js';
import { realPath } from '../../../src/config/workspace/real-path.js';
import { rootBudget } from '../../../src/context/budget/ledger.js';
import { diskWorkspace } from '../../../src/host/files/disk-workspace.js';
import { openArtifactFile } from '../../../src/host/files/open-artifact-file.js';
import { hostShell } from '../../../src/host/process/host-shell.js';
import {
  childEnvironment,
  OWNER_VARIABLE,
} from '../../../src/host/process/ownership/child-environment.js';
import { ownerMarker } from '../../../src/host/process/ownership/owner-marker.js';
import { processTable } from '../../../src/host/process/ownership/process-table.js';
import { watchdogLink } from '../../../src/host/process/ownership/watchdog-link.js';
import { shellJobTable } from '../../../src/host/process/shell-job-table.js';
import { hostSearch } from '../../../src/host/search/host-search.js';
import { webClient } from '../../../src/host/web/web-client.js';
import { governor } from '../../../src/model/governor.js';
import { systemClock } from '../../../src/protocol/clock.js';
import { ModelFailure, type ModelPort } from '../../../src/protocol/model/model-port.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import type { WireBlock } from '../../../src/protocol/model/wire-block.js';
import { NO_HOOKS } from '../../../src/protocol/permission/hooks.js';
import type { PermissionMode } from '../../../src/protocol/permission/permission-mode.js';
import type {
  PersonAnswer,
  Surface,
} from '../../../src/protocol/permission/permission-question.js';
import type { PermissionRule } from '../../../src/protocol/permission/permission-rule.js';
import type { Journal } from '../../../src/protocol/session/journal.js';
import {
  formatRecord,
  type JournalBody,
  parseRecord,
} from '../../../src/protocol/session/journal-record.js';
import type { Shell } from '../../../src/protocol/tools/shell.js';
import type { ToolOutcome } from '../../../src/protocol/tools/tool.js';
import { MemoryTaskList } from '../../../src/store/memory/memory-task-list.js';
import { builtinTools } from '../../../src/tools/builtin-tools.js';
import { toolbox } from '../../../src/tools/toolbox.js';
import { type ScriptedAgents, scriptedAgents } from '../../fakes/agents/scripted-agents.js';
import { countedIds } from '../../fakes/counted-ids.js';
import { WATCHDOG } from '../../host/process/processes.js';
import { createHostileTree, digestOfTree } from './hostile-tree.js';
import { startLocalWeb } from './local-web.js';

export interface Result {
  /**
   * `failed`: the call ran and returned an error. `invalid`, `denied` and `asked`: the call did not
   * run.
   */
  readonly end: 'ok' | 'failed' | 'invalid' | 'denied' | 'asked';
  readonly content: ToolOutcome['content'];
  /** Text of the content. */
  readonly text: string;
  /** The tool_result block for the model. */
  readonly raw: string;
}

export interface Bench {
  readonly root: string;
  readonly cwd: string;
  /** URL of a local web server with faulty pages. */
  readonly web: string;
  /** Answers the next question to the user. Undefined: no answer arrives. */
  answer: ((signal: AbortSignal) => Promise<PersonAnswer>) | undefined;
  /** Enters plan mode, with a user who approves every question. */
  plan(): void;
  /** Blocks of the next model answers. An error fails the request. */
  modelSays: readonly WireBlock[] | Error | 'silence';
  readonly agents: ScriptedAgents;
  call(tool: string, input: unknown, options?: CallOptions): Promise<Result>;
  /** State that a call could change, for comparison before and after. */
  traces(): Promise<unknown>;
  /** Processes that tools started and that still run. */
  survivors(): Promise<readonly number[]>;
  /** Names of temporary files in the temporary directory and in the workspace. */
  litter(): readonly string[];
  close(): Promise<void>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** False simulates a process that dies before it records the result. Default: true. */
  readonly recordsResult?: boolean;
}

export interface BenchOptions {
  readonly rules?: readonly PermissionRule[];
  readonly mode?: PermissionMode;
  /** Use the search without ripgrep. */
  readonly withoutRipgrep?: boolean;
}

export const openBench = async (options: BenchOptions = {}): Promise<Bench> => {
  const { rules = [], mode = 'bypassPermissions', withoutRipgrep = false } = options;
  const { marker, environment, shell } = await host();
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'bench-')));
  const place = (name: string) => join(root, name);
  for (const name of ['home', 'artifacts']) mkdirSync(place(name));
  const { cwd, close: closeTree } = await createHostileTree(root);
  const web = await startLocalWeb();
  const clock = systemClock;
  const jobs = shellJobTable({ shell, clock, startedBefore: 0, onEnd: () => {} });
  const state = new JournaledState(strictJournal(), []);
  state.record({
    type: 'agent.created',
    agent: 'a_1',
    parent: null,
    cwd,
    model: '',
    prompt: '',
  });
  const questions = { model: 0, person: 0 };
  const agents = scriptedAgents();
  const work = new MemoryTaskList(clock);
  const tools = toolbox(builtinTools);
  const surface: Surface = {
    ask: () => Promise.reject(new Error('bench: a question ends the call here')),
    choose(_, signal) {
      questions.person += 1;
      return bench.answer?.(signal) ?? new Promise(() => {});
    },
  };
  const modes = modeSwitch(mode);
  let agrees = false;
  const permissions = permissionManager({
    policy: {
      rules,
      roots: [cwd],
      realPath,
      home: place('home'),
      skeinHome: place('home/.skein'),
    },
    mode: modes,
    surfaces: [signingSurface('person', surface, clock)],
    permissionTimeoutMs: 400,
    keepRule: () => {},
  });
  const model: ModelPort = {
    async stream({ model: name }, sink, signal) {
      questions.model += 1;
      const { modelSays } = bench;
      if (modelSays === 'silence') await untilAborted(signal);
      if (modelSays instanceof Error) throw modelSays;
      for (const block of modelSays === 'silence' ? [] : modelSays) {
        sink.blockEnded({ type: block.type, raw: JSON.stringify(block) });
      }
      const end = { messageId: 'm', requestId: null, stopReason: 'end_turn' };
      return { ...end, usage: NO_USAGE, model: name };
    },
  };
  const toolEnvironment: ToolEnvironment = {
    workspace: diskWorkspace(place('home')),
    shell,
    jobs,
    journal: state,
    model,
    clock,
    permissions,
    agents,
    hooks: NO_HOOKS,
    taskList: { list: work, names: PLAIN_NAMES },
    agent: 'a_1',
    ids: countedIds(),
    modelName: 'claude-sonnet-5-5',
    betas: () => [],
    search: hostSearch(environment, withoutRipgrep ? { SKEIN_RIPGREP: 'off' } : {}),
    web: webClient({
      env: {},
      clock,
      userAgent: 'bench',
      allowPrivateAddresses: [web.host],
      limits: { idleMs: 400, totalMs: 5_000 },
    }),
    budget: rootBudget({ usd: null, tokens: null, turns: null }),
    governor: governor(clock, 4),
    openArtifact: (name) => openArtifactFile(place('artifacts'), name),
    feed: { emit: () => {}, wantsStreamEvents: false },
  };

  let calls = 0;
  const run = async (name: string, input: unknown, options: CallOptions): Promise<Result> => {
    const { signal = new AbortController().signal, recordsResult = true } = options;
    calls += 1;
    const id = `call_${calls}`;
    const request = { id, tool: name, input };
    const judged = judgeCall(request, tools, permissions, state.history.cwd);
    if (judged.kind === 'invalid') return result(id, 'invalid', { content: judged.message });
    const { behavior, reason } = judged.ruling;
    if (behavior === 'deny') return result(id, 'denied', { content: reason });
    const approved = behavior === 'ask' && agrees;
    if (behavior === 'ask' && !approved) return result(id, 'asked', { content: reason });
    const outcome = await runTool(judged.call, toolEnvironment, { id, approved }, signal);
    const end = outcome.failed || outcome.isError === true ? 'failed' : 'ok';
    const done = result(id, end, outcome);
    if (recordsResult) recordResult(state, id, name, outcome, done.raw);
    return done;
  };

  const bench: Bench = {
    root,
    cwd,
    web: web.url,
    answer: undefined,
    modelSays: [],
    agents,
    plan() {
      modes.change('plan');
      agrees = true;
    },
    call: (name, input, options = {}) => run(name, input, options),
    traces: async () => ({
      tree: [digestOfTree(cwd), digestOfTree(place('outside'))],
      artifacts: readdirSync(place('artifacts')),
      pages: web.requestedPaths.length,
      ...questions,
      jobs: jobs.list().map(({ id, status }) => [id, status.kind]),
      agents: agents.orders.length + agents.sent.length,
      work: await work.list(),
      todos: state.history.todos,
      mode: modes.mode,
      survivors: await survivorsOf(marker),
    }),
    survivors: () => survivorsOf(marker),
    litter: () => [
      ...readdirSync(tmpdir()).filter(
        (name) => name !== basename(root) && !name.startsWith('pipe-'),
      ),
      ...(readdirSync(cwd, { recursive: true }) as string[]).filter((name) =>
        name.endsWith('.tmp'),
      ),
    ],
    async close() {
      await jobs.close();
      await Promise.all([web.close(), closeTree()]);
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return bench;
};

interface Host {
  readonly marker: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly shell: Shell;
}

/** Every agent is addressed by its id. */
const PLAIN_NAMES = { nameOf: (id: string) => id, nameFor: (address: string) => address };

let shared: Promise<Host> | undefined;

/** A single shell and watchdog for all benches, which run in sequence. */
const host = (): Promise<Host> => {
  shared ??= startHost();
  return shared;
};

const startHost = async (): Promise<Host> => {
  const marker = ownerMarker('bench');
  const watchdog = watchdogLink({ command: WATCHDOG, marker });
  await watchdog.ready();
  // From here on, temporary files are created in a directory that `litter` can list.
  process.env.TMPDIR = mkdtempSync(join(tmpdir(), 'bench-tmp-'));
  const environment = childEnvironment(process.env, marker, tmpdir());
  return { marker, environment, shell: hostShell({ environment, watchdog }) };
};

const survivorsOf = async (marker: string): Promise<readonly number[]> =>
  (await processTable.marked(OWNER_VARIABLE))
    .filter(({ value }) => value === marker)
    .map(({ pid }) => pid);

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const abort = () => reject(new ModelFailure('aborted', 'It was aborted.'));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });

const result = (id: string, end: Result['end'], { content }: ToolOutcome): Result => ({
  end,
  content,
  raw: toolResult(id, content, end !== 'ok'),
  text:
    typeof content === 'string'
      ? content
      : content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join('\n'),
});

/** Throws if a record would change when it is written and read. */
const strictJournal = (): Journal => {
  let seq = 0;
  return {
    past: { records: [], damage: [] },
    append(body: JournalBody) {
      seq += 1;
      const record = { v: 1, seq, ts: 0, epoch: 1, ...body } as const;
      const line = formatRecord(record);
      if (line.includes('\n') || parseRecord(line) === undefined) {
        throw new Error(`bench: this is no record: ${line.slice(0, 2_000)}`);
      }
      return record;
    },
    written: () => undefined,
    sync: () => Promise.resolve(),
  };
};

const AT = { turn: 1, attempt: 1 } as const;

/** Records the call and applies its notes as an agent does. */
const recordResult = (
  state: JournaledState,
  call: string,
  tool: string,
  { notes, facts }: ToolOutcome,
  raw: string,
): void => {
  state.record({
    type: 'assistant.received',
    ...AT,
    model: '',
    messageId: null,
    requestId: null,
    stopReason: 'tool_use',
    usage: NO_USAGE,
    cost: 0,
    durationMs: 0,
    raw: JSON.stringify([{ type: 'tool_use', id: call, name: tool, input: {} }]),
  });
  state.record({
    type: 'call.ended',
    ...AT,
    call,
    tool,
    outcome: 'ok',
    durationMs: 0,
    raw,
    ...(notes !== undefined && { notes: [...notes] }),
    ...(facts !== undefined && { facts: { ...facts } }),
  });
};
