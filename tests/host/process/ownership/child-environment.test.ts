import { describe, expect, test } from 'vitest';
import { childEnvironment } from '../../../../src/host/process/ownership/child-environment.js';

const keeps = (name: string, value = 'plain') =>
  name in childEnvironment({ [name]: value }, 'me.1.2.3', '/tmp');

describe('the environment of a child process', () => {
  test('has the owner marker and the variables of a non-interactive session', () => {
    expect(childEnvironment({ TERM: 'xterm', SKEIN_OWNER: 'other' }, 'me.1.2.3', '/tmp')).toEqual({
      SKEIN_OWNER: 'me.1.2.3',
      TERM: 'dumb',
      TMPDIR: '/tmp',
      PAGER: 'cat',
      GIT_PAGER: 'cat',
      GIT_EDITOR: 'true',
      GIT_TERMINAL_PROMPT: '0',
      DEBIAN_FRONTEND: 'noninteractive',
    });
  });

  test.each([
    [undefined, '/own'],
    ['', '/own'],
    ['/given', '/given'],
  ])('always has a temporary directory: %s', (given, expected) => {
    expect(childEnvironment({ TMPDIR: given }, 'me.1.2.3', '/own').TMPDIR).toBe(expected);
  });

  test.each([
    'PATH',
    'HOME',
    'PWD',
    'LANG',
    'LC_ALL',
    'SHELL',
    'USER',
    'TMPDIR',
    'SSH_AUTH_SOCK',
    'JAVA_HOME',
    'GOPATH',
    'CARGO_HOME',
    'NVM_DIR',
    'VIRTUAL_ENV',
    'NODE_OPTIONS',
    'NODE_ENV',
    'CI',
    'TZ',
    'DISPLAY',
    'AWS_REGION',
    'XDG_SESSION_ID',
    'TOKENIZERS_PARALLELISM',
    'KEYBOARD_LAYOUT',
    'HTTPS_PROXY',
    'COMPASS',
  ])('keeps %s', (name) => {
    expect(keeps(name)).toBe(true);
  });

  test.each([
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_BASE_URL',
    'SKEIN_HOME',
    'SKEIN_REDIS_URL',
    'OPENAI_API_KEY',
    'GITHUB_TOKEN',
    'NPM_TOKEN',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_ACCESS_KEY_ID',
    'AWS_SESSION_TOKEN',
    'DB_PASSWORD',
    'MYSQL_PWD',
    'PGPASSWORD',
    'SUDO_PASSWD',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'DOCKER_AUTH_CONFIG',
    'npm_config__auth',
    'npm_config_//registry/:_authToken',
    'accessToken',
    'STRIPE_SECRET',
    'GITHUB_PAT',
    'COOKIE',
    'GIT_ASKPASS',
    'BASH_ENV',
    'ENV',
    'NODE_CHANNEL_FD',
  ])('drops %s', (name) => {
    expect(keeps(name)).toBe(false);
  });

  test.each([
    ['a model key', `sk-ant-${'a'.repeat(24)}`],
    ['a GitHub token', `ghp_${'a'.repeat(36)}`],
    ['a fine-grained GitHub token', `github_pat_${'a'.repeat(40)}`],
    ['an AWS key', 'AKIAABCDEFGHIJKLMNOP'],
    ['a Slack token', 'xoxb-1234567890-abc'],
    ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----\nabc'],
    ['an address with a password', 'postgres://goose:secret@db/skein'],
    ['a proxy with a password', 'http://goose:secret@proxy:3128'],
    ['a secret inside of other text', `--flag --header=Bearer:sk-${'b'.repeat(30)}`],
  ])('drops %s under any name', (_, value) => {
    expect(keeps('HARMLESS', value)).toBe(false);
  });

  test.each([
    ['an address without a password', 'https://proxy.example:3128/a@b'],
    ['a word that ends in sk-', '/home/goose/task-abcdefghijklmnopqrstuvwxyz'],
    ['two colons', 'a:b@c'],
  ])('keeps %s', (_, value) => {
    expect(keeps('HARMLESS', value)).toBe(true);
  });
});
