/** The allow rule for exactly one call, which stores a person's answer for the session or project. */
import type { PermissionRequest } from '../../protocol/permission/ruling.js';
import { absolutePath, type PathEnvironment } from '../paths/resolved-paths.js';
import { isMcpTool } from './parse-rule.js';
import { literalPathPattern } from './path-pattern.js';
import { runsCommand, touchesFile } from './rule-subject.js';
import { escapeParameter, literalTextPattern } from './text-pattern.js';

/** Returns the text of the rule. A file rule names the real path, so that it ends if a link is changed. */
export const exactRule = (
  request: PermissionRequest,
  environment: Pick<PathEnvironment, 'home' | 'realPath'>,
): string => {
  const { tool, subject, cwd } = request;
  if (isMcpTool(tool)) return tool;
  if (touchesFile(request)) {
    const path = environment.realPath(absolutePath(subject.target, cwd, environment.home));
    return `${subject.action === 'read' ? 'Read' : 'Edit'}(${literalPathPattern(path)})`;
  }
  const target = subject.target.trim();
  // An empty command line equals `:`. A rule without a pattern would allow every command.
  if (target === '') return runsCommand(request) ? `${tool}(:)` : tool;
  if (subject.action === 'network' && URL.canParse(target)) {
    return `${tool}(domain:${new URL(target).hostname.replace(/\.$/, '')})`;
  }
  return `${tool}(${escapeParameter(literalTextPattern(target))})`;
};
