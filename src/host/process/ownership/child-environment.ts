/**
 * Child environment: the user's environment without secrets.
 *
 * A variable is dropped because of its name or its value. SSH_AUTH_SOCK is kept, because git needs
 * it and it reveals no key. Variables that run a script at shell start or that provide credentials
 * are dropped too. TMPDIR is always set, because the prompt tells agents to write there.
 */

export const childEnvironment = (
  environment: Readonly<Record<string, string | undefined>>,
  owner: string,
  temporary: string,
): Record<string, string> => {
  const kept = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isHarmless(entry[0], entry[1]),
  );
  return {
    ...Object.fromEntries(kept),
    ...UNATTENDED,
    TMPDIR: environment.TMPDIR || temporary,
    [OWNER_VARIABLE]: owner,
  };
};

/** Variable that marks the owner of a process, used to find orphans. */
export const OWNER_VARIABLE = 'SKEIN_OWNER';

/** Turns off prompts, pagers, editors and colours, because no person sees these processes. */
const UNATTENDED = {
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  DEBIAN_FRONTEND: 'noninteractive',
} as const;

const isHarmless = (name: string, value: string) =>
  ALWAYS_KEPT.has(name) || !(hasSecretName(name.toUpperCase()) || holdsSecret(value));

const ALWAYS_KEPT = new Set(
  'PATH HOME PWD OLDPWD SHELL USER LOGNAME LANG TMPDIR SSH_AUTH_SOCK'.split(' '),
);

const OURS = /^(ANTHROPIC|SKEIN)_/;

/** BASH_ENV and ENV run a script at start. NODE_CHANNEL_* names a pipe that the child does not have. */
const MISLEADING = /^(BASH_ENV|ENV|NODE_CHANNEL_.*|(GIT|SSH|SUDO)_ASKPASS)$/;

const SECRET_PARTS = new Set(
  `KEY KEYS APIKEY TOKEN TOKENS SECRET SECRETS PASSWORD PASSWORDS PASSWD PASS PWD PASSPHRASE
   CREDENTIAL CREDENTIALS CREDS AUTH AUTHORIZATION OAUTH COOKIE COOKIES JWT PAT PRIVATE`.split(
    /\s+/,
  ),
);

const hasSecretName = (name: string) =>
  OURS.test(name) ||
  MISLEADING.test(name) ||
  name.split(/[^A-Z0-9]+/).some((part) => SECRET_PARTS.has(part)) ||
  /(TOKEN|SECRET|PASSWORD|APIKEY|ACCESSKEY)$/.test(name);

const SECRET_VALUES: readonly RegExp[] = [
  /\bsk-[\w-]{16,}/,
  /\bgh[opsur]_\w{20,}/,
  /\bgithub_pat_\w{20,}/,
  /\bglpat-[\w-]{16,}/,
  /\bnpm_[A-Za-z0-9]{30,}/,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\bAIza[\w-]{30,}/,
  /\bxox[abeprs]-[\w-]{10,}/,
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+/,
  /-----BEGIN [A-Z ]*PRIVATE KEY/,
  // A password inside an address: scheme://user:password@host.
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i,
];

const holdsSecret = (value: string) => SECRET_VALUES.some((secret) => secret.test(value));
