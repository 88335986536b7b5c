import type { Agents } from '../../src/protocol/agent/agents.js';
import type { Todo } from '../../src/protocol/agent/todo.js';
import type { SendSideRequest } from '../../src/protocol/model/side-request.js';
import type { Artifact } from '../../src/protocol/tools/artifact.js';
import type { FileSearch } from '../../src/protocol/tools/file-search.js';
import type { Shell, ShellCommand, ShellEnd } from '../../src/protocol/tools/shell.js';
import type { ShellJobs } from '../../src/protocol/tools/shell-jobs.js';
import type { ToolContext, ToolOutcome } from '../../src/protocol/tools/tool.js';
import type { Web } from '../../src/protocol/tools/web.js';
import type { FileStamp, Workspace } from '../../src/protocol/tools/workspace.js';

export interface TestContext extends ToolContext {
  readonly progressNotes: string[];
  readonly artifacts: Map<string, Buffer>;
  /** Applies the notes of a call as an agent does. */
  applyNotes(outcome: ToolOutcome): ToolOutcome;
}

/** Tool context of a single agent: stamps of read files, working directory and progress notes. */
export const toolContext = (
  workspace: Workspace,
  {
    cwd = '/work',
    shell = noShell,
    signal = new AbortController().signal,
    artifact,
    sideRequest = noModel,
    approved = false,
    jobs = noJobs,
    search = noSearch,
    mayRead = () => true,
    web = noWeb,
    agents,
  }: Partial<Options> = {},
): TestContext => {
  const seen = new Map<string, FileStamp>();
  const artifacts = new Map<string, Buffer>();
  const readTo = new Map<string, number>();
  const progressNotes: string[] = [];
  const context = {
    call: 'call_1',
    cwd,
    workspace,
    shell,
    signal,
    sideRequest,
    search,
    mayRead,
    web,
    approved,
    progressNotes,
    artifacts,
    todos: [] as readonly Todo[],
    jobs,
    agents,
    jobReadTo: (job: string) => readTo.get(job),
    readStamp: (path: string) => seen.get(path),
    openArtifact: artifact ?? ((name: string) => memoryArtifact(artifacts, name)),
    progress: (note: string) => progressNotes.push(note),
    applyNotes(outcome: ToolOutcome) {
      for (const note of outcome.notes ?? []) {
        if (note.type === 'file.seen') seen.set(note.path, note.stamp);
        else if (note.type === 'cwd.changed') context.cwd = note.cwd;
        else if (note.type === 'job.read') readTo.set(note.job, note.upTo);
        else if (note.type === 'todos.written') context.todos = note.todos;
      }
      return outcome;
    },
  };
  return context;
};

interface Options {
  readonly cwd: string;
  readonly shell: Shell;
  readonly signal: AbortSignal;
  readonly artifact: (name: string) => Artifact;
  readonly sideRequest: SendSideRequest;
  readonly approved: boolean;
  readonly jobs: ShellJobs;
  readonly search: FileSearch;
  readonly mayRead: (path: string) => boolean;
  readonly web: Web;
  readonly agents: Agents;
}

const noModel: SendSideRequest = () => Promise.reject(new Error('toolContext: no model here'));

const noWeb: Web = { get: () => Promise.reject(new Error('toolContext: no web here')) };

const noJobs: ShellJobs = {
  start: () => Promise.reject(new Error('toolContext: no jobs here')),
  find: () => undefined,
  list: () => [],
};

const rejectSearch = () => Promise.reject(new Error('toolContext: no search here'));
const noSearch: FileSearch = {
  list: rejectSearch,
  find: rejectSearch,
  grep: rejectSearch,
};

/** A shell that prints the given output and returns the given end. */
export const scriptedShell = (
  output: readonly (readonly ['stdout' | 'stderr', string | Uint8Array])[],
  end: Partial<ShellEnd> = {},
): Shell & { readonly commands: ShellCommand[] } => {
  const commands: ShellCommand[] = [];
  return {
    commands,
    async run(command) {
      commands.push(command);
      for (const [stream, chunk] of output) command.onOutput(stream, Buffer.from(chunk as string));
      return {
        reason: 'exited',
        exitCode: 0,
        signal: null,
        cwd: command.cwd,
        durationMs: 1,
        ...end,
      };
    },
  };
};

const noShell: Shell = { run: () => Promise.reject(new Error('toolContext: no shell here')) };

const memoryArtifact = (artifacts: Map<string, Buffer>, name: string): Artifact => {
  const path = `/artifacts/${name}`;
  const chunks: Uint8Array[] = [];
  return {
    path,
    write: (chunk) => chunks.push(chunk),
    close: async () => void artifacts.set(path, Buffer.concat(chunks)),
  };
};
