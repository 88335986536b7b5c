/**
 * What child processes inherit: the environment a developer works in, without its secrets.
 *
 * A variable is dropped for its name or for its value. SSH_AUTH_SOCK stays: it lets git reach its
 * remotes and hands out no key. Variables that make a shell run something first, or that hand out
 * credentials on request, go as well. TMPDIR is always there: agents are told to write to it.
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

/** Tells whose child a process is; orphans.ts looks for it. */
export const OWNER_VARIABLE = 'SKEIN_OWNER';

/** Nobody sits at these processes: no questions, no pagers, no editors, no colours. */
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

/** BASH_ENV and ENV run a script first; NODE_CHANNEL_* names a pipe that the child does not have. */
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
