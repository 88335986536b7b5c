/** Policy and requests for tests, with a single workspace, a single home and no disk. */
import { createPolicy, type Policy, type PolicyOptions } from '../../src/policy/policy.js';
import type {
  PermissionRule,
  RuleBehavior,
  SettingSource,
} from '../../src/protocol/permission/permission-rule.js';
import type { PermissionRequest } from '../../src/protocol/permission/ruling.js';
import type { PermissionSubject } from '../../src/protocol/tools/tool.js';

export const policyOf = (options: Partial<PolicyOptions> = {}): Policy =>
  createPolicy({
    rules: [],
    mode: 'default',
    roots: ['/repo'],
    home: '/home/ada',
    skeinHome: '/home/ada/.skein',
    surface: true,
    realPath: (path) => path,
    ...options,
  });

export const rule = (
  behavior: RuleBehavior,
  text: string,
  source: SettingSource = 'project',
  file?: string,
): PermissionRule => ({ behavior, text, source, ...(file !== undefined && { file }) });

const request = (
  tool: string,
  action: PermissionSubject['action'],
  target: string,
  readOnly: boolean,
): PermissionRequest => ({ tool, subject: { action, target }, readOnly, cwd: '/repo' });

export const read = (path: string, tool = 'Read') => request(tool, 'read', path, true);
export const write = (path: string, tool = 'Write') => request(tool, 'write', path, false);
export const bash = (command: string) => request('Bash', 'execute', command, false);
export const readOnlyBash = (command: string) => request('Bash', 'execute', command, true);
export const fetchUrl = (url: string) => request('WebFetch', 'network', url, false);
export const ownState = (tool: string, readOnly = false) => request(tool, 'none', '', readOnly);
export const startsAgent = (agent: string) => request('Task', 'none', agent, false);
export const hostTool = (tool: string, about = '', readOnly = false) =>
  request(tool, 'host', about, readOnly);
export const mcp = (tool: string, readOnly = false) => request(tool, 'execute', '', readOnly);
