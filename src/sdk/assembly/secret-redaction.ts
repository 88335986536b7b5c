/**
 * Redaction at birth: what tools return, keep as an artifact or print loses its secrets before it
 * becomes a message, so neither the model nor the journal ever holds them.
 *
 * Tools still change files as they are. What the model was not shown it cannot copy, so a change
 * that would put the placeholder where a secret stood is refused.
 */
import { Buffer } from 'node:buffer';
import { PLACEHOLDER, type Redact, redactorOf } from '../../policy/redaction/redaction.js';
import { type RedactedStream, redactedStream } from '../../policy/redaction/stream-redaction.js';
import type { FileSearch, GrepQuery } from '../../protocol/tools/search.js';
import {
  type Artifact,
  type ResultBlock,
  type Shell,
  type Tool,
  type ToolContext,
  ToolFailure,
  type ToolOutcome,
  type Workspace,
} from '../../protocol/tools/tool.js';

export interface SecretRedaction {
  readonly redact: Redact;
  tool(tool: Tool): Tool;
  shell(shell: Shell): Shell;
}

/** Everything passes: for people who work on files with made-up secrets. */
export const NO_REDACTION: Omit<SecretRedaction, 'redact'> = {
  tool: (tool) => tool,
  shell: (shell) => shell,
};

/** `known`: keys of this process, hidden whatever they look like. */
export const secretRedaction = (known: readonly string[]): SecretRedaction => {
  const redact = redactorOf(known);
  // Patterns are ASCII and bytes stay what they are, so output that is no text survives.
  const ofBytes = known.map(asBytes);
  const redactBytes = redactorOf(ofBytes);
  const stream = () => redactedStream(redactBytes, ofBytes);
  return {
    redact,
    tool: (tool) => ({
      ...tool,
      async call(input, context) {
        try {
          const discreet = discreetContext(tool.name, context, redact, redactBytes, stream);
          return redactOutcome(await tool.call(input, discreet), redact);
        } catch (error) {
          if (!(error instanceof ToolFailure)) throw error;
          const hint = JSON.stringify(input).includes(PLACEHOLDER) ? HIDDEN : '';
          throw new ToolFailure(`${redact(error.message)}${hint}`, { cause: error });
        }
      },
    }),
    shell: (shell) => discreetShell(shell, stream),
  };
};

const HIDDEN = ` Where you read ${PLACEHOLDER} the file holds a secret that is not shown to you: choose a passage without it.`;

const asBytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
const toBytes = (text: string) => Buffer.from(text, 'latin1');
const fromBytes = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

const redactOutcome = (outcome: ToolOutcome, redact: Redact): ToolOutcome => {
  const { content } = outcome;
  return {
    ...outcome,
    content:
      typeof content === 'string'
        ? redact(content)
        : content.map((block) => redactBlock(block, redact)),
  };
};

const redactBlock = (block: ResultBlock, redact: Redact): ResultBlock =>
  block.type === 'text' ? { ...block, text: redact(block.text) } : block;

const discreetContext = (
  tool: string,
  context: ToolContext,
  redact: Redact,
  redactBytes: Redact,
  stream: () => RedactedStream,
): ToolContext => {
  const { workspace, search } = context;
  const openArtifact = (name: string) => discreetArtifact(context.openArtifact(name), stream());
  return {
    ...context,
    workspace: {
      ...workspace,
      ...(tool === 'Read' && { read: readDiscreetly(workspace, redactBytes) }),
      write: writeWithCare(workspace, redactBytes),
    },
    search: discreetSearch(search, redact),
    // What a command prints has been looked at on its way here.
    ...(tool !== 'Bash' && { openArtifact }),
  };
};

/** The stamp is that of the file as it is, so that it can be changed. Pages are cut after this. */
const readDiscreetly =
  (workspace: Workspace, redactBytes: Redact): Workspace['read'] =>
  async (path, maxBytes) => {
    const file = await workspace.read(path, maxBytes);
    const text = fromBytes(file.bytes);
    if (text.startsWith('%PDF') || text.includes('\0')) return file;
    const clean = redactBytes(text);
    return clean === text ? file : { ...file, bytes: toBytes(clean) };
  };

const LARGEST_CHECKED = 16 * 1024 * 1024;

const writeWithCare =
  (workspace: Workspace, redactBytes: Redact): Workspace['write'] =>
  async (path, bytes, expected) => {
    const planned = count(fromBytes(bytes));
    if (planned > 0) {
      const there = await workspace.read(path, LARGEST_CHECKED).catch(() => undefined);
      const old = there === undefined ? '' : fromBytes(there.bytes);
      if (planned > count(old) && redactBytes(old) !== old) {
        throw new ToolFailure(
          `Nothing was changed: ${path} holds a secret that you are shown as ${PLACEHOLDER}, and this would write ${PLACEHOLDER} over it. Change only the passages around it with Edit, or ask the user.`,
        );
      }
    }
    return workspace.write(path, bytes, expected);
  };

const count = (text: string): number => text.split(PLACEHOLDER).length - 1;

const discreetSearch = (search: FileSearch, redact: Redact): FileSearch => ({
  list: (query) => search.list(query),
  find: (query) => search.find(query),
  grep: (query) => search.grep({ ...query, ...discreetHits(query, redact) }),
});

/** Hits come line by line, and so do the lines of a key. */
const discreetHits = (query: GrepQuery, redact: Redact): Pick<GrepQuery, 'accepts' | 'onHit'> => {
  let keyIn: string | undefined;
  return {
    accepts: (path) => query.accepts(path),
    onHit(hit) {
      if (hit.text === undefined) return query.onHit(hit);
      const isKey = keyIn === hit.path && !KEY_ENDS.test(hit.text);
      if (KEY_BEGINS.test(hit.text)) keyIn = hit.path;
      else if (!isKey) keyIn = undefined;
      return query.onHit({ ...hit, text: isKey ? PLACEHOLDER : redact(hit.text) });
    },
  };
};

const KEY_BEGINS = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/;
const KEY_ENDS = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY/;

const discreetArtifact = (artifact: Artifact, stream: RedactedStream): Artifact => ({
  path: artifact.path,
  write(chunk) {
    const ready = stream.push(fromBytes(chunk));
    if (ready !== '') artifact.write(toBytes(ready));
  },
  close() {
    const rest = stream.end();
    if (rest !== '') artifact.write(toBytes(rest));
    return artifact.close();
  },
});

const discreetShell = (shell: Shell, stream: () => RedactedStream): Shell => ({
  async run(command) {
    const streams = { stdout: stream(), stderr: stream() };
    const show = (name: 'stdout' | 'stderr', ready: string) => {
      if (ready !== '') command.onOutput(name, toBytes(ready));
    };
    const end = await shell.run({
      ...command,
      onOutput: (name, chunk) => show(name, streams[name].push(fromBytes(chunk))),
    });
    show('stdout', streams.stdout.end());
    show('stderr', streams.stderr.end());
    return end;
  },
});
