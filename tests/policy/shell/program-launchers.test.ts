import { describe, expect, test } from 'vitest';
import { bash, policyOf, rule } from '../policy-fixtures.js';

const rulingOf = (command: string) =>
  policyOf({ rules: [rule('allow', 'Bash')], mode: 'bypassPermissions' }).rule(bash(command))
    .behavior;

describe('a forbidden command', () => {
  test.each([
    'setarch x86_64 rm -rf /',
    "sg root -c 'rm -rf /'",
    'start-stop-daemon --start --exec /bin/rm -- -rf /',
    'start-stop-daemon --start --exec=/bin/rm -- -rf /',
    '/lib64/ld-linux-x86-64.so.2 /bin/rm -rf /',
    'ip netns exec a rm -rf /',
    'ip vrf exec a rm -rf /',
  ])('is found behind a program that starts it: %s', (command) => {
    expect(rulingOf(command)).toBe('deny');
  });

  test.each([
    "echo 'rm -rf X' | sed 's|X|/|' | sh",
    "echo 'rmX-rfX/' | sed 's/X/ /g' | sh",
    "echo 'sm -sf /' | sed 'y/s/r/' | sh",
    'echo cm0gLXJmIC8= | base64 -d | sh',
    'echo OJWSALLSMYQC6=== | base32 -d | sh',
  ])('is found in text that a filter changes: %s', (command) => {
    expect(rulingOf(command)).toBe('deny');
  });

  test.each(['ip addr show', 'start-stop-daemon --stop --pidfile a'])(
    'is not seen in an ordinary command: %s',
    (command) => {
      expect(rulingOf(command)).toBe('allow');
    },
  );
});
