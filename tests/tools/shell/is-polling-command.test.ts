import { describe, expect, test } from 'vitest';
import { isPollingCommand } from '../../../src/tools/shell/is-polling-command.js';

describe('isPollingCommand', () => {
  test.each([
    'sleep 5',
    'sleep 0.5; cat build.log',
    'while ! curl -s localhost:3000/health; do sleep 1; done',
    'until nc -z localhost 5432; do :; done',
    'ps aux | grep node',
    'timeout 10 tail -f server.log',
    'tail -n 5 -F server.log',
    'git fetch origin && git status',
    'git -C /tmp/x ls-remote',
    'gh run view 123',
    'kubectl get pods',
    'docker compose logs web',
    'systemctl --user is-active app',
    'FOO=1 sudo /usr/bin/pgrep node',
    'date',
  ])('is true for: %s', (command) => {
    expect(isPollingCommand(command)).toBe(true);
  });

  test.each([
    'npm test',
    'npm test | tail -5',
    'cat build.log',
    'echo sleep 5',
    'sleep 0',
    'git status',
    'git log --oneline',
    'docker build .',
    'kubectl apply -f pod.yaml',
    'grep -r curl src',
    'ls # sleep',
    '',
    ':(){ :|:& };:',
    `sleep 1 ${'x'.repeat(5_000)}`,
  ])('is false for: %s', (command) => {
    expect(isPollingCommand(command)).toBe(false);
  });
});
