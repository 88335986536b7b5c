/**
 * Files that a person is asked about even where reading or writing is free: those that hold
 * secrets, and those that decide what Skein itself may do.
 */
import { basename } from 'node:path';

const SECRET_NAME =
  /^(?:\.env(?:\..+)?|\.envrc|\.netrc|_netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|\.credentials\.json|\.htpasswd|\.vault-token|id_(?:rsa|dsa|ecdsa|ed25519)(?:[._-].*)?|.+\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk))$/;
const SECRET_PLACE =
  /(?:^|\/)(?:\.ssh|\.gnupg|\.aws\/(?:credentials|sso|cli)|\.azure|\.config\/(?:gcloud|gh)|\.kube\/config|\.docker\/config\.json|\.cargo\/credentials(?:\.toml)?)(?:\/|$)/;
/** What only the machine itself should know. */
const SYSTEM_PLACE =
  /^\/(?:private\/)?etc\/(?:g?shadow-?|master\.passwd|sudoers|sudoers\.d\/.+|ssh\/ssh_host_.+_key|ssl\/private\/.+)$/;
/** The environment and the memory of programs, where keys are: our own among them. */
const PROCESS_PLACE = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem)$/;
/** Templates and public halves look like secrets and are none. */
const HARMLESS_NAME = /^\.env\.(?:example|sample|template|dist)$|\.pub$/;

const STEERING_PLACE =
  /(?:^|\/)(?:\.(?:claude|skein)\/settings(?:\.local)?\.json|\.mcp\.json|\.git|\.git\/(?:.*\/)?(?:hooks\/.*|config(?:\.worktree)?|info\/attributes))$/;

/** Judged without regard to case, since some disks have none. */
export const holdsSecrets = (path: string): boolean => {
  const place = path.toLowerCase();
  const name = basename(place);
  if (HARMLESS_NAME.test(name)) return false;
  return (
    [SECRET_PLACE, SYSTEM_PLACE, PROCESS_PLACE].some((kind) => kind.test(place)) ||
    SECRET_NAME.test(name)
  );
};

/** Settings, MCP servers and git hooks: writing one would let an agent grant itself more. */
export const steersSkein = (path: string): boolean => STEERING_PLACE.test(path.toLowerCase());
