/** Assembles the dependencies of the lead's agent once its session is open. */

import type { HookEquipment } from '../../actors/hooks/session-hooks.js';
import type { ModeSwitch } from '../../actors/permissions/mode-switch.js';
import { permissionManager } from '../../actors/permissions/permission-manager.js';
import type { SessionOptions } from '../../actors/session/open-session.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { realPath } from '../../config/workspace/real-path.js';
import { windowThresholds } from '../../context/window/window-thresholds.js';
import { diskWorkspace } from '../../host/files/disk-workspace.js';
import { DEFAULT_LIMITS } from '../../protocol/agent/agent-limits.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import type { KnownSurface } from '../../protocol/permission/signed-answer.js';
import type { Toolbox } from '../../tools/toolbox.js';
import { keepRule } from './keep-rule.js';
import type { HostEnvironment } from './options/host-environment.js';
import type { OpenedStore } from './options/open-store.js';
import { runArtifacts } from './run-artifacts.js';
import { shownTools } from './run-tools.js';
import { workspaceRoots } from './session-checkpoints.js';

type AgentDeps = ReturnType<SessionOptions['equip']>;

interface AgentDepsOptions {
  readonly machine: HostEnvironment;
  readonly store: OpenedStore;
  readonly settings: LoadedSettings;
  readonly tools: Toolbox;
  /** False if the session is resumed. */
  readonly isNew: boolean;
  /** Services that do not depend on the opened session. */
  readonly services: Pick<
    AgentDeps,
    'shell' | 'search' | 'model' | 'web' | 'governor' | 'fallbackModel'
  >;
  /** Maximum turns of a run, or null for no limit. */
  readonly maxTurns: number | null;
  readonly staysIdle: boolean;
  readonly mode: ModeSwitch;
  /** Returns the surfaces that can answer questions of the session. */
  readonly surfacesOf: (session: string) => readonly KnownSurface[];
  readonly hooks: HookEquipment | undefined;
}

/** Returns the function that makes the dependencies from the opened session. */
export const assembleAgentDeps =
  (options: AgentDepsOptions): SessionOptions['equip'] =>
  (opened) => {
    const { machine, store, settings, tools, hooks } = options;
    const { skein, skeinHome } = settings;
    const { meta } = opened;
    const disk = diskWorkspace(machine.home);
    const { policyFolders, ...artifacts } = runArtifacts(store, opened, disk, machine.notify);
    return {
      ...options.services,
      ...artifacts,
      toolbox: options.isNew ? tools : onlyShown(tools, opened.tools),
      toolCount: tools.visible.length,
      windowOf: (name) => windowThresholds(name, skein.contextWindow),
      random: Math.random,
      limits: {
        ...DEFAULT_LIMITS,
        maxTurns: options.maxTurns,
        maxRetries: skein.maxRetries,
      },
      staysIdle: options.staysIdle,
      permissions: permissionManager({
        policy: {
          rules: settings.rules,
          roots: workspaceRoots(meta.cwd, settings),
          home: machine.home,
          skeinHome,
          ...policyFolders,
          realPath,
          ignoreCase: machine.platform === 'darwin',
        },
        mode: options.mode,
        surfaces: options.surfacesOf(meta.id),
        answersByHook: hooks?.setups.some(isAnswering) ?? false,
        permissionTimeoutMs: skein.permissionTimeoutMs,
        keepRule: (text) => keepRule(text, settings, machine),
      }),
    };
  };

const isAnswering = ({ event }: { readonly event: string }) => event === 'PermissionRequest';

/** Limits a resumed session to the tools in its prompt, because the prompt never changes. */
const onlyShown = (tools: Toolbox, head: RawJson): Toolbox => {
  const shown = new Set(shownTools(head));
  return tools.limitedTo(({ name }) => shown.has(name));
};
