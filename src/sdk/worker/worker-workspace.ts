/** Finds the lead's workspace on a worker's machine: the shared folder, or a clone. */
import { existsSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { settingsDigest } from '../../config/trust/trust-state.js';
import { worktreeHome } from '../../config/workspace/state-layout.js';
import { childEnvironment } from '../../host/process/ownership/child-environment.js';
import { cloneWorktrees } from '../../host/worktrees/clone-worktrees.js';
import { isPathInside } from '../../lib/paths/is-path-inside.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { Clones } from '../../protocol/tools/worktrees.js';
import { commandSettings } from '../assembly/options/command-settings.js';
import type { HostEnvironment } from '../assembly/options/host-environment.js';
import type { LeadConfig } from '../lead-config/lead-config.js';

interface WorkerWorkspace {
  readonly cwd: string;
  /** Clones for agents. Undefined if the lead has no workspace remote. */
  readonly clones: Clones | undefined;
  /** True if the lead's person trusts the settings of the workspace. */
  readonly isTrusted: boolean;
}

/** Rejects with UsageError or WorktreeRefusal if the workspace is not available here. */
export const workerWorkspace = async (
  config: LeadConfig,
  environment: HostEnvironment,
  own: Pick<LoadedSettings, 'skein' | 'skeinHome'>,
  owner: string,
): Promise<WorkerWorkspace> => {
  const host = hostname();
  const { workspace, session, flags } = config;
  const { sharedPaths } = own.skein;
  const shared = sharedWorkspace(config, { host, sharedPaths });
  const home = worktreeHome(own.skeinHome, childEnvironment(environment.env, owner, tmpdir()));
  const isAway = shared === undefined;
  const clones = workspace && cloneWorktrees(home, { ...workspace, host, isAway });
  const cwd = shared ?? (await clones?.workspace(session)) ?? config.cwd;
  const isTrusted =
    flags.trust === true || config.trusted === settingsDigestAt(cwd, config, environment);
  return { cwd, clones, isTrusted };
};

/** Returns the digest of the workspace's settings here. Trust depends on content, not on the machine. */
const settingsDigestAt = (
  cwd: string,
  { flags }: LeadConfig,
  environment: HostEnvironment,
): string => {
  const { workspace, projectFiles } = commandSettings(environment, flags, cwd);
  return settingsDigest(workspace, projectFiles);
};

interface ThisMachine {
  readonly host: string;
  /** Folders that are the same on all machines, as absolute paths. */
  readonly sharedPaths: readonly string[];
}

/**
 * Returns the workspace if this machine shares the lead's folder, or undefined if it must be cloned. Throws
 * UsageError if neither is possible, because no agent starts without its workspace.
 */
const sharedWorkspace = (
  { session, host, cwd, workspace }: Pick<LeadConfig, 'session' | 'host' | 'cwd' | 'workspace'>,
  here: ThisMachine,
): string | undefined => {
  const isShared = here.sharedPaths.some((path) => isPathInside({ path: cwd, folder: path }));
  if (host !== here.host && !isShared) {
    if (workspace !== undefined) return undefined;
    throw new UsageError(
      `Session ${session} works in ${cwd} on ${host}, which this machine (${here.host}) does not share: name a folder that both have in skein.sharedPaths (SKEIN_SHARED_PATHS) here, or a git remote in skein.workspaceRemote there.`,
    );
  }
  if (!existsSync(cwd)) {
    throw new UsageError(
      `Session ${session} works in ${cwd}, which does not exist on this machine: mount it here.`,
    );
  }
  return cwd;
};
