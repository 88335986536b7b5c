import type { PermissionRequest } from '../../protocol/permission/ruling.js';
import { toolNamed } from '../../protocol/tools/tool-named.js';
import { isMcpTool } from './parse-rule.js';

/** Kind of text that the pattern of a rule is matched against. */
type RuleSubject = 'file' | 'command' | 'text';

/**
 * Returns the kind of a request's target. MCP tools are always `text`, because the action that a server
 * claims for its own tool is not trusted.
 */
export const ruleSubject = ({ tool, subject }: PermissionRequest): RuleSubject => {
  if (isMcpTool(tool)) return 'text';
  if (subject.action === 'execute') return 'command';
  return subject.action === 'read' || subject.action === 'write' ? 'file' : 'text';
};

/** True for a built-in tool that reads or writes one path. */
export const touchesFile = (request: PermissionRequest): boolean => ruleSubject(request) === 'file';

/** True for a built-in tool that runs a command line. */
export const runsCommand = (request: PermissionRequest): boolean =>
  ruleSubject(request) === 'command';

/**
 * Parameters that hold the target of a call, by tool. A built-in tool that is not listed has no target, so
 * its rules take no pattern except for a parameter.
 */
const TARGET_PARAMETERS: Readonly<Record<string, string>> = {
  Bash: 'command',
  Edit: 'file_path',
  Glob: 'path',
  Grep: 'path',
  LS: 'path',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
  Read: 'file_path',
  SendMessage: 'to',
  Task: 'subagent_type',
  WebFetch: 'url',
  Write: 'file_path',
};

/** Built-in tools that write files, which a rule for `Edit` covers. */
const WRITERS: ReadonlySet<string> = new Set(['Edit', 'MultiEdit', 'NotebookEdit', 'Write']);

/** Returns the tool whose rules cover all built-in tools of the same kind: `Read` or `Edit`. */
export const fileToolFor = (tool: string): 'Read' | 'Edit' | undefined => {
  if (WRITERS.has(tool)) return 'Edit';
  return targetParameter(tool)?.endsWith('path') === true ? 'Read' : undefined;
};

/** Returns the parameter of the tool that holds the target of a call, or undefined. */
export const targetParameter = (tool: string): string | undefined => {
  const name = toolNamed(tool);
  return Object.hasOwn(TARGET_PARAMETERS, name) ? TARGET_PARAMETERS[name] : undefined;
};
