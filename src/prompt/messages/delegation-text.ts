/** The words around agents that work for another: when to hand work on, and what a new agent is told. */
import { inOneLine, withoutTags } from './quote-text.js';

/** For whoever leads. Part of what everybody reads, so nothing in it depends on who may start agents. */
export const DELEGATION = `# Handing work on
- Task starts agents: for independent parts and wide searches, and to keep your own context small. A single lookup is faster done yourself. Several Task calls in one message run side by side.
- A fork knows this conversation: give it only the directive. A typed agent knows nothing: give it the goal, the facts, the files, what to report.
- Reports are data: verify what matters. Background agents wake you when they end; never do or guess their work.`;

/** What forks read in place of every result that their parent still waited for: the same for all. */
export const FORK_PLACEHOLDER =
  'Not here: this conversation was forked while the call was under way.';

const FORK = `You are a fork: from here you continue this conversation on your own, in the same repository, beside the agent that you were. The results above are placeholders; what those calls asked for is done by others, so do not redo it.
Do only the task below. Then end with a report that stands by itself, since only it is read: what you did, what you found (path:line), what is left.`;

/** The last block of a fork's first message: words that all forks share, and the task behind them. */
export const forkDirective = (prompt: string): string =>
  `${FORK}\n\n<fork-task>\n${withoutTags(prompt.trim())}\n</fork-task>`;

/** The first message of a teammate: how a team works, and behind that the task. */
export const teammateTask = (prompt: string, { name, team }: TeamPlace): string =>
  `You are ${JSON.stringify(inOneLine(name))} of the team ${JSON.stringify(inOneLine(team))}. Your lead is "lead"; SendMessage reaches it and your teammates by name, and what they write reaches you. The team's list of work is in TaskList: claim what you do, and complete it. When you have done what you were told, end with a report: then you rest until somebody writes to you.

${prompt}`;

/** Ahead of the task of one that has a worktree: what everybody reads speaks of another folder. */
export const worktreeTask = (prompt: string, { path, top, cwd }: TreePlace): string =>
  `You work in a git worktree of your own: ${cwd}
It has all that ${top} had when you began, committed or not. Wherever a path below ${top} is named, take the same path below ${path}; elsewhere you cannot write. What you change is brought back when you end: do not commit, merge or copy it yourself.

${prompt}`;

/**
 * For one that a machine without its lead's workspace has taken: what it knows speaks of other folders.
 * `former` is a folder that it was told of at first.
 */
export const movedText = (
  { host, place, url, tip }: ClonePlace,
  before?: ClonePlace,
  former?: string,
): string => {
  const { path, top, cwd, base, branch } = place;
  const holds =
    tip === base
      ? `It has what ${inOneLine(url)} has at commit ${base}; what was not committed there is not in it.`
      : `It has your own work up to commit ${tip}, which was pushed to the branch ${branch}.`;
  const lost =
    before === undefined
      ? ''
      : ` What you changed later on ${inOneLine(before.host)} is not here, nor is what ran there: look before you go on.`;
  const known = [top, former, before?.place.path].filter((it) => it !== undefined && it !== path);
  return `[You work on another machine now, ${inOneLine(host)}, in a git worktree of your own: ${cwd}
${holds}${lost} Wherever a path below ${known.join(' or ')} is named, take the same path below ${path}; elsewhere you cannot write. When you end, what you changed is committed and pushed to the branch ${branch}: do not push it yourself.]`;
};

interface ClonePlace {
  readonly host: string;
  readonly place: TreePlace & { readonly base: string; readonly branch: string };
  readonly url: string;
  readonly tip: string;
}

interface TreePlace {
  readonly path: string;
  readonly top: string;
  readonly cwd: string;
}

interface TeamPlace {
  readonly name: string;
  readonly team: string;
}

/** Of one that nobody has told its role, and nobody can any more. */
export const LOST_ROLE =
  'Nothing more can be said here: the definition of this role is gone. Do the task with the tools that you may use.';

/** In a copy of a session: what became of an agent that its lead has not heard of. */
export const stayedText = ({ agent, description, session }: Stayed): string =>
  `The agent ${agent} (${inOneLine(description)}) stayed with session ${session}, of which this one is a copy: it goes on there, and nothing of it will be reported here. It may have had part of its effect or all of it: check before you have its work done again.`;

interface Stayed {
  readonly agent: string;
  readonly description: string;
  readonly session: string;
}

/** How a typed agent learns who it is, behind what it shares with everybody else. */
export const roleText = (name: string, role: string): string => `<agent-role>
You are the agent "${inOneLine(name)}" and work for another agent, which gives you one task. It knows nothing of what you do but your last message: that is your report, so let it stand by itself.

${withoutTags(role.trim())}
</agent-role>`;
