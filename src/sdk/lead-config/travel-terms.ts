/** What workers on other machines must know of the workspace of a lead, beside how it was started. */
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { digestOf } from '../../config/trust/trust.js';
import type { OpenedStore } from '../assembly/options/open-store.js';
import { worktreeHome } from '../assembly/run-tools.js';
import type { LeadConfig } from './signed-lead-config.js';
import { workspaceRemote } from './workspace-remote.js';

export interface WorkspaceConfig {
  readonly terms: Pick<LeadConfig, 'workspace' | 'trusted'>;
  readonly notices: readonly string[];
}

export const workspaceConfig = async (
  { sessions }: Pick<OpenedStore, 'sessions'>,
  settings: LoadedSettings,
  cwd: string,
  environment: Readonly<Record<string, string>>,
): Promise<WorkspaceConfig> => {
  // Nobody else works for a session of this machine.
  if (sessions.jobs.own !== undefined) return { terms: {}, notices: [] };
  const { skein, skeinHome, workspace, projectFiles, trust } = settings;
  const trusted = trust === 'trusted' ? { trusted: digestOf(workspace, projectFiles) } : {};
  if (skein.workspaceRemote === undefined) return { terms: trusted, notices: [] };
  const home = worktreeHome(skeinHome, environment);
  const { terms, notices } = await workspaceRemote(skein.workspaceRemote, cwd, home);
  return { terms: { ...trusted, ...(terms !== undefined && { workspace: terms }) }, notices };
};
