/** The hooks of a run: those of the settings and of the agent that it works as, which are programs, and the host's own functions. */
import type { HookEquipment } from '../../actors/hooks/session-hooks.js';
import { readHooks } from '../../config/settings/hook-settings.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { commandHooks } from '../../host/process/command-hook.js';
import { UsageError } from '../../protocol/errors.js';
import { parseMatcher } from '../../protocol/permission/hook-matcher.js';
import {
  DEFAULT_HOOK_SECONDS,
  type HookFunction,
  type HookSetup,
  MOST_HOOK_SECONDS,
} from '../../protocol/permission/hook-setup.js';
import type { HookEvent } from '../../protocol/permission/hooks.js';
import type { LoadOccasion, Memory, MemoryPorts } from '../../protocol/tools/memory.js';
import type { Shell } from '../../protocol/tools/tool.js';

/** In the words of the settings, with functions where those have commands. */
export type HookFunctions = {
  readonly [event in HookEvent]?: readonly HookFunctionGroup[];
};

export interface HookFunctionGroup {
  readonly matcher?: string;
  readonly hooks: readonly HookFunction[];
  /** Seconds; 60 if left out. */
  readonly timeout?: number;
}

export interface RunHooks {
  /** Undefined when there are none: nothing is loaded and nothing runs. */
  readonly equipment: HookEquipment | undefined;
  readonly warnings: readonly string[];
  /** For the walk over instruction files, which begins before there is a session. */
  readonly loaded: MemoryPorts['loaded'];
}

/** Throws a UsageError for functions that cannot be used. */
export const runHooks = (
  settings: LoadedSettings,
  functions: HookFunctions | undefined,
  ofAgent: readonly HookSetup[],
  shell: Shell,
): RunHooks => {
  if (settings.hooks.length + ofAgent.length === 0 && functions === undefined) return NONE;
  const { setups, warnings } = readHooks(settings);
  const all = [...setups, ...ofAgent, ...functionSetups(functions ?? {})];
  if (all.length === 0) return { ...NONE, warnings };
  const news = new InstructionNews();
  const equipment = {
    setups: all,
    runCommand: commandHooks(shell, settings.workspace.root),
    onInstructions: (hear: MemoryPorts['loaded']) => news.deliverTo(hear),
  };
  return { equipment, warnings, loaded: (memory, because) => news.take(memory, because) };
};

const NONE: RunHooks = { equipment: undefined, warnings: [], loaded: () => {} };

/** What nobody hears yet is kept; only the first walk comes before there is a session. */
class InstructionNews {
  private early: Memory | undefined;
  private hear: MemoryPorts['loaded'] | undefined;

  take(memory: Memory, because: LoadOccasion): void {
    if (this.hear === undefined) this.early = memory;
    else this.hear(memory, because);
  }

  deliverTo(hear: MemoryPorts['loaded']): void {
    this.hear = hear;
    if (this.early !== undefined) hear(this.early, 'walk');
    this.early = undefined;
  }
}

const functionSetups = (functions: HookFunctions): readonly HookSetup[] =>
  Object.entries(functions).flatMap(([event, groups]) =>
    groups.flatMap(({ matcher = '', hooks, timeout = DEFAULT_HOOK_SECONDS }, index) => {
      const parsed = parseMatcher(matcher);
      if ('problem' in parsed) {
        const where = `"hooks.${event}.${index}.matcher"`;
        throw new UsageError(`The options cannot be used: ${where} ${parsed.problem}.`);
      }
      return hooks.map(
        (run, place): HookSetup => ({
          event: event as HookEvent,
          matches: parsed.matches,
          work: { kind: 'function', name: run.name || `function ${place + 1} of ${event}`, run },
          timeoutMs: Math.min(timeout, MOST_HOOK_SECONDS) * 1_000,
          isAsync: false,
          once: false,
        }),
      );
    }),
  );
