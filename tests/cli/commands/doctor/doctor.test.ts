import { describe, expect, test } from 'vitest';
import { type DoctorCheck, runChecks } from '../../../../src/cli/commands/doctor/doctor-check.js';
import {
  answerFinding,
  keyFinding,
  proxyFinding,
} from '../../../../src/cli/commands/doctor/network-checks.js';
import { nodeFinding } from '../../../../src/cli/commands/doctor/program-checks.js';
import { diskFinding, terminalFinding } from '../../../../src/cli/commands/doctor/state-checks.js';
import type { TerminalHost } from '../../../../src/terminal/terminal-host.js';

const check = (name: string, run: DoctorCheck['run']): DoctorCheck => ({ name, run });
const runAll = (...checks: DoctorCheck[]) => runChecks(checks, {} as TerminalHost, 20);

describe('the checks of skein doctor', () => {
  test('are reported in their order, even if a later check ends first', async () => {
    const slow = check('slow', async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return { status: 'ok', found: 'late' };
    });
    const quick = check('quick', () => ({ status: 'ok', found: 'early' }));
    expect((await runAll(slow, quick)).map(({ name }) => name)).toEqual(['slow', 'quick']);
  });

  test('fail with the reason if they throw, and do not affect other checks', async () => {
    const broken = check('broken', () => {
      throw new Error('a defect');
    });
    const healthy = check('well', () => ({ status: 'ok', found: 'fine' }));
    expect(await runAll(broken, healthy)).toEqual([
      { name: 'broken', status: 'fail', found: 'the check failed: a defect' },
      { name: 'well', status: 'ok', found: 'fine' },
    ]);
  });

  test('fail and are aborted if they do not end in time', async () => {
    let stopped = false;
    const endless = check('endless', (_, signal) => {
      signal.addEventListener('abort', () => {
        stopped = true;
      });
      return new Promise(() => {});
    });
    expect(await runAll(endless)).toMatchObject([
      { status: 'fail', found: expect.stringMatching(/no answer/) },
    ]);
    expect(stopped).toBe(true);
  });
});

describe('the finding of skein doctor for', () => {
  test.each([
    ['v20.19.0', 'ok'],
    ['v20.18.3', 'fail'],
    ['v18.20.0', 'fail'],
    ['v22.0.0', 'ok'],
  ])('Node %s is %s', (version, status) => {
    expect(nodeFinding(version).status).toBe(status);
  });

  test.each([
    [5_000_000_000, 'ok'],
    [500_000_000, 'warn'],
    [1_000, 'fail'],
  ])('%d free bytes is %s', (free, status) => {
    expect(diskFinding(free, '/home').status).toBe(status);
  });

  test('an API key is its presence without its value', () => {
    expect(keyFinding({ ANTHROPIC_API_KEY: 'sk-secret' })).toEqual({
      status: 'ok',
      found: 'ANTHROPIC_API_KEY set',
    });
    expect(keyFinding({ ANTHROPIC_AUTH_TOKEN: 't' }).status).toBe('ok');
    expect(keyFinding({ ANTHROPIC_API_KEY: '' })).toMatchObject({
      status: 'fail',
      fix: expect.stringMatching(/^Set/),
    });
    for (const value of [' sk-secret', 'sk-secret\n', '“sk-secret”']) {
      const finding = keyFinding({ ANTHROPIC_API_KEY: value });
      expect(finding.status).toBe('fail');
      expect(JSON.stringify(finding)).not.toContain('secret');
    }
  });

  test.each([
    [200, 'ok'],
    [401, 'fail'],
    [403, 'fail'],
    [404, 'note'],
    [529, 'warn'],
  ])('a server that answers %d is %s', (status, health) => {
    expect(answerFinding(status, 'https://x').status).toBe(health);
  });

  test.each([
    [{}, 'ok', 'no proxy'],
    [{ HTTPS_PROXY: 'http://me:hush@proxy:80' }, 'ok', 'through http://me:'],
    [{ HTTPS_PROXY: 'proxy:8080' }, 'ok', 'through http://proxy:8080'],
    [{ HTTPS_PROXY: 'http://' }, 'fail', 'HTTPS_PROXY is not the URL'],
    [{ http_proxy: 'socks5://x:1' }, 'fail', 'http_proxy is not the URL'],
    [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: '*' }, 'ok', 'no proxy'],
  ])('the proxy variables %j is %s', (env, status, expected) => {
    const finding = proxyFinding(env);
    expect(finding.status).toBe(status);
    expect(finding.found).toContain(expected);
    expect(finding.found).not.toContain('hush');
  });

  test.each([
    [{}, {}, 'note', /a file or a pipe/],
    [{ isTTY: true, columns: 120 }, { TERM: 'xterm-256color' }, 'ok', /120 columns, colours/],
    [{ isTTY: true, columns: 120 }, { TERM: 'x', NO_COLOR: '1' }, 'ok', /no colours/],
    [{ isTTY: true, columns: 40 }, { TERM: 'xterm' }, 'warn', /40 columns/],
    [{ isTTY: true, columns: 80 }, { TERM: 'dumb' }, 'note', /TERM is dumb/],
    [{ isTTY: true, columns: 80 }, {}, 'note', /TERM is not set/],
  ])('the terminal %j %j is %s', (terminal, env, status, found) => {
    expect(terminalFinding(terminal, env)).toMatchObject({
      status,
      found: expect.stringMatching(found),
    });
  });
});
