/**
 * Complete session in memory with the real machine, crew and policy. Model, tools and clock are
 * scripted.
 */
import { z } from 'zod';
import type { Checkpointer } from '../../../src/actors/checkpoints/checkpointer.js';
import { modeSwitch } from '../../../src/actors/permissions/mode-switch.js';
import { permissionManager } from '../../../src/actors/permissions/permission-manager.js';
import { signingSurface } from '../../../src/actors/permissions/signing-surface.js';
import { beginSession, type SessionChoice } from '../../../src/actors/session/begin-session.js';
import type { LeadSession, SessionOptions } from '../../../src/actors/session/lead-session.js';
import { openSession } from '../../../src/actors/session/open-session.js';
import type { SwarmSetup } from '../../../src/actors/tree/swarm-context.js';
import { windowThresholds } from '../../../src/context/window/window-thresholds.js';
import { governor } from '../../../src/model/governor.js';
import { type AgentLimits, DEFAULT_LIMITS } from '../../../src/protocol/agent/agent-limits.js';
import type { ContextProvider } from '../../../src/protocol/model/context-provider.js';
import type { Governor } from '../../../src/protocol/model/governor.js';
import type { ModelPort } from '../../../src/protocol/model/model-port.js';
import { type Capabilities, capabilitiesOf } from '../../../src/protocol/model/providers.js';
import { rawText } from '../../../src/protocol/model/wire-block.js';
import type { HookSetup } from '../../../src/protocol/permission/hook-setup.js';
import type { Hooks } from '../../../src/protocol/permission/hooks.js';
import type { PermissionMode } from '../../../src/protocol/permission/permission-mode.js';
import type { Surface } from '../../../src/protocol/permission/permission-question.js';
import type { PermissionRule } from '../../../src/protocol/permission/permission-rule.js';
import type { FeedItem } from '../../../src/protocol/session/feed.js';
import type { JournalBody, JournalRecord } from '../../../src/protocol/session/journal-record.js';
import type { SessionStore } from '../../../src/protocol/session/session-store.js';
import type { Shell } from '../../../src/protocol/tools/shell.js';
import {
  defineTool,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from '../../../src/protocol/tools/tool.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { toolbox } from '../../../src/tools/toolbox.js';
import { plainContext } from '../../fakes/agents/plain-context.js';
import { swarmSetup } from '../../fakes/agents/swarm-setup.js';
import { countedIds } from '../../fakes/counted-ids.js';
import { memoryWorkspace } from '../../fakes/memory-workspace.js';
import { settled, type VirtualClock, virtualClock } from '../../fakes/virtual-clock.js';

/** Effect of a call, by the name in its input. Default: the result `did <name>`. */
export type ToolEffects = Readonly<
  Record<string, (context: ToolContext) => Promise<ToolOutcome> | ToolOutcome>
>;

export interface LeadOptions {
  readonly model: ModelPort;
  readonly effects?: ToolEffects;
  readonly mode?: PermissionMode;
  readonly rules?: readonly PermissionRule[];
  /** A surface, or several surfaces that are all asked: surface-1, surface-2. */
  readonly surface?: Surface | readonly Surface[];
  readonly staysIdle?: boolean;
  readonly limits?: Partial<AgentLimits>;
  readonly fallbackModel?: string;
  readonly modelName?: string;
  readonly maxBudgetUsd?: number;
  readonly maxBudgetTokens?: number;
  readonly contextWindow?: number;
  readonly hooks?: Hooks | readonly HookSetup[];
  readonly checkpoints?: (record: (body: JournalBody) => void) => Checkpointer;
  /** Tools in addition to the scripted tools. */
  readonly tools?: readonly Tool[];
  readonly answersByHook?: boolean;
  readonly wantsStreamEvents?: boolean;
  readonly shell?: Shell;
  readonly store?: SessionStore;
  readonly clock?: VirtualClock;
  /** Governor that several leads share. Default: a governor for each lead. */
  readonly governor?: Governor;
  readonly choice?: SessionChoice;
  /** Version of the program. */
  readonly version?: string;
  readonly contextProvider?: ContextProvider;
  readonly capabilities?: Capabilities;
  readonly betas?: readonly string[];
  readonly swarm?: Partial<SwarmSetup>;
}

export interface LeadHarness {
  readonly lead: LeadSession;
  readonly clock: VirtualClock;
  readonly store: SessionStore;
  /** Starts and ends of calls in order: `start x`, `end x`. */
  readonly callLog: readonly string[];
  readonly items: readonly FeedItem[];
  readonly keptRules: readonly string[];
  /** Submits a prompt and waits for all work that needs no time. */
  say(text: string): Promise<void>;
  records(): Promise<readonly JournalRecord[]>;
  /** Texts of the last tool results that the model got, by call. */
  results(): Record<string, string>;
}

export const leadHarness = async (options: LeadOptions): Promise<LeadHarness> => {
  const clock = options.clock ?? virtualClock();
  const store = options.store ?? new MemorySessionStore(clock);
  const { checkpoints } = options;
  const callLog: string[] = [];
  const keptRules: string[] = [];
  const tools = toolbox([...fakeTools(options.effects ?? {}, callLog), ...(options.tools ?? [])]);
  const sessionOptions: SessionOptions = {
    store,
    clock,
    ids: countedIds(),
    owner: 'o_1',
    choice: options.choice ?? { kind: 'new' },
    modelName: options.modelName,
    defaultModel: 'claude-opus-5-5',
    fresh: {
      cwd: CWD,
      version: options.version ?? '0.0.0',
      entrypoint: 'test',
      title: 'A test',
    },
    contextProvider: options.contextProvider ?? plainContext(),
    requestSettings: () => ({ maxTokens: 100 }),
    // Cache diagnostics would appear in every body that a test compares.
    capabilities: options.capabilities ?? { ...capabilitiesOf('firstParty'), diagnostics: false },
    betas: options.betas ?? [],
    budget: { usd: options.maxBudgetUsd ?? null, tokens: options.maxBudgetTokens ?? null },
    swarm: swarmSetup(options.swarm),
    wantsStreamEvents: options.wantsStreamEvents ?? false,
    ...(options.hooks && {
      hooks:
        'fire' in options.hooks
          ? options.hooks
          : {
              setups: options.hooks,
              runCommand: async () => ({ kind: 'failed', why: 'there is no shell' }),
            },
    }),
  };
  const begun = await beginSession(sessionOptions);
  const lead = await openSession(sessionOptions, begun, {
    toolbox: tools,
    toolCount: 4,
    model: options.model,
    windowOf: (name) => windowThresholds(name, options.contextWindow),
    governor: options.governor ?? governor(clock, 4),
    workspace: memoryWorkspace(),
    shell: options.shell ?? { run: none },
    search: { list: none, find: none, grep: none },
    web: { get: none },
    openArtifact: (name) => ({ path: `/${name}`, write: () => {}, close: async () => {} }),
    fallbackModel: options.fallbackModel,
    random: () => 0,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    staysIdle: options.staysIdle ?? false,
    permissions: permissionManager({
      policy: {
        rules: options.rules ?? [],
        roots: [CWD],
        home: '/home',
        skeinHome: '/home/.skein',
        realPath: (path) => path,
      },
      mode: modeSwitch(options.mode ?? 'bypassPermissions'),
      answersByHook: options.answersByHook ?? false,
      surfaces: [options.surface ?? []]
        .flat()
        .map((surface, at) => signingSurface(`surface-${at + 1}`, surface, clock)),
      permissionTimeoutMs: 600_000,
      keepRule: (text) => keptRules.push(text),
    }),
    checkpoints: checkpoints?.((body) => void begun.journal.record(body)),
  });
  const items: FeedItem[] = [];
  lead.listen((item) => items.push(item));
  return {
    lead,
    clock,
    store,
    callLog,
    items,
    keptRules,
    async say(text) {
      lead.submit(`[${rawText(text)}]`);
      lead.start();
      await settled();
    },
    records: async () => (await store.readJournal(lead.id, lead.meta.lead)).records,
    results: () => {
      const shown = items.findLast((item) => item.type === 'tool.results');
      const blocks = JSON.parse(shown?.type === 'tool.results' ? shown.content : '[]') as Result[];
      return Object.fromEntries(
        blocks.map(({ tool_use_id, content, is_error }) => [
          tool_use_id,
          `${is_error === true ? 'error: ' : ''}${content}`,
        ]),
      );
    },
  };
};

interface Result {
  readonly tool_use_id: string;
  readonly content: string;
  readonly is_error?: boolean;
}

const none = () => Promise.reject(new Error('none'));
/** Exists on every machine, because a session is resumed only in an existing directory. */
const CWD = '/tmp';

/**
 * Scripted tools: Look reads, Change writes, Note writes concurrently, Stamp writes and cannot be
 * interrupted, Wait waits.
 */
const fakeTools = (effects: ToolEffects, log: string[]): Tool[] => {
  const tool = (
    name: string,
    kind: Partial<Pick<Tool, 'interruptBehavior' | 'onlyWaits'>> & Class,
  ) =>
    defineTool({
      name,
      kind: 'builtin',
      prompt: name,
      interruptBehavior: 'cancel',
      ...kind,
      input: z.object({ name: z.string(), safe: z.boolean().optional() }),
      describe: (input) => `${name} ${input.name}`,
      isReadOnly: () => kind.reads,
      isConcurrencySafe: (input) => input.safe ?? kind.safe,
      subject: (input) => ({
        action: kind.reads ? 'read' : 'write',
        target: `${CWD}/${input.name}`,
      }),
      async call(input, context) {
        log.push(`start ${input.name}`);
        try {
          return (await effects[input.name]?.(context)) ?? { content: `did ${input.name}` };
        } finally {
          log.push(`end ${input.name}`);
        }
      },
    }) as Tool;
  return [
    tool('Look', { reads: true, safe: true }),
    tool('Change', { reads: false, safe: false }),
    tool('Note', { reads: false, safe: true }),
    tool('Stamp', { reads: false, safe: false, interruptBehavior: 'block' }),
    tool('Wait', { reads: false, safe: true, onlyWaits: true }),
  ];
};

interface Class {
  readonly reads: boolean;
  readonly safe: boolean;
}
