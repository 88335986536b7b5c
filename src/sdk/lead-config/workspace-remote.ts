/** Finds the git URL and commit from which workers on other machines clone the workspace. */
import { relative, resolve, sep } from 'node:path';
import { z } from 'zod';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { settingsDigest } from '../../config/trust/trust-state.js';
import { worktreeHome } from '../../config/workspace/state-layout.js';
import { branchName, branchReader, DETACHED_HEAD } from '../../host/git/find-git-directory.js';
import { GitClone } from '../../host/git/git-clone.js';
import { openRepository, realPathOf, type WorktreeHome } from '../../host/git/git-repository.js';
import type { GitTree } from '../../host/git/git-tree.js';
import { WorktreeRefusal } from '../../protocol/tools/worktrees.js';
import type { OpenedStore } from '../assembly/options/open-store.js';
import type { LeadConfig } from './lead-config.js';

export const workspaceSource = z.object({
  /** URL for git. Must not look like an option of git. */
  url: z.string().regex(/^(?!-)[^\p{Cc}]+$/u),
  commit: z.string().regex(/^[0-9a-f]{40,64}$/),
  /** Branch that the lead has checked out. */
  branch: z
    .string()
    .refine((name) => branchName(name) === name)
    .exactOptional(),
  /** Lead's directory relative to its repository. Empty at the top. */
  prefix: z.string(),
  /** Top directory of the lead's repository. */
  top: z.string(),
});
type WorkspaceSource = z.infer<typeof workspaceSource>;

interface WorkspaceRemote {
  readonly source?: WorkspaceSource;
  /** One notice about commits and changes that other machines do not have. */
  readonly notices: readonly string[];
}

/** Branches that Skein creates for agents. */
const AGENT_BRANCH = /^(agent|left)\//;
/** Maximum remote branches that are searched for the commit. */
const MAX_BRANCHES = 100;

/** Finds the source of the workspace. A repository that cannot be cloned is a notice, not an error. */
export const workspaceRemote = async (
  remote: string,
  cwd: string,
  home: WorktreeHome,
): Promise<WorkspaceRemote> => {
  try {
    const { tree } = await openRepository(cwd, home.environment);
    const commit = await tree.find('HEAD^{commit}');
    if (commit === undefined) throw new WorktreeRefusal(`${tree.top} has no commit yet.`);
    const url = await urlOf(tree, remote);
    const prefix = relative(tree.top, realPathOf(cwd)).split(sep).join('/');
    const missing = [
      ...(await unpushed(tree, commit, url, home)),
      ...(await uncommitted(tree, commit)),
    ];
    const notices = missing.length === 0 ? [] : [missing.join(' ')];
    const branch = branchReader(cwd)();
    const isNamed = branch !== undefined && branch !== DETACHED_HEAD && !AGENT_BRANCH.test(branch);
    return { source: { url, commit, prefix, top: tree.top, ...(isNamed && { branch }) }, notices };
  } catch (error) {
    if (!(error instanceof WorktreeRefusal)) throw error;
    const why = `No worker on another machine can clone this workspace (skein.workspaceRemote): ${error.message}`;
    return { notices: [why] };
  }
};

/** Part of the lead config that describes the workspace to workers. */
interface WorkspaceConfig {
  readonly config: Pick<LeadConfig, 'workspace' | 'trusted'>;
  readonly notices: readonly string[];
}

export const workspaceConfig = async (
  { sessions }: Pick<OpenedStore, 'sessions'>,
  settings: LoadedSettings,
  cwd: string,
  environment: Readonly<Record<string, string>>,
): Promise<WorkspaceConfig> => {
  // Without Redis no other process runs agents of the session.
  if (sessions.jobs.local !== undefined) return { config: {}, notices: [] };
  const { skein, skeinHome, workspace, projectFiles, trust } = settings;
  const trusted = trust === 'trusted' ? { trusted: settingsDigest(workspace, projectFiles) } : {};
  if (skein.workspaceRemote === undefined) return { config: trusted, notices: [] };
  const home = worktreeHome(skeinHome, environment);
  const { source, notices } = await workspaceRemote(skein.workspaceRemote, cwd, home);
  return { config: { ...trusted, ...(source !== undefined && { workspace: source }) }, notices };
};

/** Returns the URL of the remote with that name, or `remote` itself. Rejects with WorktreeRefusal. */
const urlOf = async (tree: GitTree, remote: string): Promise<string> => {
  const answer = await tree.tryRun(['config', '--get', `remote.${remote}.url`]);
  const configured = answer?.code === 0 ? answer.text.trim() : '';
  const url = configured === '' ? remote : configured;
  if (configured === '' && /^[\w.-]+$/.test(remote)) {
    throw new WorktreeRefusal(`${tree.top} has no remote called "${remote}".`);
  }
  // A relative path is resolved, because it would mean another folder on another machine.
  return /^\.{1,2}\//.test(url) ? resolve(tree.top, url) : withoutSecrets(url);
};

/** Removes credentials, because every process with access to the store can read the config. */
const withoutSecrets = (url: string): string =>
  url.replace(/^(https?:\/\/)[^/@]*@/, '$1').replace(/^([a-z+]+:\/\/[^/@:]*):[^/@]*@/, '$1@');

const unpushed = async (
  tree: GitTree,
  commit: string,
  url: string,
  home: WorktreeHome,
): Promise<readonly string[]> => {
  const clone = await GitClone.open(home, url);
  for (const tip of (await clone.tips()).slice(0, MAX_BRANCHES)) {
    if (tip === commit) return [];
    const answer = await tree.tryRun(['merge-base', '--is-ancestor', commit, tip]);
    if (answer?.code === 0) return [];
  }
  return [
    `${url} does not have commit ${commit.slice(0, 12)} yet: push it, because workers on other machines wait for it.`,
  ];
};

const uncommitted = async (tree: GitTree, commit: string): Promise<readonly string[]> => {
  const args = ['status', '--porcelain', '--ignore-submodules=all', '--no-renames'];
  const answer = await tree.tryRun(args);
  if (answer?.code === 0 && answer.text === '') return [];
  return [
    `Agents on other machines start from commit ${commit.slice(0, 12)} and do not see uncommitted changes in ${tree.top}.`,
  ];
};
