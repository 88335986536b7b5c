/** Hooks that are functions, as a host configures them. */
import type { HookFunction, HookSetup } from '../../../src/protocol/permission/hook-setup.js';
import type { HookEvent } from '../../../src/protocol/permission/hooks.js';

export const hookFunction = (
  event: HookEvent,
  run: HookFunction,
  more: Partial<HookSetup> & { readonly name?: string } = {},
): HookSetup => {
  const { name = run.name || 'a hook', ...rest } = more;
  return {
    event,
    matches: () => true,
    timeoutMs: 60_000,
    isAsync: false,
    once: false,
    action: { kind: 'function', name, run },
    ...rest,
  };
};
