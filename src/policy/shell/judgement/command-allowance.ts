/**
 * Whether a command line may run: each part of it is allowed by a rule or only reads where reading is
 * free, and so is each of its redirections.
 */
import type { PermissionRule } from '../../../protocol/permission/permission.js';
import type { AnalysedCall, AnalysedCommand } from '../../analysed-call.js';
import type { CompiledRule } from '../../rules/rule-matcher.js';
import { setsOnlyHarmless } from './shell-variables.js';

export interface FreeAccess {
  readonly isReadable: (place: string) => boolean;
  /** Changes of this place need no rule. */
  readonly isWritable: (place: string) => boolean;
}

/** The first rule that speaks of it; 'free' when none does, undefined when something is not allowed. */
export const commandAllowance = (
  { command = [] }: AnalysedCall,
  rules: readonly CompiledRule[],
  leave: FreeAccess,
): PermissionRule | 'free' | undefined => {
  let needed: PermissionRule | undefined;
  const finds = (test: (rule: CompiledRule) => boolean) => {
    const found = rules.find(test)?.rule;
    needed ??= found;
    return found !== undefined;
  };
  const allowed = command.every(
    (it) =>
      (finds((rule) => rule.allowsPart(it.part)) || isFreePart(it, leave)) &&
      it.redirects.every(
        ({ places, writes }) =>
          places !== undefined &&
          (places.length === 0 ||
            finds((rule) => rule.allowsPlaces(places, writes)) ||
            places.every(writes ? leave.isWritable : leave.isReadable)),
      ),
  );
  return allowed && command.length > 0 ? (needed ?? 'free') : undefined;
};

const isFreePart = ({ part, reads }: AnalysedCommand, leave: FreeAccess): boolean => {
  if (part.words.length === 0) return true;
  if (part.transparent) return setsOnlyHarmless(part);
  return reads?.every(leave.isReadable) === true;
};
