/**
 * Redacts secrets in tool results, artifacts and command output before they become messages, so
 * that neither the model nor the journal ever contains them.
 *
 * Tools still edit the real files. The model sees the placeholder instead of a secret and cannot copy the
 * secret, so an edit that would write the placeholder over a secret is refused.
 */
import { Buffer } from 'node:buffer';
import {
  createRedactor,
  REDACTION_PLACEHOLDER,
  type Redact,
} from '../../policy/redaction/redact.js';
import { type RedactedStream, redactedStream } from '../../policy/redaction/redacted-stream.js';
import type { Artifact } from '../../protocol/tools/artifact.js';
import type { FileSearch, GrepQuery } from '../../protocol/tools/file-search.js';
import type { Shell } from '../../protocol/tools/shell.js';
import {
  type ResultBlock,
  type Tool,
  type ToolContext,
  ToolFailure,
  type ToolOutcome,
} from '../../protocol/tools/tool.js';
import type { Workspace } from '../../protocol/tools/workspace.js';

export interface SecretRedaction {
  readonly redact: Redact;
  tool(tool: Tool): Tool;
  shell(shell: Shell): Shell;
}

/** Leaves tools and shells as they are, for people who work on files with made-up secrets. */
export const NO_REDACTION: Omit<SecretRedaction, 'redact'> = {
  tool: (tool) => tool,
  shell: (shell) => shell,
};

/** `known` are keys of this process, which are redacted whatever they look like. */
export const secretRedaction = (secrets: readonly string[]): SecretRedaction => {
  const redact = createRedactor(secrets);
  // Bytes are decoded as Latin-1, which keeps every byte, so binary output survives. The patterns are ASCII.
  const ofBytes = secrets.map(asBytes);
  const redactBytes = createRedactor(ofBytes);
  const stream = () => redactedStream(redactBytes, ofBytes);
  return {
    redact,
    tool: (tool) => ({
      ...tool,
      async call(input, context) {
        try {
          const redacting = redactingContext(tool.name, context, redact, redactBytes, stream);
          return redactOutcome(await tool.call(input, redacting), redact);
        } catch (error) {
          if (!(error instanceof ToolFailure)) throw error;
          const hint = JSON.stringify(input).includes(REDACTION_PLACEHOLDER) ? HIDDEN : '';
          throw new ToolFailure(`${redact(error.message)}${hint}`, { cause: error });
        }
      },
    }),
    shell: (shell) => redactingShell(shell, stream),
  };
};

const HIDDEN = ` Where you read ${REDACTION_PLACEHOLDER} the file holds a secret that is not shown to you: choose a passage without it.`;

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

const redactingContext = (
  tool: string,
  context: ToolContext,
  redact: Redact,
  redactBytes: Redact,
  stream: () => RedactedStream,
): ToolContext => {
  const { workspace, search } = context;
  const openArtifact = (name: string) => redactingArtifact(context.openArtifact(name), stream());
  return {
    ...context,
    workspace: {
      ...workspace,
      ...(tool === 'Read' && { read: readRedacted(workspace, redactBytes) }),
      write: writeUnlessSecretLost(workspace, redactBytes),
    },
    search: redactingSearch(search, redact),
    // Bash output was already redacted by the shell.
    ...(tool !== 'Bash' && { openArtifact }),
  };
};

/**
 * Redacts the content but keeps the stamp of the real file, so that the file can still be edited. Redacts
 * the whole content, before a page is cut out of it. Leaves PDF and binary files as they are.
 */
const readRedacted =
  (workspace: Workspace, redactBytes: Redact): Workspace['read'] =>
  async (path, maxBytes) => {
    const file = await workspace.read(path, maxBytes);
    const text = fromBytes(file.bytes);
    if (text.startsWith('%PDF') || text.includes('\0')) return file;
    const clean = redactBytes(text);
    return clean === text ? file : { ...file, bytes: toBytes(clean) };
  };

/** Maximum bytes of a file that is searched for secrets before a write. */
const MAX_CHECKED_BYTES = 16 * 1024 * 1024;

const writeUnlessSecretLost =
  (workspace: Workspace, redactBytes: Redact): Workspace['write'] =>
  async (path, bytes, expected) => {
    const planned = count(fromBytes(bytes));
    if (planned > 0) {
      const file = await workspace.read(path, MAX_CHECKED_BYTES).catch(() => undefined);
      const old = file === undefined ? '' : fromBytes(file.bytes);
      if (planned > count(old) && redactBytes(old) !== old) {
        throw new ToolFailure(
          `Nothing was changed: ${path} holds a secret that you are shown as ${REDACTION_PLACEHOLDER}, and this would write ${REDACTION_PLACEHOLDER} over it. Change only the passages around it with Edit, or ask the user.`,
        );
      }
    }
    return workspace.write(path, bytes, expected);
  };

const count = (text: string): number => text.split(REDACTION_PLACEHOLDER).length - 1;

const redactingSearch = (search: FileSearch, redact: Redact): FileSearch => ({
  list: (query) => search.list(query),
  find: (query) => search.find(query),
  grep: (query) => search.grep({ ...query, ...redactingHits(query, redact) }),
});

/** Redacts the lines between the BEGIN and END lines of a private key too, because hits come line by line. */
const redactingHits = (query: GrepQuery, redact: Redact): Pick<GrepQuery, 'accepts' | 'onHit'> => {
  let keyIn: string | undefined;
  return {
    accepts: (path) => query.accepts(path),
    onHit(hit) {
      if (hit.text === undefined) return query.onHit(hit);
      const isKey = keyIn === hit.path && !KEY_ENDS.test(hit.text);
      if (KEY_BEGINS.test(hit.text)) keyIn = hit.path;
      else if (!isKey) keyIn = undefined;
      return query.onHit({ ...hit, text: isKey ? REDACTION_PLACEHOLDER : redact(hit.text) });
    },
  };
};

const KEY_BEGINS = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/;
const KEY_ENDS = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY/;

const redactingArtifact = (artifact: Artifact, stream: RedactedStream): Artifact => ({
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

const redactingShell = (shell: Shell, stream: () => RedactedStream): Shell => ({
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
