/** Runs one call of a tool in the world it is given; whatever it throws becomes a result. */

import type { Agents } from '../../protocol/agent/swarm.js';
import type { Ids } from '../../protocol/ids.js';
import type { Hooks } from '../../protocol/permission/hooks.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { FileSearch } from '../../protocol/tools/search.js';
import type { Jobs } from '../../protocol/tools/shell-jobs.js';
import {
  type Artifact,
  type AskPerson,
  DECIDE_YOURSELF,
  type Shell,
  ToolFailure,
  type ToolOutcome,
  type Workspace,
} from '../../protocol/tools/tool.js';
import type { Web } from '../../protocol/tools/web.js';
import { locate } from '../../tools/files/file-access.js';
import { withContext } from '../hooks/post-tool-hooks.js';
import { askPerson } from '../permissions/ask-surfaces.js';
import { isJudgedPlace, type ValidCall } from '../permissions/judge-call.js';
import type { PermissionManager } from '../permissions/permission-manager.js';
import { type SideRequestDeps, sideRequestFor } from '../turn/side-request.js';
import type { EditLeases } from './edit-leases.js';
import { type TaskListPort, taskListFor } from './task-list-port.js';

/** All that the tools of one agent may touch. */
export interface ToolEnvironment extends SideRequestDeps {
  readonly workspace: Workspace;
  readonly shell: Shell;
  readonly search: FileSearch;
  readonly openArtifact: (name: string) => Artifact;
  readonly jobs: Jobs;
  /** Left out where no agent can be asked for. */
  readonly agents?: Agents | undefined;
  /** Left out where no list of work is shared. */
  readonly work?: TaskListPort | undefined;
  readonly hooks: Hooks;
  /** Left out where one agent works alone. */
  readonly edits?: EditLeases | undefined;
  readonly agent: string;
  readonly ids: Ids;
  readonly desk: PermissionManager;
  readonly web: Web;
  readonly feed: Feed;
}

interface RunOf {
  readonly id: string;
  /** By a person. */
  readonly approved: boolean;
  /** By a person or by a hook in a person's place. */
  readonly answered?: boolean;
  /** The run is to end here. */
  readonly halt?: (detail: string) => void;
}

/**
 * `failed`: the call itself failed; a command that exits with 1 has not. A call that was called off
 * and has nothing to show for it says nothing.
 */
export const runTool = async (
  call: ValidCall,
  world: ToolEnvironment,
  { id, approved, answered = approved, halt }: RunOf,
  signal: AbortSignal,
): Promise<ToolOutcome & { failed: boolean }> => {
  const { tool, input } = call;
  const { shell, search, openArtifact, feed } = world;
  const isJudged = (place: string) => isJudgedPlace(call, world.desk, place, answered);
  const judged = world.workspace.judgedBy?.(isJudged) ?? world.workspace;
  const isWriting = call.request.subject.action === 'write';
  // Most calls only look: what is made for each of them is paid for by each of them.
  const workspace = (isWriting && world.edits?.workspaceOf(world.agent, judged)) || judged;
  const { history } = world.notebook;
  const context: string[] = [];
  try {
    if (isWriting) await refuseIfHeld(call, world);
    const outcome = await tool.call(input, {
      call: id,
      agents: world.agents,
      work:
        world.work &&
        taskListFor(world.work, {
          agent: world.agent,
          hooks: world.hooks,
          call: id,
          turn: history.turns,
          signal,
          heard(verdict) {
            context.push(...verdict.context);
            if (verdict.halt !== undefined) halt?.(verdict.halt);
          },
        }),
      jobs: world.jobs,
      todos: history.todos,
      web: world.web,
      jobReadTo: (job) => history.jobs.get(job),
      workspace,
      shell,
      search,
      signal,
      approved,
      cwd: history.cwd,
      mayRead: (path) => maySee(world.desk, tool.name, path),
      readStamp: (path) => history.seen.get(path),
      openArtifact: (name) => openArtifact(`${id}-${name}`),
      consult: sideRequestFor(world, id),
      askPerson: personFor(world, id, signal),
      leavePlanMode: approved ? () => world.desk.leavePlan() : undefined,
      progress: (note) => feed.emit({ type: 'tool.progress', call: id, note }),
    });
    return withContext({ failed: false, ...outcome }, context);
  } catch (error) {
    if (error instanceof ToolFailure) {
      return withContext({ content: error.message, failed: true }, context);
    }
    if (signal.aborted && error === signal.reason) return { content: '', failed: true };
    const message = error instanceof Error ? error.message : String(error);
    return { content: `${tool.name} failed unexpectedly: ${message}`, failed: true };
  }
};

/** Told before anything is looked at: else a file that has changed meanwhile would be all that is heard of it. */
const refuseIfHeld = async ({ request }: ValidCall, world: ToolEnvironment): Promise<void> => {
  const { action, target } = request.subject;
  const { edits, agent, workspace, notebook } = world;
  if (action !== 'write' || edits === undefined) return;
  const path = locate(target, { workspace, cwd: notebook.history.cwd });
  await edits.refuseIfHeld(agent, path, workspace);
};

/** Undefined when all surfaces can only rule. */
const personFor = (
  world: ToolEnvironment,
  call: string,
  signal: AbortSignal,
): AskPerson | undefined => {
  const { desk, agent, ids, feed, clock } = world;
  const { surfaces, permissionTimeoutMs: timeoutMs } = desk;
  const choosers = surfaces.flatMap((surface) => surface.choose?.bind(surface) ?? []);
  if (choosers.length === 0) return undefined;
  return async (asked) => {
    const question = { id: ids('question'), agent, call, ...asked };
    feed.emit({ type: 'person.asked', question });
    const all = choosers.map((choose) => (until: AbortSignal) => choose(question, until));
    const answer = await askPerson(all, { signal, clock, timeoutMs });
    if ('silence' in answer) throw new ToolFailure(`${answer.silence} ${DECIDE_YOURSELF}`);
    return answer;
  };
};

/**
 * The call itself was allowed, by the rules or by a person who saw where it starts. So a file that
 * nothing speaks for or against goes with it; one that is denied or must be asked about does not.
 */
const maySee = (desk: ToolEnvironment['desk'], tool: string, path: string): boolean => {
  const subject = { action: 'read', target: path } as const;
  const { behavior, step } = desk.rule({ tool, subject, readOnly: true, cwd: '/' }, {});
  return behavior === 'allow' || (behavior === 'ask' && step === 'callback');
};
