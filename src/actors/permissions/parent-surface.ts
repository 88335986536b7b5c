/**
 * Surface through which a child asks its parent. The policy of the parent answers first, never its
 * model. If the policy asks, the question goes to the surfaces of the parent, and their signed
 * answer is passed on unchanged.
 */
import type { Clock } from '../../protocol/clock.js';
import type { KnownSurface, SurfaceKey } from '../../protocol/permission/signed-answer.js';
import type { Toolbox } from '../../tools/toolbox.js';
import { askSurfaces } from './ask-surfaces.js';
import { inputDigest } from './input-digest.js';
import { judgeCall } from './judge-call.js';
import type { PermissionManager } from './permission-manager.js';
import { newSigner } from './signing-surface.js';

interface ParentSurfaceOptions {
  readonly agent: string;
  /** Id of the agent's own parent. Undefined for the lead. */
  readonly parent?: string;
  readonly permissions: PermissionManager;
  readonly toolbox: Toolbox;
  readonly clock: Clock;
}

export const parentSurface = ({
  agent,
  parent,
  permissions,
  toolbox,
  clock,
}: ParentSurfaceOptions): KnownSurface => {
  const id = `desk of ${agent}`;
  const { publicKey, signer } = newSigner(id, clock);
  return {
    id,
    publicKey,
    answersFor: agent,
    forwardableKeys: permissions.surfaces.flatMap((surface) => [
      keyOf(surface),
      ...(surface.forwardableKeys ?? []),
    ]),
    async ask(question, signal) {
      const { call, tool, input, cwd } = question;
      const judgement = judgeCall({ id: call, tool, input }, toolbox, permissions, cwd);
      const digest = inputDigest(input);
      if (judgement.kind === 'invalid') {
        return signer(question, digest, { behavior: 'deny', reason: judgement.message });
      }
      const { behavior, reason, instead } = judgement.ruling;
      if (behavior === 'allow') return signer(question, digest, { behavior, scope: 'once' });
      if (behavior === 'deny') {
        return signer(question, digest, { behavior, reason: `${reason} ${instead}` });
      }
      const timeoutMs = permissions.permissionTimeoutMs;
      const decision = await askSurfaces(permissions.surfaces, question, {
        signal,
        clock,
        timeoutMs,
        parent,
      });
      if (decision.signed === undefined) throw new Error('the parent got no answer either.');
      return decision.signed;
    },
  };
};

const keyOf = ({ id, publicKey, answersFor }: KnownSurface): SurfaceKey => ({
  id,
  publicKey,
  ...(answersFor !== undefined && { answersFor }),
});
