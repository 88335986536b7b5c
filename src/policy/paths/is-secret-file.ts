/** Recognises files that may hold secrets, by their names and folders. */
import { basename } from 'node:path';
import { comparablePath } from './comparable-path.js';

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

const SECRET_PATH = new RegExp(
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

/** Secrets of the system: password hashes, host keys, raw memory. */
const SYSTEM_PATH =
  /^\/(?:private\/)?etc\/(?:g?shadow-?|master\.passwd|sudoers|sudoers\.d\/.+|security\/opasswd|krb5\.keytab|ssh\/ssh_host_.+_key|ssl\/private\/.+|kubernetes\/[^/]+\.conf|wireguard\/.+|letsencrypt\/(?:archive|live|keys|accounts)\/.+)$|^\/dev\/k?mem$|^\/proc\/kcore$/;
/** Environment and memory of processes, which hold keys, including those of Skein. */
const PROCESS_PATH = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem)$/;
/** Templates and public keys, which have names like secrets but hold none. */
const HARMLESS_NAME =
  /^\.env(?:[._-][\w-]+)*[._-](?:example|sample|template|tmpl|dist|defaults|schema)$|^(?:.*[._-])?(?:example|sample|template|dist)\.env$|\.(?:example|sample|template|tmpl|dist)$|\.pub$|(?:^|[._-])(?:pub|public|cacert|ca-bundle|ca-certificates|fullchain|chain)\.(?:pem|key)$/;

/** True if the file may hold a secret: a person is asked before a tool reads or writes it. */
export const isSecretFile = (path: string): boolean => {
  const comparable = comparablePath(path);
  const name = basename(comparable);
  if (HARMLESS_NAME.test(name) && !SYSTEM_PATH.test(comparable)) return false;
  return (
    [SECRET_PATH, SYSTEM_PATH, PROCESS_PATH].some((kind) => kind.test(comparable)) ||
    SECRET_NAME.test(name)
  );
};
