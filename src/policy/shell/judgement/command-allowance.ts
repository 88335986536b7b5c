/**
 * Decides whether rules and free access together allow a command line.
 *
 * Each part must be allowed by a rule, or only read files that need no permission. The same holds for each
 * redirection.
 */
import type { PermissionRule } from '../../../protocol/permission/permission-rule.js';
import type { AnalysedCall, AnalysedCommand } from '../../analysed-call.js';
import type { CompiledRule } from '../../rules/compile-rules.js';
import { setsOnlyHarmlessVariables } from './dangerous-variable.js';

/** Paths that need no rule. */
interface FreeAccess {
  readonly isReadable: (path: string) => boolean;
  readonly isWritable: (path: string) => boolean;
}

/** Returns the first rule that was needed, or 'free' if none was. Returns undefined if a part is not allowed. */
export const commandAllowance = (
  { command = [] }: AnalysedCall,
  rules: readonly CompiledRule[],
  access: FreeAccess,
): PermissionRule | 'free' | undefined => {
  let needed: PermissionRule | undefined;
  const finds = (test: (rule: CompiledRule) => boolean) => {
    const found = rules.find(test)?.rule;
    needed ??= found;
    return found !== undefined;
  };
  const allowed = command.every(
    (program) =>
      (finds((rule) => rule.allowsPart(program.part)) || isFreePart(program, access)) &&
      program.redirects.every(
        ({ paths, writes }) =>
          paths !== undefined &&
          (paths.length === 0 ||
            finds((rule) => rule.allowsPaths(paths, writes)) ||
            paths.every(writes ? access.isWritable : access.isReadable)),
      ),
  );
  return allowed && command.length > 0 ? (needed ?? 'free') : undefined;
};

const isFreePart = ({ part, readPaths }: AnalysedCommand, access: FreeAccess): boolean => {
  if (part.words.length === 0) return true;
  if (part.transparent) return setsOnlyHarmlessVariables(part);
  return readPaths?.every(access.isReadable) === true;
};
