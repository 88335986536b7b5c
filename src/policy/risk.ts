/** How much a call can spoil, for the person who is asked about it. */
import type { Risk } from '../protocol/permission/permission.js';
import type { AnalysedCall } from './analysed-call.js';
import { holdsSecrets, steersSkein } from './paths/sensitive-files.js';
import type { PolicyFacts } from './policy-facts.js';

export const riskOf = (call: AnalysedCall, facts: PolicyFacts): Risk => {
  const { request, finding } = call;
  const places = [call.places, ...call.named].flat();
  if (finding !== undefined && finding.mild !== true) return 'high';
  if (places.some(holdsSecrets)) return 'high';
  if (request.readOnly) return 'low';
  const leaves = call.places.some((place) => !facts.isInWorkspace(place));
  return leaves || places.some(steersSkein) ? 'high' : 'medium';
};
