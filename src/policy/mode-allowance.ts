/** Calls that a permission mode allows or denies by itself, without a rule. */
import type { AnalysedCall } from './analysed-call.js';
import { isSecretFile } from './paths/is-secret-file.js';
import type { PolicyFacts } from './policy-facts.js';
import { isMcpTool } from './rules/parse-rule.js';
import { runsCommand, touchesFile } from './rules/rule-subject.js';
import type { RulingReason } from './ruling-reason.js';
import * as because from './ruling-reason.js';

/** Returns why the mode allows the call. Returns undefined if the mode does not allow it. */
export const modeAllowance = (call: AnalysedCall, facts: PolicyFacts): RulingReason | undefined => {
  if (touchesNothing(call)) {
    return because.allowedInEveryMode('The call changes only the state of the agent itself.');
  }
  const bypasses = facts.mode === 'bypassPermissions';
  const isOpen = !bypasses || !call.namedPaths.flat().some(isSecretFile);
  if (isOpen && isFreeRead(call, facts)) {
    return because.allowedInEveryMode('Reading inside the workspace needs no permission.');
  }
  if (bypasses) {
    return because.allowedByMode(
      'Mode bypassPermissions allows every call that no deny or ask rule matches.',
    );
  }
  if (facts.mode === 'acceptEdits' && isEdit(call, facts)) {
    return because.allowedByMode('Mode acceptEdits allows changes to files inside the workspace.');
  }
  return undefined;
};

/** False for MCP tools, because the action that a server claims for its own tool is not trusted. */
const touchesNothing = ({ request }: AnalysedCall) =>
  !isMcpTool(request.tool) && request.subject.action === 'none';

/**
 * True if the mode is `plan` and the call has effects outside of the agent itself. A plan may need facts from
 * the web, so rules and people decide about the tools that fetch them, as in the mode `default`.
 */
export const isRefusedByPlan = (call: AnalysedCall, { mode }: PolicyFacts): boolean =>
  mode === 'plan' && !call.request.readOnly && !touchesNothing(call) && !readsWeb(call);

/** False for MCP tools, as in `touchesNothing`. */
const readsWeb = ({ request }: AnalysedCall) =>
  !isMcpTool(request.tool) && request.subject.action === 'network';

/** True for a file tool that writes, and for a command that only reads and redirects its output to files. */
const isEdit = (call: AnalysedCall, facts: PolicyFacts) =>
  touchesFile(call.request)
    ? call.request.subject.action === 'write' && call.paths.every(facts.isInWorkspace)
    : runsCommand(call.request) && facts.isFreeCommand(call);

/**
 * True if the call only reads, and only paths inside the workspace. False for MCP tools and network addresses,
 * because the paths that they read are unknown.
 */
const isFreeRead = (call: AnalysedCall, facts: PolicyFacts): boolean => {
  const { request } = call;
  if (!request.readOnly) return false;
  const isReadable = (path: string) => facts.isInWorkspace(path) || facts.isArtifact(path);
  if (touchesFile(request)) return call.paths.every(isReadable);
  return runsCommand(request) && facts.isFreeCommand(call);
};
