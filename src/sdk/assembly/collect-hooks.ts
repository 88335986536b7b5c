/** Collects the hooks of a run: commands of settings and of the lead's agent, host functions. */
import type { HookEquipment } from '../../actors/hooks/session-hooks.js';
import { readHookSettings } from '../../config/settings/hook-settings.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { commandHookRunner } from '../../host/process/command-hook-runner.js';
import { parseHookMatcher } from '../../protocol/permission/hook-matcher.js';
import {
  DEFAULT_HOOK_SECONDS,
  type HookFunction,
  type HookSetup,
  MAX_HOOK_SECONDS,
} from '../../protocol/permission/hook-setup.js';
import type { HookEvent } from '../../protocol/permission/hooks.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { LoadOccasion, Memory, MemoryPorts } from '../../protocol/tools/memory.js';
import type { Shell } from '../../protocol/tools/shell.js';

/** Hook functions by event. Same structure as in settings, with functions instead of commands. */
export type HookFunctions = {
  readonly [event in HookEvent]?: readonly HookFunctionGroup[];
};

export interface HookFunctionGroup {
  readonly matcher?: string;
  readonly hooks: readonly HookFunction[];
  /** Time limit of each function in seconds. Default: 60. */
  readonly timeout?: number;
}

interface CollectedHooks {
  /** Undefined if there are no hooks. */
  readonly equipment: HookEquipment | undefined;
  readonly warnings: readonly string[];
  /** Listener for loaded instruction files. They may be loaded before the session exists. */
  readonly loaded: MemoryPorts['onLoad'];
}

/** Throws UsageError if a function's matcher is invalid. */
export const collectHooks = (
  settings: LoadedSettings,
  functions: HookFunctions | undefined,
  ofAgent: readonly HookSetup[],
  shell: Shell,
): CollectedHooks => {
  if (settings.hooks.length + ofAgent.length === 0 && functions === undefined) return NONE;
  const { setups, warnings } = readHookSettings(settings);
  const all = [...setups, ...ofAgent, ...functionSetups(functions ?? {})];
  if (all.length === 0) return { ...NONE, warnings };
  const instructions = new InstructionBuffer();
  const equipment = {
    setups: all,
    runCommand: commandHookRunner(shell, settings.workspace.root),
    onInstructions: (listener: MemoryPorts['onLoad']) => instructions.deliverTo(listener),
  };
  return { equipment, warnings, loaded: (memory, because) => instructions.take(memory, because) };
};

const NONE: CollectedHooks = { equipment: undefined, warnings: [], loaded: () => {} };

/** Buffers the first load of instruction files until the session listens for it. */
class InstructionBuffer {
  private early: Memory | undefined;
  private listener: MemoryPorts['onLoad'] | undefined;

  take(memory: Memory, because: LoadOccasion): void {
    if (this.listener === undefined) this.early = memory;
    else this.listener(memory, because);
  }

  deliverTo(listener: MemoryPorts['onLoad']): void {
    this.listener = listener;
    if (this.early !== undefined) listener(this.early, 'walk');
    this.early = undefined;
  }
}

const functionSetups = (functions: HookFunctions): readonly HookSetup[] =>
  Object.entries(functions).flatMap(([event, groups]) =>
    groups.flatMap(({ matcher = '', hooks, timeout = DEFAULT_HOOK_SECONDS }, index) => {
      const parsed = parseHookMatcher(matcher);
      if ('problem' in parsed) {
        const where = `"hooks.${event}.${index}.matcher"`;
        throw new UsageError(`The options cannot be used: ${where} ${parsed.problem}.`);
      }
      return hooks.map(
        (run, position): HookSetup => ({
          event: event as HookEvent,
          matches: parsed.matches,
          action: {
            kind: 'function',
            name: run.name || `function ${position + 1} of ${event}`,
            run,
          },
          timeoutMs: Math.min(timeout, MAX_HOOK_SECONDS) * 1_000,
          isAsync: false,
          once: false,
        }),
      );
    }),
  );
