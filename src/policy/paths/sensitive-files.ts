/**
 * Files that a person is asked about even where reading or writing is free: those that hold
 * secrets, and those that decide what Skein itself may do.
 *
 * Names are compared as the most forgiving disk would: without case, without characters that show
 * nothing, without the dots, blanks and streams that Windows drops from the end of a name.
 */
import { basename } from 'node:path';
import { foldedName } from './path-policy.js';

const anyOf = (...parts: readonly string[]) => `(?:${parts.join('|')})`;

const SECRET_NAME = new RegExp(
  `^${anyOf(
    '\\.env(?:[._~-].*)?',
    '.+\\.env',
    '\\.envrc',
    '[._]netrc',
    '\\.npmrc',
    '\\.pypirc',
    '\\.pgpass',
    '\\.my\\.cnf',
    '\\.mylogin\\.cnf',
    '\\.s3cfg',
    '\\.boto',
    '\\.htpasswd',
    '\\.git-credentials',
    '\\.vault-token',
    '\\.dockercfg',
    '\\.dockerconfigjson',
    '\\.?credentials(?:\\.(?:json|ya?ml|toml|ini|csv))?',
    'application_default_credentials.*',
    'secrets?\\.(?:json|ya?ml|toml|ini|env|txt)',
    '(?:auth|hosts)\\.json\\.secret',
    '.*service[-_]?account.*\\.json',
    'client[-_]secrets?.*\\.json',
    '.*firebase-adminsdk.*',
    '.+\\.tfstate(?:\\..*)?',
    '.+\\.tfvars(?:\\.json)?',
    '\\.terraformrc',
    '.+\\.tfrc\\.json',
    'kubeconfig',
    '.+\\.kubeconfig',
    '.+\\.keytab',
    '.+\\.keychain(?:-db)?',
    'wallet\\.dat',
    'id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:[._-].*)?',
    'ssh_host_.+_key',
    '.+\\.(?:pem|key|p8|p12|pfx|jks|keystore|kdbx?|ppk|ovpn|agekey)',
    '\\.(?:bash|zsh|sh|psql|mysql|sqlite|python|node_repl|rediscli)_?history',
    'logins\\.json',
    'key[34]\\.db',
    'cookies\\.sqlite',
    '\\.tokens?',
    '\\.secrets?',
  )}$`,
);

const SECRET_PLACE = new RegExp(
  `(?:^|/)${anyOf(
    '\\.ssh',
    '\\.gnupg',
    '\\.aws',
    '\\.azure',
    '\\.oci',
    '\\.password-store',
    '\\.secrets',
    `\\.config/${anyOf(
      'gcloud',
      'gh',
      'hub',
      'glab-cli',
      'op',
      'doctl',
      'heroku',
      'rclone',
      'configstore',
      'github-copilot',
      'netlify',
      'git/credentials',
      'containers/auth\\.json',
      'sops',
      'age',
      'google-chrome[^/]*',
      'chromium',
      'bravesoftware',
      'microsoft-edge[^/]*',
      'vivaldi',
      'opera',
    )}`,
    '\\.kube/(?:.*/)?[^/]*config[^/]*',
    '\\.docker/config\\.json',
    '\\.cargo/credentials[^/]*',
    '\\.gem/credentials',
    '\\.m2/settings[^/]*\\.xml',
    '\\.gradle/gradle\\.properties',
    '\\.terraform\\.d/credentials[^/]*',
    '\\.subversion/auth',
    '\\.fly/config\\.yml',
    '\\.codex/auth\\.json',
    '\\.gemini/oauth_creds\\.json',
    '\\.local/share/opencode/auth\\.json',
    '\\.local/share/keyrings',
    'library/keychains',
    'library/cookies',
    'library/application support/(?:google/chrome|chromium|firefox|bravesoftware|microsoft edge)',
    '\\.mozilla/firefox',
    '\\.thunderbird',
    'snap/(?:firefox|chromium)',
    '\\.bitcoin',
    '\\.electrum',
    '\\.ethereum/keystore',
    'run/secrets',
  )}(?:/|$)`,
);

/** What only the machine itself should know. */
const SYSTEM_PLACE =
  /^\/(?:private\/)?etc\/(?:g?shadow-?|master\.passwd|sudoers|sudoers\.d\/.+|security\/opasswd|krb5\.keytab|ssh\/ssh_host_.+_key|ssl\/private\/.+|kubernetes\/[^/]+\.conf|wireguard\/.+|letsencrypt\/(?:archive|live|keys|accounts)\/.+)$|^\/dev\/k?mem$|^\/proc\/kcore$/;
/** The environment and the memory of programs, where keys are: our own among them. */
const PROCESS_PLACE = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem)$/;
/** Templates and public halves look like secrets and are none. */
const HARMLESS_NAME =
  /^\.env(?:[._-][\w-]+)*[._-](?:example|sample|template|tmpl|dist|defaults|schema)$|^(?:.*[._-])?(?:example|sample|template|dist)\.env$|\.(?:example|sample|template|tmpl|dist)$|\.pub$|(?:^|[._-])(?:pub|public|cacert|ca-bundle|ca-certificates|fullchain|chain)\.(?:pem|key)$/;

/** Windows gives long names short ones; git itself watches for this one. */
const GIT = '(?:\\.git|git~\\d)';
const STEERING_PLACE = new RegExp(
  `(?:^|/)${anyOf(
    '\\.(?:claude|skein)/settings(?:\\.local)?\\.json',
    '\\.(?:claude|skein)/hooks/.*',
    '\\.mcp\\.json',
    'managed-(?:settings|mcp)\\.json',
    GIT,
    `${GIT}/(?:.*/)?(?:hooks|hooks/.*|config(?:\\.worktree)?|info/attributes|commondir)`,
    '\\.husky/.*',
    '\\.gitconfig',
    '\\.config/git/config',
    '\\.config/fish/.*',
    '\\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|zlogin)',
  )}$`,
);

export const holdsSecrets = (path: string): boolean => {
  const place = plainName(path);
  const name = basename(place);
  if (HARMLESS_NAME.test(name) && !SYSTEM_PLACE.test(place)) return false;
  return (
    [SECRET_PLACE, SYSTEM_PLACE, PROCESS_PLACE].some((kind) => kind.test(place)) ||
    SECRET_NAME.test(name)
  );
};

/** Settings, MCP servers, hooks and what a shell reads first: an agent would grant itself more. */
export const steersSkein = (path: string): boolean => STEERING_PLACE.test(plainName(path));

/** No system opens more than this at once; what is longer names nothing. */
const LONGEST_PATH = 4_096;

const plainName = (path: string): string => {
  const folded = foldedName(path.slice(-LONGEST_PATH));
  return ENDINGS.test(folded) ? folded.split('/').map(withoutEnding).join('/') : folded;
};

const ENDINGS = /[. ](?:\/|$)|:/;
const withoutEnding = (name: string): string =>
  name.replace(/:.*$/, '').replace(/(?<=[^. ])[. ]{1,255}$/, '') || name;
