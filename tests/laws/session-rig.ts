/** A session in this process with the real machine, crew, policy and journal. */

import type { Checkpointer } from '../../src/actors/checkpoints/checkpointer.js';
import { modeSwitch } from '../../src/actors/permissions/mode-switch.js';
import { permissionManager } from '../../src/actors/permissions/permission-manager.js';
import { signingSurface } from '../../src/actors/permissions/signing-surface.js';
import { beginSession } from '../../src/actors/session/begin-session.js';
import type { LeadSession, SessionOptions } from '../../src/actors/session/lead-session.js';
import { openSession } from '../../src/actors/session/open-session.js';
import { windowThresholds } from '../../src/context/window/window-thresholds.js';
import { governor } from '../../src/model/governor.js';
import { DEFAULT_LIMITS } from '../../src/protocol/agent/agent-limits.js';
import { type Clock, systemClock } from '../../src/protocol/clock.js';
import type { ModelPort, StreamEvent, TurnSink } from '../../src/protocol/model/model-port.js';
import { NO_USAGE } from '../../src/protocol/model/usage.js';
import type { PermissionMode } from '../../src/protocol/permission/permission-mode.js';
import type { Surface } from '../../src/protocol/permission/permission-question.js';
import type { PermissionRule } from '../../src/protocol/permission/permission-rule.js';
import type { KnownSurface } from '../../src/protocol/permission/signed-answer.js';
import type { JournalBody } from '../../src/protocol/session/journal-record.js';
import type { SessionStore } from '../../src/protocol/session/session-store.js';
import type { FileSearch } from '../../src/protocol/tools/file-search.js';
import type { Shell } from '../../src/protocol/tools/shell.js';
import type { Tool } from '../../src/protocol/tools/tool.js';
import type { Workspace } from '../../src/protocol/tools/workspace.js';
import { MemorySessionStore } from '../../src/store/memory/memory-session-store.js';
import { toolbox } from '../../src/tools/toolbox.js';
import { plainContext } from '../fakes/agents/plain-context.js';
import { swarmSetup } from '../fakes/agents/swarm-setup.js';
import { countedIds } from '../fakes/counted-ids.js';

export interface RigOptions {
  readonly model: ModelPort;
  readonly tools: readonly Tool[];
  readonly clock?: Clock;
  readonly shell?: Shell;
  readonly store?: SessionStore;
  readonly rules?: readonly PermissionRule[];
  readonly mode?: PermissionMode;
  readonly surface?: Surface;
  /** Replaces the surface that the rig makes of `surface`. */
  readonly surfaces?: readonly KnownSurface[];
  readonly choice?: SessionOptions['choice'];
  readonly search?: FileSearch;
  readonly workspace?: Workspace;
  /** Workspace folder. Default: this repository. */
  readonly cwd?: string;
  readonly staysIdle?: boolean;
  /** Default: no checkpoints. */
  readonly checkpoints?: (record: (body: JournalBody) => void) => Checkpointer;
  /** Replaces options that the rig would choose. */
  readonly options?: Partial<SessionOptions>;
}

const nowhere = () => {
  throw new Error('this law needs no disk and no shell');
};

export const openRig = async (rig: RigOptions): Promise<LeadSession> => {
  const { model, tools, clock = systemClock, store = new MemorySessionStore(clock) } = rig;
  const box = toolbox(tools);
  const cwd = rig.cwd ?? process.cwd();
  const options: SessionOptions = {
    store,
    clock,
    ids: countedIds(),
    owner: 'law',
    choice: rig.choice ?? { kind: 'new' },
    modelName: 'claude-sonnet-5-5',
    defaultModel: 'claude-sonnet-5-5',
    fresh: { cwd, version: 'law', entrypoint: 'test', title: 'law' },
    contextProvider: plainContext({
      head: async () => ({
        tools: JSON.stringify(box.wireTools()),
        system: '[]',
        sections: [],
        ttl: '5m',
      }),
    }),
    requestSettings: () => ({ maxTokens: 1_000 }),
    budget: { usd: null, tokens: null },
    wantsStreamEvents: false,
    swarm: swarmSetup(),
    ...rig.options,
  };
  const begun = await beginSession(options);
  return openSession(options, begun, {
    model,
    toolbox: box,
    toolCount: tools.length,
    random: () => 0.5,
    staysIdle: rig.staysIdle ?? false,
    limits: DEFAULT_LIMITS,
    fallbackModel: undefined,
    governor: governor(clock, 8),
    workspace: rig.workspace ?? {
      resolve: (path: string) => path,
      read: nowhere,
      stat: nowhere,
      write: nowhere,
    },
    shell: rig.shell ?? { run: nowhere },
    web: { get: nowhere },
    windowOf: (name) => windowThresholds(name),
    search: rig.search ?? { list: nowhere, find: nowhere, grep: nowhere },
    openArtifact: (name) => ({ path: `/${name}`, write: () => {}, close: async () => {} }),
    permissions: permissionManager({
      policy: {
        rules: rig.rules ?? [],
        roots: [cwd],
        home: '/home/law',
        skeinHome: '/home/law/.skein',
        realPath: (path) => path,
      },
      mode: modeSwitch(rig.mode ?? 'default'),
      surfaces: rig.surfaces ?? (rig.surface ? [signingSurface('person', rig.surface, clock)] : []),
      permissionTimeoutMs: 60_000,
      keepRule: () => undefined,
    }),
    checkpoints: rig.checkpoints?.((body) => void begun.journal.record(body)),
  });
};

export interface ScriptedTurn {
  readonly text?: string;
  readonly calls?: readonly { id: string; tool: string; input: unknown }[];
}

/** A model that answers with its turns in order. A request without a turn is an error. */
export const speaks = (turns: readonly ScriptedTurn[]): ModelPort => {
  let next = 0;
  return {
    async stream({ model }, sink) {
      const turn = turns[next];
      next += 1;
      if (turn === undefined) throw new Error('the script has no turn left');
      sink.started();
      say(turn, sink);
      const stopReason = turn.calls === undefined ? 'end_turn' : 'tool_use';
      const usage = { ...NO_USAGE, input: 100, output: 10 };
      return { messageId: `m${next}`, requestId: null, stopReason, usage, model };
    },
  };
};

const say = ({ text, calls = [] }: ScriptedTurn, sink: TurnSink): void => {
  if (text !== undefined) {
    sink.event?.({ type: 'text', text } as StreamEvent);
    sink.blockEnded({ type: 'text', raw: JSON.stringify({ type: 'text', text }) });
  }
  for (const call of calls) {
    const { id, tool: name, input } = call;
    const raw = JSON.stringify({ type: 'tool_use', id, name, input });
    sink.blockEnded({ type: 'tool_use', raw, call });
  }
};

export const finish = async (session: LeadSession, prompt: string): Promise<void> => {
  const items = session.run(JSON.stringify([{ type: 'text', text: prompt }]));
  for await (const _ of items);
};
