import type { PermissionRequest } from '../../protocol/permission/ruling.js';
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
