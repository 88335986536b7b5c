/** Runs a tool call in the environment of its agent and turns errors into results. */

import { defuseContent, defuseResult } from '../../prompt/messages/defuse-result.js';
import type { Agents } from '../../protocol/agent/agents.js';
import type { Ids } from '../../protocol/ids.js';
import type { Hooks } from '../../protocol/permission/hooks.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { Artifact } from '../../protocol/tools/artifact.js';
import type { FileSearch } from '../../protocol/tools/file-search.js';
import type { Shell } from '../../protocol/tools/shell.js';
import type { ShellJobs } from '../../protocol/tools/shell-jobs.js';
import {
  type AskPerson,
  DECIDE_YOURSELF,
  ToolFailure,
  type ToolOutcome,
} from '../../protocol/tools/tool.js';
import type { Web } from '../../protocol/tools/web.js';
import type { Workspace } from '../../protocol/tools/workspace.js';
import { locateFile } from '../../tools/file-access/locate-file.js';
import { withContext } from '../hooks/post-tool-hooks.js';
import { askPerson } from '../permissions/ask-surfaces.js';
import { isJudgedPath, type ValidCall } from '../permissions/judge-call.js';
import type { PermissionManager } from '../permissions/permission-manager.js';
import { type SideRequestDeps, sideRequestFor } from '../turn/side-request.js';
import type { EditLeases } from './edit-leases.js';
import { type TaskListPort, taskListFor } from './task-list-port.js';

/** Ports and services that the tools of an agent may use. */
export interface ToolEnvironment extends SideRequestDeps {
  readonly workspace: Workspace;
  readonly shell: Shell;
  readonly search: FileSearch;
  readonly openArtifact: (name: string) => Artifact;
  readonly jobs: ShellJobs;
  /** Undefined if the agent cannot start agents. */
  readonly agents?: Agents | undefined;
  /** Undefined without a shared task list. */
  readonly taskList?: TaskListPort | undefined;
  readonly hooks: Hooks;
  /** Undefined if the agent works alone. */
  readonly edits?: EditLeases | undefined;
  readonly agent: string;
  readonly ids: Ids;
  readonly permissions: PermissionManager;
  readonly web: Web;
  readonly feed: Feed;
}

interface RunToolOptions {
  readonly id: string;
  /** True if a person approved the call. */
  readonly approved: boolean;
  /** True if a person, or a hook instead of a person, approved the call. */
  readonly answered?: boolean;
  /** Stops the run. */
  readonly stopRun?: (detail: string) => void;
}

interface RunOutcome extends ToolOutcome {
  readonly failed: boolean;
  /** True if the tool threw an error that is not a ToolFailure. */
  readonly crashed?: true;
}

/**
 * Runs a call. An error becomes a result with `failed`, as does work that failed, such as a command
 * that exits with 1. An unexpected error is a crash of the tool. An aborted call without output has
 * an empty result.
 */
export const runTool = async (
  call: ValidCall,
  environment: ToolEnvironment,
  { id, approved, answered = approved, stopRun }: RunToolOptions,
  signal: AbortSignal,
): Promise<RunOutcome> => {
  const { tool, input } = call;
  const { shell, search, openArtifact, feed } = environment;
  const isJudged = (path: string) => isJudgedPath(call, environment.permissions, path, answered);
  const judgedWorkspace = environment.workspace.judgedBy?.(isJudged) ?? environment.workspace;
  const isWriting = call.request.subject.action === 'write';
  // Most calls only read, so the wrapper is built for writing calls only.
  const workspace =
    (isWriting && environment.edits?.workspaceOf(environment.agent, judgedWorkspace)) ||
    judgedWorkspace;
  const { history } = environment.journal;
  const context: string[] = [];
  try {
    if (isWriting) await refuseIfHeld(call, environment);
    const outcome = await tool.call(input, {
      call: id,
      agents: environment.agents,
      taskList:
        environment.taskList &&
        taskListFor(environment.taskList, {
          agent: environment.agent,
          hooks: environment.hooks,
          call: id,
          turn: history.turns,
          signal,
          onVerdict(verdict) {
            context.push(...verdict.context);
            if (verdict.halt !== undefined) stopRun?.(verdict.halt);
          },
        }),
      jobs: environment.jobs,
      todos: history.todos,
      web: environment.web,
      jobReadTo: (job) => history.jobReadTo.get(job),
      workspace,
      shell,
      search,
      signal,
      approved,
      cwd: history.cwd,
      mayRead: (path) => mayRead(environment.permissions, tool.name, path),
      readStamp: (path) => history.fileStamps.get(path),
      openArtifact: (name) => openArtifact(`${id}-${name}`),
      sideRequest: sideRequestFor(environment, id),
      askPerson: personFor(environment, id, signal),
      leavePlanMode: approved ? () => environment.permissions.leavePlan() : undefined,
      progress: (note) => feed.emit({ type: 'tool.progress', call: id, note }),
    });
    return withContext(defuseResult({ failed: outcome.isError === true, ...outcome }), context);
  } catch (error) {
    if (error instanceof ToolFailure) {
      return withContext(defuseResult({ content: error.message, failed: true }), context);
    }
    if (signal.aborted && error === signal.reason) return { content: '', failed: true };
    const message = error instanceof Error ? error.message : String(error);
    const content = defuseContent(`${tool.name} failed unexpectedly: ${message}`);
    return { content, failed: true, crashed: true, facts: { crashed: true } };
  }
};

/**
 * Throws ToolFailure if another agent holds the file. Checked before the tool reads the file;
 * otherwise the model would only learn that the file has changed.
 */
const refuseIfHeld = async (
  { request }: ValidCall,
  environment: ToolEnvironment,
): Promise<void> => {
  const { action, target } = request.subject;
  const { edits, agent, workspace, journal } = environment;
  if (action !== 'write' || edits === undefined) return;
  const path = locateFile(target, { workspace, cwd: journal.history.cwd });
  await edits.refuseIfHeld(agent, path, workspace);
};

/** Returns undefined if no surface can show choices to a person. */
const personFor = (
  environment: ToolEnvironment,
  call: string,
  signal: AbortSignal,
): AskPerson | undefined => {
  const { permissions, agent, ids, feed, clock } = environment;
  const { surfaces, permissionTimeoutMs: timeoutMs } = permissions;
  const choosers = surfaces.flatMap((surface) => surface.choose?.bind(surface) ?? []);
  if (choosers.length === 0) return undefined;
  return async (request) => {
    const question = { id: ids('question'), agent, call, ...request };
    feed.emit({ type: 'person.asked', question });
    const boundChoosers = choosers.map((choose) => (until: AbortSignal) => choose(question, until));
    const answer = await askPerson(boundChoosers, { signal, clock, timeoutMs });
    if ('silence' in answer) throw new ToolFailure(`${answer.silence} ${DECIDE_YOURSELF}`);
    return answer;
  };
};

/**
 * True if a tool may read this file as part of an allowed call. The rules or a person allowed the
 * call and saw where it starts, so a file without any rule may be read; a file that rules deny or
 * ask about may not.
 */
const mayRead = (
  permissions: ToolEnvironment['permissions'],
  tool: string,
  path: string,
): boolean => {
  const subject = { action: 'read', target: path } as const;
  const { behavior, step } = permissions.rule({ tool, subject, readOnly: true, cwd: '/' }, {});
  return behavior === 'allow' || (behavior === 'ask' && step === 'callback');
};

/**
 * Returns the files that a call may change on disk. `paths` is undefined if they cannot be known,
 * as for a shell command. Returns undefined if the call changes no file.
 */
export const writablePathsOf = (
  { request, readOnly }: ValidCall,
  { workspace, journal }: Pick<ToolEnvironment, 'workspace' | 'journal'>,
): { readonly paths: readonly string[] | undefined } | undefined => {
  const { action, target } = request.subject;
  if (readOnly || action === 'none' || action === 'network') return undefined;
  if (action !== 'write') return { paths: undefined };
  return { paths: [locateFile(target, { workspace, cwd: journal.history.cwd })] };
};
