/** Makes the services of a lead once its session is open. */
import type { ModeSwitch } from '../../actors/permissions/mode-switch.js';
import { permissionManager } from '../../actors/permissions/permission-manager.js';
import type { OpenedLead } from '../../actors/session/lead-runtime.js';
import type { LeadServices } from '../../actors/session/lead-session.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { resolveModel } from '../../config/settings/model-aliases.js';
import { realPathWithState } from '../../config/workspace/state-paths.js';
import { windowThresholds } from '../../context/window/window-thresholds.js';
import { diskWorkspace } from '../../host/files/disk-workspace.js';
import { DEFAULT_LIMITS } from '../../protocol/agent/agent-limits.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import type { PermissionRequest } from '../../protocol/permission/ruling.js';
import type { KnownSurface } from '../../protocol/permission/signed-answer.js';
import type { Toolbox } from '../../tools/toolbox.js';
import { keepRule } from './keep-rule.js';
import { openArtifacts } from './open-artifacts.js';
import type { HostEnvironment } from './options/host-environment.js';
import type { OpenedStore } from './options/open-store.js';
import { shownTools } from './prompt/context-provider.js';
import { sessionCheckpoints, workspaceRoots } from './session-checkpoints.js';
import { soonOnce } from './soon-once.js';

export interface LeadServicesOptions {
  readonly host: HostEnvironment;
  readonly store: OpenedStore;
  readonly settings: LoadedSettings;
  readonly tools: Toolbox;
  /** False if the session is resumed. */
  readonly isNew: boolean;
  /** Services that do not depend on the opened session. */
  readonly shared: Pick<
    LeadServices,
    'shell' | 'search' | 'model' | 'web' | 'governor' | 'fallbackModel'
  >;
  /** Maximum turns of a run, or null for no limit. */
  readonly maxTurns: number | null;
  readonly staysIdle: boolean;
  readonly mode: ModeSwitch;
  /** Returns the surfaces that can answer questions of the session. */
  readonly surfacesOf: (session: string) => readonly KnownSurface[];
  /** True if a hook can answer questions. */
  readonly answersByHook: boolean;
  /** False if no file versions are kept. */
  readonly keepsCheckpoints: boolean;
  /** Environment of child processes, for git. */
  readonly environment: Readonly<Record<string, string>>;
}

export const leadServices = async (
  options: LeadServicesOptions,
  { session, head, journal, isRemote = false }: OpenedLead,
): Promise<LeadServices> => {
  const { host, store, settings, tools, environment } = options;
  const { skein, skeinHome } = settings;
  const { meta } = session;
  const disk = diskWorkspace(host.home);
  const { policyFolders, ...artifacts } = await openArtifacts(store, session, disk, host.notify);
  const roots = workspaceRoots(meta.cwd, settings);
  const { notify, shardThread } = host;
  const checkpoints = options.keepsCheckpoints
    ? sessionCheckpoints(
        { skeinHome, roots, environment, notify, shardThread },
        // Agents of a remote lead journal their file changes themselves.
        (body) => isRemote || journal.record(body),
      )
    : undefined;
  const permissions = permissionManager({
    policy: {
      rules: settings.rules,
      roots,
      home: host.home,
      skeinHome,
      ...policyFolders,
      realPath: realPathWithState(skeinHome),
      modelNamed: (name) => resolveModel(name, skein.modelAliases),
      ignoreCase: host.platform === 'darwin',
    },
    mode: options.mode,
    surfaces: options.surfacesOf(meta.id),
    answersByHook: options.answersByHook,
    permissionTimeoutMs: skein.permissionTimeoutMs,
    keepRule: (text) => keepRule(text, settings, host),
  });
  return {
    ...options.shared,
    ...artifacts,
    toolbox: options.isNew ? tools : onlyShown(tools, head.tools),
    toolCount: tools.visible.length,
    windowOf: (name) => windowThresholds(name, skein.contextWindow),
    random: Math.random,
    limits: {
      ...DEFAULT_LIMITS,
      maxTurns: options.maxTurns,
      maxRetries: skein.maxRetries,
      maxCallsPerMessage: skein.maxCallsPerMessage,
      refusedTurnsBeforeWarning: skein.refusedTurnsBeforeWarning,
      maxRefusedTurns: skein.maxRefusedTurns,
      maxRounds: skein.maxRepeatedCalls,
    },
    staysIdle: options.staysIdle,
    permissions,
    checkpoints,
    // A session without commands needs no scan of its files.
    onRequestSent: tools.visible.some(({ name }) => name === 'Bash')
      ? soonOnce(() => {
          permissions.rule(commandIn(meta.cwd), {});
          checkpoints?.prepare();
        })
      : undefined,
  };
};

/** Some command. The first ruling takes some milliseconds, in which the agent's next step would wait. */
const commandIn = (cwd: string): PermissionRequest => {
  const subject = { action: 'execute', target: 'true >/dev/null' } as const;
  return { tool: 'Bash', subject, cwd, readOnly: false, inputs: [] };
};

/** Limits a resumed session to the tools in its prompt, because the prompt never changes. */
const onlyShown = (tools: Toolbox, head: RawJson): Toolbox => {
  const shown = new Set(shownTools(head));
  return tools.limitedTo(({ name }) => shown.has(name));
};
