/** The rule that would have allowed exactly this call: what a lasting answer is remembered as. */
import type { PermissionRequest } from '../../protocol/permission/permission.js';
import { runsCommand, touchesFile } from '../analysed-call.js';
import { absolutePath } from '../paths/path-policy.js';
import { literalTextPattern } from './command-pattern.js';
import { literalPathPattern } from './path-pattern.js';
import { isMcpTool } from './rule-grammar.js';

export interface GrantWorld {
  readonly home: string;
  /** A grant names the place a link leads to, so that it dies when the link is turned elsewhere. */
  readonly realPath: (path: string) => string;
}

export const exactRuleFor = (request: PermissionRequest, world: GrantWorld): string => {
  const { tool, subject, cwd } = request;
  if (isMcpTool(tool)) return tool;
  if (touchesFile(request)) {
    const place = world.realPath(absolutePath(subject.target, cwd, world.home));
    return `${subject.action === 'read' ? 'Read' : 'Edit'}(${literalPathPattern(place)})`;
  }
  const target = subject.target.trim();
  // A command line without a word does as little as `:`; leave for it is no leave for others.
  if (target === '') return runsCommand(request) ? `${tool}(:)` : tool;
  if (subject.action === 'network' && URL.canParse(target)) {
    return `${tool}(domain:${new URL(target).hostname.replace(/\.$/, '')})`;
  }
  return `${tool}(${literalTextPattern(target)})`;
};
