/**
 * The contract between a tool and the rest of the house.
 *
 * A tool touches the world only through its ToolContext, so that a fake world is one object. Its
 * ToolFailure is the model's mistake, written to the model: what went wrong and what to try. Any
 * other error it throws is ours, and is reported as such.
 */
import type { z } from 'zod';
import type { Agents } from '../agent/swarm.js';
import type { Todo } from '../agent/todos.js';
import { SkeinError } from '../errors.js';
import type { Consult } from '../model/side-request.js';
import type {
  AgentMode,
  PermissionMode,
  PersonAnswer,
  PersonQuestion,
} from '../permission/permission.js';
import type { TaskListView } from '../session/task-list.js';
import type { FileSearch } from './search.js';
import type { Jobs } from './shell-jobs.js';
import type { Web } from './web.js';

export interface Tool<Schema extends z.ZodType = z.ZodType> {
  /** The name that models, rules and hook scripts know. */
  readonly name: string;
  readonly kind: ToolKind;
  /** The whole text that the model reads about the tool. */
  readonly prompt: string;
  readonly input: Schema;
  /** The schema as the model reads it, where it is not made from `input`. */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  /** The call as one short line for people: `Read src/main.ts`. */
  describe(input: z.output<Schema>): string;
  /** Has no effect on anything: may run before the message has ended, and again after a crash. */
  isReadOnly(input: z.output<Schema>): boolean;
  /** No call of it has an effect, whatever its input: an agent may have it without being given it by name. */
  readonly onlyReads?: true;
  /** May run beside other calls that are safe too. Not the same as read-only. */
  isConcurrencySafe(input: z.output<Schema>): boolean;
  /** It only waits for work that has limits of its own, so any number of its calls may run at once. */
  readonly onlyWaits?: true;
  /** A call that had begun when a process died is started again: it finds what it had begun by its call id. */
  readonly rejoins?: true;
  /**
   * The call looks at something that changes by itself, or waits for it: it may well be made again and
   * again with the same result. Left out, none of its calls does.
   */
  polls?(input: z.output<Schema>): boolean;
  /** What is touched and how: the thing that permission rules and people judge. */
  subject(input: z.output<Schema>): PermissionSubject;
  /** The tool's own safety check; it belongs to the deny and ask steps, so no rule can skip it. */
  checkPermissions?(input: z.output<Schema>, mode: AgentMode): SafetyFinding | undefined;
  /** `cancel`: an interrupt aborts the call. `block`: the call is short and finishes first. */
  readonly interruptBehavior: 'cancel' | 'block';
  call(input: z.output<Schema>, context: ToolContext): Promise<ToolOutcome>;
}

export type ToolKind = 'builtin' | 'mcp' | 'sdk' | 'hook';

export interface PermissionSubject {
  /**
   * `none`: nothing outside of the agent itself, such as its list of things to do. `host`: code of
   * the program that runs the agent, which nothing here can look into.
   */
  readonly action: 'read' | 'write' | 'execute' | 'network' | 'host' | 'none';
  /** A path as the model gave it, a command line, an address, words of the host, or empty. */
  readonly target: string;
  /** It goes on when the call has ended, so it is never taken for one that only reads. */
  readonly lasts?: boolean;
}

export interface SafetyFinding {
  readonly behavior: 'deny' | 'ask';
  readonly reason: string;
  /** An allow rule that names the very thing is enough, and so is bypassPermissions: an installation. */
  readonly mild?: boolean;
  /** A person must look every time: no answer is kept for the next one. */
  readonly everyTime?: boolean;
}

/** What a tool may touch while it runs. */
export interface ToolContext {
  /** The id of the call. */
  readonly call: string;
  /** Absolute; relative paths start here. */
  readonly cwd: string;
  readonly workspace: Workspace;
  readonly shell: Shell;
  readonly search: FileSearch;
  /** Whether the rules let this call see the file at an absolute path; for what a search finds. */
  mayRead(path: string): boolean;
  /** A person has looked at this very call and allowed it; a rule or a mode is not a person. */
  readonly approved: boolean;
  /** What this agent knows of a file, by absolute path; undefined when it never read it. */
  readStamp(path: string): FileStamp | undefined;
  /** The agent's own list of things to do. */
  readonly todos: readonly Todo[];
  /** Commands in the background. */
  readonly jobs: Jobs;
  /** How far the agent has read what a job prints; undefined when it never started such a job. */
  jobReadTo(job: string): number | undefined;
  /** Agents that work for this one; undefined where nobody can be asked for: say so in a ToolFailure. */
  readonly agents?: Agents | undefined;
  /** The list of work that all agents share; undefined where there is none: say so in a ToolFailure. */
  readonly work?: TaskListView | undefined;
  /** Puts a question to a person; undefined where nobody can choose. Rejects with a ToolFailure. */
  readonly askPerson?: AskPerson | undefined;
  /** Ends plan mode and says which mode follows; undefined unless a person allowed this very call. */
  readonly leavePlanMode?: (() => PermissionMode) | undefined;
  /** Keeps a large output beside the session and returns the path where it can be read. */
  openArtifact(name: string): Artifact;
  readonly web: Web;
  /** One question to a model, beside the conversation. */
  readonly consult: Consult;
  readonly signal: AbortSignal;
  /** Tells people how far it is; never reaches the model. */
  progress(note: string): void;
}

/** Resolves to what the person said, which may name no option at all. */
export type AskPerson = (
  question: Pick<PersonQuestion, 'question' | 'options' | 'multiple'>,
) => Promise<PersonAnswer>;

export interface ToolOutcome {
  /** What the model reads. */
  readonly content: string | readonly ResultBlock[];
  /** The call ran, but what it did failed: a command that exited with 1. */
  readonly isError?: boolean;
  /** What the result says, where `content` has ids, paths or figures that are never the same twice. */
  readonly gist?: string;
  /** Changes to what the agent knows. They are journaled and applied in the order of the calls. */
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

/** A context modifier as data, so that it survives a crash with the call that made it. */
export type ToolNote =
  | { readonly type: 'file.seen'; readonly path: string; readonly stamp: FileStamp }
  | { readonly type: 'cwd.changed'; readonly cwd: string }
  /** The agent has started a job, or read what it printed up to here. */
  | { readonly type: 'job.read'; readonly job: string; readonly upTo: number }
  /** The result says what a letter to the agent says, which need not be read then. */
  | { readonly type: 'letter.told'; readonly letter: string }
  | { readonly type: 'todos.written'; readonly todos: readonly Todo[] };

/** Enough to notice that a file is no longer what the agent saw. */
export interface FileStamp {
  /** sha256 of the bytes, hex. */
  readonly digest: string;
  readonly mtimeMs: number;
  readonly size: number;
}

export interface Workspace {
  /** Absolute and normalised; `~` is the user's home. Does not look at the disk. */
  resolve(path: string): string;
  /** The whole file. Rejects with a FileError; a file of more than `maxBytes` is 'too-large'. */
  read(path: string, maxBytes: number): Promise<FileBytes>;
  /** Undefined when there is nothing at the path. */
  stat(path: string): Promise<FileStat | undefined>;
  /**
   * All or nothing: a temporary file beside the target, synced and renamed over it. A symbolic link
   * is followed, an existing file keeps its mode. With `expected`, fails as 'changed' when the bytes
   * there are no longer those, or when there is a file after all.
   */
  write(path: string, bytes: Uint8Array, expected?: FileStamp | 'absent'): Promise<FileStamp>;
  /** Where a write to the path would land, links followed; left out where there are no links. */
  landing?(path: string): string;
  /**
   * The same disk for one call: what is opened, and the folder that is written into, must be a place
   * that `judge` accepts, or it fails as 'moved'. Names may change between a ruling and its use.
   */
  judgedBy?(judge: (place: string) => boolean): Workspace;
}

export interface FileBytes {
  readonly bytes: Uint8Array;
  readonly stamp: FileStamp;
}

export interface FileStat {
  readonly kind: 'file' | 'directory' | 'other';
  readonly size: number;
  readonly mtimeMs: number;
}

/** What a disk says no with. The tool words it for the model. */
export class FileError extends SkeinError {
  readonly code = 'file';
  readonly why: FileTrouble;
  readonly path: string;
  constructor(why: FileTrouble, path: string, options?: ErrorOptions) {
    super(`${path}: ${why}`, options);
    this.why = why;
    this.path = path;
  }
}

export type FileTrouble =
  | 'missing'
  | 'directory'
  | 'not-a-directory'
  | 'not-a-file'
  | 'denied'
  | 'read-only'
  | 'full'
  | 'changed'
  | 'too-large'
  | 'moved'
  | 'io';

export interface Shell {
  /** Resolves when the command ended for whatever reason; rejects only if it could not be started. */
  run(command: ShellCommand): Promise<ShellEnd>;
}

export interface ShellCommand {
  readonly command: string;
  readonly cwd: string;
  /** Left out, it may run for as long as it likes. */
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
  /** What it can read; left out, there is nothing. */
  readonly input?: string;
  /** Besides what every command has. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends also what left the group and let go of our pipes, which takes a look at all processes. */
  readonly thorough?: boolean;
  /** It runs, and whatever happens to us, something will end it. */
  onStarted?(): void;
  /** Each chunk in the order in which the two streams gave them. */
  onOutput(stream: 'stdout' | 'stderr', chunk: Uint8Array): void;
}

export interface ShellEnd {
  readonly reason: 'exited' | 'timeout' | 'aborted';
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The working directory at the end, when the shell could still tell. */
  readonly cwd: string | undefined;
  readonly durationMs: number;
}

/** Bytes that an artifact holds; what comes after is dropped, and its last line says so. */
export const ARTIFACT_LIMIT = 64 * 1024 * 1024;

export interface Artifact {
  readonly path: string;
  write(chunk: Uint8Array): void;
  /** Rejects when the disk refused a write on the way. */
  close(): Promise<void>;
}

/** The model's mistake, or the world's answer to it: told to the model, so that it can try again. */
export class ToolFailure extends SkeinError {
  readonly code = 'tool-failure';
}

/** For a model that has asked and got no answer. */
export const DECIDE_YOURSELF =
  'Decide it yourself as the person most likely would, go on, and say in your answer what you assumed.';

/** Whatever a tool says of a call, people get one line of it that does nothing to their terminal. */
export const defineTool = <Schema extends z.ZodType>(tool: Tool<Schema>): Tool<Schema> => ({
  ...tool,
  describe: (input) => harmlessLine(tool.describe(input)),
});

const LONGEST_DESCRIPTION = 400;

const harmlessLine = (text: string): string => {
  const start =
    text.length <= LONGEST_DESCRIPTION ? text : `${text.slice(0, LONGEST_DESCRIPTION)}…`;
  return start.toWellFormed().replaceAll(/\s/g, ' ').replaceAll(UNSAFE, '\ufffd');
};

/** Control characters, and those that make a line read backwards. */
const UNSAFE = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
