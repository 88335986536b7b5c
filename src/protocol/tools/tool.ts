/**
 * Contract of a tool.
 *
 * A tool has effects only through its ToolContext, so that tests can replace all effects by one object.
 * A ToolFailure is a mistake of the model, and its message tells the model the problem and what to try.
 * Any other error is a defect of Skein and is reported as such.
 */
import type { z } from 'zod';
import type { Agents } from '../agent/agents.js';
import type { Todo } from '../agent/todo.js';
import type { SendSideRequest } from '../model/side-request.js';
import type { AgentMode, PermissionMode } from '../permission/permission-mode.js';
import type { PersonAnswer, PersonQuestion } from '../permission/permission-question.js';
import type { TaskListView } from '../session/shared-task-list.js';
import { SkeinError } from '../skein-error.js';
import type { Artifact } from './artifact.js';
import type { FileSearch } from './file-search.js';
import type { Shell } from './shell.js';
import type { ShellJobs } from './shell-jobs.js';
import type { Web } from './web.js';
import type { FileStamp, Workspace } from './workspace.js';

export interface Tool<Schema extends z.ZodType = z.ZodType> {
  /** Name for models, rules and hook scripts. */
  readonly name: string;
  readonly kind: ToolKind;
  /** Complete description for the model. */
  readonly prompt: string;
  /** Passages of the prompt that name other tools. */
  readonly mentions?: readonly ToolMention[];
  readonly input: Schema;
  /** JSON schema for the model. Default: generated from `input`. */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  /** Returns one short line about the call for people: `Read src/main.ts`. */
  describe(input: z.output<Schema>): string;
  /** True if the call has no effect. It may then run before the message ends, and again after a crash. */
  isReadOnly(input: z.output<Schema>): boolean;
  /** True if no call has an effect. An agent may then use the tool even if its definition does not list it. */
  readonly onlyReads?: true;
  /** True if the call may run concurrently with other safe calls. Independent of `isReadOnly`. */
  isConcurrencySafe(input: z.output<Schema>): boolean;
  /** True if calls only wait for work that has its own limits. Such calls have no concurrency limit. */
  readonly onlyWaits?: true;
  /** True if a call is restarted after a crash. It finds its earlier work by its call id. */
  readonly rejoins?: true;
  /**
   * True if the call polls or waits for an external change, so that repetitions with the same result
   * are no loop. Default: false.
   */
  polls?(input: z.output<Schema>): boolean;
  /** True for a tool of the host program whose calls have a subject, which the pattern of a rule names. */
  readonly hasSubject?: true;
  /** Returns the target and kind of access, which permission rules and people judge. */
  subject(input: z.output<Schema>): PermissionSubject;
  /** The tool's own safety check. It is part of the deny and ask steps, so no rule can skip it. */
  checkPermissions?(input: z.output<Schema>, mode: AgentMode): SafetyFinding | undefined;
  /** `cancel`: an interrupt aborts the call. `block`: the call is short and finishes first. */
  readonly interruptBehavior: 'cancel' | 'block';
  call(input: z.output<Schema>, context: ToolContext): Promise<ToolOutcome>;
}

/** A passage of a description, and its replacement in a prompt that shows none of the tools that it names. */
export interface ToolMention {
  readonly of: readonly string[];
  readonly text: string;
  readonly instead: string;
}

export type ToolKind = 'builtin' | 'mcp' | 'sdk' | 'hook';

export interface PermissionSubject {
  /**
   * `none`: state of the agent itself, such as its todo list. `host`: code of the program that embeds Skein, which
   * Skein cannot inspect.
   */
  readonly action: 'read' | 'write' | 'execute' | 'network' | 'host' | 'none';
  /** The model's path, a command line, an address, a text of the host program, or empty. */
  readonly target: string;
  /** True if the effect outlives the call. Such a call is never treated as read-only. */
  readonly lasts?: boolean;
}

export interface SafetyFinding {
  readonly behavior: 'deny' | 'ask';
  readonly reason: string;
  /** True if an exact allow rule or bypassPermissions overrides the finding. Example: an installation. */
  readonly mild?: boolean;
  /** True if only the running command shows what it does. Every mode except bypassPermissions asks. */
  readonly doubt?: boolean;
  /** True if a person must answer every time, and no answer is stored for later calls. */
  readonly everyTime?: boolean;
}

/** All effects and facts that a running tool may use. */
export interface ToolContext {
  readonly call: string;
  /** Absolute path that relative paths start from. */
  readonly cwd: string;
  readonly workspace: Workspace;
  readonly shell: Shell;
  readonly search: FileSearch;
  /** True if the rules allow this call to read the file at an absolute path. For search results. */
  mayRead(path: string): boolean;
  /** True if a person allowed this call. False if a rule or a mode allowed it. */
  readonly approved: boolean;
  /** Returns the stamp of the agent's last read of an absolute path, or undefined if it never read the file. */
  readStamp(path: string): FileStamp | undefined;
  /** The agent's own todo list. */
  readonly todos: readonly Todo[];
  /** Background commands. */
  readonly jobs: ShellJobs;
  /** Returns how far the agent has read the output of a job, or undefined if it never started the job. */
  jobReadTo(job: string): number | undefined;
  /** Sub-agents. Undefined if this agent cannot spawn agents: then throw ToolFailure. */
  readonly agents?: Agents | undefined;
  /** Shared task list. Undefined if there is none: then throw ToolFailure. */
  readonly taskList?: TaskListView | undefined;
  /** Asks a person to choose. Undefined if no person can answer. Rejects with ToolFailure. */
  readonly askPerson?: AskPerson | undefined;
  /** Ends plan mode and returns the new mode. Undefined unless a person allowed this call. */
  readonly leavePlanMode?: (() => PermissionMode) | undefined;
  /** Opens a file beside the session for a large output. */
  openArtifact(name: string): Artifact;
  readonly web: Web;
  /** Sends one model request outside the conversation. */
  readonly sideRequest: SendSideRequest;
  readonly signal: AbortSignal;
  /** Shows progress to people. The model never reads it. */
  progress(note: string): void;
}

/** Resolves with the person's answer, which may name no option. */
export type AskPerson = (
  question: Pick<PersonQuestion, 'question' | 'options' | 'multiple'>,
) => Promise<PersonAnswer>;

export interface ToolOutcome {
  /** Result for the model. */
  readonly content: string | readonly ResultBlock[];
  /** True if the call ran but its work failed, such as a command with exit code 1. */
  readonly isError?: boolean;
  /** True if the tool itself defused the tags of Skein in text from outside, because its content has such tags. */
  readonly isDefused?: boolean;
  /** Content without ids, paths and numbers that differ each time, for loop detection. Default: `content`. */
  readonly gist?: string;
  /** Changes to the agent's state, journaled and applied in the order of the calls. */
  readonly notes?: readonly ToolNote[];
  /** Small facts for the event index: exit code, digest of a diff. No contents. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>;
}

export type ResultBlock =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image';
      readonly source: {
        readonly type: 'base64';
        readonly media_type: string;
        readonly data: string;
      };
    }
  | {
      readonly type: 'document';
      readonly source: {
        readonly type: 'base64';
        readonly media_type: 'application/pdf';
        readonly data: string;
      };
    };

/** Returns the text of a result, without images and documents. */
export const contentText = (content: ToolOutcome['content']): string =>
  typeof content === 'string'
    ? content
    : content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');

/** State change as data, so that it is journaled with its call and survives a crash. */
export type ToolNote =
  | { readonly type: 'file.seen'; readonly path: string; readonly stamp: FileStamp }
  | { readonly type: 'cwd.changed'; readonly cwd: string }
  /** The agent started a job, or read its output up to here. */
  | { readonly type: 'job.read'; readonly job: string; readonly upTo: number }
  /** The result contains the content of a letter, so the letter is not delivered again. */
  | { readonly type: 'letter.told'; readonly letter: string }
  | { readonly type: 'todos.written'; readonly todos: readonly Todo[] };

/** Failure that the model can react to. The message is sent to the model. */
export class ToolFailure extends SkeinError {
  readonly code = 'tool-failure';
}

/** Result text for a model whose question got no answer. */
export const DECIDE_YOURSELF =
  'Decide it yourself as the user most likely would, continue, and say in your answer what you assumed.';

/** Returns the tool with a `describe` that yields one bounded line without control characters. */
export const defineTool = <Schema extends z.ZodType>(tool: Tool<Schema>): Tool<Schema> => ({
  ...tool,
  describe: (input) => safeLine(tool.describe(input)),
});

const MAX_DESCRIPTION_LENGTH = 400;

const safeLine = (text: string): string => {
  const start =
    text.length <= MAX_DESCRIPTION_LENGTH ? text : `${text.slice(0, MAX_DESCRIPTION_LENGTH)}…`;
  return start.toWellFormed().replaceAll(/\s/g, ' ').replaceAll(UNSAFE, '\ufffd');
};

/** Control characters, and characters that reverse the direction of text. */
const UNSAFE = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
