/** What a permission mode allows on its own, without any rule. */

import { readCommand } from './command-words.js';
import { type JudgedCall, runsCommand, touchesFile } from './judged-call.js';
import type { PolicyFacts } from './policy-facts.js';
import { isMcpTool } from './rule-grammar.js';

/** The reason why the mode lets this call pass, or undefined when it does not. */
export const freeByMode = (call: JudgedCall, facts: PolicyFacts): string | undefined => {
  if (facts.mode === 'bypassPermissions') {
    return 'Mode bypassPermissions allows whatever no deny or ask rule catches.';
  }
  if (touchesNothing(call)) return 'It touches nothing but what belongs to the agent itself.';
  if (isFreeRead(call, facts)) return 'Reading inside the workspace is free.';
  if (facts.mode === 'acceptEdits' && isEdit(call) && call.places.every(facts.isInWorkspace)) {
    return 'Mode acceptEdits allows changes of files inside the workspace.';
  }
  return undefined;
};

/** What a server says of its own tool is not enough. */
const touchesNothing = ({ request }: JudgedCall) =>
  !isMcpTool(request.tool) && request.subject.action === 'none';

/** Plan mode is for looking and thinking: whatever has effects on the world has to wait. */
export const refusedByPlan = (call: JudgedCall, { mode }: PolicyFacts): boolean =>
  mode === 'plan' && !call.request.readOnly && !touchesNothing(call);

const isEdit = ({ request }: JudgedCall) =>
  touchesFile(request) && request.subject.action === 'write';

/**
 * A server's word that its tool only reads, and an address on the network, are not enough: the
 * place that is read must be known, and be inside.
 */
const isFreeRead = (call: JudgedCall, facts: PolicyFacts): boolean => {
  const { request } = call;
  if (!request.readOnly) return false;
  const isReadable = (place: string) => facts.isInWorkspace(place) || facts.isArtifact(place);
  if (touchesFile(request)) return call.places.every(isReadable);
  if (!runsCommand(request)) return false;
  const { words, dynamic, compound } = readCommand(request.subject.target);
  if (dynamic || (compound && words.some((word) => MOVES.has(word)))) return false;
  if (words.some((word) => HIDDEN_GLOB.test(word))) return false;
  return call.named.flat().every((place) => isReadable(place) || DEVICES.has(place));
};

/** After these the other words no longer start from the agent's directory. */
const MOVES = new Set(['cd', 'pushd', 'popd']);
/** `cat .e*` may read what its words do not name. */
const HIDDEN_GLOB = /(?:^|\/)\.[^/]*[*?[{]/;
const DEVICES = new Set(['/dev/null', '/dev/stdin', '/dev/stdout', '/dev/stderr']);
