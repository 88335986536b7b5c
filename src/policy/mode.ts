/** What a permission mode allows on its own, without any rule. */

import { type AnalysedCall, runsCommand, touchesFile } from './analysed-call.js';
import { holdsSecrets } from './paths/sensitive-files.js';
import type { PolicyFacts } from './policy-facts.js';
import type { Because } from './reasons.js';
import * as because from './reasons.js';
import { isMcpTool } from './rules/rule-grammar.js';

/** Why this call may pass without a rule, or undefined when it may not. */
export const freeByMode = (call: AnalysedCall, facts: PolicyFacts): Because | undefined => {
  if (touchesNothing(call)) {
    return because.freeAnyway('It touches nothing but what belongs to the agent itself.');
  }
  const bypasses = facts.mode === 'bypassPermissions';
  const isOpen = !bypasses || !call.named.flat().some(holdsSecrets);
  if (isOpen && isFreeRead(call, facts)) {
    return because.freeAnyway('Reading inside the workspace is free.');
  }
  if (bypasses) {
    return because.freeByMode(
      'Mode bypassPermissions allows whatever no deny or ask rule catches.',
    );
  }
  if (facts.mode === 'acceptEdits' && isEdit(call, facts)) {
    return because.freeByMode('Mode acceptEdits allows changes of files inside the workspace.');
  }
  return undefined;
};

/** What a server says of its own tool is not enough. */
const touchesNothing = ({ request }: AnalysedCall) =>
  !isMcpTool(request.tool) && request.subject.action === 'none';

/** Plan mode is for looking and thinking: whatever has effects on the world has to wait. */
export const refusedByPlan = (call: AnalysedCall, { mode }: PolicyFacts): boolean =>
  mode === 'plan' && !call.request.readOnly && !touchesNothing(call);

/** A file tool, or a command that only reads and whose output goes to files. */
const isEdit = (call: AnalysedCall, facts: PolicyFacts) =>
  touchesFile(call.request)
    ? call.request.subject.action === 'write' && call.places.every(facts.isInWorkspace)
    : runsCommand(call.request) && facts.isFreeCommand(call);

/**
 * A server's word that its tool only reads, and an address on the network, are not enough: the
 * place that is read must be known, and be inside.
 */
const isFreeRead = (call: AnalysedCall, facts: PolicyFacts): boolean => {
  const { request } = call;
  if (!request.readOnly) return false;
  const isReadable = (place: string) => facts.isInWorkspace(place) || facts.isArtifact(place);
  if (touchesFile(request)) return call.places.every(isReadable);
  return runsCommand(request) && facts.isFreeCommand(call);
};
