/** The workspace of a lead on the machine of a worker, and what its agents work in there. */
import { hostname, tmpdir } from 'node:os';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { digestOf } from '../../config/trust/trust.js';
import { childEnvironment } from '../../host/process/ownership/child-environment.js';
import { cloneWorktrees } from '../../host/worktrees/clone-worktrees.js';
import type { Clones } from '../../protocol/tools/worktree.js';
import { settingsFor } from '../assembly/options/command-settings.js';
import type { HostEnvironment } from '../assembly/options/host-environment.js';
import { worktreeHome } from '../assembly/run-tools.js';
import type { LeadConfig } from '../lead-config/signed-lead-config.js';
import { sharedWorkspace } from './worker-place.js';

export interface WorkerWorkspace {
  readonly workplace: string;
  /** Undefined where the lead has named no remote. */
  readonly clones: Clones | undefined;
  /** The lead's person trusts what the workspace says of itself. */
  readonly isTrusted: boolean;
}

/** Rejects with a UsageError or a WorktreeRefusal, which says what is missing. */
export const workerWorkspace = async (
  terms: LeadConfig,
  machine: HostEnvironment,
  own: Pick<LoadedSettings, 'skein' | 'skeinHome'>,
  owner: string,
): Promise<WorkerWorkspace> => {
  const host = hostname();
  const { workspace, session, flags } = terms;
  const { sharedPaths } = own.skein;
  const there = sharedWorkspace(terms, { host, sharedPaths });
  const home = worktreeHome(own.skeinHome, childEnvironment(machine.env, owner, tmpdir()));
  const isAway = there === undefined;
  const clones = workspace && cloneWorktrees(home, { ...workspace, host, isAway });
  const workplace = there ?? (await clones?.workspace(session)) ?? terms.cwd;
  const isTrusted = flags.trust === true || terms.trusted === seenAt(workplace, terms, machine);
  return { workplace, clones, isTrusted };
};

/** The same words are trusted wherever they are. */
const seenAt = (workplace: string, { flags }: LeadConfig, machine: HostEnvironment): string => {
  const { workspace, projectFiles } = settingsFor(machine, flags, workplace);
  return digestOf(workspace, projectFiles);
};
