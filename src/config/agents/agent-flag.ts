/** Agents of the command line: `--agents '{"name": {"description": …, "prompt": …}}'`. */
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import { UsageError } from '../../protocol/errors.js';
import type { PermissionMode } from '../../protocol/permission/permission.js';
import { isObject, type JsonObject, settingsDocument } from '../settings/settings-file.js';
import { describe } from '../settings/settings-warnings.js';
import { AGENT_NAME, readFields } from './agent-fields.js';

/** One entry, as people and programs write it. */
export interface AgentDescription {
  /** When to choose it; the model reads it. */
  readonly description: string;
  /** What it is told about its role. */
  readonly prompt: string;
  /** The only tools that it has; left out, ours that neither run commands nor write, and yours that are `readOnly`. */
  readonly tools?: string | readonly string[];
  readonly disallowedTools?: string | readonly string[];
  readonly model?: string;
  readonly permissionMode?: PermissionMode;
  readonly maxTurns?: number;
  /** For it and all that work for it. */
  readonly maxBudgetUsd?: number;
  readonly maxBudgetTokens?: number;
  readonly skills?: string | readonly string[];
  readonly mcpServers?: string | readonly string[];
  /** As in settings. */
  readonly hooks?: Readonly<Record<string, unknown>>;
  readonly background?: boolean;
  readonly isolation?: 'worktree';
  readonly color?: string;
  readonly proactive?: boolean;
  /** As a sub-agent: it has a prompt and a tool list of its own instead of sharing the lead's. */
  readonly ownPrompt?: boolean;
}

const MOST_AGENTS = 100;
const MOST_PROMPT = 100 * 1024;

/** Throws a UsageError that names the entry and the fix: somebody typed it just now. */
export const readAgentsFlag = (text: string): readonly AgentDefinition[] => {
  const { value, repeated } = settingsDocument(text, '--agents');
  const twice = repeated.find(({ path }) => path.length <= 2 || path[1] === 'hooks');
  if (twice !== undefined) {
    throw new UsageError(`--agents has ${twice.path.join('.')} twice: keep one of them.`);
  }
  const entries = Object.entries(value);
  if (entries.length > MOST_AGENTS) {
    throw new UsageError(
      `--agents describes ${entries.length} agents, and may describe ${MOST_AGENTS}.`,
    );
  }
  return entries.map(([name, entry]) => agentOf(name, entry));
};

const agentOf = (name: string, entry: unknown): AgentDefinition => {
  const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name;
  const refuse = (fix: string) => new UsageError(`--agents, entry "${shown}", ${fix}.`);
  if (!AGENT_NAME.test(name)) {
    throw refuse('cannot be used: name it with at most 64 letters, digits and hyphens');
  }
  if (!isObject(entry)) {
    throw refuse(`must be an object with description and prompt instead of ${describe(entry)}`);
  }
  const path = `--agents (${name})`;
  const { prompt, ...fields } = entry;
  if (typeof prompt !== 'string' || prompt.trim() === '') {
    const found = prompt === undefined ? 'nothing' : describe(prompt);
    throw refuse(`cannot be used: prompt: write what the agent is told instead of ${found}`);
  }
  if (prompt.length > MOST_PROMPT) {
    throw refuse(`has a prompt of ${prompt.length} characters, and may have ${MOST_PROMPT}`);
  }
  const read = readFields(fields as JsonObject, {
    path,
    lineOf: () => undefined,
    known: JSON_KEYS,
  });
  if ('fix' in read) throw refuse(`cannot be used: ${read.fix}`);
  return { ...read, name, prompt: prompt.trim(), path, source: 'command' };
};

const JSON_KEYS = [
  'description',
  'tools',
  'disallowedTools',
  'model',
  'permissionMode',
  'maxTurns',
  'skills',
  'maxBudgetUsd',
  'maxBudgetTokens',
  'mcpServers',
  'hooks',
  'background',
  'isolation',
  'color',
  'proactive',
  'ownPrompt',
];
