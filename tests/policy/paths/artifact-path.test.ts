import { describe, expect, test } from 'vitest';
import { findArtifact } from '../../../src/policy/paths/artifact-path.js';
import { createPolicy, type PolicyOptions } from '../../../src/policy/policy.js';

const FOLDERS = [{ session: 's_1', folder: '/home/me/.skein/sessions/s_1/artifacts' }];
const THERE = '/srv/other/.skein/sessions/s_1/artifacts/out.txt';
const HERE = '/home/me/.skein/sessions/s_1/artifacts/out.txt';

describe('an artifact of another machine', () => {
  test('has a local copy in the folder of its session', () => {
    expect(findArtifact(FOLDERS, THERE)).toMatchObject({ name: 'out.txt', path: HERE });
    expect(findArtifact(FOLDERS, HERE)).toMatchObject({ path: HERE });
  });

  test.each([
    ['of another session', '/x/sessions/s_2/artifacts/out.txt'],
    ['below the folder', '/x/sessions/s_1/artifacts/more/out.txt'],
    ['hidden', '/x/sessions/s_1/artifacts/.ssh'],
    ['beside the folder', '/x/sessions/s_1/session.json'],
  ])('is not found if it is %s', (_, path) => {
    expect(findArtifact(FOLDERS, path)).toBeUndefined();
  });

  const policy = (more: Partial<PolicyOptions> = {}) =>
    createPolicy({
      rules: [],
      mode: 'default',
      roots: ['/work'],
      home: '/home/me',
      surface: false,
      skeinHome: '/home/me/.skein',
      realPath: (path: string) => path,
      artifacts: FOLDERS.map(({ folder }) => folder),
      localCopyOf: (path) => findArtifact(FOLDERS, path)?.path,
      ...more,
    });

  const request = (action: 'read' | 'write', target: string) => ({
    tool: action === 'read' ? 'Read' : 'Write',
    subject: { action, target },
    cwd: '/work',
    readOnly: action === 'read',
  });

  test('may be read like a local artifact, and never written', () => {
    expect(policy().rule(request('read', THERE)).behavior).toBe('allow');
    const free = policy({ mode: 'bypassPermissions' });
    expect(free.rule(request('write', THERE)).behavior).toBe('deny');
  });

  test('is denied without local copies', () => {
    expect(policy({ localCopyOf: undefined }).rule(request('read', THERE)).behavior).toBe('deny');
  });

  test('has a local copy for file tools only', () => {
    const subject = { action: 'execute', target: `cat ${THERE}` } as const;
    const ruling = policy().rule({ tool: 'Bash', subject, cwd: '/work', readOnly: false });
    expect(ruling.behavior).toBe('deny');
  });
});
