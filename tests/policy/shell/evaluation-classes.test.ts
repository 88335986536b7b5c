import { describe, expect, test } from 'vitest';
import {
  PERMISSION_MODES,
  type PermissionMode,
} from '../../../src/protocol/permission/permission-mode.js';
import { IS_WIDE } from '../../setup/wide.js';
import { bash, policyOf, rule } from '../policy-fixtures.js';
import {
  CLASSES,
  type EvaluationClass,
  KNOWN_WAYS,
  ORDINARY,
  UNKNOWN_WAYS,
  valueRunning,
} from './evaluation-classes.js';

/** Allow rules for every command around the value, but not for the commands in the value. */
const OUTER = [
  ...'test [ printf read let declare typeset local unset wait echo set export eval bash sh env trap mapfile'.split(
    ' ',
  ),
  ...'compgen timeout find shopt alias source . exec coproc tee cat command builtin history fc xargs base64 f g k'.split(
    ' ',
  ),
  'tail',
  'function',
  'no_such_program',
].map((name) => rule('allow', `Bash(${name}:*)`));
const EVERYTHING = [...OUTER, rule('allow', 'Bash')];
const FORBIDDEN = 'rm -rf /';

const known = (command: string, wanted: (found: EvaluationClass) => boolean = () => true) =>
  CLASSES.filter(wanted).flatMap(({ kind, body }) =>
    Object.entries(KNOWN_WAYS).map(([way, spell]) => ({
      way,
      line: spell(valueRunning(kind, command), body),
    })),
  );
const unknown = () =>
  CLASSES.flatMap(({ body }) =>
    Object.entries(UNKNOWN_WAYS).map(([way, spell]) => ({ way, line: spell(body) })),
  );

/**
 * The analysis of a command does not depend on the mode, so each mode judges its share of the lines. `npm run
 * test:soak` judges all lines in all modes.
 */
const shareOf = <Line>(lines: readonly Line[], mode: PermissionMode): readonly Line[] => {
  const share = PERMISSION_MODES.indexOf(mode);
  return IS_WIDE ? lines : lines.filter((_, at) => at % SHARES === share % SHARES);
};
const SHARES = 4;

describe('a value that runs code', () => {
  test.each(['default', 'acceptEdits', 'dontAsk', 'plan'] as const)(
    'needs permission for its code in mode %s, if rules allow all other commands',
    (mode) => {
      const policy = policyOf({ rules: OUTER, mode });
      const allowed = shareOf(known('touch ran'), mode).filter(
        ({ line }) => policy.rule(bash(line)).behavior === 'allow',
      );
      expect(allowed).toEqual([]);
    },
  );

  test.each(PERMISSION_MODES)('is denied in mode %s if its code is forbidden', (mode) => {
    const policy = policyOf({ rules: EVERYTHING, mode });
    const lines = shareOf(
      known(FORBIDDEN, ({ isRebuilt = true }) => isRebuilt),
      mode,
    );
    const missed = lines.filter(({ line }) => policy.rule(bash(line)).behavior !== 'deny');
    expect(missed).toEqual([]);
  });

  test.each(['default', 'acceptEdits', 'dontAsk', 'plan'] as const)(
    'is never allowed in mode %s if only the running command knows it, despite a rule for every command',
    (mode) => {
      const policy = policyOf({ rules: EVERYTHING, mode });
      const lines = shareOf(unknown(), mode);
      const allowed = lines.filter(({ line }) => policy.rule(bash(line)).behavior === 'allow');
      expect(allowed).toEqual([]);
    },
  );

  test('is never allowed if a file may hold the option and the name', () => {
    const policy = policyOf({ rules: EVERYTHING });
    const lines = ['[ $x ]', 'test $x', 'test "$x" "$x"', '[ "$x" "$x" ]', 'printf "$x" y'].flatMap(
      (body) => Object.values(UNKNOWN_WAYS).map((spell) => spell(body)),
    );
    expect(lines.filter((line) => policy.rule(bash(line)).behavior === 'allow')).toEqual([]);
  });

  test('runs in mode bypassPermissions if only the running command knows it', () => {
    const policy = policyOf({ mode: 'bypassPermissions' });
    const rulings = unknown()
      // The shell itself uses these variables, which is a danger of its own.
      .filter(({ line }) => !/PS4|BASH_ENV|RANDOM|OPTIND/.test(line))
      .map(({ line }) => ({ line, behavior: policy.rule(bash(line)).behavior }));
    expect(rulings.filter(({ behavior }) => behavior !== 'allow')).toEqual([]);
  });
});

test('ordinary commands stay allowed by a rule for every command', () => {
  const policy = policyOf({ rules: EVERYTHING });
  const rulings = ORDINARY.map((line) => ({ line, behavior: policy.rule(bash(line)).behavior }));
  expect(rulings.filter(({ behavior }) => behavior !== 'allow')).toEqual([]);
});
