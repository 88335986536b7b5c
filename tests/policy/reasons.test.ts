import { describe, expect, test } from 'vitest';
import { bash, policyOf, read, rule, write } from './workshop.js';

describe('the reason of a ruling', () => {
  test('names the rule that denied and its file', () => {
    const rules = [rule('deny', 'Bash(rm:*)', 'project', '/repo/.claude/settings.json')];
    expect(policyOf({ rules }).rule(bash('rm x'))).toEqual({
      behavior: 'deny',
      step: 'deny',
      rule: rules[0],
      reason:
        'Denied by the rule "Bash(rm:*)" of /repo/.claude/settings.json; nothing but removing that rule would allow it.',
    });
  });

  test('names the flag that would have allowed it when nobody can answer', () => {
    const { reason } = policyOf({ surface: false }).rule(bash('npm test'));
    expect(reason).toBe(
      'No rule and no mode allows Bash "npm test". Nobody can answer in this run, so it was denied; to allow it, pass --allowed-tools "Bash(npm test)", or let a program answer with --input-format stream-json.',
    );
  });

  test('quotes that flag as a shell would need it', () => {
    const { reason } = policyOf({ surface: false }).rule(bash(`echo "$HOME" it's`));
    expect(reason).toContain(`--allowed-tools 'Bash(echo "$HOME" it'\\''s)'`);
  });

  test('suggests no allow rule where only a person can agree', () => {
    const { reason } = policyOf({ surface: false }).rule(read('.env'));
    expect(reason).toContain('/repo/.env may hold secrets');
    expect(reason).toContain('--input-format stream-json');
    expect(reason).not.toContain('--allowed-tools');
  });

  test('says what a mode refuses', () => {
    expect(policyOf({ mode: 'plan' }).rule(write('a')).reason).toContain('plan mode allows none');
    expect(policyOf({ mode: 'dontAsk' }).rule(write('a')).reason).toContain('dontAsk refuses');
  });

  test('stays short when the command is long', () => {
    expect(policyOf().rule(bash('x'.repeat(100_000))).reason.length).toBeLessThan(1000);
    expect(policyOf({ surface: false }).rule(bash('x'.repeat(100_000))).reason.length).toBeLessThan(
      2000,
    );
  });
});
