/** Where workers on other machines get the workspace of a lead: a git remote, and the commit that the lead began with. */
import { relative, resolve, sep } from 'node:path';
import { z } from 'zod';
import { branchName, branchReader, DETACHED } from '../../host/git/find-git-directory.js';
import { GitClone } from '../../host/git/git-clone.js';
import { openRepository, realOf, type WorktreeHome } from '../../host/git/git-repository.js';
import type { GitTree } from '../../host/git/git-tree.js';
import { WorktreeRefusal } from '../../protocol/tools/worktree.js';

export const workspaceTerms = z.object({
  /** No option of git, and nothing that it would run. */
  url: z.string().regex(/^(?!-)[^\p{Cc}]+$/u),
  commit: z.string().regex(/^[0-9a-f]{40,64}$/),
  /** The branch that is out there. */
  branch: z
    .string()
    .refine((name) => branchName(name) === name)
    .exactOptional(),
  /** The folder of the lead in its repository: `` at the top. */
  prefix: z.string(),
  /** The top of the repository of the lead. */
  top: z.string(),
});
export type WorkspaceTerms = z.infer<typeof workspaceTerms>;

export interface WorkspaceRemote {
  readonly terms?: WorkspaceTerms;
  /** What those on other machines will not have, in one notice. */
  readonly notices: readonly string[];
}

/** Branches of agents in a clone. */
const OURS = /^(agent|left)\//;
/** Nobody has to look at more branches to see that a commit is on one. */
const MOST_BRANCHES = 100;

/** Never rejects: a lead without workers elsewhere needs none of it. */
export const workspaceRemote = async (
  wanted: string,
  cwd: string,
  home: WorktreeHome,
): Promise<WorkspaceRemote> => {
  try {
    const { tree } = await openRepository(cwd, home.environment);
    const commit = await tree.find('HEAD^{commit}');
    if (commit === undefined) throw new WorktreeRefusal(`${tree.top} has no commit yet.`);
    const url = await urlOf(tree, wanted);
    const prefix = relative(tree.top, realOf(cwd)).split(sep).join('/');
    const lacks = [
      ...(await unpushed(tree, commit, url, home)),
      ...(await uncommitted(tree, commit)),
    ];
    const notices = lacks.length === 0 ? [] : [lacks.join(' ')];
    const branch = branchReader(cwd)();
    const isNamed = branch !== undefined && branch !== DETACHED && !OURS.test(branch);
    return { terms: { url, commit, prefix, top: tree.top, ...(isNamed && { branch }) }, notices };
  } catch (error) {
    if (!(error instanceof WorktreeRefusal)) throw error;
    const why = `No worker on another machine can clone this workspace (skein.workspaceRemote): ${error.message}`;
    return { notices: [why] };
  }
};

/** Of a remote that the repository knows by name, or the word itself. */
const urlOf = async (tree: GitTree, wanted: string): Promise<string> => {
  const answer = await tree.ask(['config', '--get', `remote.${wanted}.url`]);
  const known = answer?.code === 0 ? answer.text.trim() : '';
  const url = known === '' ? wanted : known;
  if (known === '' && /^[\w.-]+$/.test(wanted)) {
    throw new WorktreeRefusal(`${tree.top} has no remote called "${wanted}".`);
  }
  // A path from the repository means something else everywhere else.
  return /^\.{1,2}\//.test(url) ? resolve(tree.top, url) : withoutSecrets(url);
};

/** Everybody who takes part has credentials of its own: what is signed can be read by all. */
const withoutSecrets = (url: string): string =>
  url.replace(/^(https?:\/\/)[^/@]*@/, '$1').replace(/^([a-z+]+:\/\/[^/@:]*):[^/@]*@/, '$1@');

const unpushed = async (
  tree: GitTree,
  commit: string,
  url: string,
  home: WorktreeHome,
): Promise<readonly string[]> => {
  const clone = await GitClone.open(home, url);
  for (const tip of (await clone.tips()).slice(0, MOST_BRANCHES)) {
    if (tip === commit) return [];
    const answer = await tree.ask(['merge-base', '--is-ancestor', commit, tip]);
    if (answer?.code === 0) return [];
  }
  return [
    `${url} does not have the commit ${commit.slice(0, 12)} yet: workers on other machines begin when you have pushed it.`,
  ];
};

const uncommitted = async (tree: GitTree, commit: string): Promise<readonly string[]> => {
  const args = ['status', '--porcelain', '--ignore-submodules=all', '--no-renames'];
  const answer = await tree.ask(args);
  if (answer?.code === 0 && answer.text === '') return [];
  return [
    `What is not committed in ${tree.top} is not seen by agents on other machines: they begin with the commit ${commit.slice(0, 12)}.`,
  ];
};
