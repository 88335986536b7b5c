/**
 * A parent as the one whom its child asks. The parent's model has no part in it: first its policy is
 * consulted, and what that leaves open goes on to the parent's own surfaces, whose answer comes back
 * as they signed it.
 */

import type { Clock } from '../../protocol/clock.js';
import type { KnownSurface, SurfaceKey } from '../../protocol/permission/answer.js';
import type { Toolbox } from '../../tools/toolbox.js';
import { askSurfaces } from './ask-surfaces.js';
import { inputDigest } from './input-digest.js';
import { judgeCall } from './judge-call.js';
import type { PermissionManager } from './permission-manager.js';
import { newSigner } from './signing-surface.js';

export interface ParentSurface {
  readonly agent: string;
  /** Whose desk answers this agent in turn; the lead of a session has no parent. */
  readonly parent?: string;
  readonly desk: PermissionManager;
  readonly toolbox: Toolbox;
  readonly clock: Clock;
}

export const parentSurface = ({
  agent,
  parent,
  desk,
  toolbox,
  clock,
}: ParentSurface): KnownSurface => {
  const id = `desk of ${agent}`;
  const { publicKey, signer } = newSigner(id, clock);
  return {
    id,
    publicKey,
    deskOf: agent,
    handsOn: desk.surfaces.flatMap((surface) => [keyOf(surface), ...(surface.handsOn ?? [])]),
    async ask(question, signal) {
      const { call, tool, input, cwd } = question;
      const judgement = judgeCall({ id: call, tool, input }, toolbox, desk, cwd);
      const digest = inputDigest(input);
      if (judgement.kind === 'invalid') {
        return signer(question, digest, { behavior: 'deny', reason: judgement.message });
      }
      const { behavior, reason, instead } = judgement.ruling;
      if (behavior === 'allow') return signer(question, digest, { behavior, scope: 'once' });
      if (behavior === 'deny') {
        return signer(question, digest, { behavior, reason: `${reason} ${instead}` });
      }
      const timeoutMs = desk.permissionTimeoutMs;
      const decision = await askSurfaces(desk.surfaces, question, {
        signal,
        clock,
        timeoutMs,
        parent,
      });
      if (decision.signed === undefined) throw new Error('nobody answered the parent either.');
      return decision.signed;
    },
  };
};

const keyOf = ({ id, publicKey, deskOf }: KnownSurface): SurfaceKey => ({
  id,
  publicKey,
  ...(deskOf !== undefined && { deskOf }),
});
